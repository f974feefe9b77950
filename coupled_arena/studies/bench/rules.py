"""How a bench asks: what `bench`, `abench` and `planned` take beside models and task."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from coupled_arena.models.budget import Budget
from coupled_arena.models.limits.limit import Limit


class Rules(TypedDict, total=False):
    """How models are asked, and what bounds it; each has a default."""

    items: int | None
    """How many items are asked about, drawn by the seed; None, the default, is all of them."""
    repeats: int
    """How many independent draws of the dice every item is asked with; 10."""
    temperature: float | Sequence[float] | None
    """One sampling temperature or several; None, the default, is each model's own, else 0.7."""
    top_p: float | Sequence[float] | None
    """The same for the probability kept; None, the default, is each model's own, else all of it."""
    coupling: str
    """`coupled`, the default, or `independent` where each model is to roll its own dice."""
    alignment: str
    """What places a token of a local model's reply in the noise: its number (`step`, the default), or the text it
    follows (`context`)."""
    seed: int
    """The one number all randomness is derived from; 0."""
    budget: Budget | Mapping[str, Any] | None
    """What may be spent before it stops; without bounds by default."""
    limits: Mapping[str, Limit] | None
    """What hosted models may send, by pattern of their model strings."""
    concurrency: int
    """About how many calls are in flight; never changes a result; 64."""
