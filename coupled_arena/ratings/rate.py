"""The one function that turns battles into ratings."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from coupled_arena.arguments import is_share
from coupled_arena.errors import RatingError
from coupled_arena.ratings.cells import Cells
from coupled_arena.ratings.connectivity import Groups, comparable, components, ties_bounded
from coupled_arena.ratings.covariates import fit_with, scales_of, standardised
from coupled_arena.ratings.fit import Fit, fit
from coupled_arena.ratings.result import Count, Effect, Prior, Ratings, Ties, joint_level
from coupled_arena.ratings.sandwich import sandwich
from coupled_arena.ratings.scale import MEAN, POINTS, ends_of, spread
from coupled_arena.ratings.score import Score, score_of, scores_of
from coupled_arena.ratings.table import Cluster, RatingInput
from coupled_arena.ratings.tally import Tally
from coupled_arena.records import Battle


def rate(
    battles: RatingInput | Iterable[Battle],
    *,
    ties: Ties = "half",
    prior: Prior = 0.0,
    cluster: Cluster = "question",
    covariates: Sequence[str] = (),
    level: float = 0.95,
) -> Ratings:
    """Rate the models of these battles: mean 1000, 400 points for a factor 10 of odds.

    Without a prior, models that the battles do not compare (`Ratings.comparable`) get no number beside each other:
    ratings are those of the one largest comparable group, and None for all others. With a prior all models with a
    battle are finite, and the result names it. A model without a rated battle never gets a number.

    Args:
        battles: a `RatingInput`, or the battles of a run: decided and forfeited ones are rated, void ones never.
        ties: `half`: a tie is half a win for both, so that ratings predict the expected score; `davidson`: a tie is an
            outcome of its own (Davidson 1970), so that ratings predict the odds of win against loss.
        prior: 0 for none, `weak` for one virtual tie of every model with a model at the mean (for either tie model:
            half a win, half a loss), or the number of ties.
        cluster: `question`: battles on one question may depend on each other in any way (for a `RatingInput`: the
            battles of one of its clusters); `battle`: no battle depends on another.
        covariates: what else to adjust for, names of `RatingInput.covariates` or `side` for being side A; estimated
            with the strengths, which are then those between equals in all of them.
        level: coverage of the intervals, between 0 and 1.

    Raises:
        RatingError: an argument is out of range, a battle appears twice, a model meets itself, or the effect of a
            covariate cannot be estimated.

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
    grouping = _Grouping.of(table, ties)
    fits = _Fits.of(table, grouping, ties, virtual_ties, covariates)
    return _ratings(table, grouping, fits, ties, prior, level)


class _Grouping(NamedTuple):
    """Which models have battles, and what these compare."""

    tally: Tally
    """The battles, counted."""
    connected: Groups
    """Groups of models that battles connect."""
    comparable: Groups
    """Groups within which there is a finite maximum under the tie model."""
    main: frozenset[int]
    """The one largest comparable group, or none."""
    counts: NDArray[np.intp]
    """Battles that each model lost, tied and won, shape (models, 3)."""

    @classmethod
    def of(cls, table: RatingInput, ties: Ties) -> "_Grouping":
        tally = table.tally()
        wins = tally.won + tally.tied / 2
        groups = _comparable(tally, wins, ties)
        return cls(tally, components(wins), groups, _largest(groups), tally.counts)

    @property
    def played(self) -> NDArray[np.bool_]:
        """Which models have a battle."""
        return np.asarray(self.counts.sum(axis=1) > 0)


def _ratings(table: RatingInput, grouping: _Grouping, fits: "_Fits", ties: Ties, prior: Prior, level: float) -> Ratings:
    """Return what grouping and fits come to."""
    groups, main, covariates = grouping.comparable, grouping.main, fits.covariates
    ratings = tuple(
        within if has and (prior or model in main) else None
        for model, (within, has) in enumerate(zip(fits.within.tolist(), grouping.played.tolist(), strict=True))
    )
    two = len(ratings) == 2 and not covariates
    score = score_of(table, *table.names, level=level) if two else None
    spreads = fits.spreads(np.array(sorted(main), dtype=np.intp), level)
    ends = _ends(ratings, [reach for _, reach in spreads], score, fits.tie[0])
    found = Ratings(
        names=table.names,
        ratings=ratings,
        se=tuple(se for se, _ in spreads),
        low=tuple(low for low, _ in ends),
        high=tuple(high for _, high in ends),
        within=tuple(fits.within.tolist()),
        covariance=fits.covariance,
        degrees=tuple(fits.degrees),
        ties=ties,
        prior=prior,
        level=level,
        components=_named(table, grouping.connected),
        comparable=_named(table, groups),
        separated=_separated(table, grouping.connected, groups),
        converged=fits.converged,
        iterations=fits.iterations,
        clusters=fits.clusters if fits.clusters and len(groups) == 1 else table.clusters,
        counts=tuple(Count(sum(row), row[2], row[0], row[1]) for row in grouping.counts.tolist()),
        score=score,
        tie_parameter=fits.tie[0],
        tie_se=fits.tie[1],
        effects=fits.effects(level),
    )
    return found if two or covariates else replace(found, neighbours=_neighbours(table, found))


@dataclass(slots=True)
class _Fits:
    """The fits of all groups, put together by model and in points."""

    covariates: Sequence[str]
    scales: NDArray[np.float64]
    within: NDArray[np.float64]
    covariance: NDArray[np.float64]
    degrees: list[int | None]
    clusters: int = 0
    iterations: int = 0
    converged: bool = True
    tie: tuple[float | None, float | None] = (None, None)
    found: list[tuple[str, float, float, int | None]] = field(default_factory=list)

    @classmethod
    def of(
        cls, table: RatingInput, grouping: _Grouping, ties: Ties, virtual_ties: float, covariates: Sequence[str]
    ) -> "_Fits":
        """Fit all models with a battle together if there is a prior, else each comparable group by itself."""
        models = len(table.names)
        within, covariance = np.full(models, MEAN), np.full((models, models), np.nan)
        fits = cls(covariates, scales_of(table, covariates), within, covariance, [None] * models)
        for members in [np.flatnonzero(grouping.played)] if virtual_ties else grouping.comparable:
            leading = bool(virtual_ties) or int(members[0]) in grouping.main
            fits.add(table, grouping.tally, members, ties, virtual_ties, leading=leading)
        covariance.setflags(write=False)
        return fits

    def spreads(self, main: NDArray[np.intp], level: float) -> list[tuple[float, float] | tuple[None, None]]:
        """Return standard error and reach of every rating against the mean of the main group; None outside it.

        Models that nothing but a prior keeps finite move the mean of all models, but no model against the others.
        """
        variances = np.full(len(self.covariance), np.nan)
        if len(main):
            own = self.covariance[np.ix_(main, main)]
            variances[main] = np.diag(own) - 2 * own.mean(axis=1) + own.mean()
        return [
            spread(variance, degrees, level) for variance, degrees in zip(variances.tolist(), self.degrees, strict=True)
        ]

    def add(
        self,
        table: RatingInput,
        tally: Tally,
        members: NDArray[np.intp],
        ties: Ties,
        virtual_ties: float,
        *,
        leading: bool,
    ) -> None:
        """Fit the battles of these models with each other; the leading group is whose tie parameter is shown."""
        if len(members) < 2:
            return
        part = table.among(members)
        own = tally if part is table else part.tally()
        columns = standardised(part, self.covariates, self.scales)
        fitted = self._fit(part, own, columns, ties, virtual_ties)
        models, variance = len(members), sandwich(part, fitted, own.code, columns)
        square = np.ix_(members, members)
        self.within[members] += POINTS * fitted.strength
        self.covariance[square] = POINTS**2 * variance.matrix[:models, :models]
        self.iterations = max(self.iterations, fitted.iterations)
        self.converged = self.converged and fitted.converged
        clusters = variance.clusters
        self.clusters = clusters
        degrees = clusters - 1 if clusters > models + len(self.covariates) else None
        for member, alone in zip(members.tolist(), variance.alone.tolist(), strict=True):
            self.degrees[member] = None if alone else degrees
        if not leading:
            return
        errors = np.sqrt(np.maximum(np.diag(variance.matrix), 0))
        if fitted.log_tie is not None:
            parameter = math.exp(fitted.log_tie)
            self.tie = parameter, None if degrees is None else parameter * float(errors[models])
        elif ties == "davidson":
            self.tie = math.inf if own.tied.any() else 0.0, None
        beyond = len(fitted.bread) - len(self.covariates)
        self.found = [
            (name, float(effect / scale), float(errors[beyond + place] / scale), degrees)
            for place, (name, effect, scale) in enumerate(
                zip(self.covariates, fitted.effects, self.scales, strict=True)
            )
        ]

    def _fit(self, part: RatingInput, own: Tally, columns: NDArray[np.float64], ties: Ties, virtual_ties: float) -> Fit:
        # Without a tie, or with nothing else, the tie parameter lies at an end, where it says nothing of strengths.
        davidson = ties == "davidson" and bool(own.tied.any()) and bool(own.won.any())
        if not self.covariates:
            return fit(Cells.of_pairs(own), davidson=davidson, virtual_ties=virtual_ties)
        cells = Cells.of_battles(part, columns)
        return fit_with(cells, self.covariates, davidson=davidson, virtual_ties=virtual_ties)

    def effects(self, level: float) -> tuple[Effect, ...]:
        """Return what each covariate does."""
        effects = []
        for name, coefficient, error, degrees in self.found:
            se, reach = spread(error**2 * POINTS**2, degrees, level)
            if se is None or reach is None:
                effects.append(Effect(name, coefficient, None, None, None))
            else:
                reach /= POINTS
                effects.append(Effect(name, coefficient, error, coefficient - reach, coefficient + reach))
        return tuple(effects)


def _comparable(tally: Tally, wins: NDArray[np.float64], ties: Ties) -> Groups:
    """Return the groups within which there is a finite maximum under the tie model."""
    groups = comparable(wins)
    if ties == "half" or not tally.tied.any():
        return groups
    kept: list[NDArray[np.intp]] = []
    for group in groups:
        square = np.ix_(group, group)
        won, tied = tally.won[square], tally.tied[square]
        bounded = len(group) < 2 or not tied.any() or ties_bounded(won, tied)
        kept.extend([group] if bounded else [group[place : place + 1] for place in range(len(group))])
    return tuple(sorted(kept, key=lambda group: int(group[0])))


def _neighbours(table: RatingInput, ratings: Ratings) -> tuple[Score, ...]:
    """Return the scores, in their own battles, of neighbours that a fit says nothing about."""
    ranking = ratings.ranking
    level = joint_level(ratings.level, len(ranking))
    place = {name: index for index, name in enumerate(ratings.names)}
    group = {name: index for index, names in enumerate(ratings.comparable) for name in names}
    order = np.array([place[name] for name in ranking], dtype=np.intp)
    above, below, own = order[:-1], order[1:], np.diag(ratings.covariance)
    varied = own[above] + own[below] - 2 * ratings.covariance[above, below] > 1
    pairs = []
    for (a, b), has_spread in zip(pairwise(ranking), varied.tolist(), strict=True):
        degrees = ratings.degrees[place[a]] and ratings.degrees[place[b]]
        # A group without enough questions has none for its pairs either; a difference that varies has an interval.
        if group[a] != group[b] or (degrees and not has_spread and ratings.difference(a, b).low is None):
            pairs.append((a, b))
    return tuple(score for score in scores_of(table, pairs, level=level) if score.battles)


def _ends(
    ratings: Sequence[float | None], reaches: Sequence[float | None], score: Score | None, tie: float | None
) -> list[tuple[float | None, float | None]]:
    """Return the ends of the models' intervals; for two models those of their score, which holds in small samples."""
    if score is not None and None not in ratings:
        # Each of the two stands half of their difference from the mean.
        return [
            (_beside_mean(low), _beside_mean(high)) for low, high in (ends_of(score, tie), ends_of(score.turned(), tie))
        ]
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
    if not is_share(level):
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
