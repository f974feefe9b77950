"""What a run comes to as plain data: settled neighbours, arms, examiners, what it cost."""

from typing import Any

from coupled_arena.analysis.authors import Advantage
from coupled_arena.models.calls import Counts, Spent
from coupled_arena.ratings.arms import Arms
from coupled_arena.ratings.settled import Settled
from coupled_arena.tournaments.results.neighbours import Neighbours

DIGITS = 6
"""Decimals of numbers in documents."""


def rounded(value: Any) -> Any:
    """Return a number to the decimals of documents, and anything else as it is."""
    # The last digits of a sum depend on the order of its terms, and a stored run is read in another order.
    return round(value, DIGITS) if isinstance(value, float) else value


def settled_document(pair: Settled) -> dict[str, Any]:
    """Return whether two neighbours in a ranking are settled, as plain data."""
    return {
        "a": pair.a,
        "b": pair.b,
        "difference": rounded(pair.difference),
        "low": rounded(pair.low),
        "high": rounded(pair.high),
        "resolved": pair.resolved,
        "more_questions": pair.more_questions,
        "line": pair.line,
    }


def neighbours_document(pair: Neighbours) -> dict[str, Any]:
    """Return whether two neighbours are settled and what their dice had in common, as plain data."""
    saved = pair.saved
    return {
        **settled_document(pair.settled),
        "battles": pair.battles,
        "sharing": dict(pair.sharing),
        "saved": None if saved is None else rounded(saved.saved),
        "saved_low": None if saved is None else rounded(saved.low),
        "saved_high": None if saved is None else rounded(saved.high),
        "line": pair.line,
    }


def arms_document(arms: Arms) -> dict[str, Any]:
    """Return how the ratings of two arms differ, as plain data."""
    return {
        "differ": arms.differ,
        "sentence": arms.line,
        "pairs": [
            {
                "a": change.a,
                "b": change.b,
                arms.first: rounded(change.first),
                arms.second: rounded(change.second),
                "low": rounded(change.low),
                "high": rounded(change.high),
                "resolved": change.resolved,
            }
            for change in arms.changes
        ],
    }


def advantage_document(found: Advantage) -> dict[str, Any]:
    """Return whether an examiner's questions suit its family, as plain data."""
    fields = ("author", "relatives", "own_questions", "other_questions", "advantage", "low", "high", "shown", "line")
    document = {name: rounded(getattr(found, name)) for name in fields}
    return {**document, "relatives": list(found.relatives)}


def spending_document(counts: Counts, spent: Spent) -> dict[str, Any]:
    """Return the calls of an invocation, and what it and its run cost, as plain data."""
    return {
        "calls": {"made": counts.made, "memoised": counts.memoised, "failed": counts.failed},
        "cost": {
            "usd": round(counts.usd, DIGITS),
            "run_usd": round(spent.usd, DIGITS),
            "unpriced_models": sorted(counts.unpriced),
        },
    }
