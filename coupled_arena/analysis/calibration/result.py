"""What comes out of a calibration: ratings on the scale of the labels, beside those of the judges and of the labels."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coupled_arena.ratings.result import Ratings
from coupled_arena.shown import Shown, plural

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = (
    "model",
    "rank",
    "rating",
    "low",
    "high",
    "raw",
    "raw_low",
    "raw_high",
    "labels",
    "labels_low",
    "labels_high",
)
"""Columns of `Calibrated.frame`."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Calibrated(Shown):
    """Ratings that labels of all battles would give, from the judges' scores of all and the labels of some.

    The intervals hold that rating whatever the judges do: they carry the error of the calibration.
    """

    ratings: Ratings
    """The calibrated ratings; their clusters and degrees of freedom are those of the labelled questions."""
    raw: Ratings
    """The ratings by the judges' last verdicts on all battles. Their intervals hold what more such verdicts would give,
    not what labels would."""
    labelled: Ratings
    """The ratings by the labels alone."""
    weight: float
    """Weight of the judges, in [0, 1]: 0 if they say nothing of the labels, about 1 if they say it all."""
    worth: float | None
    """How many times as many labels it would take without the judges: the mean variance by the labels alone over that
    here; None where the labels alone have no finite ratings, or do not vary."""
    labels: int
    """Labelled battles that the judges have scored."""
    battles: int
    """Battles that the judges have scored."""
    questions: int
    """Questions of these."""
    notes: tuple[str, ...]
    """What a reader must know, a sentence each."""

    @property
    def rows(self) -> tuple[tuple[Any, ...], ...]:
        """The three ratings side by side, the best first; columns `COLUMNS`."""
        ranking = self.ratings.ranking
        return tuple(
            (name, rank, *_numbers(self.ratings, name), *_numbers(self.raw, name), *_numbers(self.labelled, name))
            for rank, name in enumerate(ranking, start=1)
        )

    def frame(self) -> "pd.DataFrame":
        """Return the three ratings side by side, the best first; columns `COLUMNS`."""
        import pandas as pd

        return pd.DataFrame(self.rows, columns=list(COLUMNS))

    def document(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "ratings": [dict(zip(COLUMNS, row, strict=True)) for row in self.rows],
            "weight": self.weight,
            "worth": self.worth,
            "labels": self.labels,
            "labelled_questions": self.ratings.clusters,
            "battles": self.battles,
            "questions": self.questions,
            "level": self.ratings.level,
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        models, battles = plural(len(self.ratings.names), "model"), plural(self.battles, "battle")
        lines = [f"Ratings of {models} calibrated to {self.labels} of {battles}"]
        lines += [f"{row[1]:>3}  {row[0]}  {row[2]:.0f}, raw {_shown(row[5])}" for row in self.rows]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


def _numbers(ratings: Ratings, name: str) -> tuple[float | None, float | None, float | None]:
    place = ratings.names.index(name)
    return ratings.ratings[place], ratings.low[place], ratings.high[place]


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"
