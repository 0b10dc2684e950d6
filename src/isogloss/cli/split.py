"""`isogloss data split` and its sisters: data for the experiments on pairs and parallel texts."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options

Out = typer.Option(..., "--out", "-o", help="The file to write.")
Corpora = typer.Argument(help="Corpora: TSV, TMX, OPUS zip, English text (gzipped or not), or hf:NAME:CONFIG.")
Target = typer.Option(None, "--target", help="The other side, where the corpus is two aligned files (Moses).")
Language = typer.Option(None, "--language", "-l", help="The language of the other side, where the file does not say.")


def split(
    corpora: list[str] = Corpora,
    target: Path = Target,
    language: str = Language,
    lists: list[str] = typer.Option(
        [], "--list", help="A group's own English words, as GROUP=FILE; two of them, instead of female and male."
    ),
    names: bool = typer.Option(True, "--names/--no-names", help="Also look for given names (the lists that ship)."),
    generic: bool = typer.Option(True, "--generic/--no-generic", help="Also for words said of anybody, such as actor."),
    most: int = typer.Option(100_000, "--most", min=1, help="At most so many sentences of each group."),
    seed: int = typer.Option(0, "--seed", help="The seed by which sentences are drawn."),
    out: Path = Out,
    as_json: bool = options.Json,
) -> None:
    """Split parallel texts by their English side into sentences of two groups, as many of each."""
    from ..corpora import splits, wordlists
    from ..corpora.texts import open_corpora

    chosen = wordlists.read_lists(lists) if lists else wordlists.gender_lists(names=names, generic=generic)
    opened = open_corpora(corpora, target=target, language=language)
    found = splits.split_corpora(opened, chosen, most=most, seed=seed)
    splits.write_split(found, out)
    if as_json:
        options.print_json({"splits": splits.split_counts(found)})
    else:
        typer.echo(splits.counts_as_text(found))


def pairs(
    source: str = typer.Argument(help="A data set's name, a file, or a folder of files."),
    languages: list[str] = options.Languages,
    category: str = typer.Option("gender", "--category", help="The bias type to take; 'all' for all of them."),
    native: bool = typer.Option(False, "--native-names", help="Replace transliterated names by native ones (HT_name)."),
    seed: int = typer.Option(0, "--seed", help="The seed by which native names are drawn."),
    out: Path = Out,
) -> None:
    """Write the stereotype and the anti-stereotype of each item as pairs: StereoSet, CrowS-Pairs, your own."""
    from ..corpora import pairs
    from ..files.sources import read

    found = pairs.make_pairs(
        read(source, language=languages, skip_bad=True), category=None if category == "all" else category
    )
    if native:
        found, changed = pairs.native_names(found, seed=seed)
        typer.echo(f"Replaced names in {changed} of {len(found)} pairs.", err=True)
    typer.echo(f"Wrote {len(found)} pairs to {pairs.write_pairs(found, out)}.")


def align(
    english: str = typer.Argument(help="The English pairs."),
    other: str = typer.Argument(None, help="The same pairs in another language; none for English alone."),
    languages: list[str] = options.Languages,
    category: str = typer.Option("gender", "--category", help="The bias type to take; 'all' for all of them."),
    out: Path = Out,
) -> None:
    """Write the single sentences of pairs as a parallel text, for isogloss data split."""
    from ..corpora import pairs
    from ..files.sources import read

    kind = None if category == "all" else category
    first = pairs.make_pairs(read(english, skip_bad=True), category=kind)
    second = pairs.make_pairs(read(other, language=languages, skip_bad=True), category=kind) if other else first
    rows = pairs.parallel_rows(first, second)
    typer.echo(f"Wrote {len(rows)} sentences to {pairs.write_parallel(rows, out, language=second[0].language)}.")


def occupations(
    language: str = typer.Option(..., "--language", "-l", help="ja or ru."),
    out: Path = Out,
) -> None:
    """Write the template baseline (Tmp): two templates, five pairs of gender words, all occupations."""
    from .. import languages as known
    from ..corpora import pairs

    found = pairs.occupation_pairs(known.resolve(language))
    typer.echo(f"Wrote {len(found)} pairs to {pairs.write_pairs(found, out)}.")


def preservation(
    corpora: list[str] = Corpora,
    target: Path = Target,
    language: str = Language,
    as_json: bool = options.Json,
) -> None:
    """Count how many English he- and she-sentences keep the pronoun in their translation."""
    from ..corpora import pronoun_preservation as kept
    from ..corpora.texts import open_corpora

    opened = open_corpora(corpora, target=target, language=language)
    found = kept.count_all(opened)
    if as_json:
        options.print_json({"preservation": kept.preservation_rows(found)})
    else:
        typer.echo(kept.preservation_as_text(found))


def register(app: typer.Typer) -> None:
    """Add the commands to `isogloss data`."""
    for name, command in (
        ("split", split),
        ("pairs", pairs),
        ("align", align),
        ("occupations", occupations),
        ("preservation", preservation),
    ):
        app.command(name)(command)
