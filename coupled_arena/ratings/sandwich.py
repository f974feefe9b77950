"""The covariance of a fit, robust to any dependence between the battles of one cluster (question)."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coupled_arena.ratings.cells import Cells
from coupled_arena.ratings.connectivity import components
from coupled_arena.ratings.fit import Chances, Fit, expected, information_of
from coupled_arena.ratings.table import RatingInput
from coupled_arena.ratings.tally import OUTCOMES, added

_MOST_CELLS = 1 << 18
"""Numbers (clusters x parameters) summed at a time: 2 MiB stay in the processor's cache."""

_MOST_CLUSTERS = 1 << 13
"""Clusters of one pair summed at a time, for the same reason."""

_MOST_ENTRIES = 1 << 22
"""Numbers (clusters x parameters x parameters) held at a time, 32 MiB."""

_LEVERAGE = 0.05
"""A cluster that determines less of all parameters together is taken to determine its even share."""

_MOST_WORK = 1 << 30
"""Strong clusters times parameters cubed up to which each is taken out of the fit exactly."""

_WHOLE = 1 - 1e-6
"""A cluster that determines so much of a parameter determines it alone."""

_Rows = NDArray[np.intp] | slice


class Covariance(NamedTuple):
    """How the parameters of a fit vary."""

    matrix: NDArray[np.float64]
    """Covariance of all parameters, shape (parameters, parameters); NaN where there are fewer than two clusters."""
    alone: NDArray[np.bool_]
    """Models whose strength one cluster alone determines, so that nothing tells how it varies, shape (models,)."""
    clusters: int
    """How many clusters there are."""


@dataclass(frozen=True, slots=True, eq=False)
class _Scores:
    """The derivative of the log likelihood of some battles."""

    strength: NDArray[np.float64]
    """On the strength of A; that on the strength of B is its negative, shape (battles,)."""
    others: NDArray[np.float64]
    """On the other parameters, shape (battles, others)."""


def sandwich(table: RatingInput, fitted: Fit, code: NDArray[np.intp], covariates: NDArray[np.float64]) -> Covariance:
    """Return the covariance of the parameters of a fit.

    `B (sum_g T_g T_g') B (G - 1) / G` with B the inverse information and `T_g = (I - J_g B)^-1 S_g`, S_g the score and
    J_g the information of cluster g: one Newton step of the jackknife over G clusters (Liang and Zeger 1986; Bell and
    McCaffrey 2002, Survey Methodology 28). It pays for the pull of a cluster on the fit it is compared with; where all
    clusters pull alike it is the plain sandwich times G / (G - 1). A cluster that pulls by less than 5 % over all
    parameters together is taken to pull like the average. Where the others are too many to take out one by one, each
    is taken to pull alike in all directions that its battles have.

    With Student's quantile at G - 1 degrees, intervals of 95 % so made hold in 94 to 97 % of simulations with 10 to 40
    clusters, dense or sparse. Half of the correction, `(I - J_g B)^(-1/2) S_g`, which is unbiased for independent
    battles, falls to 92 % where a cluster has one pair only; none, `S_g sqrt(G / (G - 1))`, falls to 88 %.

    Args:
        table: the battles that were fitted.
        fitted: the maximum.
        code: where each battle stands in the tally, shape (battles,).
        covariates: standardised, shape (battles, covariates).
    """
    models, size = len(table.names), len(fitted.bread)
    counts = np.bincount(table.cluster)
    clusters = int(np.count_nonzero(counts))
    alone = np.zeros(models, dtype=np.bool_)
    if clusters < 2:
        return Covariance(np.full((size, size), np.nan), alone, clusters)
    cluster = table.cluster
    if clusters < len(counts):
        cluster = (np.cumsum(counts > 0) - 1)[cluster]
    scores = _scores_of(table, fitted, code, covariates)
    pulls = None
    if _strongest(table, fitted, covariates, counts) > _LEVERAGE:
        pulls = _pulls(table, fitted, covariates, cluster, clusters)
        if pulls.max() <= _LEVERAGE:
            pulls = None
    even = clusters / (clusters - 1)
    meat = None
    if not covariates.shape[1] or pulls is None:
        meat = _meat_of_pairs(table, scores, cluster, clusters, pulls, even)
    if meat is None:
        meat = _meat(table, fitted, scores, covariates, cluster, pulls, even)
    if pulls is not None:
        for one in np.flatnonzero(pulls >= _WHOLE):
            alone |= _beyond(table, cluster, int(one))
    return Covariance(fitted.bread @ meat @ fitted.bread / even, alone, clusters)


def _scores_of(
    table: RatingInput, fitted: Fit, code: NDArray[np.intp], covariates: NDArray[np.float64]
) -> Callable[[_Rows], _Scores]:
    """Return what gives the scores of some battles."""
    tied = fitted.log_tie is not None
    models = len(table.names)
    if covariates.shape[1] or len(table) < models**2:
        chances = _chances(table, fitted, covariates)
        all_left = table.weight * (table.score - chances.score)
        columns = [all_left * column for column in covariates.T]
        if tied:
            columns.insert(0, table.weight * ((table.score == 0.5) - chances.tie))
        every = np.stack(columns, axis=1) if columns else np.zeros((len(table), 0))
        return lambda rows: _Scores(all_left[rows], every[rows])
    # Battles of one pair and outcome have one score: it is looked up.
    chances = expected(fitted.strength[:, None] - fitted.strength, fitted.log_tie)
    strengths = (np.arange(OUTCOMES) / 2 - chances.score[:, :, None]).ravel()
    ties = ((np.arange(OUTCOMES) == 1) - chances.tie[:, :, None]).ravel() if tied else np.zeros(0)

    def looked_up(rows: _Rows) -> _Scores:
        at, weight = code[rows], table.weight[rows]
        others = (ties[at] * weight)[:, None] if tied else np.zeros((len(at), 0))
        return _Scores(strengths[at] * weight, others)

    return looked_up


def _chances(table: RatingInput, fitted: Fit, covariates: NDArray[np.float64]) -> Chances:
    return expected(fitted.strength[table.a] - fitted.strength[table.b] + covariates @ fitted.effects, fitted.log_tie)


def _strongest(table: RatingInput, fitted: Fit, covariates: NDArray[np.float64], counts: NDArray[np.intp]) -> float:
    """Return a bound on the pull of any cluster."""
    if covariates.shape[1]:
        return 1.0
    each = _pull_by_pair(table, fitted)
    return float(counts.max() * table.weight.max() * each.max())


def _pull_by_pair(table: RatingInput, fitted: Fit) -> NDArray[np.float64]:
    """Return the pull of a battle of weight 1: of every battle, or of each two models where those are fewer."""
    models = len(fitted.strength)
    every = np.arange(models)
    a, b = (table.a, table.b) if len(table) < models**2 else (every[:, None], every)
    chances = expected(fitted.strength[a] - fitted.strength[b], fitted.log_tie)
    own = np.diag(fitted.bread)
    pull = chances.spread * (own[a] + own[b] - fitted.bread[a, b] - fitted.bread[b, a])
    if fitted.log_tie is not None:
        crossed, tie = fitted.bread[models, :models], fitted.bread[models, models]
        pull += 2 * chances.joint * (crossed[a] - crossed[b]) + chances.tie * (1 - chances.tie) * tie
    return pull


def _pulls(
    table: RatingInput,
    fitted: Fit,
    covariates: NDArray[np.float64],
    cluster: NDArray[np.intp],
    clusters: int,
) -> NDArray[np.float64]:
    """Return the pull of every cluster, shape (clusters,)."""
    models, ties = len(table.names), int(fitted.log_tie is not None)
    if not covariates.shape[1]:
        each = _pull_by_pair(table, fitted)
        each = each if each.ndim == 1 else each[table.a, table.b]
        return added(cluster, table.weight * each, clusters)
    chances, bread = _chances(table, fitted, covariates), fitted.bread
    # The derivative of the difference, and its product with the bread.
    along = bread[table.a] - bread[table.b] + covariates @ bread[models + ties :]
    rows = np.arange(len(table))
    reach = along[rows, table.a] - along[rows, table.b] + (covariates * along[:, models + ties :]).sum(axis=1)
    pull = chances.spread * reach
    if ties:
        pull += 2 * chances.joint * along[:, models] + chances.tie * (1 - chances.tie) * bread[models, models]
    return added(cluster, table.weight * pull, clusters)


def _meat_of_pairs(
    table: RatingInput,
    scores_of: Callable[[_Rows], _Scores],
    cluster: NDArray[np.intp],
    clusters: int,
    pulls: NDArray[np.float64] | None,
    even: float,
) -> NDArray[np.float64] | None:
    """Return the sum of the products of scores, or None where a cluster is not one pair's."""
    models = len(table.names)
    pair, left = np.empty(clusters, dtype=np.intp), np.empty(clusters)
    rest: list[NDArray[np.float64]] = []
    # Sorting costs more than one large part.
    rising = bool((cluster[1:] >= cluster[:-1]).all())
    parts = _chunks(cluster, clusters, _MOST_CLUSTERS) if rising else [(slice(None), 0, clusters)]
    for rows, first, count in parts:
        local, a, b = cluster[rows] - first, table.a[rows], table.b[rows]
        own, of_row = pair[first : first + count], np.minimum(a, b) * models + np.maximum(a, b)
        own[local] = of_row
        if (own[local] != of_row).any():
            return None
        scores = scores_of(rows)
        left[first : first + count] = added(local, np.where(a < b, scores.strength, -scores.strength), count)
        rest = rest or [np.empty(clusters) for _ in scores.others.T]
        for into, column in zip(rest, scores.others.T, strict=True):
            into[first : first + count] = added(local, column, count)
    # What a cluster determines alone has no score.
    factor = even if pulls is None else 1 / (1 - np.where(pulls >= _WHOLE, 0.0, pulls))
    left = left * factor
    rest = [column * factor for column in rest]
    squares = added(pair, left**2, models * models).reshape(models, models)
    squares = squares + squares.T
    meat = np.zeros((models + len(rest),) * 2)
    meat[:models, :models] = -squares
    meat[np.arange(models), np.arange(models)] += squares.sum(axis=1)
    lower, upper = np.divmod(pair, models) if rest else (pair, pair)
    for place, column in enumerate(rest, models):
        meat[place, :models] = added(lower, left * column, models) - added(upper, left * column, models)
        meat[:models, place] = meat[place, :models]
        for other, factors in enumerate(rest, models):
            meat[place, other] = column @ factors
    return meat


def _beyond(table: RatingInput, cluster: NDArray[np.intp], one: int) -> NDArray[np.bool_]:
    """Return the models that only this cluster connects with most of the others."""
    left = np.zeros((len(table.names),) * 2)
    rows = cluster != one
    left[table.a[rows], table.b[rows]] = 1
    groups = components(left)
    most = max(groups, key=len)
    found = np.ones(len(table.names), dtype=np.bool_)
    found[most] = False
    return found


def _meat(
    table: RatingInput,
    fitted: Fit,
    scores_of: Callable[[_Rows], _Scores],
    covariates: NDArray[np.float64],
    cluster: NDArray[np.intp],
    pulls: NDArray[np.float64] | None,
    even: float,
) -> NDArray[np.float64]:
    """Return the sum of the products of scores of clusters."""
    models, size = len(table.names), len(fitted.bread)
    clusters = int(cluster.max()) + 1
    meat = np.zeros((size, size))
    strong = np.zeros(clusters, dtype=np.bool_) if pulls is None else pulls > _LEVERAGE
    even_pull = np.full(clusters, even)
    if pulls is not None and int(strong.sum()) * size**3 > _MOST_WORK:
        directions = np.minimum(np.bincount(cluster, minlength=clusters), models - 1)
        even_pull[strong] = 1 / (1 - np.minimum(pulls / directions, 0.5)[strong])
        strong[:] = False
    for rows, first, count in _chunks(cluster, clusters, max(1, _MOST_CELLS // size)):
        local = cluster[rows] - first
        found = _by_cluster(table, scores_of(rows), rows, local, count)
        pulling = np.flatnonzero(strong[first : first + count])
        found *= np.where(strong, 1.0, even_pull)[first : first + count, None]
        for start in range(0, len(pulling), step := max(1, _MOST_ENTRIES // size**2)):
            own = pulling[start : start + step]
            found[own] = _corrected(table, fitted, covariates, rows, local, own, found[own])
        meat += found.T @ found
    return meat


def _by_cluster(
    table: RatingInput, scores: _Scores, rows: _Rows, local: NDArray[np.intp], count: int
) -> NDArray[np.float64]:
    models = len(table.names)
    at, left = local * models, scores.strength
    strengths = added(at + table.a[rows], left, count * models)
    strengths -= added(at + table.b[rows], left, count * models)
    strengths = strengths.reshape(count, models)
    if not scores.others.shape[1]:
        return strengths
    others = [added(local, column, count)[:, None] for column in scores.others.T]
    return np.concatenate([strengths, *others], axis=1)


def _corrected(
    table: RatingInput,
    fitted: Fit,
    covariates: NDArray[np.float64],
    rows: _Rows,
    local: NDArray[np.intp],
    own: NDArray[np.intp],
    found: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return scores of the clusters `own` (ascending) as they would be against a fit without the cluster."""
    place = np.full(int(local.max()) + 1, -1, dtype=np.intp)
    place[own] = np.arange(len(own))
    part = place[local]
    kept = np.flatnonzero(part >= 0)
    chosen = kept + (rows.start or 0) if isinstance(rows, slice) else rows[kept]
    weight, none = table.weight[chosen], np.zeros(len(chosen))
    extra = covariates[chosen]
    cells = Cells(len(table.names), table.a[chosen], table.b[chosen], none, none, weight, extra)
    difference = fitted.strength[cells.a] - fitted.strength[cells.b] + extra @ fitted.effects
    chances = expected(difference, fitted.log_tie)
    information = information_of(cells, chances, fitted.log_tie is not None, part[kept], len(own))
    # A direction that the cluster alone determines has no score; it is kept from dividing nothing by nothing.
    remains = np.eye(len(fitted.bread)) * (1 + 1e-9) - information @ fitted.bread
    return np.linalg.solve(remains, found[:, :, None])[:, :, 0].astype(np.float64, copy=False)


def _chunks(cluster: NDArray[np.intp], clusters: int, most: int) -> list[tuple[_Rows, int, int]]:
    """Return (rows, first cluster, clusters) of parts with at most so many clusters each."""
    if clusters <= most:
        return [(slice(None), 0, clusters)]
    starts = np.arange(0, clusters, most)
    if (np.diff(cluster) < 0).any():
        order = np.argsort(cluster, kind="stable")
        edges = np.searchsorted(cluster[order], np.append(starts, clusters))
        parts: list[_Rows] = [order[low:high] for low, high in pairwise(edges.tolist())]
    else:
        edges = np.searchsorted(cluster, np.append(starts, clusters))
        parts = [slice(low, high) for low, high in pairwise(edges.tolist())]
    return [(part, int(start), min(most, clusters - int(start))) for part, start in zip(parts, starts, strict=True)]
