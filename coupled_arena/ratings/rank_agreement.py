"""How far a ranking agrees with another one: an arena of people, a benchmark, another run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coupled_arena.errors import RatingError
from coupled_arena.ratings.result import Ratings

REPLICATES = 1000
"""Times the models are redrawn for the intervals."""

_SEED = 20240519

Floats = NDArray[np.float64]


class Estimate(NamedTuple):
    """A measure of agreement with its interval."""

    value: float | None
    """The measure; None where a ranking holds all models level, or there are fewer than two."""
    low: float | None
    """Lower end of the interval; None where more redrawn sets of models than its tail have no value."""
    high: float | None
    """Upper end of the interval; None as `low`."""


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """How far two rankings agree on the models that both of them have."""

    models: tuple[str, ...]
    """The models compared, by name: those with a number on both sides."""
    only_ratings: tuple[str, ...]
    """Models that only the ratings have a number for, left out of every measure."""
    only_reference: tuple[str, ...]
    """Models that only the reference has a number for, left out of every measure."""
    spearman: Estimate
    """Spearman's rank correlation, in [-1, 1], ranks of level models averaged."""
    kendall: Estimate
    """Kendall's tau-b, in [-1, 1]."""
    pairwise: Estimate
    """Of the pairs that the reference orders, the share ordered alike, in [0, 1]; a pair level in the ratings counts
    half."""
    level: float
    """Coverage of the intervals."""


def compare(
    ratings: Ratings | Mapping[str, float | None],
    reference: Ratings | Mapping[str, float | None],
    *,
    level: float = 0.95,
) -> RankAgreement:
    """Return how far ratings agree with a reference, always on one and the same set of models.

    Intervals are percentiles over `REPLICATES` sets of models redrawn with replacement, always the same ones: they say
    how the measure varies with the models that happen to be rated, not with the battles. A model drawn twice makes no
    pair with itself. Tau-b is that of Kendall (1945, Biometrika 33).

    Args:
        ratings: what `rate` returned, or numbers by model; higher is better.
        reference: the same; None stands for no number.
        level: coverage of the intervals, between 0 and 1.

    Raises:
        RatingError: a number is not finite, or the level is out of range.

    Example:
        >>> arena = {"ada": 3, "bob": 1, "cleo": 2, "eve": 1}
        >>> found = compare({"ada": 1100, "bob": 1000, "cleo": 900, "dan": 1}, arena)
        >>> found.models, found.only_ratings, found.only_reference
        (('ada', 'bob', 'cleo'), ('dan',), ('eve',))
        >>> [round(estimate.value, 2) for estimate in (found.spearman, found.kendall, found.pairwise)]
        [0.5, 0.33, 0.67]
    """
    if not 0 < level < 1:
        raise RatingError(f"level must lie between 0 and 1, not {level!r}")
    own, other = _numbers(ratings, "the ratings"), _numbers(reference, "the reference")
    models = tuple(sorted(own.keys() & other.keys()))
    first, second = (_signs([side[model] for model in models]) for side in (own, other))
    generator = np.random.default_rng(_SEED)
    count = len(models)
    drawn = generator.multinomial(count, np.full(count, 1 / count), size=REPLICATES) if count else np.zeros((1, 0))
    weights = np.vstack([np.ones((1, count)), drawn]).astype(np.float64)
    return RankAgreement(
        models=models,
        only_ratings=tuple(sorted(own.keys() - other.keys())),
        only_reference=tuple(sorted(other.keys() - own.keys())),
        spearman=_estimate(_spearman(first, second, weights), level),
        kendall=_estimate(_kendall(first, second, weights), level),
        pairwise=_estimate(_pairwise(first, second, weights), level),
        level=level,
    )


def _numbers(side: Ratings | Mapping[str, float | None], name: str) -> dict[str, float]:
    numbers = side.known if isinstance(side, Ratings) else side
    found = {model: float(number) for model, number in numbers.items() if number is not None}
    if wrong := sorted(model for model, number in found.items() if not np.isfinite(number)):
        raise RatingError(f"{name} must be finite numbers or None, which {', '.join(wrong)} has not")
    return found


def _signs(values: list[float]) -> Floats:
    """Return 1 where the row model is above the column model, -1 where below, 0 where level."""
    column = np.array(values, dtype=np.float64)
    signs: Floats = np.sign(column[:, None] - column)
    return signs


def _spearman(first: Floats, second: Floats, weights: Floats) -> Floats:
    # A model's average rank is, but for shift and scale, how many it is above less how many it is below.
    a, b = weights @ first.T, weights @ second.T
    a -= (weights * a).sum(axis=1, keepdims=True) / np.maximum(weights.sum(axis=1, keepdims=True), 1)
    b -= (weights * b).sum(axis=1, keepdims=True) / np.maximum(weights.sum(axis=1, keepdims=True), 1)
    return _ratio((weights * a * b).sum(axis=1), np.sqrt((weights * a**2).sum(axis=1) * (weights * b**2).sum(axis=1)))


def _kendall(first: Floats, second: Floats, weights: Floats) -> Floats:
    return _ratio(
        _pairs(first * second, weights), np.sqrt(_pairs(np.abs(first), weights) * _pairs(np.abs(second), weights))
    )


def _pairwise(first: Floats, second: Floats, weights: Floats) -> Floats:
    ordered = np.abs(second)
    return _ratio(_pairs((1 + first * second) / 2 * ordered, weights), _pairs(ordered, weights))


def _pairs(values: Floats, weights: Floats) -> Floats:
    """Return the sums over all ordered pairs in every weighted set of models, shape (sets,)."""
    sums: Floats = ((weights @ values) * weights).sum(axis=1)
    return sums


def _ratio(part: Floats, whole: Floats) -> Floats:
    ratio: Floats = np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)
    return ratio


def _estimate(values: Floats, level: float) -> Estimate:
    """Return the value of all models, the first one, with the percentiles of the redrawn sets."""
    value, redrawn = values[0], np.sort(values[1:])
    if not np.isfinite(value):
        return Estimate(None, None, None)
    # A redrawn set without a value might have had any: it lies below the lower end and above the upper one.
    known = redrawn[np.isfinite(redrawn)]
    place = (1 - level) / 2 * (len(redrawn) - 1) - (len(redrawn) - len(known))
    if place < 0:
        return Estimate(float(value), None, None)
    share = place / (len(known) - 1)
    return Estimate(float(value), float(np.quantile(known, share)), float(np.quantile(known, 1 - share)))
