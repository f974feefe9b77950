"""How often nominal 95 % intervals of ratings hold the truth, by simulation.

Every question has five votes per battle that depend on each other: each vote copies one verdict of the battle with
a probability of 0.7 or 0.2, else it is drawn anew, with the same chance. Designs: two models; every pair of four models
on each question; eight models, each in one battle of every question; one pair of four models on each question, which
leaves as little as it can. Few votes have few outcomes, and at one gap that makes any interval right too often or too
seldom; so strengths are drawn anew in each simulation, and counted are all differences of two models, and all ratings.

Then two models whose answers share their dice, each against an anchor before five judges: their difference with battles
clustered by what they share, against dice of their own.

    python benchmarks/ratings_coverage.py --simulations 1000
"""

import argparse
import math
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coupled_arena.ratings import RatingInput, rate
from coupled_arena.ratings.scale import POINTS

QUESTIONS = (10, 16, 40, 400)
VOTES = 5
DEPENDENCE = (0.7, 0.2)
"""Chance that a vote copies the one verdict of its battle."""

WIDEST = 0.6
"""Strengths are drawn evenly between this and its negative, in log odds: gaps of up to 208 points."""

ASKED = (0.92, 0.97)


class Design(NamedTuple):
    """Which battles each question has."""

    name: str
    """In the table."""
    models: int
    """How many play."""
    on_question: Literal["all pairs", "everyone once", "one pair"]
    """Which pairs meet on a question."""


DESIGNS = (
    Design("2 models", 2, "one pair"),
    Design("4 models, all pairs", 4, "all pairs"),
    Design("8 models, everyone once", 8, "everyone once"),
    Design("4 models, one pair", 4, "one pair"),
)


def battles(
    rng: np.random.Generator, design: Design, strength: NDArray[np.float64], questions: int, dependence: float
) -> RatingInput:
    """Return the votes of one simulated tournament."""
    models = design.models
    pairs = np.array(np.triu_indices(models, 1)).T
    if design.on_question == "all pairs":
        chosen, each = np.tile(pairs, (questions, 1)), len(pairs)
    elif design.on_question == "one pair":
        chosen, each = pairs[rng.integers(0, len(pairs), questions)], 1
    else:
        chosen, each = rng.permuted(np.tile(np.arange(models), (questions, 1)), axis=1).reshape(-1, 2), models // 2
    cluster = np.repeat(np.arange(questions), each)
    chance = 1 / (1 + np.exp(strength[chosen[:, 1]] - strength[chosen[:, 0]]))[:, None]
    shape = (len(chosen), VOTES)
    common, own = rng.random((len(chosen), 1)) < chance, rng.random(shape) < chance
    votes = np.where(rng.random(shape) < dependence, common, own).astype(np.float64).ravel()
    a, b, question = (np.repeat(column, VOTES) for column in (chosen[:, 0], chosen[:, 1], cluster))
    return RatingInput(tuple(f"m{model}" for model in range(models)), a, b, votes, np.ones(len(votes)), question)


def covered(low: float | None, high: float | None, truth: float) -> bool | None:
    """Return whether an interval, open where an end is None, holds the truth; None without any end."""
    if low is None and high is None:
        return None
    return (low is None or low <= truth) and (high is None or truth <= high)


@dataclass(slots=True)
class Tally:
    """How often intervals held."""

    held: float = 0.0
    known: int = 0
    without: int = 0

    def add(self, found: list[bool | None]) -> None:
        """Count the intervals of one simulation as one, since they depend on each other."""
        known = [value for value in found if value is not None]
        self.without += len(found) - len(known)
        if known:
            self.held += sum(known) / len(known)
            self.known += 1

    @property
    def share(self) -> float:
        """The share that held."""
        return self.held / max(1, self.known)

    def __str__(self) -> str:
        outside = "" if ASKED[0] <= self.share <= ASKED[1] else " (!)"
        return f"{100 * self.share:5.1f} %{outside}" + (f" ({self.without} without)" if self.without else "")


def dependent(design: Design, questions: int, dependence: float, simulations: int) -> None:
    """Print the coverage of all differences, and of the intervals of all models."""
    rng = np.random.default_rng([questions, design.models, len(design.on_question), int(100 * dependence)])
    differences, margins = Tally(), Tally()
    for _ in range(simulations):
        strength = rng.uniform(-WIDEST, WIDEST, design.models)
        truth = POINTS * (strength - strength.mean())
        found = rate(battles(rng, design, strength, questions, dependence))
        pairs = [
            (i, j, found.difference(found.names[i], found.names[j])) for i, j in combinations(range(len(truth)), 2)
        ]
        differences.add([covered(one.low, one.high, float(truth[i] - truth[j])) for i, j, one in pairs])
        ends = zip(found.low, found.high, truth, strict=True)
        margins.add([covered(low, high, 1000 + float(true)) for low, high, true in ends])
    name = f"{design.name}, votes copy {dependence:.0%}"
    print(f"{name:40}{questions:4d} questions   differences {differences}   ratings {margins}", flush=True)


def shared_dice(questions: int, simulations: int, correlation: float = 0.8, noise: float = 0.5) -> None:
    """Print what shared dice save: two equal models that each play an anchor, on the same dice or on dice of their own.

    The quality of the answers of both models to a question has this correlation where dice are shared; each of five
    judges sees it with a noise of its own. For normal qualities the covariances of verdicts are arcsines (Sheppard
    1899), and with clusters the variance of the difference of two models is 1 less their correlation of that of
    independent dice.
    """
    rng = np.random.default_rng([questions, 7])
    names = ("anchor", "x", "y")
    lengths: dict[str, list[float]] = {"shared": [], "own": []}
    hits = {"shared": Tally(), "own": Tally()}
    a, b = np.repeat([1, 2], questions * VOTES), np.zeros(2 * questions * VOTES, dtype=np.intp)
    cluster: NDArray[np.intp] = np.tile(np.repeat(np.arange(questions), VOTES), 2)
    for _ in range(simulations):
        for dice in ("shared", "own"):
            bound = correlation if dice == "shared" else 0.0
            x, rest = rng.normal(size=(2, questions))
            quality = np.stack([x, bound * x + math.sqrt(1 - bound**2) * rest])[:, :, None]
            won = (quality + noise * rng.normal(size=(2, questions, VOTES)) > 0).astype(np.float64).ravel()
            found = rate(RatingInput(names, a, b, won, np.ones(len(won)), cluster)).difference("x", "y")
            hits[dice].add([covered(found.low, found.high, 0.0)])
            if found.low is not None and found.high is not None:
                lengths[dice].append(found.high - found.low)
    ratio = float(np.median(lengths["shared"]) / np.median(lengths["own"]))
    across, within = (math.asin(value / (1 + noise**2)) for value in (correlation, 1.0))
    theory = math.sqrt(1 - across / (math.pi / 2 / VOTES + (1 - 1 / VOTES) * within))
    print(
        f"{'shared dice':40}{questions:4d} questions   shared {hits['shared']}   own {hits['own']}   "
        f"length {ratio:.3f}, by theory {theory:.3f}",
        flush=True,
    )


def main() -> None:
    """Run all simulations and print a line for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--simulations", type=int, default=1000, help="per line")
    simulations = parser.parse_args().simulations
    for design in DESIGNS:
        for dependence in DEPENDENCE:
            for questions in QUESTIONS:
                dependent(design, questions, dependence, simulations)
    for questions in QUESTIONS:
        shared_dice(questions, simulations)


if __name__ == "__main__":
    main()
