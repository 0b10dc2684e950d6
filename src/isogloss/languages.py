"""Languages: one TOML file each, found by BCP 47 tag or by name."""

import difflib
import os
import tomllib
import unicodedata
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import langcodes

from .chat.prompt_words import find_prompt_problems
from .chat.question_words import SECTION, find_question_problems
from .errors import BadData, CannotWrite, IsoglossError, UnknownName
from .language_names import english_name, find_name, own_name
from .registry import load_point

ENDS = ".!?…‼⁇⁈⁉。．！？｡।॥؟۔։።፧፨၊။།៕"  # in any language; `ends` of a language file adds to them
RIGHT_TO_LEFT = ("Arab", "Hebr", "Nkoo", "Syrc", "Thaa", "Adlm", "Rohg")
UNSPACED = ("Hans", "Hant", "Jpan", "Khmr", "Laoo", "Mymr", "Thai", "Tibt")
DATA = Path(__file__).parent / "data"
FACTS = ("tag", "name", "autonym", "direction", "script", "spaces")


@dataclass(frozen=True, slots=True)
class Language:
    """What is known about a language; `sections` holds what single methods need (prompts, gender words, ...)."""

    tag: str
    name: str
    autonym: str
    direction: str
    script: str
    spaces: bool
    path: Path
    sections: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


def home() -> Path:
    """The folder that Isogloss keeps for this user: languages of their own, and models (ISOGLOSS_HOME moves it)."""
    return Path(os.environ.get("ISOGLOSS_HOME", Path.home() / ".isogloss"))


def tags() -> list[str]:
    """The tags of all languages that have a file."""
    return sorted(_paths())


def get(name: str) -> Language:
    """The language with a file and that tag, English name or own name; what is wrong with a broken file is said."""
    paths = _paths()
    if _is_tag(name):
        tag = standard_tag(name)
        if tag in paths:
            return read_language(paths[tag])
        if tag in _files().broken:
            raise _files().broken[tag]
    for language in map(read_language, paths.values()):
        if name.casefold() in (language.name.casefold(), language.autonym.casefold()):
            return language
    raise UnknownName("language", name, paths)


def resolve(name: str) -> str:
    """The tag for a tag or a language's name, in any language; neither needs a file."""
    known_tag = _known_tag(name)
    if known_tag:
        return known_tag
    if _is_tag(_with_hyphens(name)):
        return standard_tag(name)
    if tag := find_name(name):
        return standard_tag(tag)
    near = difflib.get_close_matches(name.casefold(), _names(), n=1, cutoff=0.8)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    raise IsoglossError(
        f"No language named '{name}'.{hint} Use a tag such as 'pl', 'sw' or 'pt-BR', "
        "or a name such as 'Polish' or 'polski'. Languages with a file: isogloss list languages"
    )


@cache
def standard_tag(tag: str) -> str:
    """The tag as BCP 47 writes it: `pt-br` becomes `pt-BR`, and `pl_PL` becomes `pl`, whose usual country it is."""
    plain = _with_hyphens(tag)
    if not _is_tag(plain):
        raise IsoglossError(f"'{tag}' is not a language tag. Use BCP 47, such as 'de', 'pt-BR' or 'zh-Hant'.")
    standard = str(langcodes.standardize_tag(plain))
    if "-" not in standard or standard in _paths():
        return standard
    whole = langcodes.get(standard).maximize()
    return next((candidate for candidate in _paths() if langcodes.get(candidate).maximize() == whole), standard)


def _with_hyphens(tag: str) -> str:
    """A tag without what locales add to it: pl_PL.UTF-8 is pl-PL."""
    return tag.split(".")[0].split("@")[0].replace("_", "-")


def describe(tag: str) -> Language:
    """The language with that tag; without a file its names are CLDR's, and its script is the one usual for the tag."""
    paths = _paths()
    return read_language(paths[tag]) if tag in paths else _describe_tag(tag)


@cache
def _describe_tag(tag: str) -> Language:
    if not _is_tag(tag):
        return Language(tag, tag, tag, "ltr", "Zyyy", True, Path())
    script = langcodes.Language.get(tag).maximize().script or "Zyyy"
    direction = "rtl" if script in RIGHT_TO_LEFT else "ltr"
    return Language(tag, english_name(tag), own_name(tag), direction, script, script not in UNSPACED, Path())


def clear_cache() -> None:
    """Read language files again when they are next needed: after one was written or changed."""
    for function in (read_language, standard_tag, _known_tag, _names, _files_with):
        function.cache_clear()


def ends_sentence(text: str, tag: str) -> bool:
    """Whether a text ends with a mark that ends sentences, also behind closing quotes and brackets."""
    ends = ENDS + str(describe(tag).sections.get("sentences", {}).get("ends", ""))
    closed = text.rstrip()
    while closed and (closed[-1] in "\"'" or unicodedata.category(closed[-1]) in ("Pe", "Pf", "Pi")):
        closed = closed[:-1]
    return closed.endswith(tuple(ends))


def finish_sentence(text: str, tag: str) -> str:
    """The text without spaces at its end, and with the language's period where nothing ends it."""
    stop = str(describe(tag).sections.get("sentences", {}).get("stop", "."))
    return text.rstrip() if ends_sentence(text, tag) else text.rstrip() + stop


def join_sentences(first: str, second: str, *, tag: str) -> str:
    """Two sentences one after the other, with a space where the language has one between sentences."""
    language = describe(tag)
    return f"{first.rstrip()}{language.sections.get('sentences', {}).get('between', ' ' if language.spaces else '')}{second}"


def new(tag: str, *, folder: Path | None = None) -> Path:
    """The path of a new language file, a skeleton to fill in; an existing file is never overwritten."""
    tag = resolve(tag)
    target = (folder or home() / "languages") / f"{tag}.toml"
    if tag in _paths() or target.exists():
        raise IsoglossError(f"'{tag}' has a file already: {_paths().get(tag, target)}. Edit that one.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_fill_skeleton(tag), encoding="utf-8")
    except OSError as error:
        raise CannotWrite(target, error) from error
    clear_cache()
    return target


def _fill_skeleton(tag: str) -> str:
    """The text of a new file: what CLDR says about the language, and prompts and answer words to fill in."""
    language = _describe_tag(tag)
    text = (DATA / "new_language.toml").read_text(encoding="utf-8")
    for fact in FACTS:
        value = str(getattr(language, fact))
        text = text.replace(f"{{{fact}}}", value.lower() if fact == "spaces" else value)
    return text


@cache
def _is_tag(text: str) -> bool:
    return text.isascii() and len(text.split("-")[0]) in (2, 3) and bool(langcodes.tag_is_valid(text))


@cache
def _known_tag(name: str) -> str | None:
    """The tag of a language with a file; for a tag itself no file is read."""
    return name if name in _paths() else _names().get(name.casefold())


@cache
def _names() -> dict[str, str]:
    return {
        name.casefold(): language.tag
        for language in map(read_language, _paths().values())
        for name in (language.tag, language.name, language.autonym)
    }


@dataclass(frozen=True, slots=True)
class LanguageFiles:
    """The file of each language, and what is wrong with the files that were skipped, by tag."""

    paths: Mapping[str, Path]
    broken: Mapping[str, BadData]


def _paths() -> Mapping[str, Path]:
    return _files().paths


def _files() -> LanguageFiles:
    folder = os.path.join(home(), "languages")
    try:
        changed = os.stat(folder).st_mtime_ns
    except OSError:
        changed = 0
    return _files_with(folder, changed)


@cache
def _files_with(own: str, changed: int) -> LanguageFiles:
    """The file of each language; looked up again when the user's own folder is another or has `changed`.

    A broken file of a user or of another package is skipped with a warning: it concerns one language, not all.
    """
    folders = [Path(load_point("languages", point)) for point in entry_points(group="isogloss.languages")]
    paths = {path.stem: path for path in sorted((DATA / "languages").glob("*.toml"))}
    broken = {}
    for path in (path for folder in (*folders, Path(own)) for path in sorted(folder.glob("*.toml"))):
        try:
            read_language(path)
        except BadData as error:
            broken[path.stem] = error
            warnings.warn(f"A language file is skipped. {error}", stacklevel=2)
        else:
            paths[path.stem] = path
    return LanguageFiles(paths, broken)


@cache
def read_language(path: Path) -> Language:
    """The language in a file; all that is wrong with the file is named at once."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadData(path, None, f"not a TOML file: {error}.") from error
    except OSError as error:
        raise BadData(path, None, f"cannot be read ({error.strerror}).") from error
    problems = _file_problems(content, path.stem)
    if problems:
        raise BadData(path, None, "; ".join(problem.removesuffix(".") for problem in problems) + ".")
    sections = {key: value for key, value in content.items() if key not in FACTS}
    return Language(**{fact: content[fact] for fact in FACTS}, path=path, sections=sections)


def _file_problems(content: Mapping[str, Any], stem: str) -> list[str]:
    """What is wrong with the content of a language file: missing facts first, then wrong ones, then prompts."""
    texts = [fact for fact in FACTS if fact != "spaces" and not isinstance(content.get(fact), str)]
    problems = []
    if texts:
        names = ", ".join(f"'{fact}'" for fact in texts)
        problems.append(f"a language file needs {names}, {'a text' if len(texts) == 1 else 'texts'}.")
    if not isinstance(content.get("spaces"), bool):
        problems.append("a language file needs 'spaces', true or false.")
    if "direction" not in texts and content["direction"] not in ("ltr", "rtl"):
        problems.append(f"direction is '{content['direction']}'; use 'ltr' or 'rtl'.")
    if "tag" not in texts and content["tag"] != stem:
        problems.append(f"the tag '{content['tag']}' differs from the file's name.")
    problems += find_question_problems(content[SECTION]) if SECTION in content else []
    return problems + (find_prompt_problems(content["ask"]) if "ask" in content else [])
