"""What comes out of a correction: ratings before and after, and the biases between them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coupled_arena.analysis.correction.effects import Unestimated
from coupled_arena.analysis.correction.votes import Per, Term
from coupled_arena.ratings.result import Ratings
from coupled_arena.ratings.scale import POINTS
from coupled_arena.shown import Shown, plural

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("model", "rank", "rating", "low", "high", "raw_rank", "raw", "raw_low", "raw_high")
"""Columns of `Corrected.frame`."""

BIAS_COLUMNS = ("judge", "term", "value", "points", "low", "high", "votes", "questions", "reason")
"""Columns of `Corrected.bias_frame`."""


@dataclass(frozen=True, slots=True)
class Bias:
    """One effect of one judge."""

    judge: str
    """The judge; `panel` where all share their effects."""
    term: Term
    """What it is of."""
    value: float
    """Position: log odds granted to the side shown first. Length: log odds per doubling of the length of one text over
    that of the other. Family: log odds granted to a side of the judge's family against one that is not. Lapse: share of
    verdicts that are drawn at random."""
    se: float | None
    """Question-clustered standard error; None where there is none, and `reason` says why."""
    low: float | None
    """Lower end of the interval; None as `se`."""
    high: float | None
    """Upper end of the interval; None as `se`."""
    votes: int
    """Verdicts that bear on it."""
    questions: int
    """Questions of these."""
    reason: str = ""
    """Why there is no interval; empty otherwise."""

    @property
    def points(self) -> float | None:
        """The effect in rating points; None for a lapse."""
        return None if self.term == "lapse" else POINTS * self.value

    @property
    def shown(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Corrected(Shown):
    """Ratings from single opinions, raw and freed of the judges' biases.

    Both rest on the same opinions, with the same prior; the corrected ones are those between sides that are shown
    neither first nor second, write equally long and are no judge's relatives.
    """

    ratings: Ratings
    """The corrected ratings; all that `Ratings` says of differences, ranks and what is settled holds of them."""
    raw: Ratings
    """The ratings by the same opinions without any correction."""
    biases: tuple[Bias, ...]
    """What was estimated, by term, then judge."""
    unestimated: tuple[Unestimated, ...]
    """What was not, and why; it is taken to be none."""
    per: Per
    """Whether every judge has effects of its own."""
    stage: int
    """Stage of the opinions."""
    opinions: int
    """How many verdicts they rest on."""
    notes: tuple[str, ...]
    """What a reader must know, a sentence each."""

    def bias(self, judge: str, term: Term) -> Bias | None:
        """Return one effect of a judge, or None where it was not estimated."""
        return next((bias for bias in self.biases if (bias.judge, bias.term) == (judge, term)), None)

    @property
    def rows(self) -> tuple[tuple[Any, ...], ...]:
        """Ratings side by side, the best after correction first; columns `COLUMNS`."""
        before, found = _by_model(self.raw), _by_model(self.ratings)
        return tuple((name, *found[name], *before[name]) for name in self.ratings.ranking)

    def frame(self) -> "pd.DataFrame":
        """Return the ratings side by side, the best after correction first; columns `COLUMNS`."""
        import pandas as pd

        return pd.DataFrame(self.rows, columns=list(COLUMNS))

    def bias_frame(self) -> "pd.DataFrame":
        """Return the biases, a line each; columns `BIAS_COLUMNS`."""
        import pandas as pd

        rows = [[getattr(bias, column) for column in BIAS_COLUMNS] for bias in self.biases]
        return pd.DataFrame(rows, columns=list(BIAS_COLUMNS))

    def document(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "ratings": [dict(zip(COLUMNS, row, strict=True)) for row in self.rows],
            "biases": [{column: getattr(bias, column) for column in BIAS_COLUMNS} for bias in self.biases],
            "unestimated": [left._asdict() for left in self.unestimated],
            "per": self.per,
            "stage": self.stage,
            "opinions": self.opinions,
            "questions": self.ratings.clusters,
            "prior": self.ratings.prior,
            "level": self.ratings.level,
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        models, opinions = plural(len(self.ratings.names), "model"), plural(self.opinions, "opinion")
        lines = [f"Corrected ratings of {models}, {opinions}"]
        lines += [f"{row[1] or '-':>3}  {row[0]}  {_shown(row[2])}, raw {_shown(row[6])}" for row in self.rows]
        lines += [f"{bias.judge}: {bias.term} {bias.value:+.2f}" for bias in self.biases if bias.shown]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


def _by_model(ratings: Ratings) -> dict[str, tuple[int | None, float | None, float | None, float | None]]:
    ranks = {name: rank for rank, name in enumerate(ratings.ranking, start=1)}
    return {
        name: (None if rating is None else ranks[name], rating, low, high)
        for name, rating, low, high in zip(ratings.names, ratings.ratings, ratings.low, ratings.high, strict=True)
    }


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"
