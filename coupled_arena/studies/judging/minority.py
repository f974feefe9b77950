"""Minority reports: votes that stood against the decision in the end."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from coupled_arena.analysis.judges import Opinions, ballots, decided
from coupled_arena.records import VERDICT_OF, OnFlip, Verdict

MOST = 1000
"""Minority reports beyond these are not listed."""


@dataclass(frozen=True, slots=True)
class MinorityReport:
    """One vote against the decision."""

    battle: str
    """Id of the battle."""
    judge: str
    """Who cast it."""
    vote: Verdict
    """What it voted for."""
    decision: Verdict
    """What was decided."""
    truth: Verdict | None
    """What is true; None where unknown."""


def minority_reports(table: Opinions, on_flip: OnFlip) -> Iterator[MinorityReport]:
    """Yield the votes against the decisions of the last stage, by battle and judge, at most `MOST`."""
    votes = ballots(table, when="last", on_flip=on_flip)
    decisions = decided(*votes.counts(table.battles))[votes.battle]
    against = ~np.isnan(votes.score) & ~np.isnan(decisions) & (votes.score != decisions) & (votes.dice == 0)
    rows = np.flatnonzero(against)
    for row in rows[np.lexsort((votes.judge[rows], votes.battle[rows]))][:MOST].tolist():
        battle = int(votes.battle[row])
        yield MinorityReport(
            table.battle_ids[battle] if table.battle_ids else str(battle),
            table.judges[votes.judge[row]],
            VERDICT_OF[float(votes.score[row])],
            VERDICT_OF[float(decisions[row])],
            VERDICT_OF.get(float(table.truth[battle])),
        )
