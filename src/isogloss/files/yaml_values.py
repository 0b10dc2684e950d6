"""YAML files: read with their lines, without aliases, doubled keys or endless values."""

from pathlib import Path
from typing import Any

import yaml

from ..errors import BadData
from .rows import read_bytes

LARGEST_NUMBER = 2**63  # larger ones fit no column


def read_yaml(path: Path) -> tuple[Any, yaml.Node | None]:
    """The plain values of a YAML file in UTF-8, and its tree, which has the lines; an empty file has neither."""
    try:
        text = read_bytes(path).decode("utf-8")
    except UnicodeError as error:
        raise BadData(path, None, "not YAML in UTF-8.") from error
    node = compose_yaml(path, text)
    return (None if node is None else plain_values(path, node)), node


def compose_yaml(path: str | Path, text: str) -> yaml.Node | None:
    """The YAML tree with its lines; aliases are refused, since they can make a small file endless."""
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                where: Any = event.start_mark
                raise BadData(path, where.line + 1, "aliases (*name) are not read; write it out.")
        node: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
        return node
    except (yaml.MarkedYAMLError, yaml.reader.ReaderError) as error:
        mark: Any = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "a character that YAML does not allow"
        raise BadData(path, mark.line + 1 if mark else None, f"not YAML: {problem}.") from error
    except RecursionError as error:
        raise BadData(path, None, "nested too deeply.") from error


def plain_values(path: Path, node: yaml.Node) -> Any:
    """The tree as plain values; only true and false are truth values, so `no` is Norwegian."""
    if isinstance(node, yaml.MappingNode):
        values: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise BadData(path, key.start_mark.line + 1, "a key must be a word.")
            if key.value in values:
                raise BadData(path, key.start_mark.line + 1, f"the key '{key.value}' is there twice.")
            values[key.value] = plain_values(path, value)
        return values
    if isinstance(node, yaml.SequenceNode):
        return [plain_values(path, value) for value in node.value]
    kind = node.tag.rpartition(":")[2]
    if kind == "null":
        return None
    if kind == "bool":
        return {"true": True, "false": False}.get(node.value.lower(), node.value)
    if kind in ("int", "float"):
        try:
            number = yaml.safe_load(node.value)
            if isinstance(number, int) and abs(number) > LARGEST_NUMBER:
                raise ValueError
            return number
        except ValueError as error:
            text = node.value[:20] + "…" * (len(node.value) > 20)
            line = node.start_mark.line + 1
            raise BadData(path, line, f"'{text}' is not a number that can be read.") from error
    return str(node.value)
