"""What all plots share: axes to draw on, colours that everybody can tell apart, names drawn as they are."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from coupled_arena.arguments import refuse
from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.shown import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Colours that people with any kind of colour vision tell apart (Okabe and Ito)."""
MARKS = ("o", "s", "^", "D", "v", "P", "X")
"""Marks, so that colour never is the only difference: seven colours and marks, and as many again with broken lines."""
FAINT = "#999999"
"""Colour of what is only there for orientation."""
ROW = 0.38
"""Inches of a row with a name."""


def require(given: object, where: str, *kinds: type) -> None:
    """Raise `ConfigurationError` where what a plot is given is of no kind that it draws.

    >>> require(3, "leaderboard", str)
    Traceback (most recent call last):
        ...
    coupled_arena.errors.ConfigurationError: plot.leaderboard: argument: must be a str, not 3
    """
    if not isinstance(given, kinds):
        refuse(f"plot.{where}", "argument", f"a {' or a '.join(kind.__name__ for kind in kinds)}", given)


def axes(ax: "Axes | None", width: float, height: float) -> "Axes":
    """Return the axes that were given, or new ones of that many inches.

    Raises:
        ConfigurationError: the package matplotlib is missing.
    """
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        message = "plots need the package matplotlib: install coupled-arena[plot]"
        raise ConfigurationError([Problem("plot", "matplotlib", message)]) from None
    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def label(text: str) -> str:
    r"""Return text that is drawn as it is: no control characters, and dollars that begin no formula.

    >>> label("a $x$ b")
    'a \\$x\\$ b'
    """
    return printable(text).replace("$", r"\$")


def intervals(
    ax: "Axes | None", rows: Sequence[tuple[str, float | None, float | None, float | None]], absent: str
) -> "Axes":
    """Draw a row for every name with its value and interval, the first on top.

    Args:
        ax: where to draw; None makes new axes.
        rows: name, value, and both ends of the interval. None is no value, or an open or unknown end.
        absent: what to write where there is no value.
    """
    ax = axes(ax, 6.4, 1.1 + ROW * max(2, len(rows)))
    for place, (_, value, low, high) in enumerate(rows):
        if value is None:
            ax.text(0.02, place, absent, transform=ax.get_yaxis_transform(), va="center", color=FAINT)
            continue
        reach = [[value - low if low is not None else 0.0], [high - value if high is not None else 0.0]]
        whole = low is not None and high is not None
        ax.errorbar(
            [value], [place], xerr=reach, fmt="o", color=COLOURS[0], markerfacecolor=COLOURS[0] if whole else "white"
        )
    ax.set_yticks(range(len(rows)), [label(name) for name, *_ in rows])
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.grid(axis="x", alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
