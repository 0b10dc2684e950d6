"""Answers as rows of the long table: one verdict for each statement and prompt."""

import polars as pl

from ..scores import ROW_SCHEMA
from .answer_words import AskedPrompts
from .prompt_words import PROMPTS
from .readings import YES
from .verdicts import read_answers

STATEMENT = ["dataset", "id", "language", "candidate"]
ANSWER = "answer"
PROBABILITY = "probability"
STEREOTYPE, AGREE, DISAGREE = PROMPTS


def make_answer_rows(answers: pl.DataFrame, asked: AskedPrompts | None = None) -> pl.DataFrame:
    """The rows that metrics read, with the columns `prompt`, `rules` and `openings`; `asked` are prompts other than ours.

    Quantity `answer`: `pieces` are the verdicts on the answers to a prompt (orders, then samples), `value` the share of yes,
    `rules` those by which they were read, and `openings` the verdicts on the first ten tokens. A text that is null was
    not asked for, so it is no answer.
    Quantity `probability`: that of yes, given that it is yes or no, averaged over both orders; none without both.
    """
    order = [*STATEMENT, "prompt", "order", "sample"]
    answers = answers.filter(pl.col("text").is_not_null())
    read = read_answers(answers, asked).sort(order, descending=[*[False] * 5, True, False], maintain_order=True)
    groups = read.group_by(*STATEMENT, "prompt", maintain_order=True)
    verdicts = groups.agg(
        pl.lit(ANSWER).alias("quantity"),
        (pl.col("verdict") == YES).mean().alias("value"),
        pl.len().cast(pl.Int64).alias("tokens"),
        pl.col("verdict").alias("pieces"),
        pl.col("rule").alias("rules"),
        pl.col("opening_verdict").alias("openings"),
    )
    parts = [verdicts]
    if answers["yes"].count():
        yes = 1 / (1 + (pl.col("no") - pl.col("yes")).exp())
        whole = pl.col("yes").is_not_null().all()
        first = answers.filter(pl.col("sample") == 0).group_by(*STATEMENT, "prompt", maintain_order=True)
        probabilities = first.agg(
            pl.lit(PROBABILITY).alias("quantity"),
            pl.when(whole).then(yes.mean()).alias("value"),
            pl.when(~whole).then(pl.lit("no log-probabilities of both answers")).alias("why"),
        )
        parts.append(probabilities)
    rows = pl.concat(parts, how="diagonal")
    missing = {name: kind for name, kind in ROW_SCHEMA.items() if name not in rows.columns}
    rows = rows.with_columns(pl.lit(None, dtype=kind).alias(name) for name, kind in missing.items())
    filled = rows.with_columns(pl.col("unknown").fill_null(0), pl.col("truncated").fill_null(False))
    return filled.select(*ROW_SCHEMA, "prompt", "rules", "openings")
