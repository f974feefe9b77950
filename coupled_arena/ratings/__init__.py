"""From battles to ratings: Bradley-Terry with honest intervals.

Pure numpy; knows nothing of how the battles were played.
"""

from coupled_arena.ratings.bootstrap import Bootstrap, bootstrap
from coupled_arena.ratings.elo import elo
from coupled_arena.ratings.power import Power, power
from coupled_arena.ratings.rank_agreement import RankAgreement, compare
from coupled_arena.ratings.ranks import Rank, Ranks, ranks, top_set
from coupled_arena.ratings.rate import rate
from coupled_arena.ratings.result import Count, Effect, Ratings
from coupled_arena.ratings.settled import Difference, Settled
from coupled_arena.ratings.table import RatingInput

__all__ = [
    "Bootstrap",
    "Count",
    "Difference",
    "Effect",
    "Power",
    "Rank",
    "RankAgreement",
    "Ranks",
    "RatingInput",
    "Ratings",
    "Settled",
    "bootstrap",
    "compare",
    "elo",
    "power",
    "ranks",
    "rate",
    "top_set",
]
