"""How often do joint rank intervals and the top set hold the truth?

Every simulation rates battles of known models and asks two questions: do the rank intervals of all models hold their
true ranks at once, and does the top set hold a truly best model? Both should be right at least as often as the level
says, 95 %; level models share all the ranks they take up, and any one of them will do. On each question all pairs meet,
a few votes each, and the question moves every model, so that its battles depend on each other. The hardest case is the
one without differences: any order found there is wrong.

    python benchmarks/rank_coverage.py [--simulations 1000] [--json]
"""

import argparse
import json
import math
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coupled_arena.ratings import RatingInput, rate
from coupled_arena.ratings.ranks import ranks, top_set

Floats = NDArray[np.float64]


class Case(NamedTuple):
    """What is simulated."""

    name: str
    """What the models are like."""
    strengths: tuple[float, ...]
    """Log strengths."""
    questions: int
    """Clusters of battles."""
    votes: int
    """Votes of a pair on a question."""


CASES = (
    Case("all level", (0.0,) * 6, 40, 1),
    Case("all level, few questions", (0.0,) * 6, 12, 3),
    Case("evenly spread", (0.75, 0.45, 0.15, -0.15, -0.45, -0.75), 40, 1),
    Case("two level at the top", (0.5, 0.5, 0.0, 0.0, -0.5, -0.5), 40, 3),
)

MOVED = 0.5
"""Spread of what a question does to the log strength of a model."""


class Found(NamedTuple):
    """What a case came to."""

    case: str
    """Its name."""
    ranks: float
    """Share of simulations in which all rank intervals hold."""
    top: float
    """Share in which the top set holds a best model."""
    width: float
    """Mean number of ranks that an interval leaves."""
    size: float
    """Mean size of the top set."""
    none: int
    """Simulations with a model that has no interval, for which the battles say nothing."""


def simulate(case: Case, simulations: int, generator: np.random.Generator) -> Found:
    """Play a case so many times."""
    strengths = np.array(case.strengths)
    best = (strengths[:, None] < strengths).sum(axis=1) + 1
    worst = (strengths[:, None] <= strengths).sum(axis=1)
    names = tuple(f"m{model}" for model in range(len(strengths)))
    right = held = none = 0
    widths, sizes = 0.0, 0
    for _ in range(simulations):
        ratings = rate(_battles(case, names, generator))
        found = [(row.low, row.high) for row in ranks(ratings).rows]
        ends = [(1, len(names)) if low is None or high is None else (low, high) for low, high in found]
        none += (None, None) in found
        right += all(low <= first and last <= high for (low, high), first, last in zip(ends, best, worst, strict=True))
        widths += sum(high - low + 1 for low, high in ends) / len(names)
        top = top_set(ratings)
        held += any(names[model] in top for model in np.flatnonzero(best == 1))
        sizes += len(top)
    return Found(case.name, right / simulations, held / simulations, widths / simulations, sizes / simulations, none)


def _battles(case: Case, names: tuple[str, ...], generator: np.random.Generator) -> RatingInput:
    pairs = np.array(list(combinations(range(len(names)), 2)))
    moved = np.array(case.strengths) + generator.normal(scale=MOVED, size=(case.questions, len(names)))
    lead = moved[:, pairs[:, 0]] - moved[:, pairs[:, 1]]
    won = generator.random((case.votes, *lead.shape)) < 1 / (1 + np.exp(-lead))
    question = np.broadcast_to(np.arange(case.questions)[:, None], lead.shape)
    each = (case.votes, *lead.shape)
    return RatingInput(
        names,
        np.broadcast_to(pairs[:, 0], each).ravel().copy(),
        np.broadcast_to(pairs[:, 1], each).ravel().copy(),
        won.ravel().astype(np.float64),
        np.ones(won.size),
        np.broadcast_to(question, each).ravel().copy(),
    )


def main() -> None:
    """Print what every case came to, and fail where a share is too low to be chance."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=1000, help="of each case")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args()
    generator = np.random.default_rng(7)
    found = [simulate(case, options.simulations, generator) for case in CASES]
    # Three standard errors of a share of 93 %.
    bar = 0.93 - 3 * math.sqrt(0.93 * 0.07 / options.simulations)
    fine = all(min(one.ranks, one.top) >= bar for one in found)
    if options.json:
        print(json.dumps({"simulations": options.simulations, "cases": [one._asdict() for one in found], "fine": fine}))
    else:
        print(f"{'case':<26}{'ranks hold':>12}{'top set holds':>15}{'ranks left':>12}{'top set':>9}{'no interval':>13}")
        for one in found:
            print(f"{one.case:<26}{one.ranks:>12.1%}{one.top:>15.1%}{one.width:>12.2f}{one.size:>9.2f}{one.none:>13}")
        print(f"{options.simulations} simulations each, level 95 %: {'as they should' if fine else 'TOO FEW'}")
    if not fine:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
