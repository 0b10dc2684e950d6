"""Checking the templates of a language: all that is wrong, set by set, and how many sentences there are."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from ..checks.text_checks import mixed_word, odd_characters
from ..errors import IsoglossError
from .expansion import LIMIT, ExpandedSentence, chosen_terms, count_fillings, fillings, realise, refuse_equal
from .features import show_features
from .items import TemplateFrame, make_frames, set_lexicon
from .lexicon import FOLDER, Lexicon, category_of, read_lexicon
from .resolution import ResolvedTemplate, resolve_template
from .sets import TemplateSet, choose_sets, read_sets
from .vocabulary import FormCell

REFERENCE = "en"


@dataclass(frozen=True, slots=True)
class SetCount:
    """How large a set is: wordings with their control items, terms, concepts, sentences."""

    set: str
    templates: int
    sentences: int


@dataclass(frozen=True, slots=True)
class CheckedTemplates:
    """What a check found: sizes, what is wrong, and how the ids differ from the English ones."""

    language: str
    vocabularies: dict[str, int]
    sets: tuple[SetCount, ...]
    problems: tuple[str, ...]
    notes: tuple[str, ...]


def sets_path(language: str, folder: Path | None = None) -> Path:
    """The file of sets in a folder of one's own, or the one that ships for the language."""
    path = (folder or FOLDER / language) / "sets.toml"
    if not path.exists():
        if folder is None:
            raise IsoglossError(
                f"There are no templates for '{language}'. Write a file sets.toml in a folder of your own and name it, such as `folder='my/{language}'`; "
                "see docs/how-to/templates.md."
            )
        raise IsoglossError(f"There is no file of sets: {path}. See docs/how-to/templates.md for how to write one.")
    return path


def check_templates(language: str, *, folder: Path | None = None, names: Sequence[str] = ()) -> CheckedTemplates:
    """Every sentence of every set is made; everything that fails is named, each failure once."""
    lexicon = read_lexicon(language, folder)
    sets = choose_sets(read_sets(sets_path(lexicon.language, folder)), list(names))
    problems: Counter[str] = Counter(_word_problems(lexicon))
    used: dict[str, set[str]] = {}
    counts = []
    for template_set in sets:
        ours = set_lexicon(template_set, lexicon)
        sentences = [_try_frame(frame, ours, problems=problems) for frame in make_frames(template_set)]
        counts.append(SetCount(template_set.id, len(sentences), sum(map(len, sentences))))
        for sentence in chain.from_iterable(sentences):
            for key, word in sentence.words.items():
                used.setdefault(category_of(key), set()).add(word.casefold())
    sizes = {name: len(vocabulary.terms) for name, vocabulary in sorted(lexicon.vocabularies.items())}
    notes = (*_differences(lexicon), *([] if names else _unused_forms(lexicon, used)))
    return CheckedTemplates(lexicon.language, sizes, tuple(counts), tuple(problems), notes)


def _word_problems(lexicon: Lexicon) -> Iterator[str]:
    """Terms that are the same word under two ids, and words with letters of two scripts or with odd characters."""
    for vocabulary in filter(None, (*lexicon.vocabularies.values(), lexicon.words)):
        seen: dict[tuple[str, tuple[FormCell, ...]], str] = {}
        for term in vocabulary.terms.values():
            for use, cells in term.uses.items():
                other = seen.setdefault((use, cells), term.id)
                if other != term.id and vocabulary is not lexicon.words:
                    prefix = f"{use} " if use else ""
                    yield f"{vocabulary.path}: '{other}' and '{term.id}' have the same {prefix}forms: '{cells[0].text}'."
                for text in dict.fromkeys(cell.text for cell in cells):
                    problem = odd_characters(text) or next(filter(None, map(mixed_word, text.split())), None)
                    if problem:
                        yield f"{vocabulary.path}, term '{term.id}', '{text}': {problem}."


def _unused_forms(lexicon: Lexicon, used: Mapping[str, set[str]]) -> Iterator[str]:
    """The forms, by their features, that no sentence uses for any term, such as a case that no wording asks for."""
    for name, vocabulary in sorted(lexicon.vocabularies.items()):
        if name not in used:
            continue  # for templates of users' own
        cells = [(use, cell) for term in vocabulary.terms.values() for use, row in term.uses.items() for cell in row]
        forms: dict[str, list[str]] = {}
        for use, cell in cells:
            form_name = f"{use} {show_features(cell.features)}".strip() or "plain"
            forms.setdefault(cell.text.casefold(), []).append(form_name)
        busy: set[str] = set()
        for word in used[name]:  # a suffix may follow the form
            form = next((word[:end] for end in range(len(word), 0, -1) if word[:end] in forms), None)
            busy.update(forms[form] if form else ())
        idle = [text for text in dict.fromkeys(text for group in forms.values() for text in group) if text not in busy]
        if idle:
            yield f"{name}: no wording uses the forms {', '.join(idle)}"


def _try_frame(frame: TemplateFrame, lexicon: Lexicon, *, problems: Counter[str]) -> list[ExpandedSentence]:
    """The sentences of a template that can be made; what is wrong is added to the problems."""
    sentences: list[ExpandedSentence] = []
    try:
        for plan in resolve_template(frame.template, lexicon, position=frame.wording.position):
            sentences += _try_plan(frame, plan, lexicon=lexicon, problems=problems)
        if frame.set.unique:
            refuse_equal(sentences, frame.wording.position)
    except IsoglossError as error:
        problems[str(error)] += 1
    return sentences


def _try_plan(
    frame: TemplateFrame, resolved: ResolvedTemplate, *, lexicon: Lexicon, problems: Counter[str]
) -> Iterator[ExpandedSentence]:
    chosen = chosen_terms(resolved, frame.set.only)
    count, position = count_fillings(chosen), resolved.position
    if count > LIMIT:
        problems[f"{position.path}, line {position.line}: {count:,} sentences, more than {LIMIT:,}."] += 1
        return
    for filling in fillings(chosen):
        try:
            yield realise(resolved, lexicon, filling=filling)
        except IsoglossError as error:
            problems[str(error)] += 1


def _differences(lexicon: Lexicon) -> Iterator[str]:
    """Which categories of the reference language are missing, and where ids differ, so that bars would not align."""
    if lexicon.language == REFERENCE or not (FOLDER / REFERENCE).is_dir():
        return
    other = read_lexicon(REFERENCE)
    missing = sorted(set(other.vocabularies) - set(lexicon.vocabularies))
    if missing:
        yield f"no file for {len(missing)} categories of '{REFERENCE}': {', '.join(missing)}"
    for name, vocabulary in sorted(lexicon.vocabularies.items()):
        if name not in other.vocabularies:
            yield f"{name}: not a category of '{REFERENCE}'"
            continue
        terms = set(other.vocabularies[name].terms)
        for verb, ids in (("lacks", terms - set(vocabulary.terms)), ("has besides", set(vocabulary.terms) - terms)):
            if ids:
                yield f"{name}: {verb} {len(ids)} ids: {', '.join(sorted(ids)[:8])}{', …' if len(ids) > 8 else ''}"


def checked_templates_as_text(checked: CheckedTemplates) -> str:
    """What a check found, for a terminal."""
    count = len(checked.problems)
    lines = [f"{checked.language}: " + ", ".join(f"{name} {count}" for name, count in checked.vocabularies.items())]
    lines += [
        f"  {counts.set}: {counts.templates} templates, {counts.sentences:,} sentences" for counts in checked.sets
    ]
    lines += [f"  note: {note}" for note in checked.notes]
    lines += [f"  problem: {problem}" for problem in checked.problems]
    return "\n".join([*lines, f"  {count} problem{'s' * (count != 1)}"])


def expand_sets(
    sets: Sequence[TemplateSet], lexicon: Lexicon, *, limit: int = LIMIT
) -> Iterator[tuple[TemplateFrame, ExpandedSentence]]:
    """Every sentence of the sets, with the template it comes from; more than `limit` are refused."""
    count = 0
    for template_set in sets:
        ours = set_lexicon(template_set, lexicon)
        for frame in make_frames(template_set):
            for plan in resolve_template(frame.template, ours, position=frame.wording.position):
                chosen = chosen_terms(plan, template_set.only)
                count += count_fillings(chosen)
                if count > limit:
                    raise IsoglossError(
                        f"There are {count:,} sentences or more, over the limit of {limit:,}. Use `limit={count}` or more."
                    )
                yield from ((frame, realise(plan, ours, filling=filling)) for filling in fillings(chosen))
