"""Warm models: kept open between probes, a few at a time and within a limit of memory; one thread asks them all."""

import asyncio
import gc
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..errors import IsoglossError
from ..models.model import Model
from ..studies.probe import Probe, ProbeRequest, run_probe
from .choices import split_served
from .settings import Limits

BYTES = 4  # a weight in float32
WEIGHTS = (".safetensors", ".gguf")


class ModelCache:
    """Models that stay open; the one that was not asked for longest is closed first."""

    def __init__(self, limits: Limits, *, offline: bool = True) -> None:
        self.limits = limits
        self.offline = offline
        self._models: OrderedDict[str, Model] = OrderedDict()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="warm")
        self._waiting = 0

    async def ask(self, name: str, request: ProbeRequest) -> Probe:
        """What the model makes of a template; it is opened when it is not warm."""
        if self._waiting >= self.limits.queue:
            raise IsoglossError("Too many probes are waiting. Try again in a moment.")
        self._waiting += 1
        limit = self.limits.sentences
        try:
            probe = self._thread.submit(lambda: run_probe(self._open(name), request, limit=limit))
            return await asyncio.wrap_future(probe)
        finally:
            self._waiting -= 1

    def names(self) -> list[str]:
        """The models that are warm, the last one asked at the end."""
        return list(self._models)

    def close(self) -> None:
        """Close all models; nothing is asked any more."""
        self._thread.shutdown(wait=True, cancel_futures=True)
        self._models.clear()

    def _open(self, name: str) -> Model:
        """The model, warm; others are closed where it needs their memory."""
        from ..models.load import open_model
        from ..models.model import Loading

        if name not in self._models:
            self._evict(name, needed=_size_on_disk(name))
            address, served = split_served(name)
            model = open_model(address, Loading(offline=self.offline, served_model=served))
            self._evict(name, needed=model.info.parameters * BYTES)
            self._models[name] = model
        self._models.move_to_end(name)
        return self._models[name]

    def _evict(self, name: str, *, needed: int) -> None:
        """Close models until one more of this size may stay; one that is too large alone is refused."""
        if needed > self.limits.memory:
            raise IsoglossError(
                f"'{name}' needs {needed / 1e9:.1f} GB, more than the {self.limits.memory / 1e9:.1f} GB that probing may use. "
                "Start the server with a larger --memory."
            )
        while self._models:
            used = sum(model.info.parameters * BYTES for model in self._models.values())
            if len(self._models) < self.limits.warm and used + needed <= self.limits.memory:
                return
            self._models.popitem(last=False)
            gc.collect()


def _size_on_disk(name: str) -> int:
    """The bytes of a model's weights, when they are in a folder here; a first guess at the memory it needs."""
    from ..models.load import find_source

    if split_served(name)[1]:
        return 0
    source = find_source(name)
    folder = Path(source.source)
    if source.gguf or not folder.is_dir():
        return 0
    return sum(path.stat().st_size for path in folder.iterdir() if path.suffix in WEIGHTS)
