"""Corrected and calibrated ratings as text for a terminal."""

from rich.console import Group, RenderableType
from rich.text import Text

from coupled_arena.analysis.calibration import Calibrated
from coupled_arena.analysis.correction import Corrected
from coupled_arena.reports.console import table
from coupled_arena.shown import plural, printable


def corrected(found: Corrected) -> RenderableType:
    """Return raw and corrected ratings side by side, the biases between them, and what could not be told."""
    ratings = [(rank, name, _cell(*numbers[:3]), _cell(*numbers[4:])) for name, rank, *numbers in found.rows]
    biases = [
        (
            bias.judge,
            bias.term,
            _cell(bias.value, bias.low, bias.high, digits=2),
            None if bias.points is None else round(bias.points),
            bias.votes,
        )
        for bias in found.biases
    ]
    lines = [
        f"corrected: {plural(found.opinions, 'opinion')} on {plural(found.ratings.clusters, 'question')}, "
        f"prior {found.ratings.prior}, {found.ratings.level * 100:g} % intervals, clustered by question.",
        *(f"{left.term} of {left.judge} is taken to be none: {left.reason}" for left in found.unestimated),
        *(f"note: {note}" for note in (*found.ratings.notes, *found.notes)),
        *(pair.line for pair in found.ratings.settled()),
    ]
    return Group(
        table(("rank", "model", "corrected", "raw"), ratings, right=("corrected", "raw")),
        Text(),
        table(("judge", "bias", "log odds", "points", "opinions"), biases, right=("log odds",)),
        Text(),
        *(Text(printable(line)) for line in lines),
    )


def calibrated(found: Calibrated) -> RenderableType:
    """Return calibrated ratings beside those by the judges and by the labels alone, and what they rest on."""
    rows = [(rank, name, *(_cell(*numbers[at : at + 3]) for at in (0, 3, 6))) for name, rank, *numbers in found.rows]
    worth = "" if found.worth is None else f", as good as {found.worth:.1f} times as many labels without the judges"
    lines = [
        f"calibrated: {plural(found.labels, 'label')} on {plural(found.ratings.clusters, 'question')}, "
        f"{plural(found.battles, 'battle')} on "
        f"{found.questions}; weight of the judges {found.weight:.2f}{worth}.",
        *(f"note: {note}" for note in found.notes),
        *(pair.line for pair in found.ratings.settled()),
    ]
    names = ("calibrated", "raw", "labels alone")
    return Group(table(("rank", "model", *names), rows, right=names), Text(), *(Text(printable(one)) for one in lines))


def _cell(value: float | None, low: float | None, high: float | None, *, digits: int = 0) -> str | None:
    if value is None:
        return None
    ends = "" if low is None or high is None else f" [{low:.{digits}f}, {high:.{digits}f}]"
    return f"{value:.{digits}f}{ends}"
