"""Whether two arms of a run rank models differently: the same questions, asked with shared dice and without."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from coupled_arena.errors import RatingError
from coupled_arena.ratings.rate import rate
from coupled_arena.ratings.result import Prior, Ratings
from coupled_arena.ratings.scale import spread
from coupled_arena.ratings.table import RatingInput
from coupled_arena.records import Battle


@dataclass(frozen=True, slots=True)
class Change:
    """How the difference of two models changes from one arm to another."""

    a: str
    """The first model, by alphabet."""
    b: str
    """The second model."""
    first: float | None
    """Rating of a minus rating of b in the first arm, in points; None where one of them has no rated battle in it."""
    second: float | None
    """The same in the second arm."""
    low: float | None
    """Lower end of the interval of `second - first`, corrected for the number of pairs; None where there is none."""
    high: float | None
    """Upper end of the interval; None where there is none."""

    @property
    def change(self) -> float | None:
        """How much larger the difference is in the second arm, in points; None where an arm has none."""
        return None if self.first is None or self.second is None else self.second - self.first

    @property
    def turned(self) -> bool:
        """Whether the two arms rank the two models in opposite orders."""
        return self.first is not None and self.second is not None and self.first * self.second < 0

    @property
    def resolved(self) -> bool:
        """Whether the interval of the change excludes 0."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


@dataclass(frozen=True, slots=True)
class Arms:
    """How the ratings of two arms differ, pair by pair."""

    first: str
    """Name of the first arm."""
    second: str
    """Name of the second arm."""
    changes: tuple[Change, ...]
    """Every pair of models, by alphabet."""
    level: float
    """Coverage of all intervals together, by Bonferroni's inequality over the pairs."""

    @property
    def differ(self) -> bool:
        """Whether the rankings differ beyond chance: a pair is turned, and its change resolved."""
        return any(change.turned and change.resolved for change in self.changes)

    @property
    def line(self) -> str:
        """One sentence: which pairs the two arms rank in opposite orders, and whether that is settled."""
        turned = [change for change in self.changes if change.turned]
        alone = sum(change.change is None for change in self.changes)
        if alone and alone == len(self.changes):
            return f"{self.first} and {self.second} dice have no two models in common"
        if not turned:
            shared = f"alike the {len(self.changes) - alone} pairs that both have" if alone else "all models alike"
            return f"{self.first} and {self.second} dice rank {shared}"
        pairs = "; ".join(
            f"{change.a} and {change.b} ({change.first:+z.0f} and {change.second:+z.0f}: "
            f"{'resolved' if change.resolved else 'not resolved'})"
            for change in turned
        )
        return f"{self.first} and {self.second} dice rank in opposite orders: {pairs}"


def compare_arms(
    battles: Iterable[Battle],
    first: str,
    second: str,
    *,
    models: Iterable[str] = (),
    prior: Prior = "weak",
    level: float = 0.95,
) -> Arms:
    """Return how the ratings of two arms differ.

    Both arms are fitted in one table in which a model of one arm and of the other are two, so that the covariance
    clustered by question covers what the arms share: their questions.

    Args:
        battles: battles of both arms; others are left out.
        first: name of an arm, as in `Battle.arm`.
        second: name of the other arm.
        models: models that belong to the ratings even if they have no battle.
        prior: as for `rate`, but never none: the two arms are connected by nothing else.
        level: coverage of all intervals together, between 0 and 1.

    Raises:
        RatingError: the arms are one, there is no prior, or `rate` refuses the battles.
    """
    if not prior:
        raise RatingError("arms are compared with a prior, which is all that connects them; leave it out, or give one")
    if first == second:
        raise RatingError(f"two arms are compared, and {first!r} is one; name another one")
    own = [battle for battle in battles if battle.arm in (first, second)]
    names = sorted({*models, *(battle.a for battle in own), *(battle.b for battle in own)})
    table = joined(own, (first, second), names)
    ratings = rate(table, prior=prior)
    pairs = list(combinations(names, 2))
    each = 1 - (1 - level) / max(1, len(pairs))
    return Arms(first, second, tuple(_change(ratings, first, second, pair, each) for pair in pairs), level)


def _change(ratings: Ratings, first: str, second: str, pair: tuple[str, str], level: float) -> Change:
    """Return how the difference of two models changes, in the ratings of both arms."""
    places = [ratings.names.index(in_arm(arm, name)) for arm in (first, second) for name in pair]
    before, after = (_lead(*(ratings.ratings[index] for index in ends)) for ends in (places[:2], places[2:]))
    if before is None or after is None:
        return Change(*pair, before, after, None, None)
    contrast = np.array([-1.0, 1.0, 1.0, -1.0])
    variance = float(contrast @ ratings.covariance[np.ix_(places, places)] @ contrast)
    known = all(ratings.degrees[index] for index in places)
    _, reach = spread(variance, ratings.degrees[places[0]] if known else None, level)
    if reach is None:
        return Change(*pair, before, after, None, None)
    return Change(*pair, before, after, after - before - reach, after - before + reach)


def _lead(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None else a - b


def joined(battles: Iterable[Battle], arms: tuple[str, str], models: Sequence[str]) -> RatingInput:
    """Return the battles of two arms as one table, in which a model of one arm and of the other are two."""
    apart = [
        battle.model_copy(update={side: in_arm(battle.arm, getattr(battle, side)) for side in "ab"})
        for battle in battles
    ]
    return RatingInput.from_battles(apart, models=[in_arm(arm, name) for arm in arms for name in models])


def in_arm(arm: str, model: str) -> str:
    """Return what a model of an arm is called in their common table."""
    # No name holds a line break.
    return f"{arm}\n{model}"
