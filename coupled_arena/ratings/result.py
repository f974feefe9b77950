"""What comes out of rating: numbers with intervals, and what must be known of them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coupled_arena.errors import RatingError
from coupled_arena.ratings.scale import MEAN, POINTS, ends_of, spread
from coupled_arena.ratings.score import Score
from coupled_arena.ratings.settled import Difference, Settled, more_clusters
from coupled_arena.shown import Rows, Shown, plural

if TYPE_CHECKING:
    from coupled_arena.ratings.ranks import Ranks

__all__ = ["MEAN", "POINTS", "Count", "Effect", "Prior", "Ratings", "Ties", "joint_level", "ranking_of", "spread"]

Ties = Literal["half", "davidson"]
"""What a tie is: half a win for both, or an outcome of its own with a parameter that is estimated."""

Prior = float | Literal["weak"]
"""Virtual ties of every model with a model at the mean; 0 for none, `weak` for one."""

_DIGITS = 6
"""Ratings equal to so many digits are equal: the rest is rounding."""


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


class Effect(NamedTuple):
    """What a covariate does to the odds of the side it favours."""

    name: str
    """The covariate."""
    coefficient: float
    """Log odds per unit of the covariate."""
    se: float | None
    """Standard error of the coefficient; None where there is no interval."""
    low: float | None
    """Lower end of the interval of the coefficient; None where there is none."""
    high: float | None
    """Upper end of the interval; None where there is none."""

    @property
    def points(self) -> float:
        """Rating points per unit of the covariate."""
        return POINTS * self.coefficient


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ratings(Shown):
    """Ratings of models with question-clustered uncertainty, mean 1000, 400 points for a factor 10 of odds.

    Lists by model are in the order of `names`. Intervals are conditional on the judges. The intervals of two models
    are no test of their difference: ask `difference` for that, or `settled` for all neighbours.
    """

    names: tuple[str, ...]
    """Models in alphabetical order."""
    ratings: tuple[float | None, ...]
    """Rating; None without a rated battle, and without a prior where the battles do not compare the model with the
    largest comparable group."""
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
    """Degrees of freedom of the model's intervals: clusters that bear on its group less one; None without interval: too
    few clusters, or a single one that alone connects the model with most others."""
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
    """Where there are only two models and no covariate, the score of the first, which their intervals come from; else
    None."""
    neighbours: tuple[Score, ...] = ()
    """With more models, of neighbours in the ranking for whose difference the fit has no interval, such as after a
    clean sweep: the score of the first in their own battles, at the level of `settled`."""
    tie_parameter: float | None = None
    """Davidson's parameter in the main group: chance of a tie over the geometric mean of the chances of win and loss; 0
    without a tie, infinite if nothing else happened; None where a tie is half a win or nothing could be fitted."""
    tie_se: float | None = None
    """Standard error of the tie parameter; None where there is no interval."""
    effects: tuple[Effect, ...] = ()
    """What each covariate does, in the order they were named; in the main group where battles leave several."""

    @property
    def known(self) -> dict[str, float]:
        """The ratings that have a number, by model."""
        return {name: rating for name, rating in zip(self.names, self.ratings, strict=True) if rating is not None}

    @property
    def ranking(self) -> tuple[str, ...]:
        """Models from best to worst, names breaking ties; those without a rating last."""
        return ranking_of(self.names, self.ratings)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of the numbers must know, a sentence each: who has none, and why; what only the prior makes."""
        idle = [name for name, count in zip(self.names, self.counts, strict=True) if not count.battles]
        notes = [f"{name} has no rated battle and no rating" for name in idle]
        fate = "its rating is finite by the prior alone" if self.prior else "it has no rating"
        notes += [f"{name} {_one_way(self.counts[self._index(name)])}: {fate}" for name in self.separated]
        connected = [group for group in self.components if group[0] not in idle]
        if len(connected) > 1:
            groups = " | ".join(", ".join(group) for group in connected)
            notes.append(f"no battle connects {groups}{': only the prior puts them on one scale' * bool(self.prior)}")
        if not self.converged:
            notes.append("the fit did not converge")
        return tuple(notes)

    def rating(self, name: str) -> float | None:
        """Return the rating of a model; an unknown name raises `RatingError`."""
        return self.ratings[self._index(name)]

    def difference(self, a: str, b: str) -> Difference:
        """Return the rating of a minus that of b with its own interval; an unknown name raises `RatingError`."""
        return self._difference(a, b, self.level)

    def ranks(self) -> "Ranks":
        """Return for every model the ranks that the battles leave possible; they hold jointly (see `ranks.ranks`)."""
        from coupled_arena.ratings.ranks import ranks

        return ranks(self)

    def top_set(self, level: float | None = None) -> tuple[str, ...]:
        """Return the models that hold the best one with probability `level`, else that of the ratings (see `ranks`)."""
        from coupled_arena.ratings.ranks import top_set

        return top_set(self, level)

    def settled(self) -> tuple[Settled, ...]:
        """Return for each pair of neighbours in the ranking whether their order is settled.

        Intervals hold jointly over all pairs at the level of the ratings, by Bonferroni's inequality. The number of
        questions still needed takes the difference as it stands and lets its standard error shrink with the square
        root of the number of questions; it is a guide, not a promise. Where there are only two models, or the fit has
        no interval because all battles went one way, interval and number are those of the score in the two models' own
        battles, which a clean sweep does not rob of an interval.
        """
        ranking = self.ranking
        level, pairs = joint_level(self.level, len(ranking)), max(1, len(ranking) - 1)
        multiplicity = f"Bonferroni over {plural(pairs, 'neighbouring pair')}"
        return tuple(self._settled(self._difference(a, b, level), level, multiplicity) for a, b in pairwise(ranking))

    def _settled(self, found: Difference, level: float, multiplicity: str) -> Settled:
        resolved, more = False, None
        low, high, own = found.low, found.high, ""
        degrees = self.degrees[self._index(found.a)]
        score = self.score or next((s for s in self.neighbours if (s.a, s.b) == found[:2]), None)
        if score is not None:
            resolved, more = score.settled, score.more_questions
            if self.score is None and score.low is not None:
                low, high = ends_of(score, self.tie_parameter)
                own = f"by their own {plural(score.battles, 'battle')}"
        elif found.difference is not None and low is not None and high is not None and degrees:
            resolved = not low <= 0 <= high
            more = 0 if resolved else more_clusters(found, degrees + 1, level)
        return Settled(
            found.a,
            found.b,
            found.difference,
            low,
            high,
            resolved,
            more,
            multiplicity,
            by_prior=found.difference is not None and not self._compared(found.a, found.b),
            own=own,
            missing=self._missing(found.a, found.b),
        )

    def _missing(self, a: str, b: str) -> str:
        """Return why two neighbours have no interval."""
        idle = [name for name in (a, b) if not self.counts[self._index(name)].battles]
        if idle:
            return f"{' and '.join(idle)} {'has' if len(idle) == 1 else 'have'} no rated battle"
        if not any(a in group and b in group for group in self.components):
            return "no battles connect them"
        if not self._compared(a, b) and not any((s.a, s.b) == (a, b) for s in self.neighbours):
            return "all battles that connect them went one way"
        return "too few questions"

    def _difference(self, a: str, b: str, level: float) -> Difference:
        first, second = self._index(a), self._index(b)
        compared = self._compared(a, b)
        rated = self.ratings[first] is not None and self.ratings[second] is not None
        difference = self.within[first] - self.within[second] if compared or (self.prior and rated) else None
        covariance = self.covariance
        variance = covariance[first, first] + covariance[second, second] - 2 * covariance[first, second]
        degrees = self.degrees[first] if compared and self.degrees[second] else None
        se, reach = spread(float(variance), degrees, level)
        if self.score is not None and a != b:
            low, high = ends_of(self.score if a == self.score.a else self.score.turned(), self.tie_parameter)
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

    def shown(self) -> Iterator[str | Rows]:
        """Yield what a notebook shows: what was fitted, a row for every model, what must be known."""
        yield self._head
        places = [self._index(name) for name in self.ranking]
        columns = (self.names, self.ratings, self.low, self.high, [count.battles for count in self.counts])
        rows = [(rank, *(column[place] for column in columns)) for rank, place in enumerate(places, start=1)]
        yield Rows(("rank", "model", "rating", "low", "high", "battles"), rows)
        yield from (f"note: {note}" for note in self.notes)

    @property
    def _head(self) -> str:
        prior = "no prior" if not self.prior else f"prior {self.prior}"
        size = f"{plural(len(self.names), 'model')}, {plural(self.clusters, 'cluster')}"
        return f"{size}, ties {self.ties}, {prior}, level {self.level:g}"

    def __repr__(self) -> str:
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
        if self.tie_parameter is not None:
            lines.append(f"tie parameter {self.tie_parameter:.3g}")
        lines += [f"{effect.name}: {effect.points:+.1f} points per unit" for effect in self.effects]
        if len(self.comparable) > 1:
            groups = " | ".join(", ".join(group) for group in self.comparable)
            lines.append(f"comparable only within: {groups}")
        return "\n".join([self._head, *lines, *(f"note: {note}" for note in self.notes)])


def ranking_of(names: Sequence[str], ratings: Sequence[float | None]) -> tuple[str, ...]:
    """Return names from best to worst rating, by name where ratings are equal; those without a rating last."""
    places = [
        (math.inf if rating is None else -round(rating, _DIGITS), name)
        for name, rating in zip(names, ratings, strict=True)
    ]
    return tuple(name for _, name in sorted(places))


def joint_level(level: float, models: int) -> float:
    """Return the level of each interval of neighbours at which all hold jointly."""
    return 1 - (1 - level) / max(1, models - 1)


def _one_way(count: Count) -> str:
    if count.wins == count.battles:
        return "won every battle"
    if count.losses == count.battles:
        return "lost every battle"
    return "is connected with the others by battles that all went one way"
