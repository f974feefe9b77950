"""A tournament's battles, rated: the lines of a leaderboard."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from coupled_arena.ratings import RatingInput, Ratings, rate
from coupled_arena.ratings.result import Prior
from coupled_arena.records import Battle
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.results.documents import rounded

LEADERBOARD_COLUMNS = (
    "rank", "model", "rating", "low", "high", "rank_low", "rank_high", "wins", "losses", "ties", "void", "forfeited",
    "availability",
)  # fmt: skip
"""Columns of a leaderboard, in order."""
PRIOR: Prior = "weak"
"""The prior of the ratings; it is named wherever they are shown."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a leaderboard."""

    rank: int | None
    """1 is best; None without a rating, and such models come last."""
    model: str
    """Name of the model."""
    rating: float | None
    """Mean 1000, 400 points per factor ten of odds; None where nothing can be said."""
    low: float | None
    """Lower end of the 95 % interval; None where questions do not outnumber models."""
    high: float | None
    """Upper end of the interval."""
    wins: int
    """Battles won, forfeits of the opponent included."""
    losses: int
    """Battles lost, own forfeits included."""
    ties: int
    """Battles tied."""
    void: int
    """Battles without a decision; they enter no rating."""
    forfeited: int
    """Battles given away."""
    availability: float | None
    """Share of the model's turns that were answered; None without turns."""
    rank_low: int | None = None
    """Best rank that the battles leave possible, for all models at once; None without an interval, and after a round
    that is not the last one."""
    rank_high: int | None = None
    """Worst rank they leave possible; None as `rank_low`."""


def leading(tournament: Tournament, battles: Sequence[Battle]) -> tuple[Battle, ...]:
    """Return the battles of the arm that is rated."""
    return tuple(battle for battle in battles if battle.arm == tournament.arms[0])


def rated(tournament: Tournament, battles: Sequence[Battle]) -> Ratings:
    """Rate a tournament's models from the battles of its first arm; a weak prior keeps undefeated models finite."""
    names = [model.name for model in tournament.models]
    return rate(RatingInput.from_battles(leading(tournament, battles), models=names), prior=PRIOR)


def rows_of(ratings: Ratings, battles: Sequence[Battle]) -> tuple[Row, ...]:
    """Return the leaderboard that ratings and battles make, best first; models without a rating come last."""
    place = {name: index for index, name in enumerate(ratings.names)}
    return tuple(
        Row(
            rank=None if ratings.ratings[place[name]] is None else rank,
            model=name,
            rating=ratings.ratings[place[name]],
            low=ratings.low[place[name]],
            high=ratings.high[place[name]],
            **tally(name, battles),
        )
        for rank, name in enumerate(ratings.ranking, 1)
    )


def row_document(row: Row) -> dict[str, Any]:
    """Return a line of a leaderboard as plain data."""
    return {column: rounded(getattr(row, column)) for column in LEADERBOARD_COLUMNS}


def tally(model: str, battles: Iterable[Battle]) -> dict[str, Any]:
    """Return what a model's battles came to, by the columns of a leaderboard."""
    wins = losses = ties = void = forfeited = asked = answered = 0
    for battle in battles:
        if model not in (battle.a, battle.b):
            continue
        side = "A" if battle.a == model else "B"
        decision = battle.decision
        void += decision.status == "void"
        forfeited += side in decision.forfeited
        ties += decision.verdict == "tie"
        wins += decision.verdict == side
        losses += decision.verdict not in (None, "tie", side)
        own = [turn for turn in battle.turns if turn.speaker == side]
        asked += len(own)
        answered += sum(turn.answered for turn in own)
    return {
        "wins": wins,
        "losses": losses,
        "ties": ties,
        "void": void,
        "forfeited": forfeited,
        "availability": answered / asked if asked else None,
    }
