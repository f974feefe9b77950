"""How many questions it takes to see a difference, and which difference so many questions can show."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from coupled_arena.errors import RatingError
from coupled_arena.ratings.result import POINTS, Ratings
from coupled_arena.ratings.student import MANY, t_quantile

MOST = 100_000_000
"""More questions than this are not counted out."""

_FEWEST = 3
_FINEST = 0.01
"""Gaps are found to so many points."""

_WIDEST = 4000.0
"""No larger gap, in points, is looked for."""


@dataclass(frozen=True, slots=True)
class Power:
    """A plan: with so many questions a gap of so many points is resolved with such a probability."""

    gap: float
    """Difference of the two ratings, in points."""
    questions: int
    """Questions on which the two models meet."""
    level: float
    """Level of the interval that must exclude 0."""
    power: float
    """Probability that it does, at least."""
    saved: float
    """Share of the questions that shared dice save, already taken off."""


def power(
    gap: float | None = None,
    *,
    questions: int | None = None,
    level: float = 0.95,
    power: float = 0.8,
    ties: float = 0.0,
    saved: float = 0.0,
    pilot: Ratings | None = None,
    pair: tuple[str, str] | None = None,
) -> Power:
    """Return how many questions resolve a gap, or, given their number, which gap they resolve.

    A score is tested against one half. With p the chance behind the gap and ties taken evenly from both models, n
    questions of one battle each resolve it if
    `n (p - 1/2)^2 >= (t(1 - (1 - level) / 2) sqrt((1 - ties) / 4) + t(power) sqrt(p (1 - p) - ties / 4))^2`, t being
    quantiles of Student's distribution with n - 1 degrees of freedom (Fleiss, Levin and Paik 2003, Statistical Methods
    for Rates and Proportions, section 2.5). With a pilot both roots are s, what one question says of the difference as
    a standard deviation in points: the pilot's standard error times the root of its number of questions, whatever its
    battles share and however often models meet on a question; p - 1/2 is the gap. Shared dice take `saved` of n.

    Args:
        gap: difference to resolve in points, above 0; left out if `questions` is given.
        questions: number of questions, at least 3; left out if `gap` is given.
        level: level of the interval, between 0 and 1.
        power: probability to resolve it, at least 0.5 and below 1.
        ties: share of battles that end tied, if there is no pilot.
        saved: share of the questions that shared dice save, at least 0 and below 1, as the paired statistics of coupled
            models tell; 0 if the pilot shared its dice already.
        pilot: ratings of earlier battles of the kind that is planned.
        pair: two models of the pilot; if left out, s is the root mean square over all pairs that it compares.

    Raises:
        RatingError: not exactly one of `gap` and `questions` is given, an argument is out of range, the pilot has no
            interval for the pair, or the gap takes more than `MOST` questions.

    Example:
        >>> power(50).questions, power(50, saved=0.5).questions
        (384, 193)
        >>> round(power(questions=384).gap)
        50
    """
    if (gap is None) == (questions is None):
        raise RatingError("give either the gap in points or the number of questions")
    _check(level=level, power=power, ties=ties, saved=saved)
    measured = None if pilot is None else _measured(pilot, pair)

    def enough(questions: int, gap: float) -> bool:
        distance, level_spread, gap_spread = _distance(gap, ties) if measured is None else (gap, measured, measured)
        degrees = min(questions - 1, MANY)
        reach = t_quantile((1 + level) / 2, degrees) * level_spread + t_quantile(power, degrees) * gap_spread
        return questions * distance**2 >= reach**2 * (1 - saved)

    if gap is None:
        if questions is None or questions < _FEWEST:
            raise RatingError(f"questions must be at least {_FEWEST}, not {questions!r}")
        return Power(_smallest(enough, questions), questions, level, power, saved)
    if not (math.isfinite(gap) and gap > 0):
        raise RatingError(f"gap must be a finite number of points above 0, not {gap!r}")
    return Power(gap, _fewest(enough, gap), level, power, saved)


def _smallest(enough: Callable[[int, float], bool], questions: int) -> float:
    low, high = 0.0, _WIDEST
    if not enough(questions, high):
        raise RatingError(f"{questions} questions resolve no gap of up to {_WIDEST:.0f} points; plan for more")
    while high - low > _FINEST:
        middle = (low + high) / 2
        low, high = (low, middle) if enough(questions, middle) else (middle, high)
    return high


def _fewest(enough: Callable[[int, float], bool], gap: float) -> int:
    few, many = _FEWEST - 1, _FEWEST
    while not enough(many, gap):
        few, many = many, 2 * many
        if few > MOST:
            raise RatingError(f"a gap of {gap:g} points takes more than {MOST:,} questions; plan for a larger one")
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if enough(middle, gap) else (middle, many)
    return many


def _check(*, level: float, power: float, ties: float, saved: float) -> None:
    if not 0 < level < 1:
        raise RatingError(f"level must lie between 0 and 1, not {level!r}")
    if not 0.5 <= power < 1:
        raise RatingError(f"power must be at least 0.5 and below 1, not {power!r}")
    for name, value in (("ties", ties), ("saved", saved)):
        if not 0 <= value < 1:
            raise RatingError(f"{name} must be at least 0 and below 1, not {value!r}")


def _distance(gap: float, ties: float) -> tuple[float, float, float]:
    """Return how far the mean score is from one half, and its spread in one battle at one half and there."""
    chance = 1 / (1 + math.exp(-gap / POINTS))
    # At this gap there is no room for more ties than these.
    own = min(ties, 2 * (1 - chance))
    return chance - 0.5, math.sqrt((1 - ties) / 4), math.sqrt(chance * (1 - chance) - own / 4)


def _measured(pilot: Ratings, pair: tuple[str, str] | None) -> float:
    """Return what one question of the pilot says of a difference, as a standard deviation in points."""
    pairs = [pair] if pair else [(a, b) for group in pilot.comparable for at, a in enumerate(group) for b in group[:at]]
    squares = []
    for a, b in pairs:
        se, at = pilot.difference(a, b).se, pilot.names.index(a)
        degrees = pilot.degrees[at]
        if se is not None and degrees is not None:
            squares.append(se**2 * (degrees + 1))
    if not squares:
        which = " and ".join(pair) if pair else "any two models"
        raise RatingError(
            f"the pilot has no interval for {which}: it needs more questions than models that it compares"
        )
    return math.sqrt(sum(squares) / len(squares))
