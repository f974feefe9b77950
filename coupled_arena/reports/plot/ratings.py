"""Plots of ratings: the leaderboard with its intervals, and how it came about round by round."""

from itertools import cycle
from typing import TYPE_CHECKING

from coupled_arena.reports.plot.canvas import COLOURS, MARKS, ROW, axes, intervals, label, require
from coupled_arena.tournaments.results.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def leaderboard(result: "Result", *, ax: "Axes | None" = None) -> "Axes":
    """Draw every model's rating with its 95 % interval, best on top, and return the axes.

    A hollow mark has no interval, or one that is open on a side. Overlap of two intervals is no test:
    `result.neighbours` says which neighbours are settled.

    Args:
        result: of a tournament.
        ax: matplotlib's axes to draw on; None makes a figure.

    Raises:
        ConfigurationError: the package matplotlib is missing.
    """
    require(result, "leaderboard", Result)
    ax = intervals(ax, [(row.model, row.rating, row.low, row.high) for row in result.rows], "no rating")
    ax.set_xlabel("rating (400 points: odds of 10 to 1), 95 % interval")
    return ax


def history(result: "Result", *, ax: "Axes | None" = None) -> "Axes":
    """Draw the rating of every model after each round, and return the axes.

    Args:
        result: of a tournament.
        ax: matplotlib's axes to draw on; None makes a figure.

    Raises:
        ConfigurationError: the package matplotlib is missing.
    """
    require(result, "history", Result)
    frame = result.frame("ratings")
    names = [row.model for row in result.rows]
    ax = axes(ax, 6.4, 1.6 + ROW * max(5, len(names)))
    styles = [
        (mark, colour, line) for line in ("-", "--", ":", "-.") for mark, colour in zip(MARKS, COLOURS, strict=True)
    ]
    for name, (mark, colour, line) in zip(names, cycle(styles), strict=False):
        own = frame[frame["model"] == name]
        ax.plot(own["round"], own["rating"], marker=mark, color=colour, linestyle=line, label=label(name))
    ax.set_xticks(sorted(frame["round"].unique()))
    ax.set_xlabel("round")
    ax.set_ylabel("rating")
    ax.grid(axis="y", alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax
