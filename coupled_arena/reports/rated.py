"""The ratings of a file of battles as text for a terminal."""

from rich.console import Group, RenderableType
from rich.text import Text

from coupled_arena.reports.console import rank_range, table
from coupled_arena.shown import plural, printable
from coupled_arena.studies.rating.rated_file import RatedFile

_TIES = {"half": "half-win Bradley-Terry", "davidson": "Davidson"}


def rated(found: RatedFile) -> RenderableType:
    """Return the table of ratings with what must be known about it and whether it is settled."""
    ratings, file, settled = found.ratings, found.file, found.ratings.settled()
    rows = [
        [place if row[1] is not None else None, *row[:5], rank_range(row[5], row[6]), row[7]]
        for place, row in enumerate(found.rows, start=1)
    ]
    columns = ("rank", "model", "rating", "low", "high", "se", "ranks", "battles")
    by = "by row" if file.cluster is None else f"by {file.cluster}"
    lines = [
        f"{plural(file.decided + file.void, 'battle')} ({file.format}): {file.decided:,} decided, "
        f"{file.void:,} void. Ratings: "
        f"{_TIES[ratings.ties]}, prior {ratings.prior or 'none'}, mean 1000, {ratings.level * 100:g} % intervals {by}.",
        *(f"note: {note}" for note in ratings.notes),
        *(pair.line for pair in settled),
        *(f"intervals of neighbours: {pair.multiplicity}" for pair in settled[:1]),
        f"ranks hold together: {found.ranks.multiplicity}",
    ]
    return Group(table(columns, rows), Text(), *(Text(printable(line)) for line in lines))
