"""Elo's ratings, moved battle by battle: for a display that is watched while battles come in."""

import math

from coupled_arena.errors import RatingError
from coupled_arena.ratings.result import MEAN
from coupled_arena.ratings.table import RatingInput


def elo(battles: RatingInput, *, k: float = 4.0, start: float = MEAN) -> dict[str, float]:
    """Return the rating of every model after the battles were taken in the order of their rows.

    After each battle the winner takes `k * weight * (score - expected)` points from the loser, expected being
    `1 / (1 + 10^((rating of B - rating of A) / 400))` (Elo 1978, The Rating of Chessplayers, section 1.8); a tie scores
    one half. The result **depends on the order of the battles**, has no interval, and never settles: use `rate` for a
    ranking.

    Args:
        battles: the battles in the order they were played.
        k: most points a battle moves, above 0.
        start: rating of every model before its first battle; the mean stays there.

    Raises:
        RatingError: `k` is not a finite number above 0, or `start` is not finite.

    Example:
        >>> rows = [("ada", "bob", 1, 1, "q1"), ("bob", "ada", 0.5, 1, "q2")]
        >>> {name: round(rating, 2) for name, rating in elo(RatingInput.from_rows(rows), k=32).items()}
        {'ada': 1014.53, 'bob': 985.47}
    """
    if not (math.isfinite(k) and k > 0):
        raise RatingError(f"k must be a finite number above 0, not {k!r}")
    if not math.isfinite(start):
        raise RatingError(f"start must be a finite number, not {start!r}")
    ratings = [float(start)] * len(battles.names)
    exp, scale = math.exp, math.log(10) / 400
    moves = (k * battles.weight).tolist()
    for a, b, score, move in zip(battles.a.tolist(), battles.b.tolist(), battles.score.tolist(), moves, strict=True):
        # Far beyond any rating the exponential would overflow, and the chance is 0 to rounding.
        gain = move * (score - 1 / (1 + exp(min(scale * (ratings[b] - ratings[a]), 700.0))))
        ratings[a] += gain
        ratings[b] -= gain
    return dict(zip(battles.names, ratings, strict=True))
