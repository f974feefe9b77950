"""Tables redrawn cluster by cluster, as the wins of every two models."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coupled_arena.ratings.table import RatingInput
from coupled_arena.ratings.tally import added

_MOST_CELLS = 1 << 20
"""Cells of replicates x models x models, or replicates x kinds of clusters, held at a time: 8 MiB."""

_MOST_DENSE = 1 << 24
"""Cells of a table of kinds x pairs, or of a table of codes, that is written out in full: 128 MiB."""

_NEAR = 1 << 14
"""Clusters drawn at a time: they stay in the processor's cache."""

_FEW_KINDS = 10
"""So many times more clusters than kinds of them, and kinds are counted out instead of clusters drawn one by one."""

Floats = NDArray[np.float64]


def redrawn(battles: RatingInput, replicates: int, generator: np.random.Generator) -> Iterator[Floats]:
    """Yield the wins of redrawn tables, shape (some replicates, models, models), until there are enough."""
    size = len(battles.names)
    kinds = _Kinds.of(battles)
    edges = np.flatnonzero(np.diff(kinds.pair, prepend=-1))
    lower, upper = np.divmod(kinds.pair[edges], size)
    dense = None
    if 2 * len(kinds.count) * len(edges) <= _MOST_DENSE:
        at = kinds.kind * len(edges) + np.repeat(np.arange(len(edges)), np.diff(edges, append=len(kinds.pair)))
        shape = (len(kinds.count), len(edges))
        dense = [added(at, wins, shape[0] * shape[1]).reshape(shape) for wins in (kinds.won, kinds.lost)]
    part = max(1, _MOST_CELLS // max(size * size, len(kinds.count)))
    for begin in range(0, replicates, part):
        drawn = _draw(kinds.count, min(part, replicates - begin), generator)
        found = np.zeros((len(drawn), size, size))
        if dense is not None:
            times = drawn.astype(np.float64)
            found[:, lower, upper], found[:, upper, lower] = times @ dense[0], times @ dense[1]
        else:
            for wins, row in zip(found, drawn, strict=True):
                taken = row[kinds.kind]
                wins[lower, upper] = np.add.reduceat(taken * kinds.won, edges)
                wins[upper, lower] = np.add.reduceat(taken * kinds.lost, edges)
        yield found


@dataclass(frozen=True, slots=True, eq=False)
class _Kinds:
    """Clusters that say the same, and what they say: one entry for each pair of models in a kind, or more of them."""

    count: NDArray[np.intp]
    """How many clusters are of each kind, shape (kinds,)."""
    kind: NDArray[np.intp]
    """Kind of every entry, shape (entries,)."""
    pair: NDArray[np.intp]
    """`lower * models + upper` with the codes of its models, ascending, shape (entries,)."""
    won: Floats
    """Weight of the lower code's wins, shape (entries,)."""
    lost: Floats
    """Weight of its losses, shape (entries,)."""

    @classmethod
    def of(cls, battles: RatingInput) -> "_Kinds":
        """Return the kinds: clusters of one pair are alike where their wins are; any other is of a kind of its own."""
        size, swapped = len(battles.names), battles.a > battles.b
        pair = np.where(swapped, battles.b * size + battles.a, battles.a * size + battles.b)
        won = np.where(swapped, 1 - battles.score, battles.score) * battles.weight
        lost = battles.weight - won
        cluster = _packed(battles.cluster)
        clusters = int(cluster.max()) + 1
        some = np.zeros(clusters, dtype=np.intp)
        some[cluster] = np.arange(len(battles))
        of_one = np.ones(clusters, dtype=np.bool_)
        of_one[cluster[pair[some][cluster] != pair]] = False
        one, all_won, all_lost = np.flatnonzero(of_one), added(cluster, won), added(cluster, lost)
        alike = pair[some[one]]
        for column in (all_won[one], all_lost[one]):
            code = _coded(column)
            alike = _packed(alike * (int(code.max(initial=0)) + 1) + code)
        shared = int(alike.max(initial=-1)) + 1
        kind = np.zeros(clusters, dtype=np.intp)
        kind[one], kind[~of_one] = alike, shared + np.arange(clusters - len(one))
        first = np.zeros(shared, dtype=np.intp)
        first[alike] = one
        rows = np.flatnonzero(~of_one[cluster])
        pairs = np.concatenate([pair[some[first]], pair[rows]])
        order = np.argsort(pairs.astype(np.min_scalar_type(size * size)), kind="stable")
        return cls(
            count=np.bincount(kind),
            kind=np.concatenate([np.arange(shared), kind[cluster[rows]]])[order],
            pair=pairs[order],
            won=np.concatenate([all_won[first], won[rows]])[order],
            lost=np.concatenate([all_lost[first], lost[rows]])[order],
        )


def _coded(values: Floats) -> NDArray[np.intp]:
    """Return codes of numbers of at least 0, equal where the numbers are."""
    double = 2 * values
    if double.max(initial=0) <= len(values) and (double == np.floor(double)).all():
        # Unweighted wins are halves: their codes need no sorting.
        return double.astype(np.intp)
    return np.unique(values, return_inverse=True)[1]


def _packed(code: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the codes numbered from 0 without gaps, in their order."""
    if code.max(initial=0) >= _MOST_DENSE:
        return np.unique(code, return_inverse=True)[1]
    present = np.bincount(code) > 0
    return code if present.all() else (np.cumsum(present) - 1)[code]


def _draw(count: NDArray[np.intp], replicates: int, generator: np.random.Generator) -> NDArray[np.int64]:
    """Return how many clusters of each kind every replicate holds, shape (replicates, kinds)."""
    clusters = int(count.sum())
    if clusters >= _FEW_KINDS * len(count):
        return generator.multinomial(clusters, count / clusters, size=replicates)
    kind_of, kinds = np.repeat(np.arange(len(count), dtype=np.int32), count), np.empty(clusters, dtype=np.intp)
    drawn = np.empty((replicates, len(count)), dtype=np.int64)
    for row in drawn:
        for begin in range(0, clusters, _NEAR):
            some = kinds[begin : begin + _NEAR]
            some[:] = kind_of[generator.integers(0, clusters, len(some))]
        row[:] = np.bincount(kinds, minlength=len(count))
    return drawn
