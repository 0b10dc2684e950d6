"""A copy of a model whose weight matrices are rounded to 8 bits, to see what `isogloss change` says of it.

    python -m benchmarks.rounding FOLDER OUT

FOLDER is a checkpoint in safetensors. Each row of each matrix is divided by its largest magnitude, rounded to one of 255
levels and multiplied back, as weight-only int8 does; vectors, such as norms, stay as they are.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from safetensors.numpy import load_file, save_file

from isogloss.stats.resampling import Array

LEVELS = 127  # on each side of 0


def round_rows(matrix: Array) -> Array:
    """The matrix with every row on 255 levels between minus and plus its largest magnitude."""
    largest = abs(matrix).max(axis=1, keepdims=True)
    step = largest / LEVELS
    step[step == 0] = 1.0  # a row of zeros stays one
    return ((matrix / step).round().clip(-LEVELS, LEVELS) * step).astype(matrix.dtype)


def main(folder: Path, out: Path) -> None:
    """Copy the checkpoint with rounded matrices."""
    shutil.copytree(folder, out, ignore=shutil.ignore_patterns("*.safetensors"))
    for path in sorted(folder.glob("*.safetensors")):
        tensors = load_file(path)
        rounded = {name: round_rows(tensor) if tensor.ndim == 2 else tensor for name, tensor in tensors.items()}
        save_file(rounded, out / path.name, metadata={"format": "pt"})
        changed = max(float(abs(rounded[name] - tensors[name]).max()) for name in tensors)
        print(
            f"{path.name}: {sum(t.ndim == 2 for t in tensors.values())} matrices, no weight moved by more than {changed:.3g}"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
