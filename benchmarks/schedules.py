"""How many battles does a schedule need, and how often is what it calls resolved false?

Outcomes are drawn, no model is asked: a battle goes by the difference of two strengths, of what its question does to
either model, and of logistic noise; small differences are ties. Every schedule meets the same worlds, plays matches of
the same size (`--batch` fresh questions, or a quarter of those that a pair met on before) and is read by the same
confidence sequences. Swiss goes on after its usual number of rounds.

Reported are, over all seeds: battles until the mean rank correlation of ratings and strengths is 0.95, and the median
number until the best three are resolved. Then, in fields that make it hard, how often an adaptive schedule ever calls
something resolved that is false, with the upper end of the one-sided 95 % interval by Clopper and Pearson.

    python benchmarks/schedules.py [--seeds 50] [--runs 1000] [--models 16 64] [--json]
"""

import argparse
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coupled_arena.ratings.cells import Cells
from coupled_arena.ratings.fit import fit
from coupled_arena.ratings.sequences import capital
from coupled_arena.tournaments.schedules import Adaptive, Pairing, RoundRobin, Standings, Swiss
from coupled_arena.tournaments.schedules.adaptive import GROWTH, Met, chosen
from coupled_arena.tournaments.schedules.goals import Goal

Matches = list[tuple[int, int, int]]
Floats = NDArray[np.float64]

OUTCOMES = (1.0, 0.5, 0.0)
TIE = 0.4
"""Differences up to this are ties: about one battle in six."""
EFFECT = 0.5
"""Spread of what a question does to the strength of a model."""
GOAL = 0.95
TOP = 3
POOL = 20_000
"""Questions that a pair may meet on where schedules are compared."""
MATCHED = 16
"""In fields up to this size Swiss itself goes on until the top is resolved, in larger ones `neighbours`."""
MOST_ROUNDS = 1000
"""Rounds that a Swiss schedule may have."""
BAR = 0.06
"""The upper end of the share of false resolutions may not be above this."""


@dataclass(slots=True)
class Arena:
    """Models of known strengths, and what they did so far."""

    strengths: Floats
    """Log strengths."""
    questions: int
    """How many there are for each pair."""
    generator: np.random.Generator
    """Where all chance comes from."""
    counts: Floats = field(init=False)
    """Wins, ties and losses of the model of the row, shape (models, models, 3)."""
    capital: Floats = field(init=False)
    """As `Met.capital`."""
    battles: int = 0
    """How many were played."""
    _effects: Floats = field(init=False)
    _first: NDArray[np.intp] = field(init=False)

    def __post_init__(self) -> None:
        size = len(self.strengths)
        self.counts, self.capital = np.zeros((size, size, 3)), np.zeros((size, size))
        self._effects = self.generator.normal(scale=EFFECT, size=(size, self.questions))
        # Each pair goes through the questions from a place of its own.
        self._first = self.generator.integers(0, self.questions, (size, size))

    @property
    def met(self) -> Met:
        """What a schedule may know."""
        asked = self.counts.sum(axis=2)
        score = self.counts[..., 0] + self.counts[..., 1] / 2
        return Met(score, asked, self.capital, self.questions - asked.astype(np.intp))

    def play(self, matches: Matches) -> None:
        """Play the matches of a round, no pair twice."""
        i, j, sizes = np.array(matches, dtype=np.intp).T
        match = np.repeat(np.arange(len(sizes)), sizes)
        within = np.arange(len(match)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        start = self._first[np.minimum(i, j), np.maximum(i, j)] + self.counts[i, j].sum(axis=1).astype(np.intp)
        asked = (start[match] + within) % self.questions
        first, second = i[match], j[match]
        lead = self.strengths[first] + self._effects[first, asked] - self.strengths[second]
        lead += self.generator.logistic(size=len(match)) - self._effects[second, asked]
        won, lost = (np.bincount(match, weights=side, minlength=len(sizes)) for side in (lead > TIE, lead < -TIE))
        found = np.stack([won, sizes - won - lost, lost], axis=1)
        self.counts[i, j] += found
        self.counts[j, i] += found[:, ::-1]
        self.capital[i, j] = capital(OUTCOMES, self.counts[i, j])
        self.capital[j, i] = capital(OUTCOMES, self.counts[j, i])
        self.battles += len(match)

    def ratings(self) -> Floats:
        """Return the log strengths that the battles so far suggest."""
        first, second = np.nonzero(np.triu(self.counts.sum(axis=2)))
        won, tied, lost = self.counts[first, second].T
        size = len(self.strengths)
        cells = Cells(size, first, second, won, tied, won + tied + lost, np.zeros((len(won), 0)))
        return fit(cells, virtual_ties=1.0).strength

    def size(self, i: int, j: int, batch: int) -> int:
        """Return on how many questions two models meet next, as adaptive schedules have it."""
        asked = int(self.counts[i, j].sum())
        return min(self.questions - asked, max(batch, math.ceil(asked / GROWTH)))


Plan = Callable[[Arena, int], Matches]
"""A schedule: the matches of a round, by what is known before it and its number."""


def adaptive(goal: Goal, models: int, batch: int, confidence: float = 0.95) -> Plan:
    """Return the schedule of the package, on tables instead of names."""
    level = Adaptive(confidence=confidence).level(models)
    return lambda arena, _: chosen(arena.met, goal, level, batch)


def round_robin(models: int, batch: int) -> Plan:
    """Return one round robin after the other."""
    names = tuple(f"{place:03}" for place in range(models))
    rounds: list[list[tuple[int, int]]] = []
    played = Standings(names, 0)
    while pairings := tuple(RoundRobin().next_round(played)):
        rounds.append([(int(a), int(b)) for a, b, _ in pairings if b is not None])
        played = Standings(names, 0, (*played.rounds, pairings))
    return lambda arena, number: [(i, j, arena.size(i, j, batch)) for i, j in rounds[number % len(rounds)]]


def swiss(models: int, batch: int) -> Plan:
    """Return the Swiss schedule of the package, gone on with."""
    names = tuple(f"{place:03}" for place in range(models))
    rule, rounds = Swiss(rounds=MOST_ROUNDS), list[tuple[Pairing, ...]]()
    score = Points(models)

    def plan(arena: Arena, number: int) -> Matches:
        points = score.now(arena)
        ratings = dict(zip(names, map(float, arena.ratings()), strict=True)) if rounds else None
        played = Standings(names, 0, tuple(rounds), points=dict(zip(names, points, strict=True)), ratings=ratings)
        rounds.append(tuple(rule.next_round(played)))
        return score.meeting(arena, [(int(a), int(b)) for a, b, _ in rounds[-1] if b is not None], batch)

    return plan


def neighbours(models: int, batch: int) -> Plan:
    """Return what stands in for Swiss where that takes too long.

    From the top down, each meets who is next and was met least often; no choice is taken back.
    """
    meetings = np.zeros((models, models), dtype=np.intp)
    score = Points(models)

    def plan(arena: Arena, number: int) -> Matches:
        points = score.now(arena)
        order = sorted(range(models), key=lambda model: (-round(points[model], 3), model))
        pairs = []
        while len(order) > 1:
            first = order.pop(0)
            second = min(order, key=lambda model: meetings[first, model])
            order.remove(second)
            meetings[first, second] += 1
            meetings[second, first] += 1
            pairs.append((first, second))
        return score.meeting(arena, pairs, batch)

    return plan


class Points:
    """Pairing points: a match is worth one, split as its battles were."""

    def __init__(self, models: int) -> None:
        self._points, self._before = [0.0] * models, np.zeros((models, models, 3))
        self._last: Matches = []

    def meeting(self, arena: Arena, pairs: Sequence[tuple[int, int]], batch: int) -> Matches:
        """Return the matches of a round between these pairs, which score once they are played."""
        self._last = [(i, j, arena.size(i, j, batch)) for i, j in pairs]
        return list(self._last)

    def now(self, arena: Arena) -> list[float]:
        """Return the points of every model, those of the last round added."""
        for i, j, questions in filter(lambda match: match[2], self._last):
            won, tied, _ = arena.counts[i, j] - self._before[i, j]
            self._points[i] += (won + tied / 2) / questions
            self._points[j] += 1 - (won + tied / 2) / questions
        self._before[:], self._last = arena.counts, []
        return list(self._points)


class Needed(NamedTuple):
    """What a schedule needs in fields of one size."""

    models: int
    """Models in the field."""
    schedule: str
    """Name of the schedule."""
    ranking: float | None
    """Battles at which the mean rank correlation is `GOAL`; None where it never was."""
    top: float | None
    """Median of the battles that resolve the top, None where most seeds do not get there."""
    resolved: float
    """Share of the seeds in which it was resolved."""
    false: int
    """Seeds in which something false was resolved."""


def correlation(ratings: Floats, strengths: Floats) -> float:
    """Return Spearman's rank correlation."""
    first, second = (np.argsort(np.argsort(values)) for values in (ratings, strengths))
    return float(np.corrcoef(first, second)[0, 1])


def is_false(arena: Arena, level: float) -> bool:
    """Return whether a model is called above one that is as good or better."""
    truly = arena.strengths[:, None] > arena.strengths
    return bool((arena.met.above(level) & ~truly).any())


def towards_ranking(arena: Arena, plan: Plan, most: int) -> list[tuple[int, float]]:
    """Return the rank correlation after every round, `(battles, correlation)`."""
    found: list[tuple[int, float]] = []
    while arena.battles < most and (matches := plan(arena, len(found))):
        arena.play(matches)
        found.append((arena.battles, correlation(arena.ratings(), arena.strengths)))
    return found


def towards_top(arena: Arena, plan: Plan, goal: Goal, level: float, every: int) -> int | None:
    """Return the battles that resolve the goal; None if questions run out. It is looked at every so many rounds."""
    number = 0
    while matches := [match for match in plan(arena, number) if match[2] > 0]:
        arena.play(matches)
        number += 1
        if number % every == 0 and goal.is_reached(arena.met.above(level)):
            return arena.battles
    return None


def first_at(curves: Sequence[Sequence[tuple[int, float]]], goal: float) -> float | None:
    """Return where the mean of curves first reaches a value; between their points they are straight."""
    grid = np.arange(max(curve[0][0] for curve in curves), min(curve[-1][0] for curve in curves) + 1)
    mean = np.mean([np.interp(grid, *np.array(curve).T) for curve in curves], axis=0)
    reached = np.flatnonzero(mean >= goal)
    return float(grid[reached[0]]) if len(reached) else None


def needed(models: int, seeds: int, batch: int, pool: int = POOL) -> Iterator[Needed]:
    """Yield what each schedule needs in the same worlds."""
    level, top = Adaptive().level(models), Goal(top=TOP)
    to_the_top = swiss if models <= MATCHED else neighbours
    plans: dict[str, tuple[Callable[[], Plan], Callable[[], Plan]]] = {
        "adaptive": (lambda: adaptive(Goal(), models, batch), lambda: adaptive(top, models, batch)),
        "swiss": (lambda: swiss(models, batch), lambda: to_the_top(models, batch)),
        "round robin": (lambda: round_robin(models, batch),) * 2,
    }

    def arena(seed: int) -> Arena:
        generator = np.random.default_rng([seed, models])
        return Arena(generator.normal(size=models), pool, generator)

    for name, (ranks, resolves) in plans.items():
        curves = [towards_ranking(arena(seed), ranks(), 75 * models) for seed in range(seeds)]
        counts: list[int | None] = []
        false = 0
        for seed in range(seeds):
            played = arena(seed)
            every = 1 if name == "adaptive" else models // 2
            counts.append(towards_top(played, resolves(), top, level, every))
            false += is_false(played, level)
        middle = float(np.median([math.inf if count is None else count for count in counts]))
        resolved = sum(count is not None for count in counts) / seeds
        yield Needed(models, name, first_at(curves, GOAL), middle if middle < math.inf else None, resolved, false)


class Field(NamedTuple):
    """Models that are hard to tell apart."""

    name: str
    """What they are like."""
    strengths: tuple[float, ...]
    """Log strengths."""
    goal: Goal
    """What is asked."""


FIELDS = (
    Field("two level models", (0.0,) * 2, Goal()),
    Field("six level models", (0.0,) * 6, Goal()),
    Field("six level models, the top 2", (0.0,) * 6, Goal(top=2)),
    Field("two groups of three", (0.4,) * 3 + (-0.4,) * 3, Goal()),
    Field("close neighbours", (0.25, 0.15, 0.05, -0.05, -0.15, -0.25), Goal()),
)


class Errors(NamedTuple):
    """How often an adaptive schedule calls something resolved that is false."""

    field: str
    """The field."""
    runs: int
    """Runs played to their end."""
    false: int
    """Those in which something false was called resolved after any round."""
    upper: float
    """Upper end of the one-sided 95 % interval of their share."""


def errors(field_: Field, runs: int, batch: int, questions: int) -> Errors:
    """Return how often something false is called resolved, however soon it is corrected."""
    models = len(field_.strengths)
    plan, level = adaptive(field_.goal, models, batch), Adaptive().level(models)
    false = 0
    for run in range(runs):
        arena = Arena(np.array(field_.strengths), questions, np.random.default_rng([run, models, 9]))
        while matches := plan(arena, 0):
            arena.play(matches)
            if is_false(arena, level):
                false += 1
                break
    return Errors(field_.name, runs, false, upper_end(false, runs))


def upper_end(found: int, runs: int, chance: float = 0.05) -> float:
    """Return the share at which so few or fewer are found with this chance (Clopper and Pearson 1934)."""
    low, high = found / runs, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        term, total = (1 - middle) ** runs, 0.0
        for number in range(found + 1):
            total += term
            term *= (runs - number) / (number + 1) * middle / (1 - middle)
        low, high = (middle, high) if total > chance else (low, middle)
    return high


def main() -> None:
    """Print what every schedule needs and how often an adaptive one is wrong; fail where it is too often."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=50, help="worlds in which schedules are compared")
    parser.add_argument("--runs", type=int, default=1000, help="runs in each field for false resolutions")
    parser.add_argument("--models", type=int, nargs="*", default=[16, 64], help="sizes of the fields compared")
    parser.add_argument("--batch", type=int, default=8, help="questions of a match, at least")
    parser.add_argument("--questions", type=int, default=48, help="questions of a pair in the fields")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    costs, wrong = [], []
    for models in options.models:
        for cost in needed(models, options.seeds, options.batch):
            costs.append(cost)
            if not options.json:
                ranking, top = ("     -" if count is None else f"{count:6.0f}" for count in (cost.ranking, cost.top))
                print(
                    f"{models:3d} models  {cost.schedule:<12} correlation {GOAL}: {ranking} battles   "
                    f"top {TOP}: {top}, in {cost.resolved:4.0%} of {options.seeds} seeds, {cost.false} falsely",
                    flush=True,
                )
    for field_ in FIELDS:
        wrong.append(found := errors(field_, options.runs, options.batch, options.questions))
        if not options.json:
            shown = f"{found.false} of {found.runs} runs, at most {found.upper:.1%} (95 %)"
            print(f"false resolutions, {found.field:<28} {shown}", flush=True)
    fine = all(found.upper <= BAR for found in wrong)
    if options.json:
        print(
            json.dumps({"needed": [c._asdict() for c in costs], "errors": [w._asdict() for w in wrong], "fine": fine})
        )
    if not fine:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
