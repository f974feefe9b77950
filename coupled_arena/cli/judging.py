"""The command that studies how judges judge: judges."""

from pathlib import Path
from typing import Annotated

import typer

from coupled_arena.cli.options import DEFAULT_STORE, JsonOption, RunOption, StoreOption
from coupled_arena.cli.status import FAILED
from coupled_arena.cli.terminal import complain, out_json, show


def judges(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE|DIR]", help="Opinions: CSV, JSON, JSONL, Parquet, or an exported folder; else a run."
        ),
    ] = None,
    store: StoreOption = DEFAULT_STORE,
    run: RunOption = None,
    labels: Annotated[
        Path | None, typer.Option("--labels", metavar="FILE", help="People's verdicts: battle and verdict a row.")
    ] = None,
    columns: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="NAME=COLUMN", help="What a file calls a column of opinions; repeatable."),
    ] = None,
    level: Annotated[float, typer.Option("--level", help="Coverage of the intervals, between 0 and 1.")] = 0.95,
    as_json: JsonOption = False,
) -> None:
    """Study how judges judge: position, length, family, agreement, discussion, repeatability."""
    from coupled_arena.reports.judged import judged
    from coupled_arena.studies.judging import judges as study

    if not 0 < level < 1:
        raise typer.BadParameter(f"must lie between 0 and 1, not {level:g}", param_hint="--level")
    if file is not None and run is not None:
        raise typer.BadParameter("names a run of a store; leave it out, or the file", param_hint="--run")
    found = study(store if file is None else file, run=run, labels=labels, columns=_columns(columns or []), level=level)
    if as_json:
        out_json(found.document())
    else:
        show(judged(found))
    if not any(row.outcomes.valid for row in found.rows):
        complain(f"{found.source}: no opinion holds a verdict, so there is nothing to study")
        raise typer.Exit(FAILED)


def _columns(given: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    for name, equals, column in pairs:
        if not (name and equals and column):
            raise typer.BadParameter(f"must be NAME=COLUMN, not {name}{equals}{column}", param_hint="--column")
    return {name: column for name, _, column in pairs}
