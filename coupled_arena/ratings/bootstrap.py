"""The cluster bootstrap: ratings of many redrawn tables, all fitted at once."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coupled_arena.errors import RatingError
from coupled_arena.ratings.result import MEAN, POINTS, Ratings
from coupled_arena.ratings.table import RatingInput

_MOST_CELLS = 1 << 22
"""Cells of replicates x models x models, or replicates x kinds of clusters, held at a time: 32 MiB."""

_MOST_DENSE = 1 << 24
"""Cells of a table of kinds x pairs, or of a table of codes, that is written out in full: 128 MiB."""

_MOST_STEPS = 30
"""Newton's steps of a fit; as many are tried before with the curvature of the first one."""
_NEAR = 1e-8
"""A step of less than this, in log odds, ends a fit."""
_LONGEST = 2.0
"""Most a strength moves in one step, in log odds."""

_FEW_KINDS = 4
"""So many times more clusters than kinds of them, and kinds are counted out instead of clusters drawn one by one."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Bootstrap:
    """Ratings of redrawn clusters.

    A replicate is lost where the redrawn battles no longer compare all models that the battles compare, or its fit did
    not converge. It counts as below every lower end and above every upper end, so that losing replicates widens an
    interval and at last opens it.
    """

    names: tuple[str, ...]
    """Models in the order of `Ratings.names`."""
    draws: Floats
    """Rating inside the comparable group in every replicate, shape (replicates, models); NaN in lost ones, and for a
    model that nothing compares."""
    lost: int
    """Replicates without ratings, of all."""
    se: tuple[float | None, ...]
    """Standard deviation of each model's rating over the replicates that are not lost; None with fewer than two."""
    low: tuple[float | None, ...]
    """Lower end of each model's percentile interval; None where lost replicates open it, or there is no rating."""
    high: tuple[float | None, ...]
    """Upper end of the interval; None as `low`."""
    level: float
    """Coverage of the intervals."""

    @property
    def replicates(self) -> int:
        """How many tables were redrawn, lost ones included."""
        return len(self.draws)


def bootstrap(battles: RatingInput, ratings: Ratings, *, replicates: int = 1000, seed: int = 0) -> Bootstrap:
    """Return how ratings vary where whole clusters are redrawn with replacement (Efron and Tibshirani 1993, ch. 6, 13).

    Every replicate draws as many clusters as there are, adds up their wins and refits from the ratings on, many
    replicates at once: by steps with one curvature for all, and by Newton's where those do not shrink. Clusters of one
    and the same battle are interchangeable, and how many of each kind are drawn is multinomial, which makes a million
    single battles as cheap as their distinct outcomes.

    The closed-form intervals of `rate` say the same in large samples; use this where a model has fewer than about 50
    battles.

    Args:
        battles: the table that was rated; whatever belongs to one cluster is redrawn together.
        ratings: what `rate` returned for it, with ties as half wins and without covariates.
        replicates: how many tables to redraw, at least 1.
        seed: names the draws; equal seeds, equal replicates.

    Raises:
        RatingError: there are no battles, the ratings are of other models or another tie model, or an argument is out
            of range.

    Example:
        >>> from coupled_arena.ratings import rate
        >>> battles = RatingInput.from_rows([("ada", "bob", float(n % 3 > 0), 1, n) for n in range(60)])
        >>> ratings = rate(battles)
        >>> found = bootstrap(battles, ratings, replicates=200)
        >>> found.lost, [round(se) for se in found.se], [round(se) for se in ratings.se]
        (0, [26, 26], [24, 24])
    """
    _check(battles, ratings, replicates)
    generator = np.random.default_rng(seed)
    size = len(battles.names)
    virtual_ties = 1.0 if ratings.prior == "weak" else float(ratings.prior)
    groups = [np.array([ratings.names.index(name) for name in group]) for group in ratings.comparable]
    groups = [np.arange(size)] if virtual_ties else [group for group in groups if len(group) > 1]
    start = np.array(ratings.within)
    draws = np.full((replicates, size), np.nan)
    lost = np.zeros(replicates, dtype=np.bool_)
    at = 0
    for wins in _redrawn(battles, replicates, generator):
        rows = slice(at, at + len(wins))
        for group in groups:
            square = wins[:, group[:, None], group]
            strength, failed = _refit(square, (start[group] - MEAN) / POINTS, virtual_ties)
            draws[rows, group] = MEAN + POINTS * strength
            lost[rows] |= failed
        at += len(wins)
    draws[lost] = np.nan
    draws.setflags(write=False)
    kept = draws[~lost]
    rated = [bool(len(kept)) and bool(np.isfinite(kept[:, model]).all()) for model in range(size)]
    tail = (1 - ratings.level) / 2
    ends = [(_end(kept[:, m], replicates, tail), _end(-kept[:, m], replicates, tail)) for m in range(size)]
    return Bootstrap(
        names=battles.names,
        draws=draws,
        lost=int(lost.sum()),
        se=tuple(float(kept[:, m].std(ddof=1)) if rated[m] and len(kept) > 1 else None for m in range(size)),
        low=tuple(ends[m][0] if rated[m] else None for m in range(size)),
        high=tuple(None if (end := ends[m][1]) is None or not rated[m] else -end for m in range(size)),
        level=ratings.level,
    )


def _check(battles: RatingInput, ratings: Ratings, replicates: int) -> None:
    if replicates < 1:
        raise RatingError(f"replicates must be at least 1, not {replicates!r}")
    if not len(battles):
        raise RatingError("there are no battles to redraw")
    if battles.names != ratings.names:
        raise RatingError("the ratings are of other models than the battles; give the table that was rated")
    if ratings.ties != "half":
        raise RatingError(f"the bootstrap refits ties as half wins, and the ratings took {ratings.ties!r}")
    if ratings.effects:
        raise RatingError("the bootstrap refits no covariates; rate without them")


def _end(values: Floats, replicates: int, tail: float) -> float | None:
    """Return the lower end of a percentile interval, lost replicates lying below it."""
    place = tail * (replicates - 1) - (replicates - len(values))
    if place < 0:
        return None
    return float(np.quantile(values, place / max(1, len(values) - 1)))


def _redrawn(battles: RatingInput, replicates: int, generator: np.random.Generator) -> Iterator[Floats]:
    """Yield the wins of redrawn tables, shape (some replicates, models, models), until there are enough."""
    size = len(battles.names)
    kind, count = _kinds(battles)
    # Of interchangeable clusters one is kept, to be taken as often as any of them is drawn.
    first = np.zeros(len(count), dtype=np.intp)
    first[kind[::-1]] = np.arange(len(battles))[::-1]
    kept = (count[kind] == 1) | (first[kind] == np.arange(len(battles)))
    a, b, score, weight = (column[kept] for column in (battles.a, battles.b, battles.score, battles.weight))
    where = np.concatenate([kind[kept], kind[kept]])
    cell = np.concatenate([a * size + b, b * size + a])
    wins = np.concatenate([weight * score, weight * (1 - score)])
    dense = None
    if len(count) * size**2 <= _MOST_DENSE:
        at = where * (size * size) + cell
        dense = np.bincount(at, wins, len(count) * size**2).reshape(len(count), size**2)
    part = max(1, _MOST_CELLS // max(size * size, len(count)))
    for begin in range(0, replicates, part):
        drawn = _draw(count, min(part, replicates - begin), generator)
        if dense is not None:
            found = drawn.astype(np.float64) @ dense
        else:
            found = np.stack([np.bincount(cell, row[where] * wins, size * size).astype(np.float64) for row in drawn])
        yield found.reshape(-1, size, size)


def _kinds(battles: RatingInput) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the kind of every battle's cluster and how many clusters there are of each kind.

    Clusters of one battle are of one kind where models, score and weight agree; any other is of a kind of its own.
    """
    alone = np.bincount(battles.cluster)[battles.cluster] == 1
    size = len(battles.names)
    weight = 0 if np.ptp(battles.weight) == 0 else np.unique(battles.weight, return_inverse=True)[1]
    outcome = (2 * np.where(battles.a < battles.b, battles.score, 1 - battles.score)).astype(np.intp)
    lower, upper = np.minimum(battles.a, battles.b), np.maximum(battles.a, battles.b)
    alike = ((weight * 3 + outcome) * size + lower) * size + upper
    code = np.where(alone, alike, alike.max() + 1 + battles.cluster)
    if code.max() < _MOST_DENSE:
        rows = np.bincount(code)
        kind = (np.cumsum(rows > 0) - 1)[code]
        rows = rows[rows > 0]
    else:
        _, kind, rows = np.unique(code, return_inverse=True, return_counts=True)
    count = np.ones(len(rows), dtype=np.intp)
    count[kind[alone]] = rows[kind[alone]]
    return kind, count


def _draw(count: NDArray[np.intp], replicates: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Return how many clusters of each kind every replicate holds, shape (replicates, kinds)."""
    clusters = int(count.sum())
    if clusters >= _FEW_KINDS * len(count):
        return generator.multinomial(clusters, count / clusters, size=replicates)
    kind_of = np.repeat(np.arange(len(count)), count)
    drawn = (kind_of[generator.integers(0, clusters, clusters)] for _ in range(replicates))
    return np.stack([np.bincount(row, minlength=len(count)) for row in drawn])


def _refit(wins: Floats, start: Floats, virtual_ties: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the strengths of every table, shape (replicates, models), and which tables have none."""
    met = wins + wins.transpose(0, 2, 1)
    failed = np.zeros(len(wins), dtype=np.bool_) if virtual_ties else ~_connected(wins > 0)
    strength = np.tile(start - start.mean(), (len(wins), 1))
    moving = np.flatnonzero(~failed)
    if not len(moving):
        return strength, failed
    bread = np.linalg.inv(_slopes(met[moving].mean(axis=0)[None], strength[:1], virtual_ties)[2][0])
    for newton in (False, True):
        last = np.full(len(wins), np.inf)
        ready = moving
        for _ in range(_MOST_STEPS):
            if not len(ready):
                break
            chance, share, information = _slopes(met[ready], strength[ready], virtual_ties, curved=newton)
            gradient = (wins[ready] - met[ready] * chance).sum(axis=2) + virtual_ties * (0.5 - share)
            gradient -= gradient.mean(axis=1, keepdims=True)
            step = np.linalg.solve(information, gradient[:, :, None])[:, :, 0] if newton else gradient @ bread
            step -= step.mean(axis=1, keepdims=True)
            longest = np.abs(step).max(axis=1)
            step *= np.minimum(1, _LONGEST / np.maximum(longest, _NEAR))[:, None]
            strength[ready] += step
            # Steps that do not shrink need the curvature of their own place.
            going = (longest > _NEAR) & (newton | (longest < last[ready]))
            moving = np.setdiff1d(moving, ready[longest <= _NEAR])
            last[ready] = longest
            ready = ready[going]
    failed[moving] = True
    return strength, failed


def _slopes(
    met: Floats, strength: Floats, virtual_ties: float, *, curved: bool = True
) -> tuple[Floats, Floats, Floats]:
    """Return chances to win, those against a model at the mean, and, if asked for, the negative second derivative."""
    size = strength.shape[1]
    chance = np.exp(-np.logaddexp(0, strength[:, None, :] - strength[:, :, None]))
    share = np.exp(-np.logaddexp(0, -strength))
    if not curved:
        return chance, share, np.empty(0)
    curvature = met * chance * (1 - chance)
    diagonal = curvature.sum(axis=2) + virtual_ties * share * (1 - share)
    # The common shift of all strengths changes nothing; the last term holds it at 0.
    information = diagonal.mean(axis=1)[:, None, None] / size - curvature
    information[:, np.arange(size), np.arange(size)] += diagonal
    return chance, share, information


def _connected(won: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return in which tables wins lead from every model to every other: Ford's condition for a maximum."""
    return _reached(won) & _reached(won.transpose(0, 2, 1))


def _reached(won: NDArray[np.bool_]) -> NDArray[np.bool_]:
    edges = won.astype(np.float32)
    reached = np.zeros((len(won), 1, won.shape[1]), dtype=np.float32)
    reached[:, :, 0] = 1
    while True:
        further = (reached + reached @ edges > 0).astype(np.float32)
        if np.array_equal(further, reached):
            every: NDArray[np.bool_] = np.all(reached > 0, axis=(1, 2))
            return every
        reached = further
