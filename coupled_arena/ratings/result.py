"""What comes out of rating: numbers with intervals, and whether the order is settled."""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coupled_arena.errors import RatingError
from coupled_arena.ratings.score import Score
from coupled_arena.ratings.student import t_quantile

Ties = Literal["half"]
"""What a tie is: half a win for both."""

Prior = float | Literal["weak"]
"""Virtual ties of every model with a model at the mean; 0 for none, `weak` for one."""

MEAN = 1000.0
"""Mean rating."""

POINTS = 400 / math.log(10)
"""Rating points of one unit of log odds: 400 points for a factor 10 of odds."""

_NO_SPREAD = 1e-6
"""A standard error of fewer points says that the battles do not vary, not that the rating is exact."""

_DIGITS = 6
"""Ratings equal to so many digits are equal: the rest is rounding."""

_FINEST = 1.0
"""Differences of fewer points than this are planned for as if they were this large."""


_MANY = 100_000
"""Degrees of freedom from which on the quantile no longer changes."""

_ROUNDS = 4


class Count(NamedTuple):
    """Rated battles of one model, each counted once whatever its weight."""

    battles: int
    """All of them."""
    wins: int
    """Battles won, forfeits of the other side included."""
    losses: int
    """Battles lost, own forfeits included."""
    ties: int
    """Battles tied."""


class Difference(NamedTuple):
    """How much better one model is than another."""

    a: str
    """The first model."""
    b: str
    """The second model."""
    difference: float | None
    """Rating of a minus rating of b; None where the battles do not compare them and there is no prior."""
    low: float | None
    """Lower end of the interval at the level of the ratings; None where there is no interval, or it is open below."""
    high: float | None
    """Upper end of the interval; None where there is no interval, or it is open above."""
    se: float | None
    """Standard error of the difference; None where there is none."""


@dataclass(frozen=True, slots=True)
class Settled:
    """Whether the order of two neighbours in the ranking is settled."""

    a: str
    """The model that ranks higher."""
    b: str
    """The model that ranks next."""
    difference: float | None
    """Rating of a minus rating of b; None where the battles do not compare them and there is no prior."""
    low: float | None
    """Lower end of the interval, corrected for the number of pairs; None where there is none, or it is open below."""
    high: float | None
    """Upper end of the interval, corrected for the number of pairs; None where there is none, or it is open above."""
    resolved: bool
    """Whether the interval excludes 0."""
    more_questions: int | None
    """About how many more questions would resolve it, 0 if it is resolved; None where there is no interval, or where
    the only two models are level."""
    multiplicity: str
    """How the interval was corrected for the number of pairs."""
    by_prior: bool = False
    """Whether only the prior makes their difference finite."""

    @property
    def line(self) -> str:
        """One sentence that ends in `resolved` or `not resolved`, the latter with what is missing."""
        known = self.low is not None or self.high is not None
        if self.difference is None and not known:
            return f"{self.a} and {self.b} are not comparable: not resolved: too few questions"
        # Without a difference all battles went one way: towards the end that is open.
        trails = self.low is None if self.difference is None else self.difference < 0
        line = f"{self.a} {'trails' if trails else 'leads'} {self.b}"
        if self.difference is not None:
            line += f" by {abs(self.difference):.0f}"
        if known:
            low, high = -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high
            line += " [{}, {}]".format(*map(_end, (-high, -low) if trails else (low, high)))
        if self.by_prior:
            line += ", finite by the prior alone"
        if self.resolved:
            return f"{line}: resolved"
        if self.more_questions is None:
            return f"{line}: not resolved{'' if known else ': too few questions'}"
        return f"{line}: not resolved: about {self.more_questions} more question{'s' * (self.more_questions != 1)}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ratings:
    """Ratings of models with question-clustered uncertainty, mean 1000, 400 points for a factor 10 of odds.

    Lists by model are in the order of `names`. Intervals are conditional on the judges. The intervals of two models
    are no test of their difference: ask `difference` for that, or `settled` for all neighbours.
    """

    names: tuple[str, ...]
    """Models in alphabetical order."""
    ratings: tuple[float | None, ...]
    """Rating; None without a prior where the battles do not compare the model with the largest comparable group."""
    se: tuple[float | None, ...]
    """Standard error of the rating; None where there is no interval."""
    low: tuple[float | None, ...]
    """Lower end of the interval; None without one: clusters must outnumber models, battles must compare the model. With
    two models also None for one that lost everything: its interval is open below."""
    high: tuple[float | None, ...]
    """Upper end of the interval; None without one, and for one of two models that won everything."""
    within: tuple[float, ...]
    """Rating inside the model's comparable group, mean 1000 in each group; with a prior the rating itself."""
    covariance: NDArray[np.float64]
    """Covariance of `within` in squared points, shape (models, models); NaN across groups that were not fitted together
    and where there are fewer than two clusters."""
    degrees: tuple[int | None, ...]
    """Degrees of freedom of the model's intervals: clusters that bear on its group less one; None without interval."""
    ties: Ties
    """The tie model; ratings under different ones are not to be compared."""
    prior: Prior
    """The prior that made ratings finite; 0 for none."""
    level: float
    """Coverage of the intervals."""
    components: tuple[tuple[str, ...], ...]
    """Groups of models that battles connect."""
    comparable: tuple[tuple[str, ...], ...]
    """Groups of models whose differences the battles alone determine: wins or ties lead from each to each other."""
    separated: tuple[str, ...]
    """Models that have battles but no finite rating from them: all that connect them with the rest went one way."""
    converged: bool
    """Whether the gradient vanished in every fit."""
    iterations: int
    """Newton steps of the longest fit."""
    clusters: int
    """Number of clusters (questions) with a rated battle."""
    counts: tuple[Count, ...]
    """Rated battles of each model."""
    score: Score | None = None
    """Where there are only two models, the score of the first, which their intervals come from; else None."""

    @property
    def ranking(self) -> tuple[str, ...]:
        """Models from best to worst, names breaking ties; those without a rating last."""
        places = [
            (math.inf if rating is None else -round(rating, _DIGITS), name)
            for name, rating in zip(self.names, self.ratings, strict=True)
        ]
        return tuple(name for _, name in sorted(places))

    def rating(self, name: str) -> float | None:
        """Return the rating of a model; an unknown name raises `RatingError`."""
        return self.ratings[self._index(name)]

    def difference(self, a: str, b: str) -> Difference:
        """Return the rating of a minus that of b with its own interval; an unknown name raises `RatingError`."""
        return self._difference(a, b, self.level)

    def settled(self) -> tuple[Settled, ...]:
        """Return for each pair of neighbours in the ranking whether their order is settled.

        Intervals hold jointly over all pairs at the level of the ratings, by Bonferroni's inequality. The number of
        questions still needed takes the difference as it stands and lets its standard error shrink with the square
        root of the number of questions; it is a guide, not a promise. Where there are only two models, interval and
        number are those of their score, which a clean sweep does not rob of an interval.
        """
        ranking = self.ranking
        pairs = max(1, len(ranking) - 1)
        level = 1 - (1 - self.level) / pairs
        multiplicity = f"Bonferroni over {pairs} neighbouring pair{'s' * (pairs != 1)}"
        return tuple(self._settled(self._difference(a, b, level), level, multiplicity) for a, b in pairwise(ranking))

    def _settled(self, found: Difference, level: float, multiplicity: str) -> Settled:
        resolved, more = False, None
        degrees = self.degrees[self._index(found.a)]
        if self.score is not None:
            resolved, more = self.score.settled, self.score.more_questions
        elif found.difference is not None and found.low is not None and found.high is not None and degrees:
            resolved = not found.low <= 0 <= found.high
            more = 0 if resolved else _more_clusters(found, degrees + 1, level)
        return Settled(
            found.a,
            found.b,
            found.difference,
            found.low,
            found.high,
            resolved,
            more,
            multiplicity,
            by_prior=found.difference is not None and not self._compared(found.a, found.b),
        )

    def _difference(self, a: str, b: str, level: float) -> Difference:
        first, second = self._index(a), self._index(b)
        compared = self._compared(a, b)
        difference = self.within[first] - self.within[second] if compared or self.prior else None
        covariance = self.covariance
        variance = covariance[first, first] + covariance[second, second] - 2 * covariance[first, second]
        se, reach = spread(float(variance), self.degrees[first] if compared else None, level)
        if self.score is not None and a != b:
            low, high = ends_of(self.score if a == self.score.a else self.score.turned())
            return Difference(a, b, difference, low, high, se)
        if difference is None or reach is None:
            return Difference(a, b, difference, None, None, None)
        return Difference(a, b, difference, difference - reach, difference + reach, se)

    def _compared(self, a: str, b: str) -> bool:
        return any(a in group and b in group for group in self.comparable)

    def _index(self, name: str) -> int:
        try:
            return self.names.index(name)
        except ValueError:
            raise RatingError(f"no model named {name!r} was rated; there are {', '.join(self.names)}") from None

    def __repr__(self) -> str:
        prior = "no prior" if not self.prior else f"prior {self.prior}"
        head = f"{len(self.names)} models, {self.clusters} clusters, ties {self.ties}, {prior}, level {self.level:g}"
        rows: list[tuple[str, ...]] = [("rank", "model", "rating", "low", "high", "battles")]
        for rank, name in enumerate(self.ranking, start=1):
            index = self._index(name)
            numbers = (self.ratings[index], self.low[index], self.high[index])
            shown = ["-" if number is None else f"{number:.0f}" for number in numbers]
            place = "-" if numbers[0] is None else str(rank)
            rows.append((place, name, *shown, str(self.counts[index].battles)))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(
                cell.ljust(width) if column == 1 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in rows
        ]
        if not self.converged:
            lines.append("not converged")
        if len(self.comparable) > 1:
            groups = " | ".join(", ".join(group) for group in self.comparable)
            lines.append(f"comparable only within: {groups}")
        return "\n".join([head, *lines])


def ends_of(score: Score) -> tuple[float | None, float | None]:
    """Return the interval of a score as one of the difference in rating, in points; None where it is open."""
    low, high = (_points(end) for end in (score.low, score.high))
    return low, high


def _points(share: float | None) -> float | None:
    return None if share is None or not 0 < share < 1 else POINTS * math.log(share / (1 - share))


def _end(points: float) -> str:
    return f"{points:.0f}" if math.isfinite(points) else str(points).replace("inf", "∞")


def spread(variance: float, degrees: int | None, level: float) -> tuple[float, float] | tuple[None, None]:
    """Return the standard error and the half width of the interval, or None for both where there is no interval."""
    if degrees is None or not variance > _NO_SPREAD**2:
        return None, None
    se = math.sqrt(variance)
    return se, t_quantile((1 + level) / 2, degrees) * se


def _more_clusters(found: Difference, clusters: int, level: float) -> int:
    """Return about how many more clusters would keep the interval of this difference off 0."""
    ratio = (found.se or 0.0) / max(abs(found.difference or 0.0), _FINEST)
    # More clusters need a smaller quantile as well, so the two are found together; a few rounds settle it.
    needed = float(_MANY)
    for _ in range(_ROUNDS):
        needed = clusters * (ratio * t_quantile((1 + level) / 2, min(math.ceil(needed), _MANY))) ** 2
    return max(1, math.ceil(needed) - clusters)
