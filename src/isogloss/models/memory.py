"""Devices and memory: which device `auto` takes, and whether a model's weights fit there, before they are loaded."""

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

from ..errors import IsoglossError, UnknownName, require
from ..files.hub import on_message
from .info import read_config, stored_weights, weights_entry

DEVICE_MAPS = ("auto", "balanced", "sequential")
BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
STORED = {"F64": 8, "F32": 4, "BF16": 2, "F16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}
HEADER = 100_000_000  # bytes; the largest header that safetensors itself reads


def choose_device() -> tuple[str, str]:
    """The device that `auto` takes, and a line that says why: the graphics card with most free memory, else the CPU."""
    torch = require("torch", extra="hf")
    if torch.cuda.is_available():
        free = {number: torch.cuda.mem_get_info(number) for number in range(torch.cuda.device_count())}
        best = max(free, key=lambda number: free[number][0])
        left, total = (size / 1e9 for size in free[best])
        name = torch.cuda.get_device_name(best)
        return f"cuda:{best}", f"device auto: cuda:{best} ({name}, {left:.1f} of {total:.1f} GB free)"
    if torch.backends.mps.is_available():
        return "mps", "device auto: mps"
    return "cpu", "device auto: cpu, because torch finds no graphics card"


def find_device(device: str) -> str:
    """The device of that name; for `auto` the one that is chosen, which is said in a line."""
    if device != "auto":
        return device
    chosen, line = choose_device()
    on_message.get()(line)
    return chosen


def check_map(device_map: str) -> None:
    """Refuse a way to spread layers that does not exist, or that lacks its library."""
    if device_map not in DEVICE_MAPS:
        raise UnknownName("device map", device_map, DEVICE_MAPS)
    require("accelerate", extra="hf")


def first_device(name: str, net: Any) -> str:
    """Where a spread model takes its input; says in a line where its layers are, and refuses layers that are left on disk."""
    spread = getattr(net, "hf_device_map", {"": "cpu"})  # with one device there is none
    places = Counter(f"cuda:{place}" if isinstance(place, int) else str(place) for place in spread.values())
    if "disk" in places:
        raise IsoglossError(
            f"'{name}' does not fit into the memory of all devices: {places['disk']} of its modules would be read from disk "
            "for every batch. Use a smaller number format, or a server (see docs/how-to/models.md)."
        )
    listed = ", ".join(f"{count} modules on {place}" for place, count in places.items())
    on_message.get()(f"device map of {name}: {listed}")
    return str(net.get_input_embeddings().weight.device)


def forecast_bytes(folder: Path, dtype: str) -> int | None:
    """The bytes of a model's weights in a number format, from the headers or the index of its files; none if they do not say."""
    files = [folder / name for name in stored_weights(folder, pickle=False)]
    if files:
        counts = [_count_weights(path) for path in files]
        return None if None in counts else sum(count or 0 for count in counts) * BYTES[dtype]
    entry = weights_entry(folder, lambda name: (folder / name).is_file(), pickle=False)
    if entry is None or not entry.endswith(".index.json"):
        return None
    try:  # an index without its files, as after a download of the configuration alone
        total = int(json.loads((folder / entry).read_text(encoding="utf-8"))["metadata"]["total_size"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    config = read_config(folder)
    stored = str(config.get("dtype") or config.get("torch_dtype") or "float32")
    return total // BYTES.get(stored, 4) * BYTES[dtype]


def _count_weights(path: Path) -> int | None:
    """How many numbers a file of safetensors holds, by its header."""
    try:
        with path.open("rb") as file:
            size = int.from_bytes(file.read(8), "little")
            header: dict[str, Any] = json.loads(file.read(size)) if size <= HEADER else {}
        tensors = [tensor for name, tensor in header.items() if name != "__metadata__"]
        return sum(math.prod(tensor["shape"]) for tensor in tensors if tensor["dtype"] in STORED) or None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def free_bytes(device: str) -> int | None:
    """The memory that is free on a device, where the system says so."""
    if device.startswith("cuda"):
        return int(require("torch", extra="hf").cuda.mem_get_info(device)[0])
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    available = next((line for line in lines if line.startswith("MemAvailable:")), "")
    return int(available.split()[1]) * 1024 if device == "cpu" and available else None


def check_memory(name: str, folder: Path, *, device: str, dtype: str) -> None:
    """Refuse a model whose weights alone are larger than the free memory, in one sentence and before they are loaded."""
    needed, free = forecast_bytes(folder, dtype), free_bytes(device)
    if needed is None or free is None or needed <= free:
        return
    smaller = "`dtype='bfloat16'`, " if dtype == "float32" else ""
    raise IsoglossError(
        f"'{name}' needs {needed / 1e9:.1f} GB for its weights in {dtype}, and {free / 1e9:.1f} GB are free on {device}. "
        f"Use {smaller}another `device`, or a server (see docs/how-to/models.md)."
    )


def memory_line(name: str, folder: Path, *, device: str, dtype: str) -> str | None:
    """What a forecast says about a model's memory; nothing when it cannot be known."""
    needed, free = forecast_bytes(folder, dtype), free_bytes(device)
    if needed is None:
        return None
    there = "" if free is None else f"; {free / 1e9:.1f} GB are free on {device}"
    enough = ", which is not enough" if free is not None and needed > free else ""
    return f"{name}: {needed / 1e9:.1f} GB for the weights in {dtype}{there}{enough}"
