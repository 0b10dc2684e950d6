"""`isogloss structure`: which stereotypes languages or models share."""

from __future__ import annotations

from pathlib import Path

import typer

from . import options


def structure(
    runs: list[Path] = typer.Argument(help="Folders of runs in several languages, or of several models."),
    over: str = typer.Option("language", "--over", help="What to look across: language or model."),
    mixed: bool = typer.Option(
        False, "--mixed", help="Fit a mixed model with language, bias type and facts about models; a random target."
    ),
    facts: Path = typer.Option(
        None, "--facts", help="With --mixed: a YAML file with facts about each model, such as size or multilingual."
    ),
    resamples: int = options.Resamples,
    seed: int = typer.Option(0, "--seed", help="The seed of the bootstrap."),
    as_json: bool = options.Json,
) -> None:
    """Show how far languages or models agree item by item, which are alike, and what is common or specific."""
    from ..analysis.mixed import fit_mixed, mixed_as_json, read_facts
    from ..analysis.structure import find_structure, structures_as_json
    from ..reports.text.structure import mixed_as_text, structure_as_text
    from ..runs import find_runs, read_scored

    known = read_facts(facts) if facts else None
    scored = read_scored([run for path in runs for run in find_runs(path)])
    if mixed:
        model = fit_mixed(scored, facts=known)
        if as_json:
            options.print_json(mixed_as_json(model))
        else:
            options.print_with_notes(mixed_as_text(model), scored.notes)
        return
    found = find_structure(scored, over=over, resamples=resamples, seed=seed)
    if as_json:
        options.print_json(structures_as_json(found))
    else:
        options.print_with_notes("\n\n".join(structure_as_text(one) for one in found), scored.notes)
