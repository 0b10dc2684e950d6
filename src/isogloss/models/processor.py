"""Number formats on a processor: a child process tries bfloat16 and float16 before this process depends on them.

Some virtual machines advertise instructions that a program may not use; the first large product then ends the process
without a Python error. The outcome is remembered for each processor and version of torch.
"""

import hashlib
import json
import logging
import os
import platform
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import IsoglossError, require
from ..languages import home

PLAIN, WITHOUT_ONEDNN = "plain", "without-onednn"
FAR_SLOWER = 3.0
TIMEOUT = 120.0
TRIAL = """
import sys, time
import torch
from torch.nn.functional import linear, scaled_dot_product_attention

def rate(dtype):
    rows, weights = torch.ones(32, 512, dtype=dtype), torch.ones(512, 512, dtype=dtype)
    started, count = time.perf_counter(), 0
    while count < 2 or time.perf_counter() - started < 0.1:
        linear(rows, weights)
        count += 1
    return count / (time.perf_counter() - started)

if sys.argv[2] == "without-onednn":
    torch.backends.mkldnn.set_flags(False)
dtype = getattr(torch, sys.argv[1])
for size in (16, 64, 256):
    (torch.ones(size, size, dtype=dtype) @ torch.ones(size, size, dtype=dtype)).sum().item()
heads = torch.ones(2, 4, 64, 64, dtype=dtype)
scaled_dot_product_attention(heads, heads, heads).sum().item()
layer = torch.nn.Linear(64, 64).to(dtype)
layer(torch.ones(64, 64, dtype=dtype)).sum().backward()
print(rate(torch.float32) / rate(dtype))
"""


@dataclass(frozen=True, slots=True)
class FormatSupport:
    """How a number format can be used on this processor: the way, how many times slower than float32, why not plainly."""

    way: str | None
    slower: float = 1.0
    reason: str = ""


def prepare(dtype: str, *, device: str = "cpu") -> tuple[str, ...]:
    """Make a number format safe to use in this process; returns its caveats. Refuses one that cannot be used."""
    if device != "cpu" or dtype == "float32":
        return ()
    verdict = judge(dtype)
    if verdict.way is None:
        raise IsoglossError(
            f"This processor cannot compute in {dtype}: a trial {verdict.reason}. Use `dtype='float32'` instead."
        )
    if verdict.slower > FAR_SLOWER:
        logging.getLogger("isogloss").warning(
            "On this processor %s is about %.0f times slower than float32.", dtype, verdict.slower
        )
    if verdict.way == PLAIN:
        return ()
    torch = require("torch", extra="hf")
    torch.backends.mkldnn.set_flags(False)  # for good: another open model may depend on it
    return (f"{dtype} was computed without oneDNN, because a trial with it {verdict.reason} on this processor",)


def judge(dtype: str) -> FormatSupport:
    """The verdict on a number format, tried once for each processor and version of torch."""
    torch = require("torch", extra="hf")
    instructions = os.environ.get("ONEDNN_MAX_CPU_ISA", "all")
    path, key = home() / "processors.json", f"{_processor()}-torch-{torch.__version__}-{instructions}-{dtype}"
    known: Any = {}
    with suppress(OSError, ValueError):
        known = json.loads(path.read_text(encoding="utf-8"))
    known = known if isinstance(known, dict) else {}
    with suppress(KeyError, TypeError):
        return FormatSupport(**known[key])
    verdict = FormatSupport(None)
    for way in (PLAIN, WITHOUT_ONEDNN):
        ended, text = _try(dtype, way)
        if ended is None:
            verdict = FormatSupport(way, round(float(text), 1), verdict.reason)
            break
        verdict = FormatSupport(None, reason=verdict.reason or ended)
    with suppress(OSError):  # it is tried again the next time
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**known, key: asdict(verdict)}, indent=1), encoding="utf-8")
    return verdict


def _try(dtype: str, way: str) -> tuple[str | None, str]:
    """How the trial ended when it did not end well, and what it printed."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    try:
        child = subprocess.run(
            [sys.executable, "-c", TRIAL, dtype, way], capture_output=True, text=True, env=environment, timeout=TIMEOUT
        )
    except subprocess.TimeoutExpired:
        return f"took more than {TIMEOUT:g} seconds", ""
    if child.returncode == 0:
        return None, child.stdout.strip()
    if child.returncode < 0:
        return f"ended with {signal_name(-child.returncode)}", ""
    lines = child.stderr.strip().splitlines()
    return f"failed ({lines[-1][:200]})" if lines else f"exited with status {child.returncode}", ""


def signal_name(number: int) -> str:
    """The name of a signal, such as SIGILL."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _processor() -> str:
    """A short name of this processor: what it says of itself, hashed."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        text = "\n".join(sorted({line for line in lines if line.startswith(("model name", "flags", "Features"))}))
    except OSError:
        text = f"{platform.machine()} {platform.processor()}"
    return hashlib.sha256(text.encode()).hexdigest()[:16]
