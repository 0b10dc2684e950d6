"""Verdicts on answers: how many of each kind, and where and why those that came with a file differ from ours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from .. import languages
from ..analysis.sides import select
from ..chat.answer_words import asked_prompts
from ..chat.prompt_words import PromptWords, prompt_words_of
from ..chat.readings import NO, RULES, VERDICTS, YES
from ..chat.records import ANSWERS
from ..chat.verdicts import read_answers
from ..errors import IsoglossError, UnknownName
from ..exchange.answers import ANSWER_KEY, read_published
from ..items import BLANK
from ..methods.ask import fill_prompt
from ..reports.text.answers import difference_grid, verdict_grid
from ..reports.text.views import View, view_of
from ..results import Results
from ..run_names import fingerprint
from ..runs import Run, read_items, read_part, written_parts
from ..scores import Scored, add_statements

WHO = ("model", "dataset", "language", "method")
SAME, OPPOSITE, OURS_ONLY, THEIRS_ONLY = "same", "opposite", "only ours", "only theirs"
KINDS = {
    SAME: "both read yes, both no, or both neither",
    OPPOSITE: "one reads yes, the other no",
    OURS_ONLY: "we read yes or no, the file neither",
    THEIRS_ONLY: "the file reads yes or no, we neither",
}
MEANT = {  # what words and numbers of other tools mean; 0 beside 1 alone is no, beside -1 it is neither
    YES: {"yes", "y", "agree", "agrees", "agreed", "agreement", "true", "1", "1.0", "c"},
    NO: {"no", "n", "disagree", "disagrees", "disagreed", "disagreement", "false", "-1", "-1.0", "i"},
}
ZERO = {"0", "0.0"}
NEITHER = "neither"
EXAMPLE = 160  # letters of an answer that is shown


@dataclass(frozen=True, slots=True)
class VerdictCount:
    """How many answers of a group have each verdict."""

    group: Mapping[str, str]
    answers: int
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class VerdictDifference:
    """Answers of a group with the same imported verdict and the same verdict and rule here, with one example."""

    group: Mapping[str, str]
    kind: str
    published: str
    ours: str
    rule: str
    why: str
    count: int
    share: float
    example: str


def read_verdicts(runs: Sequence[Run], *, where: Mapping[str, str] | None = None) -> pl.DataFrame:
    """One row per answer of the runs: who was asked about what, the answer, our verdict and rule, and the one that came with it."""
    parts = [_read_run(run) for run in runs if run.info.get("holds") == ANSWERS.name]
    if not parts:
        raise IsoglossError("These runs hold no answers. Ask a chat model, or import answers.")
    table = pl.concat(parts, how="diagonal_relaxed")
    return select(Scored(table), dict(where or {})).table


def _read_run(run: Run) -> pl.DataFrame:
    answers = pl.concat([read_part(run, number) for number in written_parts(run)])
    with_statements = add_statements(answers.filter(pl.col("text").is_not_null()), read_items(run))
    read = read_answers(with_statements, asked_prompts(run.info))
    published = read_published(run)
    if published is None:
        read = read.with_columns(published=pl.lit(None, dtype=pl.String))
    else:
        read = read.join(published, on=list(ANSWER_KEY), how="left", maintain_order="left")
    items = read_items(run).rename({"text": "statement_text"})  # SHADES has a column `statement` of its own
    facts = items.drop("problems", "word", "derived_from", "variant", strict=False)
    key = ["dataset", "id", "language", "candidate"]
    rows = read.rename({"text": "answer"}).join(facts, on=key, how="left", maintain_order="left")
    rows = rows.with_columns(asked=pl.Series(_asked_texts(rows, run), dtype=pl.String)).drop("context", strict=False)
    labels = {"model": run.info["model"], "method": run.info["method"], **run.info.get("labels", {})}
    columns = [pl.lit(value).alias(name) for name, value in labels.items()]
    mark = fingerprint(run.info["fingerprint"])[:8]
    named = pl.concat_str([pl.lit(mark), *(pl.col(name).cast(pl.String) for name in ANSWER_KEY)], separator=":")
    rows = rows.with_columns(*columns, pl.coalesce("cluster", "id").alias("cluster"), named.alias("answer_id"))
    if "answers" in run.info["fingerprint"]:  # imported: two rows are two answers
        return rows
    # A statement that belongs to several items was asked about once, so that its answers are the same in all of them.
    same = ["asked", "prompt", "order", "sample", "answer"]
    return rows.with_columns(pl.col("answer_id").first().over(same))


def _asked_texts(rows: pl.DataFrame, run: Run) -> list[str]:
    """The question that each answer is to: as the run states it, else as the prompts of the language put it."""
    tag, asked = run.info["language"], asked_prompts(run.info)
    own = prompt_words_of(languages.describe(tag))
    stated = dict(asked.prompts) if asked else run.info["fingerprint"].get("stated_prompts", {})
    yes, no = asked.words if asked else own.words
    words = PromptWords({**own.prompts, **stated}, {YES: (yes,), NO: (no,)})
    context = pl.col("context") if "context" in rows.columns else pl.lit(None, dtype=pl.String).alias("context")
    texts = []
    for prompt, order, statement, before in rows.select("prompt", "order", "statement_text", context).iter_rows():
        sentence = languages.join_sentences(before, statement, tag=tag) if before and BLANK not in before else statement
        texts.append(fill_prompt(words, prompt, order=order, statement=sentence))
    return texts


def count_verdicts(table: pl.DataFrame, *, by: Sequence[str] = ()) -> Results[VerdictCount]:
    """How many answers have each verdict, for each model, data set, language, method and group of `by`."""
    rows = []
    for group, part in group_answers(table, by):
        counted = dict(part["verdict"].value_counts().iter_rows())
        rows.append(VerdictCount(group, part.height, {name: counted[name] for name in VERDICTS if name in counted}))
    return Results(tuple(rows))


def group_answers(table: pl.DataFrame, by: Sequence[str] = ()) -> list[tuple[dict[str, str], pl.DataFrame]]:
    """The answers of each model, data set, language, method and group of `by`, each of them once."""
    unknown = [name for name in by if name not in table.columns]
    if unknown:
        raise UnknownName("column", unknown[0], table.columns)
    names = list(dict.fromkeys([*WHO, *by]))
    parts = table.group_by(names, maintain_order=True)
    once = ((key, part.unique("answer_id", keep="first", maintain_order=True)) for key, part in parts)
    return [(dict(zip(names, map(str, key), strict=True)), part) for key, part in once]


def compare_verdicts(table: pl.DataFrame, *, by: Sequence[str] = ()) -> Results[VerdictDifference]:
    """Where the verdicts that came with answers differ from ours: by kind, both verdicts and our rule, the most frequent first.

    Groups are those of `by`; without any, all answers are one group.
    """
    known = table.filter(pl.col("published").is_not_null())
    if not known.height:
        raise IsoglossError("No verdict came with these answers, so there is nothing to compare ours with.")
    values = {str(value).casefold() for value in known["published"].unique()}
    known = known.with_columns(
        _meant=pl.col("published").map_elements(lambda text: meaning(text, values), return_dtype=pl.String)
    )
    parts = known.group_by(list(by), maintain_order=True) if by else [((), known)]
    rows = []
    for key, part in parts:
        group = dict(zip(by, map(str, key), strict=True))
        rows += _differences(part, group)
    return Results(tuple(rows), notes=tuple(_notes(rows, total=known.height, unread=table.height - known.height)))


def meaning(verdict: str, values: set[str]) -> str:
    """What a verdict of another tool means: yes, no or neither, given all `values` that occur with it."""
    text = verdict.strip().casefold()
    if text in ZERO:
        return NEITHER if values & {"-1", "-1.0"} else NO
    return next((side for side, words in MEANT.items() if text in words), NEITHER)


def _differences(part: pl.DataFrame, group: Mapping[str, str]) -> list[VerdictDifference]:
    """The rows of a group that differ, the most frequent first, and after them one row for all that are the same."""
    rows, same = [], 0
    kinds = part.group_by("published", "_meant", "verdict", "rule", maintain_order=True).agg(
        pl.len().alias("count"), pl.col("answer").first()
    )
    for published, meant, ours, rule, count, example in kinds.sort("count", descending=True).iter_rows():
        kind = find_kind(meant, ours)
        if kind == SAME:
            same += count
            continue
        short = example if len(example) <= EXAMPLE else f"{example[:EXAMPLE]}…"
        share = count / part.height
        rows.append(VerdictDifference(group, kind, published, ours, rule, RULES[rule], count, share, short))
    rows.sort(key=lambda row: list(KINDS).index(row.kind))
    return [*rows, VerdictDifference(group, SAME, "", "", "", KINDS[SAME], same, same / part.height, "")]


def find_kind(meant: str, ours: str) -> str:
    """How a verdict of another tool and ours are related."""
    sides = [verdict if verdict in (YES, NO) else NEITHER for verdict in (meant, ours)]
    if sides[0] == sides[1]:
        return SAME
    if NEITHER not in sides:
        return OPPOSITE
    return OURS_ONLY if sides[0] == NEITHER else THEIRS_ONLY


def _notes(rows: Sequence[VerdictDifference], *, total: int, unread: int) -> list[str]:
    counts = {kind: sum(row.count for row in rows if row.kind == kind) for kind in KINDS}
    shares = ", ".join(f"{count:,} {kind} ({100 * count / total:.1f} %)" for kind, count in counts.items())
    notes = [f"{total:,} answers came with a verdict: {shares}"]
    return [*notes, f"{unread:,} answers came without a verdict"] if unread else notes


@view_of.register
def _view_counts(_: VerdictCount) -> View:
    return View("verdicts", grid=verdict_grid)


@view_of.register
def _view_differences(_: VerdictDifference) -> View:
    return View("differences", grid=difference_grid)
