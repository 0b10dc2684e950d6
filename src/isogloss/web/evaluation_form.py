"""The evaluation form: what somebody chose becomes a study file, checked before it is queued."""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ..errors import IsoglossError
from ..runs import slug
from ..studies.plan import plan_study
from ..studies.run import failures_as_text
from .choices import check_model, offered_data
from .jobs import FOLDER, STUDY
from .pages import AppState, first
from .runs_folder import REPORT
from .uploads import find_upload

NAME = re.compile(r"[\w][\w.-]{0,79}")
MOST_ITEMS = 1_000_000


@dataclass(frozen=True, slots=True)
class EvaluationForm:
    """What was chosen: a model, data, languages, a method, how many items, and a name for the study."""

    model: str = ""
    data: str = ""
    languages: tuple[str, ...] = ()
    method: str = "auto"
    limit: int | None = None
    name: str = ""


def read_form(fields: dict[str, list[str]]) -> EvaluationForm:
    """What a form says; a number that is none, or a name that cannot be a folder, is refused."""
    text, name = first(fields, "limit"), first(fields, "name")
    if text and not (text.isdecimal() and text.isascii() and 0 < int(text[:9]) <= MOST_ITEMS):
        raise IsoglossError(f"The number of items must lie between 1 and {MOST_ITEMS:,}, or be left empty.")
    if name and not NAME.fullmatch(name):
        raise IsoglossError("A study's name has letters, digits, dots, hyphens and underscores only, at most 80.")
    return EvaluationForm(
        first(fields, "model"),
        first(fields, "data"),
        tuple(dict.fromkeys(fields.get("language", []))),
        first(fields, "method") or "auto",
        int(text) if text else None,
        name,
    )


def start_study(state: AppState, form: EvaluationForm) -> Path:
    """The folder of the study, which is written, checked, and in the queue."""
    check_model(form.model, state.settings)
    state.jobs.check_capacity()
    upload = (
        None if any(offered.name == form.data for offered in offered_data()) else find_upload(state.root, form.data)
    )
    folder = _make_folder(state.root, form)
    try:
        if upload is not None:
            shutil.copyfile(upload.path, folder / FOLDER / upload.path.name)
        source = {"source": upload.path.name} if upload else {"source": form.data}
        languages = form.languages or ((upload.language,) if upload and upload.language else ())
        text = study_text(form, folder.name, source=source, languages=languages, offline=not state.settings.any_model)
        (folder / FOLDER / STUDY).write_text(text, encoding="utf-8")
        plan = plan_study(folder / FOLDER / STUDY)
        if not plan.cells:
            raise IsoglossError(failures_as_text(plan.failures) or "There is nothing to do.")
    except BaseException as error:
        shutil.rmtree(folder)
        if isinstance(error, IsoglossError):
            raise IsoglossError(str(error).removeprefix(f"{folder / FOLDER / STUDY}: ")) from error
        raise
    state.jobs.want(folder, model=form.model)
    return folder


def study_text(
    form: EvaluationForm, name: str, *, source: dict[str, str], languages: tuple[str, ...], offline: bool
) -> str:
    """The study file of a form."""
    study: dict[str, Any] = {"name": name, "models": [form.model], "data": [source]}
    study |= {"languages": list(languages)} if languages else {}
    study |= {"methods": [form.method], "report": REPORT}
    study |= {"sample": {"limit": form.limit}} if form.limit else {}
    study |= {"loading": {"offline": True}} if offline else {}
    return yaml.safe_dump(study, allow_unicode=True, sort_keys=False)


def _make_folder(root: Path, form: EvaluationForm) -> Path:
    """A new folder with the wished name, or with one of our own; a name that is taken is refused, ours gets a number."""
    plain = form.name or slug(f"{Path(form.model).name}-{form.data}")[:60]
    for number in range(1, 1000):
        folder = root / (plain if number == 1 else f"{plain}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            if form.name:
                raise IsoglossError(f"There is a study named '{form.name}' already. Choose another name.") from None
            continue
        (folder / FOLDER).mkdir()
        return folder
    raise IsoglossError(f"There are too many studies named '{plain}'. Give this one a name.")
