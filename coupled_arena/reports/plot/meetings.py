"""Plots of who met whom: the matrix of scores, and the match graph."""

from typing import TYPE_CHECKING

import numpy as np

from coupled_arena.reports.html.field import circles, meetings
from coupled_arena.reports.plot.canvas import COLOURS, FAINT, ROW, axes, label, require
from coupled_arena.tournaments.results.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDEST = 4.0
"""Points of the line between the two models with the most battles."""
_BEHIND = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}


def win_rates(result: "Result", *, ax: "Axes | None" = None) -> "Axes":
    """Draw what every model scored against every other, and return the axes.

    A cell holds the mean score of the model of its row, a tie being half a win, in percent, and the number of rated
    battles; it is empty where the two have none. Models are in the order of the leaderboard.

    Args:
        result: of a tournament.
        ax: matplotlib's axes to draw on; None makes a figure.

    Raises:
        ConfigurationError: the package matplotlib is missing.
    """
    require(result, "win_rates", Result)
    names = [row.model for row in result.rows]
    place = {name: number for number, name in enumerate(names)}
    shares = np.full((len(names), len(names)), np.nan)
    ax = axes(ax, 2.2 + 0.75 * len(names), 1.4 + 0.75 * len(names))
    for met in meetings(result, names):
        if met.share is None:
            continue
        battles = met.wins + met.losses + met.ties
        a, b = place[met.a], place[met.b]
        for row, column, share in ((a, b, met.share), (b, a, 1 - met.share)):
            shares[row, column] = share
            dark = abs(share - 0.5) > 0.3
            words = f"{100 * share:.0f}\nof {battles}"
            ax.text(column, row, words, ha="center", va="center", fontsize=8, color="white" if dark else "black")
    ax.imshow(shares, cmap="RdBu", vmin=0, vmax=1)
    ax.set_yticks(range(len(names)), [label(name) for name in names])
    ax.set_xticks(range(len(names)), [label(name) for name in names], rotation=45, ha="right", rotation_mode="anchor")
    ax.set_title("score of the row against the column, in %", fontsize=10)
    ax.spines[:].set_visible(False)
    return ax


def match_graph(result: "Result", *, ax: "Axes | None" = None) -> "Axes":
    """Draw who met whom, and return the axes: the more rated battles, the wider the line.

    Models that battles connect stand on one circle, the best on top, the others clockwise. Those on different circles
    are on one scale by the prior alone.

    Args:
        result: of a tournament.
        ax: matplotlib's axes to draw on; None makes a figure.

    Raises:
        ConfigurationError: the package matplotlib is missing.
    """
    require(result, "match_graph", Result)
    names = [row.model for row in result.rows]
    groups = result.ratings.components
    places = {name: (x * len(groups), 1 - y) for name, (x, y) in circles(groups, names).items()}
    ax = axes(ax, 5.5 * len(groups), max(4.0, ROW * len(names)))
    met = [(found, found.wins + found.losses + found.ties) for found in meetings(result, names)]
    most = max((battles for _, battles in met), default=0)
    for found, battles in met:
        if battles:
            (x, y), (to_x, to_y) = places[found.a], places[found.b]
            ax.plot([x, to_x], [y, to_y], color=FAINT, linewidth=_WIDEST * battles / most, zorder=1)
    for name, (x, y) in places.items():
        ax.scatter([x], [y], s=90, color=COLOURS[0], zorder=2)
        ax.annotate(
            label(name), (x, y), xytext=(0, 10), textcoords="offset points", ha="center", zorder=3, bbox=_BEHIND
        )
    ax.set_axis_off()
    ax.margins(0.2, 0.15)
    return ax
