"""What a run shows at a glance beside the leaderboard: pure counts over its battles."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from coupled_arena.records import Battle
from coupled_arena.shown import plural


class JudgeCounts(NamedTuple):
    """How one judge voted at the last stage, and what became of its replies."""

    judge: str
    """Name of the judge."""
    opinions: int
    """Opinions at the last stage, with or without a verdict."""
    a: int
    """Verdicts for the side that spoke first."""
    b: int
    """Verdicts for the other side."""
    ties: int
    """Verdicts `tie`."""
    unparsable: int
    """Replies, at any stage, in which no verdict could be read."""
    truncated: int
    """Replies, at any stage, that were cut off before their verdict."""
    refused: int
    """Refusals at any stage."""
    failed: int
    """Calls, at any stage, that failed."""

    @property
    def share_a(self) -> float | None:
        """Share of A among the verdicts for a side: one half for a judge without a position bias."""
        return self.a / (self.a + self.b) if self.a + self.b else None


class TurnCounts(NamedTuple):
    """What the debaters' turns were like."""

    turns: int
    """All turns."""
    sections: int
    """Sections they hold."""
    missing: int
    """Required sections that were missing in the end."""
    cut: int
    """Turns with text over the budget cut away."""
    by_section: int
    """Turns asked for section by section."""


def dice(shared: Mapping[str, int]) -> str:
    """Return what the openings of so many battles shared, in words.

    >>> dice({"none": 2, "shared": 4}), dice({"none": 6})
    ('dice of the openings: shared in 4 battles', 'no shared dice')
    """
    counted = ((sharing, plural(battles, "battle")) for sharing, battles in shared.items() if sharing != "none")
    found = ", ".join(f"{sharing} in {battles}" for sharing, battles in counted)
    return f"dice of the openings: {found}" if found else "no shared dice"


def judge_counts(battles: Sequence[Battle]) -> tuple[JudgeCounts, ...]:
    """Return the last-stage verdicts of every judge, and why replies held none, by name."""
    verdicts: dict[str, Counter[str | None]] = {}
    statuses: dict[str, Counter[str]] = {}
    for battle in battles:
        last = max((opinion.stage for opinion in battle.opinions), default=0)
        for opinion in battle.opinions:
            statuses.setdefault(opinion.judge, Counter())[opinion.status] += 1
            if opinion.stage == last:
                verdicts.setdefault(opinion.judge, Counter())[opinion.verdict] += 1
    return tuple(
        JudgeCounts(
            judge,
            opinions=count.total(),
            a=count["A"],
            b=count["B"],
            ties=count["tie"],
            unparsable=statuses[judge]["unparsable"],
            truncated=statuses[judge]["truncated"],
            refused=statuses[judge]["refused"],
            failed=statuses[judge]["failed"],
        )
        for judge, count in sorted(verdicts.items())
    )


def turn_counts(battles: Sequence[Battle]) -> TurnCounts:
    """Return what the turns of all battles were like."""
    turns = [turn for battle in battles for turn in battle.turns]
    return TurnCounts(
        turns=len(turns),
        sections=sum(len(turn.sections) for turn in turns),
        missing=sum(len(turn.missing) for turn in turns),
        cut=sum(turn.cut for turn in turns),
        by_section=sum(turn.by_section for turn in turns),
    )
