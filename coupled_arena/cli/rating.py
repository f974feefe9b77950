"""The command that rates battles played elsewhere: rate."""

import math
from pathlib import Path
from typing import Annotated, Any, cast, get_args

import typer

from coupled_arena.cli.flags import in_flags
from coupled_arena.cli.options import JsonOption
from coupled_arena.cli.status import FAILED
from coupled_arena.cli.terminal import complain, out_json, show

FLAGS = {name: f"--{name}" for name in ("a", "b", "winner", "weight", "baseline", "cluster")}
"""What the parameters of `read_battles` are called here."""


def rate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, JSON, JSONL or Parquet.")],
    ties: Annotated[
        str, typer.Option("--ties", help="half: a tie is half a win for both; davidson: an outcome of its own.")
    ] = "half",
    prior: Annotated[
        str, typer.Option("--prior", metavar="TIES", help="weak, or virtual ties of every model with a mean one.")
    ] = "0",
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster", "--question", metavar="COLUMN", help="Equal values may depend on each other; the question."
        ),
    ] = None,
    a: Annotated[str | None, typer.Option("--a", metavar="COLUMN", help="The model on side A.")] = None,
    b: Annotated[str | None, typer.Option("--b", metavar="COLUMN", help="The model on side B.")] = None,
    winner: Annotated[str | None, typer.Option("--winner", metavar="COLUMN", help="The outcome.")] = None,
    weight: Annotated[str | None, typer.Option("--weight", metavar="COLUMN", help="The battle's weight.")] = None,
    baseline: Annotated[
        str | None, typer.Option("--baseline", metavar="MODEL", help="Whom all met, if an Arena-Hard file lacks it.")
    ] = None,
    level: Annotated[float, typer.Option("--level", help="Coverage of the intervals, between 0 and 1.")] = 0.95,
    as_json: JsonOption = False,
) -> None:
    """Rate battles played elsewhere: votes of LMArena, judgments of FastChat, Arena-Hard, AlpacaEval, Auto-Arena."""
    from coupled_arena.ratings.result import Ties
    from coupled_arena.reports.rated import rated
    from coupled_arena.studies.rating.rated_file import rate_file

    if not 0 < level < 1:
        raise typer.BadParameter(f"must lie between 0 and 1, not {level:g}", param_hint="--level")
    if ties not in get_args(Ties):
        raise typer.BadParameter(f"must be {' or '.join(get_args(Ties))}, not {ties}", param_hint="--ties")
    virtual = _prior(prior)
    with in_flags(FLAGS, keys=False):
        found = rate_file(
            file,
            ties=cast("Ties", ties),
            prior=virtual,
            level=level,
            cluster=cluster,
            a=a,
            b=b,
            winner=winner,
            weight=weight,
            baseline=baseline,
        )
    if as_json:
        out_json(found.document())
    else:
        show(rated(found))
    if not found.file.decided:
        complain(f"{file}: no battle could be rated: none of {found.file.void} has a decision")
        raise typer.Exit(FAILED)


def _prior(text: str) -> Any:
    if text == "weak":
        return text
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise typer.BadParameter(f"must be weak or a number of at least 0, not {text}", param_hint="--prior")
    return value
