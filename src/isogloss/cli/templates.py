"""`isogloss templates`: expand templates, check a language's, mine a corpus for them, propose forms."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import typer

from ..errors import IsoglossError
from . import options

app = typer.Typer(help="Expand, check, mine and propose templates.", no_args_is_help=True)
Language = typer.Option(..., "--language", "-l", help="The language, by tag or name.")
Folder = typer.Option(None, "--folder", help="A folder of your own with vocabularies, words, rules and sets.")
Sets = typer.Option([], "--set", help="Only this set. May be given several times.")


@app.command("expand")
def expand(
    template: str = typer.Argument(None, help="A template in quotes; without one, the sets of the language."),
    language: str = Language,
    folder: Path = Folder,
    sets: list[str] = Sets,
    limit: int = typer.Option(20_000, "--limit", min=1, help="At most so many sentences; more are refused."),
    shades: bool = typer.Option(False, "--shades", help="The template is in SHADES' notation."),
    as_json: bool = options.Json,
) -> None:
    """Print every sentence of a template or of a language's sets, with what fills its slots."""
    from ..templates.checks import expand_sets, sets_path
    from ..templates.expansion import expand
    from ..templates.grammar import parse_template
    from ..templates.lexicon import read_lexicon
    from ..templates.sets import choose_sets, read_sets
    from ..templates.shades import read_shades

    lexicon = read_lexicon(language, folder)
    if template is not None:
        parsed = read_shades(template) if shades else parse_template(template)
        rows = [("", "", one) for one in expand(parsed, lexicon, limit=limit)]
    else:
        chosen = choose_sets(read_sets(sets_path(lexicon.language, folder)), sets)
        rows = [(f.name, f.variant or "", one) for f, one in expand_sets(chosen, lexicon, limit=limit)]
    if as_json:
        options.print_json(
            [{"template": name, "variant": kind or None, "text": one.text, **one.fillers} for name, kind, one in rows]
        )
        return
    for name, kind, one in rows:
        typer.echo("\t".join(filter(None, [name, kind, one.text])))


@app.command("check")
def check(
    languages: list[str] = typer.Argument(help="Languages, by tag or name."),
    folder: Path = Folder,
    sets: list[str] = Sets,
    as_json: bool = options.Json,
) -> None:
    """Make every sentence of a language's sets; name everything that is wrong, and leave with 1 if there is anything."""
    from ..templates.checks import check_templates, checked_templates_as_text

    found = [check_templates(language, folder=folder, names=sets) for language in languages]
    if as_json:
        options.print_json([asdict(one) for one in found])
    else:
        typer.echo("\n".join(map(checked_templates_as_text, found)))
    if any(one.problems for one in found):
        raise typer.Exit(1)


@app.command("mine")
def mine(
    corpus: Path = typer.Argument(help="A text file with one sentence per line."),
    out: Path = typer.Option(..., "--out", "-o", help="The review sheet to write (CSV)."),
    category: str = typer.Option(..., "--category", help="The category whose terms are looked for, such as gender."),
    language: str = Language,
    folder: Path = Folder,
    limit: int = typer.Option(1000, "--limit", min=1, help="At most so many templates."),
) -> None:
    """Find sentences with exactly one term of a category and turn them into templates, for review."""
    from ..templates.lexicon import read_lexicon
    from ..templates.mining import mine_corpus, write_sheet

    found = mine_corpus(corpus, read_lexicon(language, folder), category=category, limit=limit)
    write_sheet(found, out)
    typer.echo(f"Wrote {len(found.rows)} templates from {found.lines:,} lines to {out}. Review them before use.")


@app.command("propose")
def propose(
    words: list[str] = typer.Argument(help="Words to inflect, or a vocabulary file whose missing forms are wanted."),
    out: Path = typer.Option(..., "--out", "-o", help="The review sheet to write (CSV)."),
    language: str = Language,
) -> None:
    """Write candidates for forms to a review sheet; nothing is ever used without review."""
    from ..templates.proposals import propose_forms, write_proposals

    if out.exists():
        raise IsoglossError(f"{out} exists already; choose another name.")
    found = propose_forms(words, language)
    write_proposals(found, out)
    typer.echo(f"Wrote {len(found)} candidates to {out}. Check every one before it goes into a vocabulary.")


@app.command("shares")
def shares(
    runs: list[Path] = typer.Argument(help="Folders of runs of the data set 'templates'."),
    by: str = typer.Option("set", "--by", help="Columns to group by, comma-separated: category,set,wording,concept."),
    top: int = typer.Option(5, "--top", min=1, help="The terms with the largest shares, so many of them."),
    negation: bool = typer.Option(False, "--negation", help="Instead: do negated counterparts turn the shares around?"),
    pairs: bool = typer.Option(
        False, "--pairs", help="Instead: which two terms have the most different distributions?"
    ),
    as_json: bool = options.Json,
) -> None:
    """Show the terms with the largest shares, with intervals over templates."""
    from ..analysis import measures
    from ..analysis.term_shares import measure_negation, measure_shares, name_terms
    from ..metrics._divergences import largest_pairs
    from ..reports.text.measures import measures_as_text
    from ..runs import find_runs, read_scored

    scored = read_scored([run for path in runs for run in find_runs(path)])
    columns = options.split_names(by) or []
    if options.one_of(negation=negation, pairs=pairs) == "pairs":
        rows = [asdict(one) for one in largest_pairs(scored.table)]
        lines = [
            f"{r['model']} · {r['language']} · {r['set']}: {r['first']} -> {r['second']}  "
            f"{r['nats']:.4f} nats  {r['per_token']:.3e} by |V|"
            for r in rows
        ]
        options.print_json(rows) if as_json else typer.echo("\n".join(lines))
        return
    found = (
        measure_negation(scored, by=columns) if negation else name_terms(measure_shares(scored, by=columns, top=top))
    )
    if as_json:
        options.print_json(measures.measures_as_json(found))
    else:
        typer.echo(measures_as_text(found))
