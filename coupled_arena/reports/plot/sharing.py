"""What shared dice saved, as a plot."""

from typing import TYPE_CHECKING

from coupled_arena.reports.plot.canvas import FAINT, intervals, require
from coupled_arena.tournaments.results.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from coupled_arena.studies.bench.result import Bench


def coupling(found: "Bench | Result", *, ax: "Axes | None" = None) -> "Axes":
    """Draw for every two models the share of samples that shared dice saved, with its 95 % interval; return the axes.

    Args:
        found: a bench, which tells by itself; or a tournament of two arms (`coupling="both"`), where neighbours on the
            leaderboard are drawn.
        ax: matplotlib's axes to draw on; None makes a figure.

    Raises:
        ConfigurationError: the package matplotlib is missing.
    """
    # Whatever makes a bench also loads the plots.
    from coupled_arena.studies.bench.result import Bench

    require(found, "coupling", Result, Bench)
    ax = intervals(ax, _of_run(found) if isinstance(found, Result) else _of_bench(found), "cannot be told")
    ax.axvline(0, color=FAINT, linewidth=1, zorder=0)
    ax.set_xlabel("share of samples saved by shared dice, 95 % interval")
    return ax


_Row = tuple[str, float | None, float | None, float | None]


def _of_run(result: Result) -> list[_Row]:
    rows: list[_Row] = []
    for pair in result.neighbours:
        name, saved = f"{pair.settled.a} - {pair.settled.b}", pair.saved
        rows.append((name, saved.saved, saved.low, saved.high) if saved else (name, None, None, None))
    return rows


def _of_bench(bench: "Bench") -> list[_Row]:
    several = len({(row.temperature, row.top_p) for row in bench.pair_rows}) > 1
    rows: list[_Row] = []
    for row in bench.pair_rows:
        setting = f", T {row.temperature}" if row.temperature is not None else ""
        setting += f", top-p {row.top_p}" if row.top_p is not None else ""
        rows.append((f"{row.a} - {row.b}{setting * several}", row.saved, row.saved_low, row.saved_high))
    return rows
