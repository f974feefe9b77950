"""Which ranks the battles leave possible, and which models may be the best."""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coupled_arena.errors import RatingError
from coupled_arena.ratings.result import Ratings, spread
from coupled_arena.ratings.student import t_quantile
from coupled_arena.shown import plural

DRAWS = 5_000
"""Draws of the errors of all ratings of a group; always the same ones."""

MOST_DRAWN = 30
"""Larger groups are corrected by Holm's method instead of by drawing."""

_SEED = 20240519
_EQUAL = 1e-6
"""Points by which draws of one rating may differ by rounding."""

Floats = NDArray[np.float64]


class Rank(NamedTuple):
    """Where a model may stand among the models that it can be compared with."""

    model: str
    """Name of the model."""
    low: int | None
    """Best rank the battles leave possible, 1 for the best; None where there is no interval."""
    high: int | None
    """Worst rank they leave possible; None where there is no interval."""
    best: float | None
    """Probability that no comparable model is better, in [0, 1]; None where there is no interval."""


@dataclass(frozen=True, slots=True)
class Ranks:
    """Rank intervals of all models."""

    rows: tuple[Rank, ...]
    """One for each model, in the order of `Ratings.names`."""
    level: float
    """Coverage of all rank intervals of a comparable group together."""
    multiplicity: str
    """How the comparisons behind the ranks were corrected for their number."""

    def of(self, model: str) -> Rank:
        """Return the ranks of a model; an unknown name raises `RatingError`."""
        for row in self.rows:
            if row.model == model:
                return row
        raise RatingError(f"no model named {model!r} was rated; there are {', '.join(row.model for row in self.rows)}")


def places(ratings: Ratings, found: Ranks) -> dict[str, tuple[int, int] | tuple[None, None]]:
    """Return the best and the worst rank of every model among all that have a rating; None for both without interval.

    Models of other comparable groups, which have a rating by a prior alone, may stand anywhere.

    Args:
        ratings: what `rate` returned.
        found: what `ranks` returned for them.

    Example:
        >>> from coupled_arena.ratings import RatingInput, rate
        >>> rows = [("ada", "bob", float(n % 9 > 0), 1, n) for n in range(90)] + [("ada", "eve", 1.0, 1, 0)]
        >>> ratings = rate(RatingInput.from_rows(rows), prior="weak")
        >>> places(ratings, ranks(ratings))
        {'ada': (1, 2), 'bob': (2, 3), 'eve': (None, None)}
    """
    rated = ratings.known.keys()
    among = {name: len(rated & set(group)) for group in ratings.comparable for name in group}
    if ratings.score is not None:
        among = dict.fromkeys(ratings.names, len(rated))
    return {
        row.model: (None, None)
        if row.low is None or row.high is None or row.model not in rated
        else (row.low, row.high + len(rated) - among[row.model])
        for row in found.rows
    }


def ranks(ratings: Ratings) -> Ranks:
    """Return rank intervals that hold jointly at the level of the ratings, and each model's probability to be best.

    Inside a comparable group every ordered pair is tested, `a is no better than b`, by its difference over its standard
    error. The critical value is the quantile of the largest of these, from `DRAWS` draws of normal errors with the
    ratings' covariance over standard errors from a Wishart matrix, since every pair estimates its own; what is rejected
    leaves, and the rest is tested again (Romano and Wolf 2005, Econometrica 73). A group of more than `MOST_DRAWN`
    models takes Holm's (1979) critical values. A model's best rank is 1 plus the number of models shown to be better,
    its worst the size of the group less the number shown to be worse (Mogstad, Romano, Shaikh and Wilhelm 2024, Review
    of Economic Studies 91). `best` is the share of draws around the ratings in which the model leads.

    Ranks count from 1 in every comparable group: a model outside it neither takes a rank from the others nor widens
    their intervals. There is no interval where clusters do not outnumber models, and for a model that nothing compares.
    For two models their score decides, as in `Ratings.settled`.

    Args:
        ratings: what `rate` returned.

    Example:
        >>> from coupled_arena.ratings import RatingInput, rate
        >>> rows = [(a, b, float(n % 9 > 0), 1, n) for n in range(90) for a, b in (("ada", "cleo"), ("bob", "cleo"))]
        >>> rows += [("ada", "bob", float(n % 2), 1, n) for n in range(90)]
        >>> found = ranks(rate(RatingInput.from_rows(rows)))
        >>> [(row.model, row.low, row.high, round(row.best, 1)) for row in found.rows]
        [('ada', 1, 2, 0.5), ('bob', 1, 2, 0.5), ('cleo', 3, 3, 0.0)]
    """
    found = {name: Rank(name, None, None, None) for name in ratings.names}
    rules = set()
    for group in _groups(ratings):
        errors = _Errors.of(ratings, group)
        if errors is None:
            continue
        better, rule = _better(errors, ratings.level)
        if ratings.score is not None:
            better, rule = _by_score(ratings, group), "one pair"
        rules.add(rule)
        low, high = 1 + better.sum(axis=0), len(group) - better.sum(axis=1)
        for place, model in enumerate(group):
            if errors.known[place]:
                # One without an interval may be the best of all.
                best = float(errors.best[place]) if errors.known.all() else None
                found[model] = Rank(model, int(low[place]), int(high[place]), best)
    if ratings.score is not None and ratings.score.settled and len(ratings.comparable) == 2:
        # A clean sweep of two: the battles compare them by their score alone.
        found = {name: Rank(name, *((1, 1) if _leads(ratings, name) else (2, 2)), None) for name in ratings.names}
        rules.add("one pair")
    rule = ", ".join(sorted(rules)) or "no pair was tested"
    return Ranks(tuple(found[name] for name in ratings.names), ratings.level, rule)


def top_set(ratings: Ratings, level: float | None = None) -> tuple[str, ...]:
    """Return the models that may be the best, in ranking order; the best is among them with probability `level`.

    A model leaves the set where the largest of the other models' leads over it is beyond chance, each lead over its
    standard error, judged by the quantile of the largest of all of them (Hsu 1984, Annals of Statistics 12). Since only
    the test of the truly best model can go wrong, the set needs no further correction. Models that the battles do not
    compare do not drive each other out: the set is that of every comparable group together, and all models of a group
    without intervals.

    Args:
        ratings: what `rate` returned.
        level: probability, between 0 and 1; the level of the ratings if left out.

    Raises:
        RatingError: the level is out of range.

    Example:
        >>> from coupled_arena.ratings import RatingInput, rate
        >>> rows = [("ada", "bob", float(n % 9 > 0), 1, n) for n in range(90)]
        >>> top_set(rate(RatingInput.from_rows(rows)))
        ('ada',)
    """
    level = ratings.level if level is None else level
    if not 0 < level < 1:
        raise RatingError(f"level must lie between 0 and 1, not {level!r}")
    out: set[str] = set()
    if ratings.score is not None and level == ratings.level:
        out = {name for name in ratings.names if ratings.score.settled and not _leads(ratings, name)}
        return tuple(name for name in ratings.ranking if name not in out)
    for group in _groups(ratings):
        if (errors := _Errors.of(ratings, group)) is not None:
            for place, model in enumerate(group):
                others = np.array([other for other in range(len(group)) if other != place])
                rivals = others, np.full(len(others), place)
                if errors.leads(*rivals).max() > errors.critical(*rivals, level):
                    out.add(model)
    return tuple(name for name in ratings.ranking if name not in out)


@dataclass(frozen=True, slots=True, eq=False)
class _Errors:
    """Ratings of one comparable group, and draws of their errors."""

    rating: Floats
    se: Floats
    """Standard error of every difference, shape (models, models); infinite where there is none."""
    drawn: Floats
    """Draws of the errors, shape (draws, models), Student distributed."""
    noise: Floats
    """Draws of the errors of differences over their standard errors, shape (draws, models, models)."""
    degrees: int
    known: NDArray[np.bool_]
    """Which models have an interval."""

    @classmethod
    def of(cls, ratings: Ratings, group: tuple[str, ...]) -> "_Errors | None":
        """Return those of a group; None where it has no intervals."""
        at = np.array([ratings.names.index(name) for name in group])
        degrees = next((found for index in at if (found := ratings.degrees[index]) is not None), None)
        if len(group) < 2 or degrees is None:
            return None
        known = np.array([ratings.degrees[index] is not None for index in at])
        covariance = np.where(np.outer(known, known), ratings.covariance[np.ix_(at, at)], 0.0)
        variance = np.diag(covariance)[:, None] + np.diag(covariance) - 2 * covariance
        variance[~known], variance[:, ~known] = 0.0, 0.0
        found = [[spread(float(value), degrees, ratings.level)[0] for value in row] for row in variance]
        se = np.array([[math.inf if value is None else value for value in row] for row in found])
        if not np.isfinite(se).any():
            return None
        # The symmetric root, unlike a triangular one, does not depend on the order of the models.
        values, vectors = np.linalg.eigh(covariance)
        root = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
        normal, scale, triangle = _dice(len(group), degrees)
        errors, noise = normal @ root, np.zeros((0, len(group), len(group)))
        if len(group) <= MOST_DRAWN:
            noise = errors[:, :, None] - errors[:, None, :]
            noise /= _estimated(root @ triangle, degrees)
        rating = np.array([ratings.within[index] for index in at])
        return cls(rating, se, errors / scale, noise, degrees, known)

    @property
    def best(self) -> Floats:
        """Share of the draws in which each model leads; level leaders share it."""
        values = self.rating + self.drawn
        leading = values >= values.max(axis=1, keepdims=True) - _EQUAL
        share: Floats = (leading / leading.sum(axis=1, keepdims=True)).mean(axis=0)
        return share

    def leads(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> Floats:
        """Return the differences of these pairs over their standard errors."""
        lead: Floats = (self.rating[first] - self.rating[second]) / self.se[first, second]
        return lead

    def critical(self, first: NDArray[np.intp], second: NDArray[np.intp], level: float) -> float:
        """Return what the largest lead of these pairs exceeds with probability 1 - level if all are level."""
        if len(self.rating) > MOST_DRAWN:
            return t_quantile(max(0.5, 1 - (1 - level) / len(first)), self.degrees)
        return float(np.quantile(self.noise[:, first, second].max(axis=1), level))


@lru_cache(maxsize=2)
def _dice(size: int, degrees: int) -> tuple[Floats, Floats, Floats]:
    """Return normal draws, the root of a mean square of so many, and triangles whose square is a Wishart matrix.

    The triangles are those of Bartlett (1933); there are none for more than `MOST_DRAWN` models.
    """
    generator = np.random.default_rng(_SEED)
    normal = generator.standard_normal((DRAWS, size))
    scale = np.sqrt(generator.chisquare(degrees, (DRAWS, 1)) / degrees)
    if size > MOST_DRAWN:
        return normal, scale, np.zeros((0, size, size))
    triangle = np.tril(generator.standard_normal((DRAWS, size, size)), -1)
    at = np.arange(size)
    triangle[:, at, at] = np.sqrt(generator.chisquare(degrees - np.minimum(at, degrees - 1), (DRAWS, size)))
    return normal, scale, triangle


def _estimated(half: Floats, degrees: int) -> Floats:
    """Return the standard errors of all differences, as so many degrees of freedom estimate them."""
    product = half @ half.transpose(0, 2, 1)
    own = np.diagonal(product, axis1=1, axis2=2)
    # In place: there are many draws.
    variance: Floats = own[:, :, None] + own[:, None, :]
    product *= 2
    variance -= product
    variance /= degrees
    np.maximum(variance, _EQUAL**2, out=variance)
    return np.sqrt(variance, out=variance)


def _groups(ratings: Ratings) -> list[tuple[str, ...]]:
    """Return the comparable groups, the models by rating, so that no draw depends on what they are called."""
    place = {name: (-rating, name) for name, rating in zip(ratings.names, ratings.within, strict=True)}
    return [tuple(sorted(group, key=place.__getitem__)) for group in ratings.comparable]


def _better(errors: _Errors, level: float) -> tuple[NDArray[np.bool_], str]:
    """Return which row model is shown to be better than which column model, and by which rule."""
    size = len(errors.rating)
    better = np.zeros((size, size), dtype=np.bool_)
    first, second = np.nonzero(~np.eye(size, dtype=np.bool_))
    while len(first):
        beyond = errors.leads(first, second) > errors.critical(first, second, level)
        better[first[beyond], second[beyond]] = True
        if not beyond.any():
            break
        first, second = first[~beyond], second[~beyond]
    tests = size * (size - 1)
    rule = "Holm" if size > MOST_DRAWN else f"largest of all t, step by step, {DRAWS:,} draws"
    return better, f"{rule}, over {plural(tests, 'ordered pair')}"


def _by_score(ratings: Ratings, group: tuple[str, ...]) -> NDArray[np.bool_]:
    settled = ratings.score is not None and ratings.score.settled
    return np.array([[settled and a != b and _leads(ratings, a) for b in group] for a in group])


def _leads(ratings: Ratings, name: str) -> bool:
    """Return whether this one of two models has the larger share."""
    score = ratings.score
    return score is not None and score.share is not None and (score.share > 0.5) == (name == score.a)
