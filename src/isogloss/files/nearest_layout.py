"""What to do with a table whose columns are of no known layout: the nearest one, and the option that maps its columns."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .sources import Dataset

OWN_PAIRS = "pairs"  # the layout of users' own files, which no published data has
DIRECTIONS = ("stereoantistereo", "direction")  # columns that say which sentence is the stereotype, letters only


def nearest_layout(columns: frozenset[str], known: Mapping[str, "Dataset"]) -> str:
    """What is missing to the layout that shares most of its columns with the file; of equal ones, pairs are usual."""

    def plain(name: str) -> str:
        return "".join(filter(str.isalnum, name.casefold()))

    theirs = {plain(name): name for name in sorted(columns)}
    shares = {
        name: sum(plain(heading) in theirs for heading in data.columns) / len(data.columns)
        for name, data in known.items()
        if data.columns
    }
    name = max(shares, key=lambda name: (shares[name], -len(known[name].columns), name == OWN_PAIRS))
    direction = next((theirs[key] for key in DIRECTIONS if key in theirs), None)
    name = OWN_PAIRS if direction and name == "crows_pairs" else name  # which needs no bias type
    missing = [column for column in known[name].columns if column not in columns]
    hint = ",".join(f"{heading}={theirs.get(plain(heading), 'YOURS')}" for heading in missing)
    return (
        f"the columns ({', '.join(sorted(columns)[:12]) or 'none'}) are of no layout that Isogloss knows. The nearest is '{name}', "
        f"which needs {', '.join(known[name].columns)}. If yours have other names, use --columns {hint}"
        f"{f',direction={direction}' if direction and name == OWN_PAIRS else ''}"
    )
