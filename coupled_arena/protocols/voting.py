"""From opinions to a decision: pure functions over one battle's opinions."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple

from coupled_arena.records import VERDICTS, OnFlip, Opinion, Order, Verdict

VoteRule = Literal["plurality", "majority"]


class Vote(NamedTuple):
    """What a committee's opinions add up to at one stage."""

    verdict: Verdict | None
    """The outcome; None where too few seats hold a valid verdict."""
    votes: dict[str, int]
    """Valid votes for A, B and tie."""
    invalid: int
    """Seats without a valid vote."""


def ballot(opinions: Sequence[Opinion], orders: Sequence[Order], on_flip: OnFlip) -> Verdict | None:
    """Return one judge's vote at one stage from its opinions in every presentation order.

    One order: its verdict. Both: the verdict if they agree; if they differ, a tie or an abstention as `on_flip` says;
    an abstention where only one of them is valid.
    """
    verdicts = {opinion.order: opinion.verdict for opinion in opinions}
    held = [verdicts.get(order) for order in orders]
    if None in held:
        return None
    if len(set(held)) == 1:
        return held[0]
    return "tie" if on_flip == "tie" else None


def count(ballots: Sequence[Verdict | None], *, rule: VoteRule = "plurality", quorum: float = 0.5) -> Vote:
    """Count the votes of all seats.

    Args:
        ballots: one per seat, None for an abstention.
        rule: `plurality` (equal top counts are a tie; Auto-Arena's rule) or `majority` of the valid votes (else tie).
        quorum: a decision needs more than this share of the seats to hold a valid vote.

    Example:
        >>> count(["A", "A", "B", "B", "tie"]).verdict
        'tie'
        >>> count(["A", None, None]).verdict is None
        True
    """
    tally = Counter(vote for vote in ballots if vote is not None)
    votes: dict[str, int] = {verdict: tally[verdict] for verdict in VERDICTS}
    valid = sum(votes.values())
    invalid = len(ballots) - valid
    if not ballots or valid <= quorum * len(ballots):
        return Vote(None, votes, invalid)
    most = max(votes.values())
    leaders = [verdict for verdict in VERDICTS if votes[verdict] == most]
    won = len(leaders) == 1 and (rule == "plurality" or 2 * most > valid)
    return Vote(leaders[0] if won else "tie", votes, invalid)


def vote_at(
    stage: int,
    opinions: Sequence[Opinion],
    judges: Sequence[str],
    orders: Sequence[Order],
    *,
    rule: VoteRule = "plurality",
    quorum: float = 0.5,
    on_flip: OnFlip = "tie",
) -> Vote:
    """Count the committee's votes as they stood at a stage."""
    ballots = [
        ballot([o for o in opinions if o.judge == judge and o.stage == stage], orders, on_flip) for judge in judges
    ]
    return count(ballots, rule=rule, quorum=quorum)


def exchanged(verdict: Verdict | None) -> Verdict | None:
    """Return a verdict with A and B exchanged.

    >>> exchanged("A")
    'B'
    """
    return {"A": "B", "B": "A", "tie": "tie"}[verdict] if verdict else None  # type: ignore[return-value]
