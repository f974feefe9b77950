"""Ratings of battles played elsewhere: what `coupled-arena rate FILE` says."""

import os
from dataclasses import dataclass
from typing import Any

from coupled_arena.ratings.ranks import Ranks, places, ranks
from coupled_arena.ratings.rate import rate
from coupled_arena.ratings.result import Prior, Ratings, Ties
from coupled_arena.studies.rating.battle_files import BattleFile, read_file
from coupled_arena.tournaments.results.documents import rounded, settled_document

COLUMNS = ("model", "rating", "low", "high", "se", "rank_low", "rank_high", "battles")
"""Columns of the rows of ratings, in order."""


@dataclass(frozen=True, slots=True)
class RatedFile:
    """A file of battles with the ratings of its models."""

    file: BattleFile
    """What was read."""
    ratings: Ratings
    """The ratings."""
    ranks: Ranks
    """The rank intervals."""

    @property
    def rows(self) -> tuple[tuple[Any, ...], ...]:
        """Return a row of `COLUMNS` for every model, best first; None where the battles do not say."""
        found, rows, ends = self.ratings, [], places(self.ratings, self.ranks)
        for name in found.ranking:
            at = found.names.index(name)
            numbers = (found.ratings[at], found.low[at], found.high[at], found.se[at])
            rows.append((name, *map(rounded, numbers), *ends[name], self.file.battles[name]))
        return tuple(rows)

    def document(self) -> dict[str, Any]:
        """Return everything as plain data."""
        found, settled = self.ratings, self.ratings.settled()
        return {
            "file": str(self.file.path),
            "format": self.file.format,
            "cluster": self.file.cluster,
            "clusters": found.clusters,
            "battles": self.file.decided,
            "void": self.file.void,
            "ratings": [dict(zip(COLUMNS, row, strict=True)) for row in self.rows],
            "settled": [settled_document(pair) for pair in settled],
            "multiplicity": settled[0].multiplicity if settled else None,
            "ranks": self.ranks.multiplicity,
            "components": [list(group) for group in found.components],
            "comparable": [list(group) for group in found.comparable],
            "separated": list(found.separated),
            "ties": found.ties,
            "prior": found.prior,
            "level": found.level,
            "converged": found.converged,
        }


def rate_file(
    path: str | os.PathLike[str],
    *,
    ties: Ties = "half",
    prior: Prior = 0.0,
    level: float = 0.95,
    cluster: str | None = None,
    **columns: str | None,
) -> RatedFile:
    """Rate the battles of a file; columns are those of `read_battles`, the rest is as for `rate`.

    Raises:
        ConfigurationError: the file cannot be read, or rows of it are wrong.
        RatingError: an argument is out of range.
    """
    file = read_file(path, cluster=cluster, **columns)
    ratings = rate(file.table, ties=ties, prior=prior, level=level)
    return RatedFile(file, ratings, ranks(ratings))
