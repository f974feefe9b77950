"""How often do the intervals of the difference and of what shared dice saved hold the truth?

Two models answer G questions R times each with shared dice, by laws whose truth is known; questions are drawn anew in
every run. An interval is asked for 95 %. Where a run has no interval (no two questions differ: with 16 questions that
models hardly differ on this happens) it is counted apart. Beside it, how much shorter the interval is than that of
models with own dice, against what the saving promises.

    python benchmarks/coupling_coverage.py [--runs 1000] [--json]
"""

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from coupled_arena.analysis.paired import paired

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], tuple[Floats, Floats]]

RUNS = 1000
RESAMPLES = 500
SIZES = (16, 40, 400)
REPEATS = (2, 5, 10)
ASKED = (0.92, 0.97)


def twins(rng: np.random.Generator, questions: int) -> tuple[Floats, Floats]:
    """Chances of a right answer of a model and its quantised twin, who are often sure and rarely differ."""
    right = rng.beta(0.6, 0.6, questions)
    return right, np.clip(right + rng.normal(0, 0.08, questions), 0, 1)


def kin(rng: np.random.Generator, questions: int) -> tuple[Floats, Floats]:
    """Chances of two models that find the same questions hard."""
    right = rng.beta(1, 1, questions)
    return right, np.clip(0.6 * right + 0.4 * rng.beta(1, 1, questions) + 0.05, 0, 1)


def unequal(rng: np.random.Generator, questions: int) -> tuple[Floats, Floats]:
    """Chances of a large and a small model."""
    right = rng.beta(0.8, 0.5, questions)
    return right, right * rng.beta(1, 0.7, questions)


LAWS: dict[str, Draw | None] = {"twins": twins, "kin": kin, "unequal": unequal, "graded": None}
"""Laws of right and wrong answers by the chances of each question; `graded` are marks of a normal law."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How often the intervals of one setting held the truth."""

    law: str
    """Name of the law."""
    questions: int
    """Questions of a run."""
    repeats: int
    """Replicates of a question."""
    runs: int
    """Runs with an interval of the difference."""
    difference: float
    """Share of them that held the difference."""
    saved: float
    """Share of the intervals of what was saved that held it."""
    without: int
    """Runs without an interval of what was saved."""
    shorter: float
    """Mean ratio of the standard errors with shared and with own dice, from the coupled runs alone."""
    promised: float
    """The same from the law: the square root of the variances of a question's mean difference."""


def scores(law: str, rng: np.random.Generator, questions: int, repeats: int) -> tuple[Floats, Floats]:
    """Draw the scores of two models, shape (questions, replicates)."""
    draw = LAWS[law]
    if draw is not None:
        first, second = draw(rng, questions)
        dice = rng.random((questions, repeats))
        return (dice < first[:, None]).astype(np.float64), (dice < second[:, None]).astype(np.float64)
    common, dice = rng.normal(size=(questions, 1)), rng.normal(size=(questions, repeats))
    lead = rng.normal(0.2, 0.4, size=(questions, 1))
    own = rng.normal(size=(2, questions, repeats))
    return common + 0.8 * dice + 0.4 * own[0], common + lead + 0.7 * dice + 0.5 * own[1]


@cache
def truth(law: str) -> tuple[float, float, float, float]:
    """Return mean difference, data noise, prediction noise and covariance, the last three of one draw."""
    draw = LAWS[law]
    if draw is None:
        return -0.2, 0.4**2, 0.1**2 + 0.4**2 + 0.5**2, 0.8 * 0.7
    first, second = draw(np.random.default_rng(0), 1_000_000)
    apart = first - second
    covariance = float((np.minimum(first, second) - first * second).mean())
    return float(apart.mean()), float(apart.var()), float((np.abs(apart) - apart**2).mean()), covariance


def cover(law: str, questions: int, repeats: int, runs: int, seed: int = 11) -> Coverage:
    """Return how often the intervals of so many runs held the truth."""
    mean, data, noise, covariance = truth(law)
    saved = 2 * covariance / (data + noise + 2 * covariance)
    rng = np.random.default_rng([seed, questions, repeats])
    held, held_saved, ratios = [], [], []
    for run in range(runs):
        found = paired(*scores(law, rng, questions, repeats), resamples=RESAMPLES, seed=run)
        if found.low is not None and found.high is not None:
            held.append(found.low <= mean <= found.high)
        if found.saved_low is not None and found.saved_high is not None:
            # The truth itself is known to three digits.
            held_saved.append(found.saved_low - 5e-4 <= saved <= found.saved_high + 5e-4)
        if found.se_coupled is not None and found.se_independent is not None:
            ratios.append(found.se_coupled / found.se_independent)
    promised = ((data + noise / repeats) / (data + (noise + 2 * covariance) / repeats)) ** 0.5
    return Coverage(
        law=law,
        questions=questions,
        repeats=repeats,
        runs=len(held),
        difference=float(np.mean(held)),
        saved=float(np.mean(held_saved)),
        without=runs - len(held_saved),
        shorter=float(np.mean(ratios)),
        promised=promised,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Measure the coverage of paired intervals.")
    parser.add_argument("--runs", type=int, default=RUNS, help="runs of each setting")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    chosen = parser.parse_args()
    found = [cover(law, size, times, chosen.runs) for law in LAWS for size in SIZES for times in REPEATS]
    if chosen.json:
        print(json.dumps({"asked": ASKED, "rows": [asdict(row) for row in found]}, indent=1))
    else:
        print(
            f"{'law':8} {'G':>4} {'R':>3} {'difference':>10} {'saved':>7} {'without':>8} {'shorter':>8} {'promised':>8}"
        )
        for row in found:
            print(
                f"{row.law:8} {row.questions:4} {row.repeats:3} {row.difference:10.1%} {row.saved:7.1%} "
                f"{row.without:8} {row.shorter:8.3f} {row.promised:8.3f}"
            )
