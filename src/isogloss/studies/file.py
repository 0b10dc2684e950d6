"""The study file: models, data, languages, methods and measures in one YAML file, checked to the last key."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ..errors import BadData, IsoglossError, list_known
from ..files.rows import check_regular
from ..files.yaml_values import compose_yaml, plain_values
from ..reports.paper.layouts import LayoutRequest
from ..stats import RESAMPLES
from .outputs import StudyFigure
from .training import HeadTraining

LARGEST = 1_000_000
PROBLEMS = {  # what pydantic finds, in our words
    "missing": "the key '{}' is missing.",
    "tuple_type": "write a list, one entry per line after a hyphen.",
    "list_type": "write a list, one entry per line after a hyphen.",
    "model_type": "write keys and values here.",
    "dict_type": "write keys and values here.",
    "model_attributes_type": "write keys and values here.",
    "too_short": "at least one entry is needed.",
    "string_type": "write a text here.",
    "string_pattern_mismatch": "use letters, digits, dots, hyphens and underscores only.",
}
UNKNOWN_KEY = ("extra_forbidden", "unexpected_keyword_argument")
Plain = str | int | float | bool


def _word(value: Any) -> Any:
    """Numbers, true and false as words: facts and options are words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if isinstance(value, int | float) else value


def _under(key: str, kind: Any) -> BeforeValidator:
    """Reads a text as an entry with this key alone."""
    return BeforeValidator(
        lambda value: {key: value} if isinstance(value, str) else value, json_schema_input_type=str | kind
    )


def _method(value: Any) -> Any:
    if isinstance(value, str):
        return {"name": value}
    if isinstance(value, Mapping) and len(value) == 1 and "name" not in value:
        (name, options), *_ = value.items()
        return {"name": name, "options": options or {}}
    if isinstance(value, Mapping) and len(value) > 1 and "name" not in value:
        raise ValueError("one method per entry, as in '- continuation: {case: e}'")
    return value


def _inside(value: Any) -> Any:
    path = PurePath(value) if isinstance(value, str) else PurePath("x")
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise ValueError("the report is written into the study's folder. Give a file name, such as report.html")
    return value


Word = Annotated[str, BeforeValidator(_word, json_schema_input_type=Plain)]
Words = Annotated[
    tuple[str, ...],
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value, json_schema_input_type=str | list[str]),
]
STRICT = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)


class Checkpoint(BaseModel):
    """The checkpoint that is opened for one language, and facts that hold for it alone."""

    model_config = STRICT
    checkpoint: str = Field(min_length=1, description="A pulled model, a folder, a GGUF file, or a hub name.")
    facts: dict[str, Word] = Field(default={}, description="Facts of this checkpoint; they come before the model's.")


CheckpointEntry = Annotated[Checkpoint, _under("checkpoint", Checkpoint)]


class ModelSettings(BaseModel):
    """A model: one checkpoint, or one for each language under one label; its facts become columns."""

    model_config = STRICT
    label: str | None = Field(
        None, min_length=1, description="The model's name in tables; the checkpoint's by default."
    )
    checkpoint: str | None = Field(default=None, min_length=1, description="The checkpoint for all languages.")
    checkpoints: dict[str, CheckpointEntry] = Field(default={}, description="A checkpoint for each language.")
    languages: Words = Field(default=(), description="Only these languages.")
    facts: dict[str, Word] = Field(default={}, description="Facts to group by: architecture, size, multilingual, ...")
    served_model: str = Field(
        default="",
        description="The model's name at a server; 'checkpoint' is the address, such as http://host:8000/v1.",
    )
    key_env: str | None = Field(default=None, description="The environment variable that holds the server's key.")
    concurrency: int = Field(default=4, ge=1, description="The number of open requests.")
    timeout: float = Field(default=60.0, ge=0.1, description="The number of seconds for a whole response.")
    tries: int = Field(default=6, ge=1, description="The number of tries for each request.")
    tokenizer: str | None = Field(default=None, description="The name or folder of the served model's tokenizer.")
    repeat: int = Field(default=100, ge=0, description="Request N items twice.")
    max_requests: int | None = Field(default=None, ge=1, description="The maximum number of requests.")
    max_cost: float | None = Field(default=None, gt=0, description="The maximum cost, at 'prices'.")
    prices: tuple[float, float] = Field(
        default=(0.0, 0.0), description="The prices of a million prompt tokens and of a million answer tokens."
    )
    notes: str = ""


class MethodSettings(BaseModel):
    """A method with its options, or auto."""

    model_config = STRICT
    name: str = Field(min_length=1, description="The method's name, or auto.")
    options: dict[str, Word] = Field(default={}, description="The method's options.")


ModelEntry = Annotated[ModelSettings, _under("checkpoint", ModelSettings)]
MethodEntry = Annotated[
    MethodSettings,
    BeforeValidator(_method, json_schema_input_type=str | MethodSettings | dict[str, dict[str, Plain] | None]),
]


class Data(BaseModel):
    """A data set's name, a file or a folder; and, for this data only, which items, languages, methods and models."""

    model_config = STRICT
    source: str = Field(min_length=1, description="A data set's name, a file, or a folder of files.")
    name: str | None = Field(default=None, min_length=1, description="Its name for `only`; by default the source's.")
    format: str | None = Field(default=None, description="The data set family to read files as.")
    columns: dict[str, str] = Field(default={}, description="The file's column names, as in 'stereotype: sentence_a'.")
    encoding: str | None = Field(default=None, description="The encoding of the files; detected by default.")
    skip_bad: bool = Field(default=False, description="Leave out rows that cannot be read, and count them.")
    where: dict[str, Words] = Field(
        default={}, description="Only items with these values: category, task, or another tag."
    )
    languages: Words = Field(default=(), description="Only these languages.")
    methods: tuple[MethodEntry, ...] = Field(default=(), description="These methods instead of the study's.")
    models: Words = Field(default=(), description="Only the models with these labels.")
    facts: dict[str, Word] = Field(
        default={}, description="Facts about the data that become columns: corpus, part, ..."
    )


DataEntry = Annotated[Data, _under("source", Data)]


class MeasuringSettings(BaseModel):
    """What is measured when everything is scored."""

    model_config = STRICT
    metrics: Words | None = Field(default=None, description="The metrics; all that fit by default.")
    by: Words | None = Field(
        default=None, description="Columns to group by: task, category, target, a fact of the models."
    )
    mode: Literal["corrected", "paper"] = "corrected"
    interval: Literal["auto", "bootstrap", "bca", "wilson"] = "auto"
    resamples: int = Field(default=RESAMPLES, ge=100, le=10_000_000)
    seed: int = Field(default=0, ge=0)


class Sampling(BaseModel):
    """How many items of each data set, language and task are scored."""

    model_config = STRICT
    limit: int | None = Field(default=None, ge=1)
    seed: int = Field(default=0, ge=0)


class Opening(BaseModel):
    """How the models are opened and fed."""

    model_config = STRICT
    device: str = "cpu"
    device_map: Literal["auto", "balanced", "sequential"] | None = None
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    token_budget: int | None = Field(default=None, ge=1)
    part_size: int | None = Field(default=None, ge=1)
    order: Literal["cluster", "item"] = "cluster"
    offline: bool = False
    allow_pickle: bool = False


class StudyFile(BaseModel):
    """A study: every model on all the data, in every language, by every method."""

    model_config = ConfigDict(**STRICT, title="An Isogloss study")
    name: str = Field(pattern=r"^[\w][\w.-]*$", description="Letters, digits, dots and hyphens; the folder's name.")
    title: str = ""
    notes: str = ""
    models: tuple[ModelEntry, ...] = Field(min_length=1)
    data: tuple[DataEntry, ...] = Field(min_length=1)
    languages: Words = Field(default=(), description="By tag or name; all that the data has by default.")
    methods: tuple[MethodEntry, ...] = Field(default=(MethodSettings(name="auto"),), min_length=1)
    measures: MeasuringSettings = MeasuringSettings()
    report: Annotated[str | None, BeforeValidator(_inside)] = Field(
        default=None, min_length=1, description="A page to write into the study's folder: report.html"
    )
    claims: str | None = Field(default=None, min_length=1, description="A claims file to test on the whole study.")
    until: str | None = Field(
        default=None, min_length=1, description="A stopping rule for each cell: ss±2, ss!=50, ss within 2 of RUNS."
    )
    training: tuple[HeadTraining, ...] = Field(default=(), description="Next-sentence heads to train before scoring.")
    tables: tuple[LayoutRequest, ...] = Field(default=(), description="Tables to write to tables.md and tables.tex.")
    figures: tuple[StudyFigure, ...] = Field(default=(), description="Figures to draw into the folder figures.")
    labels: dict[str, str] = Field(default={}, description="The names of values in the tables.")
    sample: Sampling = Sampling()
    loading: Opening = Opening()


# What is written under a key, for the names of the keys that are allowed there.
ENTRIES: dict[int | str, Any] = {"checkpoints": Checkpoint, "models": ModelSettings, "methods": MethodSettings}
ENTRIES |= {"data": Data, "measures": MeasuringSettings, "sample": Sampling, "loading": Opening}
ENTRIES |= {"tables": LayoutRequest, "figures": StudyFigure, "training": HeadTraining}


def read_study(path: str | Path) -> StudyFile:
    """The study in a file; a mistake is one sentence with the file and the line."""
    path = Path(path)
    try:
        with check_regular(path).open(encoding="utf-8") as file:
            text = file.read(LARGEST + 1)
    except FileNotFoundError as error:
        raise IsoglossError(f"No such file: {path}.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise BadData(path, None, "cannot be read as UTF-8 text. Is it a study file?") from error
    if len(text) > LARGEST:
        raise BadData(path, None, "too large for a study file.")
    node = compose_yaml(path, text)
    if not isinstance(node, yaml.MappingNode):
        raise BadData(path, None, "a study file needs keys such as name, models and data. See docs/how-to/studies.md.")
    try:
        study = StudyFile.model_validate(plain_values(path, node))
    except ValidationError as error:
        raise _first_error(path, node, error=error) from error
    return _checked(path, study, node=node)


def schema() -> dict[str, Any]:
    """The JSON schema of study files, for editors."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **StudyFile.model_json_schema()}


def _first_error(path: Path, node: yaml.Node, *, error: ValidationError) -> BadData:
    """The first thing that is wrong, in one sentence."""
    errors = error.errors(include_url=False)
    first = next((problem for problem in errors if problem["type"] in UNKNOWN_KEY), errors[0])
    at, line = _find(node, first["loc"])
    last = str(first["loc"][-1]) if first["loc"] else ""
    if first["type"] in UNKNOWN_KEY:
        kind = next((ENTRIES[part] for part in reversed(first["loc"][:-1]) if part in ENTRIES), StudyFile)
        fields = sorted(kind.model_fields if issubclass(kind, BaseModel) else kind.__dataclass_fields__)
        above = at.rpartition(", ")[0]
        parent = f"{above}: " if above else ""
        return BadData(
            path, line, f"{parent}no key named '{last}'.{_near(last, fields)} Known: {list_known(last, fields)}."
        )
    message = str(first["msg"]).removeprefix("Value error, ")
    problem = PROBLEMS.get(first["type"], f"{message[:1].lower()}{message[1:]}.").replace("{}", last)
    return BadData(path, line, f"{at}: {problem}" if at else problem)


def _near(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f" Did you mean '{near[0]}'?" if near else ""


def _find(node: yaml.Node, where: Sequence[int | str]) -> tuple[str, int]:
    """The place as people write it, such as `models 2, label`, and its line; as deep as the file goes."""
    words: list[str] = []
    line = node.start_mark.line
    for part in where:
        entries: dict[Any, tuple[yaml.Node, yaml.Node]] = {}  # by key or index, each with the node that has its line
        if isinstance(node, yaml.MappingNode):
            entries = {key.value: (key, value) for key, value in node.value}
        elif isinstance(node, yaml.SequenceNode):
            entries = {index: (value, value) for index, value in enumerate(node.value)}
        if isinstance(part, int) and words:
            words[-1] += f" {part + 1}"
        elif part in entries:
            words.append(str(part))
        if part not in entries:
            break
        lined, node = entries[part]
        line = lined.start_mark.line
    return ", ".join(words), line + 1


def _checked(path: Path, study: StudyFile, *, node: yaml.Node) -> StudyFile:
    """The study, when models and labels go together."""

    def refuse(where: list[int | str], problem: str) -> BadData:
        at, line = _find(node, where)
        return BadData(path, line, f"{at}: {problem}")

    labels: set[str] = set()
    for index, model in enumerate(study.models):
        label = model.label or model.served_model or str(model.checkpoint)
        one, several = bool(model.checkpoint), bool(model.checkpoints)
        problems = {
            "a model needs either 'checkpoint' or 'checkpoints'.": one == several,
            "a model with several checkpoints needs a 'label'.": several and not model.label,
            "'key_env' goes with 'served_model'.": model.key_env and not model.served_model,
            f"the label '{label}' is there twice.": label in labels,
        }
        if wrong := [problem for problem, is_wrong in problems.items() if is_wrong]:
            raise refuse(["models", index], wrong[0])
        labels.add(label)
    for index, data in enumerate(study.data):
        for name in data.models:
            if name not in labels:
                raise refuse(["data", index, "models"], f"no model is labeled '{name}'.{_near(name, labels)}")
    return study
