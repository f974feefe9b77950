"""How many opinions every judge gave, and what became of those it did not."""

from dataclasses import dataclass

import numpy as np

from coupled_arena.analysis.judges.table import STATUSES, Opinions
from coupled_arena.records import OnFlip


@dataclass(frozen=True, slots=True)
class Outcomes:
    """How many opinions a judge was asked for and gave, at all stages."""

    opinions: int
    """Opinions it was asked for."""
    valid: int
    """Those with a verdict of their own."""
    unparsable: int
    """Those in which no verdict could be read."""
    truncated: int
    """Those cut by the token limit before a verdict."""
    refused: int
    """Those refused by the provider."""
    failed: int
    """Those that failed for another fault of the provider."""
    not_asked: int
    """Opinions that it kept without being asked, as no other judge held a verdict."""
    abstained: int
    """Battles in which its verdicts came to no vote: one in one order only, or two different ones where these count as
    an abstention."""


def outcomes(table: Opinions, *, on_flip: OnFlip = "tie") -> dict[str, Outcomes]:
    """Return for every judge how many opinions there are, by what became of them.

    Args:
        table: the opinions.
        on_flip: what two different verdicts in the two orders count as.
    """
    counts = np.zeros((len(table.judges), len(STATUSES)), dtype=np.intp)
    np.add.at(counts, (table.judge, table.status), 1)
    looks = table.looks
    score = looks.last if looks.discussed else looks.alone
    rows, others = looks.pairs()
    first, second = score[rows], score[others]
    none = np.isnan(first) != np.isnan(second)
    if on_flip == "abstain":
        none |= ~np.isnan(first) & ~np.isnan(second) & (first != second)
    abstained = np.bincount(looks.judge[rows][none], minlength=len(table.judges))
    found = {}
    for code, judge in enumerate(table.judges):
        valid, unparsable, truncated, refused, failed, not_asked = map(int, counts[code])
        asked = int(counts[code].sum()) - not_asked
        found[judge] = Outcomes(asked, valid, unparsable, truncated, refused, failed, not_asked, int(abstained[code]))
    return found
