"""`isogloss templates`: expand templates, and check those of a language."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from ..errors import IsoglossError
from . import options
from .messages import say

if TYPE_CHECKING:
    from ..templates.lexicon import Lexicon

app = typer.Typer(help="Expand and check templates.", no_args_is_help=True)
Sets = typer.Option([], "--set", help="Only this set. May be repeated.")


@app.command("expand")
def expand(
    template: str = typer.Argument(
        None,
        help="A template in quotes, or a SHADES table; by default the sets of the language.",
    ),
    language: str = typer.Option(..., "--language", "-l", help="The language, by tag or name."),
    folder: Path = options.Folder,
    sets: list[str] = Sets,
    limit: int = typer.Option(20_000, "--limit", min=1, help="Stop if there are more than N sentences."),
    shades: bool = typer.Option(False, "--shades", help="Read the template in SHADES' notation."),
    output_format: options.TextOrJson = options.Format,
) -> None:
    """Print every sentence of a template or of a language's sets."""
    from ..templates.checks import expand_sets, sets_path
    from ..templates.expansion import expand
    from ..templates.grammar import parse_template
    from ..templates.lexicon import read_lexicon
    from ..templates.sets import choose_sets, read_sets
    from ..templates.shades import read_shades

    lexicon = read_lexicon(language, folder)
    if template is not None and Path(template).suffix and Path(template).is_file():
        _fill_table(Path(template), lexicon)
        return
    if template is not None:
        parsed = read_shades(template) if shades else parse_template(template)
        rows = [("", "", sentence) for sentence in expand(parsed, lexicon, limit=limit)]
    else:
        chosen = choose_sets(read_sets(sets_path(lexicon.language, folder)), sets)
        rows = [(f.name, f.variant or "", sentence) for f, sentence in expand_sets(chosen, lexicon, limit=limit)]
    options.show(
        output_format,
        text=lambda: "\n".join("\t".join(filter(None, [name, kind, sentence.text])) for name, kind, sentence in rows),
        json=lambda: [
            {"template": name, "variant": kind or None, "text": sentence.text, **sentence.fillers}
            for name, kind, sentence in rows
        ],
    )


def _fill_table(path: Path, lexicon: Lexicon) -> None:
    """Print a table of contrasts as CSV, and what could not be filled to standard error."""
    import csv
    import sys

    from ..files.sources import read
    from ..templates.contrasts import fill_table, table_rows

    table = fill_table(read(path, language=lexicon.language), lexicon)
    csv.writer(sys.stdout, lineterminator="\n").writerows(table_rows(table, lexicon.language))
    for problem in table.problems:
        say(problem)


@app.command("check")
def check(
    languages: list[str] = typer.Argument(help="Languages, by tag or name."),
    folder: Path = options.Folder,
    sets: list[str] = Sets,
    sheet: Path = typer.Option(
        None,
        "--sheet",
        help="Write a review sheet, .xlsx or .csv, or read the completed one; with --folder, write its corrections there.",
    ),
    kinds: list[str] = typer.Option(
        [],
        "--kind",
        help="Write only these rows to the sheet: sentence, prompt, item, wording, form, name or pronoun. May be repeated.",
    ),
    output_format: options.TextOrJson = options.Format,
) -> None:
    """Generate every sentence of a language's sets and list all problems; exit with status 1 if there are any."""
    from ..templates.checks import check_templates, checked_templates_as_text

    if sheet is not None and len(languages) != 1:
        raise IsoglossError("A review sheet is for one language. Give one language with --sheet.")
    if sheet is not None and sheet.exists():
        typer.echo(_read_review(sheet, languages[0], folder=folder), err=output_format != "text")
    checked = [check_templates(language, folder=folder, names=sets) for language in languages]
    options.show(
        output_format,
        text=lambda: "\n".join(map(checked_templates_as_text, checked)),
        json=lambda: [asdict(result) for result in checked],
    )
    if sheet is not None and not sheet.exists():
        from ..annotation.template_review import write_review

        count = write_review(sheet, checked[0].language, folder=folder, kinds=tuple(kinds))
        say(f"Wrote {count} rows to {sheet}.")
    if any(result.problems for result in checked):
        raise typer.Exit(1)


@app.command("parallel")
def parallel(
    names: list[str] = typer.Argument(help="Template sets or vocabularies, such as gender-negative or profession."),
    languages: list[str] = typer.Option([], "--language", "-l", help="Only this language. May be repeated."),
    output_format: options.TextOrJson = options.Format,
) -> None:
    """Print a set or vocabulary in all languages, id by id, with English glosses."""
    from ..languages import resolve
    from ..templates.parallel import parallel_as_text, parallel_rows

    rows = [row for name in names for row in parallel_rows(name, [resolve(language) for language in languages])]
    options.show(output_format, text=lambda: parallel_as_text(rows), json=lambda: [asdict(row) for row in rows])


def _read_review(path: Path, language: str, *, folder: Path | None) -> str:
    """What a filled sheet says; corrections go into your own folder, which is begun from what ships and never changes that."""
    from ..annotation.speaker_rows import KINDS_CHECKED, review_rows
    from ..annotation.template_review import apply_review, read_review, review_as_text
    from ..templates.lexicon import read_lexicon

    begun = folder if folder is not None and (folder / "sets.toml").exists() else None
    review = read_review(path, review_rows(language, folder=begun, kinds=KINDS_CHECKED))
    if folder is not None:
        apply_review(review, read_lexicon(language, begun), folder=folder)
    return review_as_text(review, applied=folder is not None)
