"""How often nominal 95 % intervals of ratings hold the truth, by simulation.

Every question has five votes per battle that depend on each other: each vote copies one verdict of the battle with
probability `DEPENDENCE`, else it is drawn anew, with the same chance. Designs: two models; every pair of four models on
each question; one pair of four models on each question. Then two models whose answers share their dice: their
difference with battles clustered by what they share, against the same battles taken for independent.

    python benchmarks/ratings_coverage.py --simulations 1000
"""

import argparse
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coupled_arena.ratings import RatingInput, rate
from coupled_arena.ratings.scale import POINTS

QUESTIONS = (10, 16, 40, 400)
VOTES = 5
DEPENDENCE = 0.7
NAMES = ("m0", "m1", "m2", "m3")
STRENGTH = np.array([0.6, 0.2, -0.2, -0.6])


class Design(NamedTuple):
    """Which battles each question has."""

    name: str
    """In the table."""
    models: int
    """How many of `NAMES` play."""
    all_pairs: bool
    """Whether every pair plays on every question; else one pair, drawn."""


DESIGNS = (
    Design("2 models", 2, all_pairs=True),
    Design("4 models, all pairs", 4, all_pairs=True),
    Design("4 models, one pair", 4, all_pairs=False),
)


def battles(rng: np.random.Generator, design: Design, questions: int) -> RatingInput:
    """Return the votes of one simulated tournament."""
    pairs = np.array(np.triu_indices(design.models, 1)).T
    if design.all_pairs:
        chosen, cluster = np.tile(pairs, (questions, 1)), np.repeat(np.arange(questions), len(pairs))
    else:
        chosen, cluster = pairs[rng.integers(0, len(pairs), questions)], np.arange(questions)
    strength = STRENGTH[: design.models]
    chance = 1 / (1 + np.exp(strength[chosen[:, 1]] - strength[chosen[:, 0]]))[:, None]
    shape = (len(chosen), VOTES)
    common, own = rng.random((len(chosen), 1)) < chance, rng.random(shape) < chance
    votes = np.where(rng.random(shape) < DEPENDENCE, common, own).astype(np.float64).ravel()
    a, b, question = (np.repeat(column, VOTES) for column in (chosen[:, 0], chosen[:, 1], cluster))
    return RatingInput(NAMES[: design.models], a, b, votes, np.ones(len(votes)), question)


def covered(low: float | None, high: float | None, truth: float) -> bool | None:
    """Return whether an interval, open where an end is None, holds the truth; None without any end."""
    if low is None and high is None:
        return None
    return (low is None or low <= truth) and (high is None or truth <= high)


def share(found: list[bool | None]) -> str:
    """Return the share of the intervals that hold, and how many there were none of."""
    known = [value for value in found if value is not None]
    return f"{100 * sum(known) / max(1, len(known)):6.1f} %  ({len(found) - len(known)} without)"


def dependent(design: Design, questions: int, simulations: int) -> None:
    """Print the coverage of the difference of best and worst, and of the interval of the best."""
    rng = np.random.default_rng([questions, design.models, design.all_pairs])
    strength = POINTS * STRENGTH[: design.models]
    truth, rating = float(strength[0] - strength[-1]), 1000 + float(strength[0] - strength.mean())
    differences: list[bool | None] = []
    margins: list[bool | None] = []
    for _ in range(simulations):
        found = rate(battles(rng, design, questions))
        difference = found.difference(NAMES[0], NAMES[design.models - 1])
        differences.append(covered(difference.low, difference.high, truth))
        margins.append(covered(found.low[0], found.high[0], rating))
    print(f"{design.name:22} {questions:4d} questions   difference {share(differences)}   rating {share(margins)}")


def shared_dice(questions: int, simulations: int, correlation: float = 0.8) -> None:
    """Print what shared dice save: two models that each play an anchor, on the same dice or on dice of their own.

    The quality of the answers of both models to a question has this correlation where dice are shared. With clusters
    the variance of their difference is (1 - correlation of the verdicts) of that of independent dice.
    """
    rng = np.random.default_rng([questions, 7])
    names, truth = ("anchor", "x", "y"), 0.0
    lengths: dict[str, list[float]] = {"shared": [], "own": []}
    hits: dict[str, list[bool | None]] = {"shared": [], "own": []}
    product = 0.0
    for _ in range(simulations):
        for dice in ("shared", "own"):
            bound = correlation if dice == "shared" else 0.0
            x, rest = rng.normal(size=questions), rng.normal(size=questions)
            y = bound * x + math.sqrt(1 - bound**2) * rest
            won = np.concatenate([x > 0, y > 0]).astype(np.float64)
            if dice == "shared":
                product += float(np.mean((x > 0) * (y > 0))) / simulations
            cluster: NDArray[np.intp] = np.tile(np.arange(questions), 2)
            a, b = np.repeat([1, 2], questions), np.zeros(2 * questions, dtype=np.intp)
            found = rate(RatingInput(names, a, b, won, np.ones(2 * questions), cluster)).difference("x", "y")
            hits[dice].append(covered(found.low, found.high, truth))
            if found.low is not None and found.high is not None:
                lengths[dice].append(found.high - found.low)
    ratio = float(np.median(lengths["shared"]) / np.median(lengths["own"]))
    # Verdicts of mean 1/2 have the variance 1/4.
    theory = math.sqrt(1 - (product - 0.25) / 0.25)
    print(
        f"shared dice            {questions:4d} questions   shared {share(hits['shared'])}   "
        f"own {share(hits['own'])}   length {ratio:.3f}, by theory {theory:.3f}"
    )


def main() -> None:
    """Run all simulations and print a line for each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--simulations", type=int, default=1000, help="per line")
    simulations = parser.parse_args().simulations
    for design in DESIGNS:
        for questions in QUESTIONS:
            dependent(design, questions, simulations)
    for questions in QUESTIONS:
        shared_dice(questions, simulations)


if __name__ == "__main__":
    main()
