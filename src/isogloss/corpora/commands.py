"""`isogloss data build`: data from corpora, other data or word lists, one function per kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import typer

from ..cli import options
from ..cli.commands import Commands
from ..errors import IsoglossError


@dataclass(frozen=True, slots=True)
class Build:
    """What is to be built, from what, and how."""

    sources: tuple[str, ...]
    out: Path
    languages: tuple[str, ...]
    columns: dict[str, str]
    target: Path | None
    lists: tuple[str, ...]
    without: tuple[str, ...]
    category: str
    native_names: bool
    folder: Path | None
    limit: int | None
    seed: int
    output_format: str

    @property
    def language(self) -> str | None:
        """The one language that was named, if any."""
        if len(self.languages) > 1:
            raise IsoglossError(f"Name one language here, not {len(self.languages)}.")
        return self.languages[0] if self.languages else None

    @property
    def bias_type(self) -> str | None:
        """The bias type of pairs; none is all."""
        return None if self.category == "all" else self.category


def build(
    kind: Literal["split", "pairs", "align", "occupations", "preservation", "templates"] = typer.Argument(
        help="split: sentences of two groups from parallel texts; pairs: the two sentences of each item; align: pairs as a parallel "
        "text; occupations: the template baseline; preservation: counts of pronouns that translations keep; templates: a review "
        "sheet from a corpus."
    ),
    sources: list[str] = typer.Argument(
        None,
        help="split, preservation: corpora (TSV, TMX, OPUS zip, text, or hf:NAME:CONFIG); pairs: a data set; align: English "
        "pairs, then others; templates: a text with one sentence per line.",
        show_default=False,
    ),
    out: Path = typer.Option(None, "--out", "-o", metavar="FILE", help="The file to write."),
    languages: list[str] = options.Languages,
    columns: list[str] = options.Columns,
    encoding: str = options.Encoding,
    reader: str = options.Reader,
    target: Path = typer.Option(None, "--target", metavar="FILE", help="The other file of an aligned corpus (Moses)."),
    lists: list[str] = typer.Option(
        [],
        "--list",
        metavar="GROUP=FILE",
        help="English words of a group, given for two groups instead of female and male; or age, religion or origin. May be repeated.",
    ),
    without: str = typer.Option(
        None,
        "--without",
        metavar="WORDS",
        help='Words to ignore: names, generic (words used for any gender, such as "actor"), or both.',
    ),
    category: str = typer.Option("gender", "--category", help="The bias type; 'all' for all of them (pairs, align)."),
    native_names: bool = typer.Option(False, "--native-names", help="Replace English names with native ones."),
    folder: Path = options.Folder,
    limit: int = typer.Option(
        None, "--limit", min=1, help="At most N sentences per group (split: 100,000) or N templates (1,000)."
    ),
    seed: int = options.Seed,
    output_format: options.TextOrJson = options.Format,
) -> None:
    """Build data from corpora or other data: sentences of two groups, pairs, parallel texts, templates."""
    passed = {"target": target, "language": languages, "list": lists, "without": without, "native-names": native_names}
    passed |= {
        "category": category != "gender",
        "columns": columns or encoding or reader,
        "folder": folder,
        "limit": limit,
        "seed": seed,
    }
    builder, allowed = BUILDERS[kind]
    if foreign := [name for name, value in passed.items() if value and name not in allowed]:
        raise IsoglossError(f"--{foreign[0]} does not apply to 'data build {kind}'.")
    if bool(sources) == (kind == "occupations"):
        raise IsoglossError(f"'data build {kind}' {'takes no source' if sources else 'needs a source'}.")
    if (out is None) != (kind == "preservation"):
        raise IsoglossError(
            f"'data build {kind}' {'writes a file. Use --out FILE' if out is None else 'prints its counts. Leave out --out'}."
        )
    names = tuple(options.split_names(without) or ())
    files = (
        tuple(sources or ()),
        out,
        tuple(languages),
        options.split_columns(columns, encoding=encoding, reader=reader),
        target,
        tuple(lists),
        names,
    )
    builder(Build(*files, category, native_names, folder, limit, seed, output_format))


def _split(request: Build) -> None:
    from ..errors import UnknownName
    from . import splits, wordlists
    from .texts import open_corpora

    for name in request.without:
        if name not in ("names", "generic"):
            raise UnknownName("word list", name, ("names", "generic"))
    chosen = (
        wordlists.read_lists(list(request.lists))
        if request.lists
        else wordlists.gender_lists(names="names" not in request.without, generic="generic" not in request.without)
    )
    opened = open_corpora(list(request.sources), target=request.target, language=request.language)
    most = request.limit or splits.MOST
    parts = [splits.split_corpus(corpus, chosen, most=most, seed=request.seed) for corpus in opened]
    splits.write_split(parts, request.out)
    options.show(
        request.output_format,
        text=lambda: splits.counts_as_text(parts),
        json=lambda: {"splits": splits.split_counts(parts)},
    )


def _pairs(request: Build) -> None:
    from ..files.sources import read
    from . import pairs

    columns = request.columns
    items = read(request.sources, language=request.languages, columns=columns, skip_bad=True)
    chosen = pairs.make_pairs(items, category=request.bias_type)
    if request.native_names:
        chosen, changed = pairs.native_names(chosen, seed=request.seed)
        typer.echo(f"Replaced names in {changed} of {len(chosen)} pairs.", err=True)
    typer.echo(f"Wrote {len(chosen)} pairs to {pairs.write_pairs(chosen, request.out)}.")


def _align(request: Build) -> None:
    from ..files.sources import read
    from . import pairs

    if len(request.sources) > 2:
        raise IsoglossError("'data build align' takes English pairs and those in one other language.")
    english, *other = request.sources
    columns = request.columns
    first = second = pairs.make_pairs(read(english, columns=columns, skip_bad=True), category=request.bias_type)
    if other:
        items = read(other[0], language=request.languages, columns=columns, skip_bad=True)
        second = pairs.make_pairs(items, category=request.bias_type)
    rows = pairs.parallel_rows(first, second)
    path = pairs.write_parallel(rows, request.out, language=second[0].language)
    typer.echo(f"Wrote {len(rows)} sentences to {path}.")


def _occupations(request: Build) -> None:
    from .. import languages
    from . import pairs

    occupation_pairs = pairs.occupation_pairs(languages.resolve(_needed(request)))
    typer.echo(f"Wrote {len(occupation_pairs)} pairs to {pairs.write_pairs(occupation_pairs, request.out)}.")


def _needed(request: Build) -> str:
    if request.language is None:
        raise IsoglossError("Which language? Use --language.")
    return request.language


def _preservation(request: Build) -> None:
    from . import pronoun_preservation as kept
    from .texts import open_corpora

    counts = kept.count_all(open_corpora(list(request.sources), target=request.target, language=request.language))
    options.show(
        request.output_format,
        text=lambda: kept.preservation_as_text(counts),
        json=lambda: {"preservation": [asdict(count) | {"share": count.share} for count in counts]},
    )


def _templates(request: Build) -> None:
    from ..templates.lexicon import read_lexicon
    from ..templates.mining import mine_corpus, write_sheet

    if len(request.sources) > 1:
        raise IsoglossError("'data build templates' takes one text.")
    lexicon, corpus = read_lexicon(_needed(request), request.folder), Path(request.sources[0])
    mined = mine_corpus(corpus, lexicon, category=request.category, limit=request.limit or 1000)
    write_sheet(mined, request.out)
    typer.echo(
        f"Wrote {len(mined.rows)} templates from {mined.lines:,} lines to {request.out}. Review them before use."
    )


BUILDERS: dict[str, tuple[Callable[[Build], None], set[str]]] = {  # each with the options that it takes
    "split": (_split, {"target", "language", "list", "without", "limit", "seed"}),
    "pairs": (_pairs, {"language", "columns", "category", "native-names", "seed"}),
    "align": (_align, {"language", "columns", "category"}),
    "occupations": (_occupations, {"language"}),
    "preservation": (_preservation, {"target", "language"}),
    "templates": (_templates, {"language", "category", "folder", "limit"}),
}


commands = Commands("Data", {"data build": build})
