"""The cluster bootstrap: ratings of many redrawn tables, all fitted at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coupled_arena.errors import RatingError
from coupled_arena.ratings.redraw import redrawn
from coupled_arena.ratings.result import MEAN, POINTS, Ratings
from coupled_arena.ratings.table import RatingInput

_MOST_STEPS = 30
"""Newton's steps of a fit; as many are tried before with the curvature of the first one."""
_NEAR = 1e-8
"""A step of less than this, in log odds, ends a fit."""
_LONGEST = 2.0
"""Most a strength moves in one step, in log odds."""

_STRONGEST = 300.0
"""Log strengths stay within this, or their odds could not be added; a fit that needs more of them does not converge."""

_MOST_NEAR = 1 << 15
"""Numbers worked on at a time, 256 KiB: they stay in the processor's cache."""

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
    pair with equal wins are interchangeable, and how many of each kind are drawn is multinomial, which makes a million
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
    draws, lost = _drawn(battles, ratings, replicates, np.random.default_rng(seed))
    draws[lost] = np.nan
    draws.setflags(write=False)
    kept = draws[~lost]
    rated = [bool(len(kept)) and bool(np.isfinite(column).all()) for column in kept.T]
    tail = (1 - ratings.level) / 2
    lows, highs = _ends(kept, replicates, tail), _ends(-kept, replicates, tail)
    return Bootstrap(
        names=battles.names,
        draws=draws,
        lost=int(lost.sum()),
        se=tuple(float(kept[:, m].std(ddof=1)) if known and len(kept) > 1 else None for m, known in enumerate(rated)),
        low=tuple(lows[m] if known and lows is not None else None for m, known in enumerate(rated)),
        high=tuple(-highs[m] if known and highs is not None else None for m, known in enumerate(rated)),
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


def _drawn(
    battles: RatingInput, ratings: Ratings, replicates: int, generator: np.random.Generator
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the ratings of every replicate, shape (replicates, models), NaN outside all groups, and which are lost."""
    virtual_ties = 1.0 if ratings.prior == "weak" else float(ratings.prior)
    groups = [np.array([ratings.names.index(name) for name in group]) for group in ratings.comparable]
    groups = [np.arange(len(battles.names))] if virtual_ties else [group for group in groups if len(group) > 1]
    start = np.array(ratings.within)
    draws = np.full((replicates, len(battles.names)), np.nan)
    lost = np.zeros(replicates, dtype=np.bool_)
    at = 0
    for wins in redrawn(battles, replicates, generator):
        rows = slice(at, at + len(wins))
        for group in groups:
            square = wins[:, group[:, None], group]
            strength, failed = _refit(square, (start[group] - MEAN) / POINTS, virtual_ties)
            draws[rows, group] = MEAN + POINTS * strength
            lost[rows] |= failed
        at += len(wins)
    return draws, lost


def _ends(values: Floats, replicates: int, tail: float) -> list[float] | None:
    """Return the lower ends of the columns' intervals, None where lost replicates, which lie below, open them."""
    place = tail * (replicates - 1) - (replicates - len(values))
    if place < 0:
        return None
    ends: list[float] = np.quantile(values, place / max(1, len(values) - 1), axis=0).tolist()
    return ends


def _refit(wins: Floats, start: Floats, virtual_ties: float) -> tuple[Floats, NDArray[np.bool_]]:
    """Return the strengths of every table, shape (replicates, models), and which tables have none."""
    met, won = wins + wins.transpose(0, 2, 1), wins.sum(axis=2)
    failed = np.zeros(len(wins), dtype=np.bool_) if virtual_ties else ~_connected(wins > 0)
    strength = np.tile(np.clip(start - start.mean(), -_STRONGEST, _STRONGEST), (len(wins), 1))
    moving = np.flatnonzero(~failed)
    if not len(moving):
        return strength, failed
    bread = np.linalg.inv(_information(met[moving].mean(axis=0)[None], strength[:1], virtual_ties)[0])
    for newton in (False, True):
        last = np.full(len(wins), np.inf)
        ready = moving
        for _ in range(_MOST_STEPS):
            if not len(ready):
                break
            own = strength[ready]
            between = met if len(ready) == len(met) else met[ready]
            gradient = won[ready] - _expected_wins(between, own) - virtual_ties * np.tanh(own / 2) / 2
            gradient -= gradient.mean(axis=1, keepdims=True)
            if newton:
                step = np.linalg.solve(_information(between, own, virtual_ties), gradient[:, :, None])[:, :, 0]
            else:
                step = gradient @ bread
            step -= step.mean(axis=1, keepdims=True)
            longest = np.abs(step).max(axis=1)
            step *= np.minimum(1, _LONGEST / np.maximum(longest, _NEAR))[:, None]
            strength[ready] = np.clip(own + step, -_STRONGEST, _STRONGEST)
            # Steps that do not shrink need the curvature of their own place.
            going = (longest > _NEAR) & (newton | (longest < last[ready]))
            moving = np.setdiff1d(moving, ready[longest <= _NEAR])
            last[ready] = longest
            ready = ready[going]
    failed[moving] = True
    return strength, failed


def _expected_wins(met: Floats, strength: Floats) -> Floats:
    """Return the wins that each model should have, shape (replicates, models)."""
    odds, found = np.exp(strength), np.empty_like(strength)
    for begin in range(0, len(met), part := max(1, _MOST_NEAR // strength.shape[1] ** 2)):
        own = odds[begin : begin + part]
        shares = own[:, :, None] + own[:, None, :]
        np.divide(met[begin : begin + part], shares, out=shares)
        found[begin : begin + part] = shares.sum(axis=2)
    found *= odds
    return found


def _information(met: Floats, strength: Floats, virtual_ties: float) -> Floats:
    """Return the negative second derivative, shape (replicates, models, models)."""
    size = strength.shape[1]
    behind = np.exp(-np.abs(strength[:, :, None] - strength[:, None, :]))
    own = np.exp(-np.abs(strength))
    curvature = met * behind / (1 + behind) ** 2
    diagonal = curvature.sum(axis=2) + virtual_ties * own / (1 + own) ** 2
    # The common shift of all strengths changes nothing; the last term holds it at 0.
    information = diagonal.mean(axis=1)[:, None, None] / size - curvature
    information[:, np.arange(size), np.arange(size)] += diagonal
    return np.asarray(information)


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
