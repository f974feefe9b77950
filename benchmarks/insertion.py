"""Where does a newcomer end up that met ceil(log2 n) of n models, and what did that save?

Outcomes are simulated: skills from N(0, spread^2), the chance to win a battle logistic in the difference of skills. A
field of models has played a Swiss tournament over 40 questions; then one more model is inserted, by the median or by
scores that correlate with skill (0.8), and is ranked. Its place by rating is compared with its place by skill.

Beside it, with the same outcomes wherever two models meet on a question in both: opponents drawn at random; all of the
field as opponents; insertion into a field whose own matches were played 100 times, so that only the newcomer is
uncertain; and the two ways of replaying everything, a Swiss tournament and a round robin of all models. What cannot be
had is said too: the place that the newcomer takes where all skills are known and only its own is estimated as well as
so many battles with equals can.

    python benchmarks/insertion.py --seeds 200
"""

import argparse
import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coupled_arena.ratings import RatingInput, rate
from coupled_arena.tournaments.results.points import BYE_POINTS
from coupled_arena.tournaments.schedules import Insertion, Pairing, RoundRobin, Schedule, Standings, Swiss

FIELD = 16
QUESTIONS = 40
SPREADS = (1.0, 0.68)
"""Skills from N(0,1), and as far apart as the ratings of the fifteen models of Auto-Arena's table."""
REPEATED = 100
NEAR = 2
"""Places off that are still near."""
CORRELATION = 0.8
"""Of scores and skills."""


class Match(NamedTuple):
    """A match that was played."""

    a: int
    """Number of the one model."""
    b: int
    """Number of the other."""
    won: int
    """Battles that the first won."""
    battles: int
    """Battles of the match."""


class World:
    """Models with known skills; two of them have the same outcomes wherever they meet."""

    def __init__(self, seed: int, spread: float, questions: int) -> None:
        rng = np.random.default_rng([seed, 0])
        self.seed, self.questions = seed, questions
        self.names = tuple(f"m{number:02}" for number in range(FIELD + 1))
        """The last one is the newcomer."""
        self.skill = spread * rng.normal(size=FIELD + 1)
        noise = spread * math.sqrt(1 / CORRELATION**2 - 1)
        self.scores = dict(zip(self.names, (self.skill + noise * rng.normal(size=FIELD + 1)).tolist(), strict=True))

    def match(self, x: str, y: str, times: int = 1) -> Match:
        """Return the outcomes of a match."""
        a, b = sorted((self.names.index(x), self.names.index(y)))
        rng = np.random.default_rng([self.seed, 1, a, b, times])
        chance = 1 / (1 + math.exp(self.skill[b] - self.skill[a]))
        battles = self.questions * times
        return Match(a, b, int(np.sum(rng.random(battles) < chance)), battles)

    def play(
        self, schedule: Schedule, names: Sequence[str], before: Sequence[Match] = (), times: int = 1
    ) -> list[Match]:
        """Return all matches of a schedule, those before it included."""
        played = list(before)
        rounds = [tuple(Pairing(self.names[match.a], self.names[match.b]) for match in before)] if before else []
        while True:
            standings = Standings(
                tuple(names),
                self.seed,
                tuple(rounds),
                self._points(names, rounds, played),
                None if isinstance(schedule, RoundRobin) or not played else self.ratings(played),
            )
            pairings = tuple(schedule.next_round(standings))
            if not pairings:
                return played
            rounds.append(pairings)
            played += [self.match(a, b, times) for a, b, _ in pairings if b is not None]

    def ratings(self, played: Iterable[Match]) -> dict[str, float]:
        """Return the ratings of the models that have played."""
        # Two rows a match, won and lost, by their weights: intervals are not asked for, and ratings are the same.
        rows = [(m.a, m.b, side, w) for m in played for side, w in ((1.0, m.won), (0.0, m.battles - m.won)) if w]
        a, b, score, weight = (np.array(column) for column in zip(*rows, strict=True))
        found = rate(RatingInput(self.names, a, b, score, weight.astype(float), np.arange(len(rows))), prior="weak")
        return {name: value for name, value in zip(found.names, found.ratings, strict=True) if value is not None}

    def _points(
        self, names: Sequence[str], rounds: Sequence[Sequence[Pairing]], played: Sequence[Match]
    ) -> dict[str, float]:
        points = dict.fromkeys(names, 0.0)
        for match in played:
            share = match.won / match.battles
            points[self.names[match.a]] += share
            points[self.names[match.b]] += 1 - share
        for pairing in (pairing for pairings in rounds for pairing in pairings if pairing.b is None):
            points[pairing.a] += BYE_POINTS
        return points

    def off(self, played: Iterable[Match]) -> int:
        """Return by how many places the newcomer is off."""
        ratings = self.ratings(played)
        return abs(place([ratings[name] for name in self.names]) - place(self.skill))


def place(values: Sequence[float] | NDArray[np.float64]) -> int:
    """Return how many of the others are above the last of them."""
    return int(np.sum(np.asarray(values)[:-1] > values[-1]))


def designs(world: World) -> dict[str, tuple[int, int]]:
    """Return, by design, by how many places the newcomer is off, and how many new battles that took."""
    field, newcomer = world.names[:-1], world.names[-1]
    swiss = world.play(Swiss(), field)
    known = world.play(Swiss(), field, times=REPEATED)
    rng = np.random.default_rng([world.seed, 2])
    count = Insertion(newcomer=newcomer).matches(FIELD + 1)[0]
    drawn = [field[place] for place in rng.choice(FIELD, count, replace=False)]
    everything = [world.match(newcomer, other) for other in field]
    played: dict[str, tuple[list[Match], int]] = {
        "insertion by the median": (world.play(Insertion(newcomer=newcomer), world.names, swiss), len(swiss)),
        "insertion by scores": (
            world.play(Insertion(newcomer=newcomer, scores=world.scores), world.names, swiss),
            len(swiss),
        ),
        "opponents at random": ([*swiss, *(world.match(newcomer, other) for other in drawn)], len(swiss)),
        "all as opponents": ([*swiss, *everything], len(swiss)),
        "insertion into a known field": (world.play(Insertion(newcomer=newcomer), world.names, known), len(known)),
        "Swiss replayed": (world.play(Swiss(), world.names), 0),
        "round robin replayed": (world.play(RoundRobin(), world.names), 0),
    }
    found = {
        name: (world.off(matches), sum(match.battles for match in matches[old:]))
        for name, (matches, old) in played.items()
    }
    # A battle of equals tells a quarter of a unit of information of a logistic model.
    battles = count * world.questions
    guess = np.append(world.skill[:-1], world.skill[-1] + rng.normal() * 2 / math.sqrt(battles))
    return {**found, "all skills known but its own": (abs(place(guess) - place(world.skill)), battles)}


def table(seeds: int, spread: float, questions: int, say: Callable[[str], None] = print) -> dict[str, float]:
    """Say how near the newcomer comes, and return the share of seeds in which it is near, by design."""
    found = [designs(World(seed, spread, questions)) for seed in range(seeds)]
    say(f"spread {spread:g}, {questions} questions, {FIELD} models and a newcomer, {seeds} seeds")
    say(f"{'':30} near  off by (mean)  new battles")
    shares = {}
    for name in found[0]:
        off = np.array([designs[name][0] for designs in found])
        battles = float(np.mean([designs[name][1] for designs in found]))
        shares[name] = float(np.mean(off <= NEAR))
        say(f"{name:30}{100 * shares[name]:5.1f} %{off.mean():10.2f}{battles:16.0f}")
    return shares


def main() -> None:
    """Print a table for every spread of skills."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument(
        "--spread", type=float, action="append", help="standard deviation of skills, in units of log odds"
    )
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    options = parser.parse_args()
    for spread in options.spread or SPREADS:
        table(options.seeds, spread, options.questions)


if __name__ == "__main__":
    main()
