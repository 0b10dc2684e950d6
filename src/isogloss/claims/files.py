"""Files of claims: read with line numbers, registered with hash and date, and a starter to copy."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from .. import registry
from ..analysis.groups import SYNONYMS
from ..analysis.measures import MODES
from ..analysis.mixed import check_facts, read_facts
from ..atomic_files import write_file
from ..errors import BadData, IsoglossError, UnknownName
from ..files.rows import read_bytes
from ..files.yaml_values import read_yaml
from .evidence import FEWEST_ITEMS
from .language import Selector, parse_claim
from .verdicts import Claim, ClaimsFile, Faults

KEYS = ("adjust", "claims", "facts", "faults", "margins", "min_n", "mode", "source", "strict", "title")
CLAIM_KEYS = ("by_construction", "name", "needs", "note", "says", "sentence", "source", "stricter", "where")
ADJUSTMENTS = ("holm", "none")
NEEDS = "a claims file needs 'claims' (a list of texts such as 'ss = 50 ± 5', or of objects with 'says') or 'margins'."
STARTER = """\
# Claims that a model must meet, tested with confidence intervals. The language: docs/how-to/gate.md.
# A gate passes only if every claim is supported, which needs no adjustment for their number.
title: My model before a release
mode: corrected     # or paper
adjust: none        # holm: adjust for the number of claims, as for a paper
strict: false       # true: exit with status 1 if a claim is undecided
min_n: 30           # the minimum number of items of a group
claims:
  - name: can do the task
    says: lms >= 70
  - name: no strong preference
    says: ss = 50 ± 10
  # - name: German is not worse than English by more than 5 points
  #   says: icat(de) > icat(en) - 5
# margins:          # against a baseline: the metrics to compare, and by how many points each may be worse
#   lms: 1
#   ss: 3
"""


Claims = str | Path | Mapping[str, Any] | Sequence[str | Mapping[str, Any]] | ClaimsFile | None


def as_claims(claims: Claims) -> ClaimsFile:
    """The claims of a file, of what such a file holds, or of a list."""
    if claims is None or isinstance(claims, ClaimsFile):
        return claims or ClaimsFile(())
    if isinstance(claims, str | Path):
        return read_claims(claims)
    return make_claims(dict(claims) if isinstance(claims, Mapping) else {"claims": list(claims)})


def read_claims(path: str | Path) -> ClaimsFile:
    """The claims of a YAML file with its hash; whatever is not understood is refused with its line."""
    data = read_bytes(Path(path))
    content, node = read_yaml(Path(path))
    lines: list[int] = []
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if getattr(key, "value", None) == "claims" and isinstance(value, yaml.SequenceNode):
            lines = [entry.start_mark.line + 1 for entry in value.value]
    file, sha256 = make_claims(content, path, lines=lines), hashlib.sha256(data).hexdigest()
    return replace(file, sha256=sha256, registered=_compare_registration(Path(path), sha256))


def _record(path: Path) -> Path:
    return path.with_name(f"{path.name}.registered.json")


def _compare_registration(path: Path, sha256: str) -> str:
    """Whether the file is the one that was registered; nothing if none was."""
    record = _record(path)
    if not record.exists():
        return ""
    try:
        known = json.loads(read_bytes(record).decode("utf-8"))
        date, before = str(known["date"]), str(known["sha256"])
    except (ValueError, KeyError, TypeError) as error:
        raise BadData(record, None, "not a record of a registration. Delete it to register the file again.") from error
    if before == sha256:
        return f"registered on {date}, unchanged since"
    return f"CHANGED since it was registered on {date} (hash {before[:12]}, now {sha256[:12]})"


def make_claims(content: Any, path: str | Path = "claims", *, lines: Sequence[int] = ()) -> ClaimsFile:
    """The claims that the content of a YAML file describes; errors name `path`."""
    rows = content.get("claims", [] if "margins" in content else None) if isinstance(content, dict) else None
    if not isinstance(rows, list) or not (rows or "margins" in content):
        raise BadData(path, None, NEEDS)
    _check_keys(path, content, known=KEYS)
    for key, known in (("mode", MODES), ("adjust", ADJUSTMENTS)):
        if content.get(key, known[0]) not in known:
            raise BadData(path, None, str(UnknownName(key, str(content[key]), known)))
    strict, min_n = content.get("strict", False), content.get("min_n", FEWEST_ITEMS)
    if not isinstance(strict, bool):
        raise BadData(path, None, "'strict' must be true or false.")
    if isinstance(min_n, bool) or not isinstance(min_n, int) or min_n < 1:
        raise BadData(path, None, "'min_n' must be a whole number of items, 1 or more.")
    source = str(content.get("source", ""))
    claims = tuple(
        _claim(path, row, number=number, line=lines[number - 1] if lines else None, source=source)
        for number, row in enumerate(rows, 1)
    )
    names = [claim.name for claim in claims]
    twice = next((claim for i, claim in enumerate(claims) if claim.name in names[:i]), None)
    if twice is not None:
        raise BadData(path, twice.line, f"two claims are named '{twice.name}'.")
    facts = content.get("facts")
    if facts is not None:
        facts = read_facts(Path(path).parent / facts) if isinstance(facts, str) else check_facts(facts, path)
    mode, adjust, title = content.get("mode", "corrected"), content.get("adjust", "holm"), str(content.get("title", ""))
    faults = _faults(path, content.get("faults"))
    margins = _margins(path, content["margins"]) if "margins" in content else {}
    return ClaimsFile(claims, mode, strict, min_n, adjust, title, facts or {}, faults, str(path), margins=margins)


def _check_keys(path: str | Path, row: Mapping[Any, Any], *, known: Sequence[str], line: int | None = None) -> None:
    for key in row:
        if key not in known:
            raise BadData(path, line, str(UnknownName("key", str(key), known)))


def _claim(path: str | Path, row: Any, *, number: int, line: int | None, source: str) -> Claim:
    row = {"says": row} if isinstance(row, str) else row
    if not isinstance(row, dict) or not any(isinstance(row.get(key), str) for key in ("says", "needs")):
        raise BadData(path, line, f"claim {number} must be a text or an object with 'says', or with 'needs'.")
    _check_keys(path, row, known=CLAIM_KEYS, line=line)
    texts = {key: " ".join(str(row.get(key, "")).split()) for key in CLAIM_KEYS if key not in ("where", "stricter")}
    name = texts["name"] or texts["says"] or f"claim {number}"
    try:
        formula = parse_claim(texts["says"]) if texts["says"] else None
    except IsoglossError as error:
        raise BadData(path, line, f"claim '{name}': {error}") from error
    where = row.get("where", {})
    if not isinstance(where, dict):
        raise BadData(path, line, f"claim '{name}': 'where' must map columns to values, such as language: de.")
    stricter = row.get("stricter", False)
    if not isinstance(stricter, bool):
        raise BadData(path, line, f"claim '{name}': 'stricter' must be true or false.")
    texts["source"] = ", ".join(text for text in (source, texts["source"]) if text)
    texts["name"] = name
    return Claim(**texts, formula=formula, where=_selectors(where), stricter=stricter, line=line)


def _faults(path: str | Path, faults: Any) -> Faults:
    if faults is None:
        return Faults()
    if isinstance(faults, str):
        path = Path(path).parent / faults
        faults = read_yaml(path)[0]
    content: dict[str, Any] = faults if isinstance(faults, dict) else {"": None}
    items, groups = content.get("items", []), content.get("groups", [])
    lists = isinstance(items, list) and isinstance(groups, list) and all(isinstance(group, dict) for group in groups)
    if not lists or not set(content) <= {"items", "groups"}:
        raise BadData(
            path, None, "'faults' must be an object with 'items', a list of ids, and 'groups', a list of objects."
        )
    chosen = [{name: value for name, value in group.items() if name != "why"} for group in groups]
    reasons = tuple(" ".join(str(group.get("why", "")).split()) for group in groups)
    return Faults(frozenset(map(str, items)), tuple(map(_selectors, chosen)), reasons)


def _margins(path: str | Path, margins: Any) -> dict[str, float]:
    """By metric: how many points worse than a baseline it may be."""
    if not isinstance(margins, dict) or not margins:
        raise BadData(path, None, "'margins' must map metrics to points, such as ss: 2.")
    for name, points in margins.items():
        number = isinstance(points, int | float) and not isinstance(points, bool)
        if not number or not 0 <= points < math.inf:
            raise BadData(path, None, f"the margin of '{name}' must be a number of points, 0 or more.")
        try:
            metric = registry.get("metric", str(name))
        except UnknownName as error:
            raise BadData(path, None, str(error)) from error
        if not metric.directed:
            raise BadData(path, None, f"'{name}' has no margin, because no value of it is better than another.")
    return {str(name).replace("-", "_"): float(points) for name, points in margins.items()}


def _selectors(values: Mapping[Any, Any]) -> tuple[Selector, ...]:
    """Columns with the values that they must have."""
    return tuple(Selector(str(value), SYNONYMS.get(str(name), str(name))) for name, value in values.items())


def register_claims(path: Path) -> str:
    """A sentence that says that the file is registered: its hash and the date are written beside it."""
    file, record = read_claims(path), _record(path)
    if record.exists():
        return f"{path}: {file.registered}."
    date = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    write_file(record, f"{json.dumps({'sha256': file.sha256, 'date': date}, indent=1)}\n".encode())
    return f"Registered {len(file.claims)} claim{'s' * (len(file.claims) != 1)} on {date}; {record} contains the date and the hash {file.sha256[:12]}."


def write_starter(path: Path) -> str:
    """A sentence that says that a starter file was written; a file that exists is left alone."""
    if path.exists():
        raise IsoglossError(f"{path} exists already. Give another name, or delete it first.")
    write_file(path, STARTER.encode())
    return f"Wrote {path}. Edit the claims, then run: isogloss gate RUNS --claims {path}"
