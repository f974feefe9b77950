"""The one function that turns battles into ratings."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from coupled_arena.errors import RatingError
from coupled_arena.ratings.connectivity import Groups, comparable, components
from coupled_arena.ratings.fit import fit, sandwich
from coupled_arena.ratings.result import MEAN, POINTS, Count, Prior, Ratings, Ties, ends_of, spread
from coupled_arena.ratings.score import Score, score_of
from coupled_arena.ratings.table import Cluster, RatingInput
from coupled_arena.records import Battle


def rate(
    battles: RatingInput | Iterable[Battle],
    *,
    ties: Ties = "half",
    prior: Prior = 0.0,
    cluster: Cluster = "question",
    level: float = 0.95,
) -> Ratings:
    """Rate the models of these battles: mean 1000, 400 points for a factor 10 of odds.

    Without a prior, models that the battles do not compare (`Ratings.comparable`) get no number beside each other:
    ratings are those of the one largest comparable group, and None for all others. With a prior all are finite, and
    the result names it.

    Args:
        battles: a `RatingInput`, or the battles of a run: decided and forfeited ones are rated, void ones never.
        ties: `half`: a tie is half a win for both, so that ratings predict the expected score.
        prior: 0 for none, `weak` for one virtual tie of every model with a model at the mean, or the number of ties.
        cluster: `question`: battles on one question may depend on each other in any way (for a `RatingInput`: the
            battles of one of its clusters); `battle`: no battle depends on another.
        level: coverage of the intervals, between 0 and 1.

    Raises:
        RatingError: an argument is out of range, a battle appears twice, or a model meets itself.

    Example:
        >>> rows = [("ada", "bob", score, 1, question) for question, score in enumerate([1, 1, 0.5, 0, 1, 1])]
        >>> ratings = rate(RatingInput.from_rows(rows))
        >>> [round(rating) for rating in ratings.ratings]
        [1095, 905]
        >>> ratings.settled()[0].line
        'ada leads bob by 191 [-144, 526]: not resolved: about 10 more questions'
    """
    virtual_ties = _virtual_ties(prior)
    _check(ties, cluster, level)
    table = battles if isinstance(battles, RatingInput) else RatingInput.from_battles(battles)
    if cluster == "battle":
        table = replace(table, cluster=np.arange(len(table)))
    wins = table.wins()
    connected, groups = components(wins), comparable(wins)
    models = range(len(table.names))
    fitted = _fit_all(table, wins, (np.array(models, dtype=np.intp),) if virtual_ties else groups, virtual_ties)
    main = _largest(groups)
    ratings = tuple(fitted.within[model] if virtual_ties or model in main else None for model in models)
    spreads = [
        spread(float(fitted.covariance[model, model]), fitted.degrees[model] if model in main else None, level)
        for model in models
    ]
    score = score_of(table, *table.names, level=level) if len(table.names) == 2 else None
    ends = _ends(ratings, [reach for _, reach in spreads], score)
    return Ratings(
        names=table.names,
        ratings=ratings,
        se=tuple(se for se, _ in spreads),
        low=tuple(low for low, _ in ends),
        high=tuple(high for _, high in ends),
        within=fitted.within,
        covariance=fitted.covariance,
        degrees=fitted.degrees,
        ties=ties,
        prior=prior,
        level=level,
        components=_named(table, connected),
        comparable=_named(table, groups),
        separated=_separated(table, connected, groups),
        converged=fitted.converged,
        iterations=fitted.iterations,
        clusters=table.clusters,
        counts=_counts(table),
        score=score,
    )


class _Fitted(NamedTuple):
    """The fits of all groups, put together by model and in points."""

    within: tuple[float, ...]
    covariance: NDArray[np.float64]
    degrees: tuple[int | None, ...]
    iterations: int
    converged: bool


def _fit_all(table: RatingInput, wins: NDArray[np.float64], groups: Groups, virtual_ties: float) -> _Fitted:
    size = len(table.names)
    within = np.full(size, MEAN)
    covariance = np.full((size, size), np.nan)
    degrees: list[int | None] = [None] * size
    iterations, converged = 0, True
    for members in groups:
        if len(members) < 2:
            continue
        square = np.ix_(members, members)
        part, found = table.among(members), fit(wins[square], virtual_ties)
        within[members] += POINTS * found.strength
        covariance[square] = POINTS**2 * sandwich(part, found)
        iterations, converged = max(iterations, found.iterations), converged and found.converged
        if (clusters := part.clusters) > len(members):
            for member in members:
                degrees[member] = clusters - 1
    covariance.setflags(write=False)
    return _Fitted(tuple(within.tolist()), covariance, tuple(degrees), iterations, converged)


def _ends(
    ratings: Sequence[float | None], reaches: Sequence[float | None], score: Score | None
) -> list[tuple[float | None, float | None]]:
    """Return the ends of the models' intervals; for two models those of their score, which holds in small samples."""
    if score is not None and None not in ratings:
        # Each of the two stands half of their difference from the mean.
        return [(_beside_mean(low), _beside_mean(high)) for low, high in (ends_of(score), ends_of(score.turned()))]
    return [
        (None, None) if rating is None or reach is None else (rating - reach, rating + reach)
        for rating, reach in zip(ratings, reaches, strict=True)
    ]


def _beside_mean(difference: float | None) -> float | None:
    return None if difference is None else MEAN + difference / 2


def _virtual_ties(prior: Any) -> float:
    if prior == "weak":
        return 1.0
    if not isinstance(prior, float | int) or not math.isfinite(prior) or prior < 0:
        raise RatingError(f"prior must be 'weak' or a finite number of at least 0, not {prior!r}")
    return float(prior)


def _check(ties: str, cluster: str, level: float) -> None:
    if ties not in get_args(Ties):
        raise RatingError(f"ties must be one of {', '.join(get_args(Ties))}, not {ties!r}")
    if cluster not in get_args(Cluster):
        raise RatingError(f"cluster must be one of {', '.join(get_args(Cluster))}, not {cluster!r}")
    if not 0 < level < 1:
        raise RatingError(f"level must lie between 0 and 1, not {level!r}")


def _largest(groups: Groups) -> frozenset[int]:
    """Return the one largest group of at least two; with two of one size neither can be the scale for all."""
    sizes = sorted((len(group) for group in groups), reverse=True)
    if not sizes or sizes[0] < 2 or sizes.count(sizes[0]) > 1:
        return frozenset()
    return frozenset(next(group for group in groups if len(group) == sizes[0]).tolist())


def _separated(table: RatingInput, connected: Groups, groups: Groups) -> tuple[str, ...]:
    """Return the models outside the one largest comparable group of their component."""
    outside: list[int] = []
    for component in connected:
        members = component.tolist()
        anchor = _largest(tuple(group for group in groups if group[0] in component)) if len(members) > 1 else members
        outside.extend(member for member in members if member not in anchor)
    return tuple(table.names[member] for member in sorted(outside))


def _named(table: RatingInput, groups: Groups) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(table.names[member] for member in group) for group in groups)


def _counts(table: RatingInput) -> tuple[Count, ...]:
    size = len(table.names)
    outcome = (2 * table.score).astype(np.intp)
    by_a = np.bincount(3 * table.a + outcome, minlength=3 * size).reshape(size, 3)
    by_b = np.bincount(3 * table.b + 2 - outcome, minlength=3 * size).reshape(size, 3)
    return tuple(Count(won + lost + tied, won, lost, tied) for lost, tied, won in (by_a + by_b).tolist())
