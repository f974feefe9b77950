"""The command that studies how judges judge: judges."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from coupled_arena.cli.options import DEFAULT_STORE, JsonOption, RunOption, StoreOption
from coupled_arena.cli.status import FAILED
from coupled_arena.cli.terminal import complain, out, out_json, show

if TYPE_CHECKING:
    from coupled_arena.analysis.calibration import Calibrated
    from coupled_arena.analysis.correction import Corrected
    from coupled_arena.studies.judging.reading import Read

    _Rated = Corrected | Calibrated | str


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
    corrected: Annotated[
        bool, typer.Option("--corrected", help="Rate the models too, freed of the judges' biases.")
    ] = False,
    calibrate: Annotated[
        Path | None,
        typer.Option(
            "--calibrate", metavar="FILE", help="Rate the models too, by labels of a random part: as --labels."
        ),
    ] = None,
    level: Annotated[float, typer.Option("--level", help="Coverage of the intervals, between 0 and 1.")] = 0.95,
    as_json: JsonOption = False,
) -> None:
    """Study how judges judge: position, length, family, agreement, discussion, repeatability."""
    from coupled_arena.reports.judged import judged
    from coupled_arena.studies.judging.reading import read_opinions
    from coupled_arena.studies.judging.study import studied

    if not 0 < level < 1:
        raise typer.BadParameter(f"must lie between 0 and 1, not {level:g}", param_hint="--level")
    if file is not None and run is not None:
        raise typer.BadParameter("names a run of a store; leave it out, or the file", param_hint="--run")
    read = read_opinions(store if file is None else file, run=run, columns=_columns(columns or []))
    found = studied(read, labels=labels, level=level)
    rated = _rated(read, corrected=corrected, calibrate=calibrate, level=level)
    if as_json:
        why = {name: one for name, one in rated.items() if isinstance(one, str)}
        ratings = {name: None if isinstance(one, str) else one.document() for name, one in rated.items()}
        out_json({**found.document(), **ratings, **({"why_not_rated": why} if rated else {})})
    else:
        show(judged(found))
        _show(rated)
    if not any(row.outcomes.valid for row in found.rows):
        complain(f"{found.source}: no opinion holds a verdict, so there is nothing to study")
        raise typer.Exit(FAILED)
    for name, one in rated.items():
        if isinstance(one, str):
            complain(f"{found.source}: not {name}: {one}")
    if any(isinstance(one, str) for one in rated.values()):
        raise typer.Exit(FAILED)


def _rated(read: "Read", *, corrected: bool, calibrate: Path | None, level: float) -> "dict[str, _Rated]":
    """Return the ratings that were asked for by name, or why there are none."""
    from coupled_arena.analysis.correction import correct
    from coupled_arena.errors import RatingError
    from coupled_arena.studies.correcting import calibrated_to

    found: dict[str, _Rated] = {}
    asked: dict[str, Callable[[], _Rated]] = {}
    if corrected:
        asked["corrected"] = lambda: correct(read.table, level=level)
    if calibrate is not None:
        asked["calibrated"] = lambda: calibrated_to(calibrate, read, level=level)
    for name, rate in asked.items():
        try:
            found[name] = rate()
        except RatingError as error:
            found[name] = str(error)
    return found


def _show(rated: "dict[str, _Rated]") -> None:
    from coupled_arena.analysis.correction import Corrected
    from coupled_arena.reports.corrected import calibrated, corrected

    for one in rated.values():
        if not isinstance(one, str):
            out("")
            show(corrected(one) if isinstance(one, Corrected) else calibrated(one))


def _columns(given: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    for name, equals, column in pairs:
        if not (name and equals and column):
            raise typer.BadParameter(f"must be NAME=COLUMN, not {name}{equals}{column}", param_hint="--column")
    if twice := [name for name, number in Counter(name for name, *_ in pairs).items() if number > 1]:
        raise typer.BadParameter(f"says twice what {twice[0]} is called; leave one out", param_hint="--column")
    return {name: column for name, _, column in pairs}
