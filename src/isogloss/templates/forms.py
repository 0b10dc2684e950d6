"""Forms: which form of a term has the asked features, and what others then agree with."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..errors import IsoglossError
from .features import DEFAULTS, Features, make_features, show_features
from .rules import SameForm
from .vocabulary import MAIN, FormCell, Term, Vocabulary

Asked = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Form:
    """A form, and the features it stands for in its sentence: what words that agree with it take over."""

    text: str
    features: Features


class MissingForm(IsoglossError):
    """A form that a template asks for and the vocabulary lacks; names file and cell."""

    def __init__(self, vocabulary: Vocabulary, term: Term, asked: Asked, problem: str) -> None:
        cell = show_features(asked.items()) or "plain"
        super().__init__(f"{vocabulary.path}, term '{term.id}', form '{cell}': {problem}")


def use_of(features: Asked) -> str:
    """The use that features name: the noun or adjective itself, or one of the others."""
    return features.get("Use", MAIN).casefold()


def may_stand(term: Term, asked: Asked) -> bool:
    """Whether what a term has by nature does not contradict what is asked for."""
    return fits(term.natures.get(use_of(asked), ()), asked)


def find_form(
    vocabulary: Vocabulary,
    term: Term,
    *,
    asked: Asked,
    distinguished: Iterable[str] = (),
    same: tuple[SameForm, ...] = (),
) -> Form:
    """The form of a term with the asked features; what it has by nature counts as asked for.

    A vocabulary that says nothing about a feature that its language distinguishes has no form for it.
    """
    form = _find(vocabulary, term, features=tuple(asked.items()), same=same)
    silent = [name for name in sorted(distinguished) if _is_silent(vocabulary, term, name=name, asked=asked)]
    if silent:
        problem = (
            f"the file does not say how words change for {' and '.join(silent)}. Add it to 'inflects', with the forms "
            "under 'columns' or in the term, or to 'invariable' if they do not change."
        )
        raise MissingForm(vocabulary, term, asked, problem)
    return form


def _is_silent(vocabulary: Vocabulary, term: Term, *, name: str, asked: Asked) -> bool:
    """Whether a feature is asked for, with another value than the default, that no form of the term was written for."""
    use = use_of(asked)
    if term.invariable or asked.get(name, DEFAULTS.get(name)) == DEFAULTS.get(name):
        return False
    declared = {*vocabulary.inflects, *vocabulary.invariable} if use in (MAIN, "adj") else set()
    declared |= {feature for cell in term.uses[use] for feature, _ in cell.features}
    declared |= {feature for feature, _ in term.natures.get(use, ())}
    return name not in declared


@lru_cache(maxsize=100_000)
def _find(vocabulary: Vocabulary, term: Term, *, features: Features, same: tuple[SameForm, ...]) -> Form:
    asked = dict(features)
    use = use_of(asked)
    wanted = {name: value for name, value in asked.items() if name != "Use"} | dict(term.natures.get(use, ()))
    cells = term.uses.get(use)
    if cells is None:
        problem = f"the term has no '{use}'. Add it, or leave the term out with 'only'."
        raise MissingForm(vocabulary, term, asked, problem)
    listed = [cell for cell in cells if fits(cell.features, wanted)]
    alike = wanted if listed else _like_another(term, wanted, same=same)
    fitting = listed or [cell for cell in cells if fits(cell.features, alike)]
    if not fitting:
        raise MissingForm(vocabulary, term, asked, f"there is no such form. Add it to the file{_hint(wanted, same)}.")
    if marked := _marked_only(fitting, alike):
        raise MissingForm(vocabulary, term, asked, marked)
    best = _best(fitting, alike)
    if len({cell.text for cell in best}) > 1:
        cells_listed = ", ".join(f"{show_features(cell.features) or 'plain'} '{cell.text}'" for cell in best[:4])
        raise MissingForm(
            vocabulary, term, asked, f"several forms fit: {cells_listed}. Say more, or agree with a slot."
        )
    return Form(best[0].text, make_features(dict(best[0].features) | dict(wanted)))


def _marked_only(cells: Sequence[FormCell], wanted: Asked) -> str | None:
    """What is wrong where a slot names no case, number or the like, and all forms are for another than the default one."""
    for name, value in DEFAULTS.items():
        values = {dict(cell.features).get(name, value) for cell in cells}
        if name not in wanted and value not in values:
            alternatives = " or ".join(f"'{show_features([(name, other)])}'" for other in sorted(values))
            default = show_features([(name, value)])
            return f"there is no '{default}' form. Add it to the file, or ask for {alternatives} in the slot."
    return None


def _like_another(term: Term, wanted: Asked, *, same: Sequence[SameForm]) -> Asked:
    """The features of the form that is written like the wanted one, by the first rule that holds for the word."""
    features = {**DEFAULTS, **wanted}
    for rule in same:
        if all(features.get(name) == value for name, value in rule.form):
            return wanted if term.lemma.casefold().endswith(rule.unless) else {**wanted, **dict(rule.like)}
    return wanted


def _hint(wanted: Asked, same: Sequence[SameForm]) -> str:
    """The features that would make a rule under 'same' hold, if nothing else contradicts it."""
    features = {**DEFAULTS, **wanted}
    open_rules = [rule.form for rule in same if fits(rule.form, features)]
    missing = [show_features(pair for pair in form if pair[0] not in features) for form in open_rules]
    names = " or ".join(f"'{text}'" for text in dict.fromkeys(missing) if text)
    return f", or give the word that it agrees with the feature {names}" if names else ""


def pick(forms: Sequence[tuple[Features, str]], asked: Asked) -> str | None:
    """The one text whose features fit best; nothing when none does, or several do."""
    fitting = [FormCell(features, text) for features, text in forms if fits(features, asked)]
    texts = {cell.text for cell in _best(fitting, asked)}
    return texts.pop() if len(texts) == 1 else None


def fits(features: Features, wanted: Asked) -> bool:
    """Whether no feature has another value than the wanted one."""
    return all(wanted.get(name, value) == value for name, value in features)


def _best(cells: Sequence[FormCell], wanted: Asked) -> list[FormCell]:
    """The cells with default values for what is not asked for, without those that another one says more exactly."""
    left = list(cells)
    for name, value in DEFAULTS.items():
        if name not in wanted:
            plain = [cell for cell in left if dict(cell.features).get(name, value) == value]
            left = plain or left
    return [cell for cell in left if not any(set(cell.features) < set(other.features) for other in left)]
