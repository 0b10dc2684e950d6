"""Pairs made from other data: of StereoSet items, of two parallel files, of templates, with other names."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..errors import IsoglossError, UnknownName
from ..files.layout import row_of, write_atomically, write_json_lines
from ..items import ANTI_STEREOTYPE, BLANK, STEREOTYPE, Candidate, Item, Items
from ..templates.items import make_items
from ..templates.lexicon import FOLDER, bundled_languages, read_lexicon
from ..templates.sets import read_sets
from ..word_lists import GROUPS, languages_with_names, load_toml
from .texts import ENGLISH

UNSPACED = ("ja", "zh", "th")
TERM_GROUPS = {"woman": "female", "man": "male"}  # terms of the template vocabularies


def make_pairs(items: Items, *, category: str | None = "gender") -> Items:
    """The stereotype and the anti-stereotype of each item as a pair; a sentence that follows a context has it before it.

    Only items of the category are taken, all when there is none.
    """
    rows = []
    for item in items:
        by_role = {candidate.role: candidate for candidate in item.candidates}
        if (category and item.category != category) or not {STEREOTYPE, ANTI_STEREOTYPE} <= set(by_role):
            continue
        before = f"{item.context} " if item.context and BLANK not in item.context else ""
        chosen = tuple(
            replace(by_role[role], text=before + by_role[role].text, word=None)
            for role in (STEREOTYPE, ANTI_STEREOTYPE)
        )
        tags = {name: value for name, value in item.tags.items() if name in ("direction", "target")}
        rows.append(replace(item, candidates=chosen, context=None, tags={"task": "pair", **tags}))
    if not rows:
        raise IsoglossError(f"None of the {len(items)} items is a pair of the category '{category}'.")
    return Items(tuple(rows))


def align_pairs(english: Items, other: Items) -> Items:
    """The other language's pairs under the ids of the English ones: by id, or by their order within a category.

    The Japanese and Russian files have no ids, but the order of the English gender pairs.
    """
    ids = {item.id for item in english}
    if all(item.id in ids for item in other):
        return other
    renamed: dict[int, str] = {}
    for kind in {item.category for item in other}:
        names = [item.id for item in english if item.category == kind]
        items = [item for item in other if item.category == kind]
        if len(names) != len(items):
            raise IsoglossError(
                f"The two files are not parallel: {len(names)} English pairs of '{kind}', "
                f"but {len(items)} in {other[0].language}."
            )
        renamed |= {id(item): name for item, name in zip(items, names, strict=True)}
    rows = []
    for item in other:
        name = renamed[id(item)]
        chosen = tuple(replace(candidate, id=f"{name}-{candidate.role}") for candidate in item.candidates)
        rows.append(replace(item, id=name, cluster=name, candidates=chosen))
    return Items(tuple(rows), other.problems)


def parallel_rows(english: Items, other: Items) -> list[tuple[str, str]]:
    """The single sentences of aligned pairs, English and other, each once: a small parallel text."""
    texts = {(item.id, candidate.role): candidate.text for item in english for candidate in item.candidates}
    rows = [
        (texts[item.id, sentence.role], sentence.text)
        for item in align_pairs(english, other)
        for sentence in item.candidates
        if (item.id, sentence.role) in texts
    ]
    return list(dict.fromkeys(rows))


def write_parallel(rows: Sequence[tuple[str, str]], path: Path, *, language: str) -> Path:
    """The sentences as a TSV with a header; for English alone as plain text."""
    alone = language == ENGLISH
    lines = [] if alone else [f"{ENGLISH}\t{language}"]
    lines += [row[0] if alone else "\t".join(" ".join(cell.split()) for cell in row) for row in rows]
    return write_atomically(path, "".join(f"{line}\n" for line in lines))


def write_pairs(items: Items, path: Path) -> Path:
    """The pairs as JSON lines in our layout."""
    return write_json_lines(path, map(row_of, items))


def occupation_pairs(language: str) -> Items:
    """Tmp: two templates, five pairs of gender words and all occupations, each a female and a male sentence."""
    templates = load_toml("tmp_templates.toml")
    if language not in templates and language in bundled_languages():
        return _template_pairs(language)
    if language not in templates:
        raise UnknownName("language of the occupation templates", language, {*templates, *bundled_languages()})
    plan, rows = templates[language], []
    for number, template in enumerate(plan["template"], 1):
        for words, (male, female) in enumerate(plan["pairs"], 1):
            for job in load_toml("occupations.toml")["occupation"]:
                texts = {}
                for group, gender in (("female", female), ("male", male)):
                    noun = next(job[field] for field in template[f"occupation_{group}"] if field in job)
                    texts[group] = template["text"].format(gender=gender, occupation=noun)
                name = f"{job['id']}-{number}-{words}"
                rows.append(_occupation_pair(name, texts, language=language, job=job["id"], template=str(number)))
    return Items(tuple(rows))


def _template_pairs(language: str) -> Items:
    """Tmp in a language of the template sets: the wordings of `gender-profession` and its professions, man and woman."""
    sets = [listed for listed in read_sets(FOLDER / language / "sets.toml") if listed.id == "gender-profession"]
    rows = []
    for item in make_items(sets, read_lexicon(language)):
        if item.variant is None:
            texts = {TERM_GROUPS.get(candidate.role, ""): candidate.text for candidate in item.candidates}
            job, wording = str(item.tags["concept"]), str(item.tags["wording"])
            rows.append(_occupation_pair(item.id, texts, language=language, job=job, template=wording))
    return Items(tuple(rows))


def _occupation_pair(name: str, texts: Mapping[str, str], *, language: str, job: str, template: str) -> Item:
    """The item of a female and a male sentence about an occupation."""
    tags = {"task": "pair", "template": template, "occupation": job, "groups": "/".join(GROUPS)}
    candidates = tuple(Candidate(f"{name}-{group}", group, texts[group]) for group in GROUPS)
    return Item(name, "tmp", language, "gender", candidates, cluster=job, tags=tags)


def native_names(items: Items, *, seed: int = 0) -> tuple[Items, int]:
    """HT_name: English names replaced by native ones of the same gender, and how many pairs changed.

    Within a pair a name becomes the same native name in both sentences, drawn by the seed. Only the form of the
    dictionary is found: in Russian a name in another case than the nominative stays.
    """
    language = items[0].language
    native, known = load_toml("native_names.toml"), languages_with_names()
    if language not in known:
        raise UnknownName("language with native names", language, known)
    genders = known[language]
    pattern = "|".join(sorted(map(re.escape, genders), key=len, reverse=True))
    # in an unspaced script a name is not to stand within a longer word of the same kind of letters
    edges = (r"(?<![ァ-ヴー])", r"(?![ァ-ヴー])") if language in UNSPACED else (r"(?<!\w)", r"(?!\w)")
    finder = re.compile(f"{edges[0]}(?:{pattern}){edges[1]}")
    rng = np.random.default_rng(seed)
    rows, changed = [], 0
    for item in items:
        names = sorted({name for candidate in item.candidates for name in finder.findall(candidate.text)})
        drawn = {group: list(rng.permutation(native[language][group])) for group in GROUPS}
        new = {name: str(drawn[genders[name]].pop()) for name in names if drawn[genders[name]]}
        chosen = tuple(replace(sentence, text=_swap(finder, sentence.text, new=new)) for sentence in item.candidates)
        rows.append(replace(item, candidates=chosen))
        changed += bool(new)
    return Items(tuple(rows), items.problems), changed


def _swap(finder: re.Pattern[str], text: str, *, new: Mapping[str, str]) -> str:
    return finder.sub(lambda match: new.get(match[0], match[0]), text)
