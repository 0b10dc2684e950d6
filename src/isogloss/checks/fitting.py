"""The check that an item can be scored by the methods that are usual for its task."""

from collections.abc import Iterator, Sequence

from .. import registry
from ..items import Item
from .check import Check


def unfit_items(items: Sequence[Item]) -> Iterator[tuple[int, str]]:
    """The items that a usual method of their task does not fit, with its name."""
    methods = registry.load_all("method")
    tasks = {task for method in methods.values() for task in method.auto}
    usual = {task: [name for name, one in methods.items() if task in one.auto] for task in tasks}
    for index, item in enumerate(items):
        unfit = [name for name in usual.get(str(item.tags.get("task") or ""), ()) if not methods[name].suits(item)]
        if unfit:
            yield index, f"{' and '.join(unfit)} cannot score it"


METHOD_UNFIT = Check(
    "method_unfit",
    "error",
    "A method that is usual for the item's task cannot score it, so it is left out: see its context and its BLANK.",
    unfit_items,
)
