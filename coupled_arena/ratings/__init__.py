"""From battles to ratings: Bradley-Terry with honest intervals.

Pure numpy; knows nothing of how the battles were played.
"""

from coupled_arena.ratings.rate import rate
from coupled_arena.ratings.result import Count, Effect, Ratings
from coupled_arena.ratings.settled import Difference, Settled
from coupled_arena.ratings.table import RatingInput

__all__ = ["Count", "Difference", "Effect", "RatingInput", "Ratings", "Settled", "rate"]
