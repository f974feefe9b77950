"""How judges judge, as a plot."""

from typing import TYPE_CHECKING

from coupled_arena.reports.plot.canvas import FAINT, intervals, require
from coupled_arena.studies.judging import JudgeReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def judges(found: "JudgeReport", measure: str = "position_effect", *, ax: "Axes | None" = None) -> "Axes":
    """Draw one number of every judge with its interval, and return the axes.

    Args:
        found: a study of judges, from `ca.judges`.
        measure: a number that it tells of a judge, such as `flip_rate`, `length_effect` or `family_preference`
            (docs/judges.md).
        ax: matplotlib's axes to draw on; None makes a figure.

    Raises:
        ConfigurationError: the package matplotlib is missing.
        ValueError: there is no such measure.
    """
    require(found, "judges", JudgeReport)
    known = found.rows[0].estimates if found.rows else {}
    if found.rows and measure not in known:
        raise ValueError(f"there is no measure {measure!r} of judges; there are {', '.join(known)}")
    told = [(row.judge, row.estimates[measure]) for row in found.rows]
    ax = intervals(ax, [(judge, one.value, one.low, one.high) for judge, one in told], "cannot be told")
    ax.axvline(0, color=FAINT, linewidth=1, zorder=0)
    ax.set_xlabel(f"{measure.replace('_', ' ')}, {100 * found.level:g} % interval")
    return ax
