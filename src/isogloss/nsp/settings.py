"""Settings of a training, and what each family of models takes when nothing is said."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from ..errors import IsoglossError, UnknownName
from ..settings import read_fields

PREFIXES = {"t5": "binary classification: "}
SCHEDULES = ("cosine", "constant")
DEVICES = ("auto", "cpu")
PRECISIONS = ("auto", "no", "fp16", "bf16")
COUNTS = ("batch", "accumulation", "epochs", "pairs", "patience", "validation_pairs", "test_pairs")
RATE_NAMES = {"core_rate": "core", "head_rate": "head", "schedule": "schedule", "cycles": "cycles"}
OPTIMIZERS = ("adamw", "adafactor")
REPORTERS = ("tensorboard", "wandb")
WEIGHT_DECAY = 0.01
CORE_RATE = 5e-6
LORA_RATE = 2e-4
MT5_RATE = 1e-4


@dataclass(frozen=True, slots=True)
class Lora:
    """Low-rank adapters instead of the whole core; in the last `layers` layers only, or in all."""

    rank: int = 8
    alpha: int = 16
    dropout: float = 0.05
    layers: int | None = None


@dataclass(frozen=True, slots=True)
class Rates:
    """Learning rates of core and head, and how they move: warm-up, then a cosine with hard restarts, or constant."""

    core: float | None = None
    head: float = 1e-3
    schedule: str | None = None
    cycles: int = 1


@dataclass(frozen=True, slots=True)
class Footprint:
    """What is assumed for energy: watts per processor core or accelerator, and grams of CO2 for a kilowatt-hour."""

    core_watts: float = 10.0
    device_watts: float = 300.0
    grams: float = 480.0


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """How a head is trained; all but `footprint`, `device`, `test_pairs` and `report_to` are fixed for a checkpoint."""

    seed: int = 0
    epochs: int = 1
    pairs: int | None = None
    batch: int = 8
    accumulation: int = 8
    max_length: int = 256
    rates: Rates = Rates()
    clip: float = 1.0
    lora: Lora | None = None
    precision: str = "auto"
    gradient_checkpointing: bool = False
    checkpoint_percent: float = 20.0
    patience: int | None = None
    validation_pairs: int = 2000
    test_pairs: int = 10_000
    log_every: int = 500
    optimizer: str = "adamw"
    device: str = "auto"
    footprint: Footprint = Footprint()
    report_to: tuple[str, ...] = ("tensorboard",)


UNNAMED = ("seed", "epochs", "pairs", "rates", "clip", "lora", "log_every", "device", "footprint", "report_to")
NAMED = [field.name for field in fields(TrainingSettings) if field.name not in UNNAMED]  # texts may change these


def fill_settings(settings: TrainingSettings, model_type: str) -> TrainingSettings:
    """The settings with the rates that suit the kind of model; mT5 does not move with a small one."""
    rates = settings.rates
    usual = LORA_RATE if settings.lora else MT5_RATE if model_type == "mt5" else CORE_RATE
    schedule = rates.schedule or ("constant" if model_type == "mt5" else "cosine")
    return replace(settings, rates=replace(rates, core=usual if rates.core is None else rates.core, schedule=schedule))


def read_lora(text: str | None) -> Lora | None:
    """Adapters written as RANK or RANK,LAYERS, whose updates count twice; none without a rank."""
    if text is None:
        return None
    rank, _, layers = text.partition(",")
    if not rank.isdecimal() or int(rank) < 1 or (layers and (not layers.isdecimal() or int(layers) < 1)):
        raise IsoglossError(f"`lora` takes a rank, or a rank and a number of layers such as 16,6, not '{text}'.")
    return Lora(rank=int(rank), alpha=2 * int(rank), layers=int(layers) if layers else None)


def read_training_settings(texts: Mapping[str, str], settings: TrainingSettings) -> TrainingSettings:
    """The settings with those changed that texts name, such as batch=16 or core_rate=1e-5."""
    rates = {RATE_NAMES[name]: text for name, text in texts.items() if name in RATE_NAMES}
    others = {name: text for name, text in texts.items() if name not in RATE_NAMES}
    if unknown := [name for name in others if name not in NAMED]:
        raise UnknownName("option of 'nsp train'", unknown[0], (*NAMED, *RATE_NAMES))
    changed = read_fields(TrainingSettings, others, what="nsp train", names=NAMED)
    return replace(settings, rates=replace(settings.rates, **read_fields(Rates, rates, what="nsp train")), **changed)


def check_settings(settings: TrainingSettings) -> None:
    """Refuse settings that cannot work, before a model is opened."""
    rates = settings.rates
    for kind, name, allowed in (
        ("precision", settings.precision, PRECISIONS),
        ("optimizer", settings.optimizer, OPTIMIZERS),
        ("schedule", SCHEDULES[0] if rates.schedule is None else rates.schedule, SCHEDULES),
        *(("tracker", name, REPORTERS) for name in settings.report_to),
    ):
        if name not in allowed:
            raise IsoglossError(f"No {kind} named '{name}'. Known: {', '.join(allowed)}.")
    if rates.schedule == "constant" and rates.cycles > 1:
        raise IsoglossError("A constant schedule has no cycles. Leave out cycles, or use schedule=cosine.")
    if min(rates.core or 0.0, rates.head) < 0:
        raise IsoglossError("A learning rate is negative. Give 0 or more.")
    counts = {name: getattr(settings, name) for name in COUNTS} | {"cycles": rates.cycles}
    if small := [name for name, count in counts.items() if count is not None and count < 1]:
        raise IsoglossError(f"'{small[0]}' must be at least 1.")
    if settings.max_length < 8:
        raise IsoglossError("'max_length' must be at least 8.")
    if settings.device not in DEVICES:
        raise IsoglossError(f"No device named '{settings.device}' for training. Known: {', '.join(DEVICES)}.")
    if not 0 < settings.checkpoint_percent <= 100:
        raise IsoglossError("'checkpoint_percent' is a percentage: more than 0 and at most 100.")


def fixed_settings(settings: TrainingSettings) -> dict[str, Any]:
    """The settings that a checkpoint depends on."""
    free = {
        "footprint",
        "device",
        "test_pairs",
        "report_to",
        *(["optimizer"] if settings.optimizer == OPTIMIZERS[0] else []),
    }
    return {key: value for key, value in asdict(settings).items() if key not in free}


def warmup_steps(steps: int) -> int:
    """How many steps the warm-up takes."""
    return steps // 100 + 1


def rate_share(step: int, steps: int, *, rates: Rates) -> float:
    """The share of their peaks that the learning rates have at a step, counted from 0."""
    step, steps = step + 1, steps + 1  # so that the warm-up's first step is not lost to a rate of nothing
    warm = warmup_steps(steps)
    progress = (step - warm) / max(1, steps - warm)
    if step < warm:
        return step / warm
    if rates.schedule == "constant":
        return 1.0
    return 0.0 if progress >= 1 else 0.5 * (1 + math.cos(math.pi * ((rates.cycles * progress) % 1.0)))


def rates_at(step: int, steps: int, *, rates: Rates) -> tuple[float, float]:
    """The learning rates of core and head at a step, counted from 0."""
    share = rate_share(step, steps, rates=rates)
    return share * (rates.core or 0.0), share * rates.head
