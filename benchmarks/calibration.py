"""How often do intervals hold the ratings that labels of all battles would give, with labels of 5 % of them?

Six models meet in all pairs on every question. People see the quality of both sides with an error; three judges see it
too, prefer longer texts, which some models write, and their own family. Labels of a random slice calibrate the judges
(`ca.calibrated`); the truth is what people's labels give on 400,000 further battles. Counted are the intervals of all
differences of two models: calibrated, by the labels alone, and by the judges alone (raw).

    python benchmarks/calibration.py [--simulations 1000] [--first 0] [--share 0.05] [--design 0]
"""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coupled_arena.analysis.calibration import Calibrated, calibrate
from coupled_arena.analysis.judges import Opinions
from coupled_arena.errors import RatingError
from coupled_arena.ratings import RatingInput, Ratings, rate

Floats = NDArray[np.float64]

STRENGTH = np.array([0.8, 0.5, 0.2, -0.2, -0.5, -0.8])
"""Mean quality of the models' texts; that of single texts differs from it by N(0, 1)."""

WORDY = np.array([0.0, 0.6, -0.3, 0.6, -0.3, 0.0])
"""By how many doublings the models write more than others."""

MODELS = ("ada", "bob", "cleo", "dan", "eve", "finn")
FAMILIES = ("x", "y", "z", "x", "y", "z")
JUDGES = ("x", "x", "y")
"""Families of the judges."""

LENGTH, FAMILY, ERROR = 0.6, 0.5, 0.8
"""What judges grant for a doubling of the length and to their family, and the error of judges and people."""

TIE = 0.2
"""Leads up to this are ties."""

FURTHER = 400_000 // 15
"""Questions that the truth rests on."""


class Design(NamedTuple):
    """How much is judged, and what is labelled."""

    name: str
    """In the table."""
    questions: int
    """On each of which all pairs meet."""
    whole: bool
    """Whether all battles of a question are labelled or none."""


DESIGNS = (
    Design("200 questions, single battles", 200, whole=False),
    Design("400 questions, single battles", 400, whole=False),
    Design("400 questions, whole questions", 400, whole=True),
)


class Battles(NamedTuple):
    """Battles with what people would say of each."""

    question: NDArray[np.intp]
    a: NDArray[np.intp]
    b: NDArray[np.intp]
    lead: Floats
    length: Floats
    label: Floats


def battles(rng: np.random.Generator, questions: int) -> Battles:
    """Draw all pairs of models on so many questions."""
    pairs = np.array(list(combinations(range(len(MODELS)), 2)))
    size = questions * len(pairs)
    met = np.tile(pairs, (questions, 1))
    turned = rng.random(size) < 0.5
    a, b = np.where(turned, met[:, 1], met[:, 0]), np.where(turned, met[:, 0], met[:, 1])
    question = np.repeat(np.arange(questions), len(pairs))
    quality = STRENGTH + rng.normal(size=(questions, len(MODELS)))
    lead = quality[question, a] - quality[question, b]
    length = WORDY[a] - WORDY[b] + rng.normal(0, 0.3, size)
    return Battles(question, a, b, lead, length, verdicts(lead + rng.normal(0, ERROR, size)))


def verdicts(lead: Floats) -> Floats:
    """Return the score of A that is said of leads."""
    return np.where(np.abs(lead) <= TIE, 0.5, (lead > 0).astype(np.float64))


def opinions(rng: np.random.Generator, played: Battles) -> Opinions:
    """Return what the judges say, each alone and in one order."""
    size, judges = len(played.a), len(JUDGES)
    kin = np.array([[float(own == family) for family in FAMILIES] for own in JUDGES])
    lead = played.lead + LENGTH * played.length + FAMILY * (kin[:, played.a] - kin[:, played.b])
    return Opinions.formed_alone(
        judges=[f"j{number}" for number in range(judges)],
        models=MODELS,
        battle=np.tile(np.arange(size), judges),
        judge=np.repeat(np.arange(judges), size),
        score=verdicts(lead + rng.normal(0, ERROR, (judges, size))).ravel(),
        question=played.question,
        a=played.a,
        b=played.b,
        length=played.length,
        judge_family=JUDGES,
        model_family=FAMILIES,
    )


def calibrated(seed: int, design: Design, share: float) -> Calibrated:
    """Draw one set of battles, label a part of it and calibrate."""
    rng = np.random.default_rng([seed, design.questions, design.whole])
    played = battles(rng, design.questions)
    units = design.questions if design.whole else len(played.a)
    chosen = rng.permutation(units) < round(share * units)
    marked = chosen[played.question] if design.whole else chosen
    return calibrate(opinions(rng, played), np.where(marked, played.label, np.nan))


def by_everybody() -> Ratings:
    """Return the ratings that people's labels give on many battles."""
    played = battles(np.random.default_rng(2**31), FURTHER)
    return rate(RatingInput(MODELS, played.a, played.b, played.label, np.ones(len(played.a)), played.question))


@dataclass(slots=True)
class Tally:
    """How often intervals held, and how long they are."""

    shares: list[float] = field(default_factory=list)
    lengths: list[float] = field(default_factory=list)

    def add(self, ratings: Ratings, truth: Ratings) -> None:
        """Count the intervals of one simulation as one, since they depend on each other."""
        held = []
        for a, b in combinations(MODELS, 2):
            found, right = ratings.difference(a, b), truth.difference(a, b).difference
            if found.low is not None and found.high is not None and right is not None:
                held.append(found.low <= right <= found.high)
                self.lengths.append(found.high - found.low)
        if held:
            self.shares.append(float(np.mean(held)))

    def __str__(self) -> str:
        return f"{100 * np.mean(self.shares):5.1f} % ({np.mean(self.lengths):4.0f} points long)"


def line(design: Design, simulations: int, first: int, share: float, truth: Ratings) -> str:
    """Return what the simulations of one design show."""
    tallies: Mapping[str, Tally] = {"calibrated": Tally(), "labels alone": Tally(), "raw": Tally()}
    refused, weights, worths = 0, [], []
    for seed in range(first, first + simulations):
        try:
            found = calibrated(seed, design, share)
        except RatingError:
            refused += 1
            continue
        tallies["calibrated"].add(found.ratings, truth)
        tallies["labels alone"].add(found.labelled, truth)
        tallies["raw"].add(found.raw, truth)
        weights.append(found.weight)
        worths += [] if found.worth is None else [found.worth]
    shown = "   ".join(f"{name} {tally}" for name, tally in tallies.items())
    rest = f"weight {np.mean(weights):.2f}   labels worth {np.median(worths):.2f} times   refused {refused}"
    return f"{design.name:32}{shown}   {rest}"


def main() -> None:
    """Run all simulations and print a line for each design."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=1000, help="per line")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--share", type=float, default=0.05, help="of the battles that are labelled")
    parser.add_argument("--design", type=int, choices=range(len(DESIGNS)), help="one line only")
    options = parser.parse_args()
    truth = by_everybody()
    for place, design in enumerate(DESIGNS):
        if options.design in (None, place):
            print(line(design, options.simulations, options.first, options.share, truth), flush=True)


if __name__ == "__main__":
    main()
