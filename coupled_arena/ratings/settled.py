"""Whether the order of two neighbours in a ranking is settled, and in which words."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from coupled_arena.ratings.counting import more_questions
from coupled_arena.shown import plural

_FINEST = 0.5
"""Two models fewer points than this apart, which would be shown as 0, are level."""


class Difference(NamedTuple):
    """How much better one model is than another."""

    a: str
    """The first model."""
    b: str
    """The second model."""
    difference: float | None
    """Rating of a minus rating of b; None where the battles do not compare them and there is no prior."""
    low: float | None
    """Lower end of the interval at the level of the ratings; None where there is no interval, or it is open below."""
    high: float | None
    """Upper end of the interval; None where there is no interval, or it is open above."""
    se: float | None
    """Standard error of the difference; None where there is none."""


@dataclass(frozen=True, slots=True)
class Settled:
    """Whether the order of two neighbours in the ranking is settled."""

    a: str
    """The model that ranks higher."""
    b: str
    """The model that ranks next."""
    difference: float | None
    """Rating of a minus rating of b; None where the battles do not compare them and there is no prior."""
    low: float | None
    """Lower end of the interval, corrected for the number of pairs; None where there is none, or it is open below."""
    high: float | None
    """Upper end of the interval, corrected for the number of pairs; None where there is none, or it is open above."""
    resolved: bool
    """Whether the interval excludes 0."""
    more_questions: int | None
    """About how many more questions would resolve it, 0 if it is resolved; None where there is no interval, or where
    the two models are level."""
    multiplicity: str
    """How the interval was corrected for the number of pairs."""
    by_prior: bool = False
    """Whether only the prior makes their difference finite."""
    own: str = ""
    """What the two did against each other, where the interval is that of their own battles alone; else empty."""
    missing: str = "too few questions"
    """Why there is no interval, where there is none."""

    @property
    def line(self) -> str:
        """One sentence that ends in `resolved` or `not resolved`, the latter with what is missing."""
        known = self.low is not None or self.high is not None
        if self.difference is None and not known:
            return f"{self.a} and {self.b} are not comparable: not resolved: {self.missing}"
        # Without a difference nearly all battles went one way: towards the end that is open or further off.
        low, high = -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high
        trails = abs(low) > abs(high) if self.difference is None else self.difference < 0
        line = f"{self.a} {'trails' if trails else 'leads'} {self.b}"
        if is_level(self.difference) and not self.resolved:
            line = f"{self.a} and {self.b} are level"
        elif self.difference is not None:
            line += f" by {abs(self.difference):.0f}"
        if known:
            line += " [{}, {}]".format(*map(_end, (-high, -low) if trails else (low, high)))
        if self.by_prior:
            line += ", finite by the prior alone"
        if self.own:
            line += f", {self.own}"
        if self.resolved:
            return f"{line}: resolved"
        if self.more_questions is None:
            return f"{line}: not resolved{'' if known else f': {self.missing}'}"
        return f"{line}: not resolved: about {plural(self.more_questions, 'more question')}"


def is_level(difference: float | None) -> bool:
    """Return whether so many points between two models are none; False where the difference is not known."""
    return difference is not None and abs(difference) < _FINEST


def more_clusters(found: Difference, clusters: int, level: float) -> int | None:
    """Return about how many more clusters would keep the interval of this difference off 0; None for a dead heat."""
    if found.difference is None or not found.se or is_level(found.difference):
        return None
    return more_questions(abs(found.difference) / found.se / math.sqrt(clusters), clusters, level)


def _end(points: float) -> str:
    return f"{points:z.0f}" if math.isfinite(points) else str(points).replace("inf", "∞")
