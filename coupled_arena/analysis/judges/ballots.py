"""What every judge's verdicts come to as its vote, and what the votes come to as a decision."""

from dataclasses import dataclass

import numpy as np

from coupled_arena.analysis.judges.company import counted_by, majority_of
from coupled_arena.analysis.judges.estimate import Floats
from coupled_arena.analysis.judges.table import Flags, Opinions, When
from coupled_arena.analysis.labels import Codes
from coupled_arena.records import OnFlip


@dataclass(frozen=True, slots=True, eq=False)
class Ballots:
    """The votes of a table: one a row for every judge before a battle with one draw of its dice."""

    battle: Codes
    """Code of the battle, shape (ballots,)."""
    judge: Codes
    """Code of the judge, shape (ballots,)."""
    dice: Codes
    """Draw of the judge's dice, shape (ballots,)."""
    score: Floats
    """Score of A that it votes for, NaN for an abstention, shape (ballots,)."""

    def counts(self, battles: int, rows: Flags | None = None) -> tuple[Floats, Floats]:
        """Return votes for B, tie and A in every battle, shape (battles, 3), and the seats, shape (battles,).

        Args:
            battles: how many there are.
            rows: which ballots count; by default those with the first draw of dice.
        """
        rows = self.dice == 0 if rows is None else rows
        seats = np.bincount(self.battle[rows], minlength=battles).astype(np.float64)
        return counted_by(self.battle[rows], self.score[rows], battles), seats


def ballots(table: Opinions, *, when: When = "alone", on_flip: OnFlip = "tie") -> Ballots:
    """Return every judge's vote, by the rule of a committee: its verdict in one order, or the one it gives in both.

    Two different verdicts are a tie or an abstention as `on_flip` says, and a verdict in one order only is none. `last`
    means the last verdict there is, after discussion or, without any, alone.
    """
    looks = table.looks
    score = looks.alone if when == "alone" or not looks.discussed else looks.last
    first, second = looks.pairs()
    votes = score.copy()
    either = np.isnan(score[first]) | np.isnan(score[second])
    flipped = 0.5 if on_flip == "tie" else np.nan
    votes[first] = np.where(either, np.nan, np.where(score[first] == score[second], score[first], flipped))
    kept = np.ones(len(looks), dtype=np.bool_)
    kept[second] = False
    return Ballots(looks.battle[kept], looks.judge[kept], looks.dice[kept], votes[kept])


def decided(votes: Floats, seats: Floats, *, quorum: float = 0.5) -> Floats:
    """Return the score of A that every battle is decided with, NaN where it is void; shape (battles,).

    The verdict with the most votes, a tie where several have them; void unless more than a share of the seats voted.
    """
    return np.where(votes.sum(axis=1) > quorum * seats, majority_of(votes), np.nan)
