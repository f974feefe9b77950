"""Random Swiss tournaments: no bye, rematch or second bye that another way of pairing would have avoided.

Each tournament has 2 to 64 models, the number drawn log-uniformly, skills from N(0,1), and matches over 40 questions.
Half of them have the usual number of rounds, the others 1 to 12, so that in small fields rematches are forced. After
every round an oracle that shares nothing with the schedule says what was to be avoided: in fields of up to 8 seats it
tries every round there is, by the whole order of preferences; in larger ones it takes the size of the largest matching
as half the rank of a random Tutte matrix (Lovasz 1979), which is right but with a probability below 64/(2^31 - 1).

Beside it greedy pairing, as in Auto-Arena's code: models by rating, each meets the next it has not met, or sits out.
Where it first gives a bye too many, the schedule is asked in its place. Last, the field of nine under many seeds.

    python benchmarks/swiss_pairing.py --tournaments 5000
"""

import argparse
import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from coupled_arena.tournaments.results.points import BYE_POINTS
from coupled_arena.tournaments.schedules import Pairing, Standings, Swiss
from coupled_arena.tournaments.schedules.swiss import POINT_STEPS

SMALLEST, LARGEST = 2, 64
QUESTIONS = 40
MOST_ROUNDS = 12
MOST_SEATS_TRIED = 8
TURNED = 10
"""One in so many tournaments is asked for its second round twice, the models listed the other way round."""
PRIME = 2**31 - 1


@dataclass(slots=True)
class Found:
    """What happened over many tournaments."""

    tournaments: int = 0
    """How many were played."""
    rounds: int = 0
    """Rounds of all of them."""
    forced: int = 0
    """Rounds in which a rematch could not be avoided."""
    faults: Counter[str] = field(default_factory=Counter)
    """What could have been avoided, by its name."""
    greedy_rounds: int = 0
    """Rounds of the same tournaments under greedy pairing."""
    greedy_byes: int = 0
    """Of these, rounds with two byes or more."""
    greedy_again: int = 0
    """Byes of greedy pairing for a model that had one already."""


def tournament(number: int, found: Found) -> None:
    """Play a random tournament twice, by the schedule and by greedy pairing, and look at every round."""
    rng = np.random.default_rng([7, number])
    size = round(math.exp(rng.uniform(math.log(SMALLEST - 0.5), math.log(LARGEST + 0.5))))
    names = tuple(f"m{place:02}" for place in rng.permutation(size))
    skill = dict(zip(names, rng.normal(size=size).tolist(), strict=True))
    rounds = None if rng.random() < 0.5 else int(rng.integers(1, MOST_ROUNDS + 1))
    schedule, found.tournaments = Swiss(rounds=rounds), found.tournaments + 1
    standings = Standings(names, seed=number)
    while pairings := tuple(schedule.next_round(standings)):
        found.rounds += 1
        for fault in faults(pairings, standings, found):
            found.faults[fault] += 1
        if number % TURNED == len(standings.rounds) == 1 and pairings != tuple(schedule.next_round(turned(standings))):
            found.faults["depends on the order of the models"] += 1
        standings = after(standings, pairings, skill, rng)
    standings, asked = Standings(names, seed=number), False
    for _ in range(schedule.length(size)):
        pairings = greedy(standings)
        byes = [pairing.a for pairing in pairings if pairing.b is None]
        found.greedy_rounds += 1
        found.greedy_again += sum(standings.byes(model) > 0 for model in byes)
        if len(byes) > size % 2:
            found.greedy_byes += 1
        if len(byes) > size % 2 and not asked:
            asked = True
            for fault in faults(tuple(Swiss(rounds=10**3).next_round(standings)), standings, Found()):
                found.faults[f"{fault} after greedy pairing"] += 1
        standings = after(standings, pairings, skill, rng)


def turned(standings: Standings) -> Standings:
    """Return standings with everything without an order in another one."""
    return replace(
        standings,
        models=standings.models[::-1],
        points=dict([*standings.points.items()][::-1]),
        ratings=None if standings.ratings is None else dict([*standings.ratings.items()][::-1]),
    )


def after(
    standings: Standings, pairings: Sequence[Pairing], skill: dict[str, float], rng: np.random.Generator
) -> Standings:
    """Return the standings after a round; ratings are points, which is all that seeding needs."""
    points = dict(standings.points)
    for a, b, _ in pairings:
        if b is None:
            points[a] = points.get(a, 0.0) + BYE_POINTS
            continue
        won = rng.binomial(QUESTIONS, 1 / (1 + math.exp(skill[b] - skill[a]))) / QUESTIONS
        points[a], points[b] = points.get(a, 0.0) + won, points.get(b, 0.0) + 1 - won
    return replace(standings, rounds=(*standings.rounds, tuple(pairings)), points=points, ratings=dict(points))


def greedy(standings: Standings) -> tuple[Pairing, ...]:
    """Return a round as Auto-Arena's code pairs it: from the top, without looking back."""
    ratings = standings.ratings or {}
    left = sorted(standings.models, key=lambda model: (-ratings.get(model, 0.0), model))
    pairings = []
    while left:
        model = left.pop(0)
        opponent = next((other for other in left if not standings.met(model, other)), None)
        if opponent is not None:
            left.remove(opponent)
        pairings.append(Pairing(model, opponent))
    return tuple(pairings)


def faults(pairings: Sequence[Pairing], standings: Standings, found: Found) -> Iterator[str]:
    """Yield everything that another round would have avoided."""
    size = len(standings.models)
    if Counter(model for p in pairings for model in (p.a, p.b) if model) != Counter(standings.models):
        yield "not everybody is in one pairing"
    byes = [pairing.a for pairing in pairings if pairing.b is None]
    if len(byes) != size % 2:
        yield "a bye too many"
    seats: list[str | None] = [*standings.models, *([None] if size % 2 else [])]
    met = Counter(frozenset(p[:2]) for played in standings.rounds for p in played if p.b is not None)
    given = Counter(pairing.a for played in standings.rounds for pairing in played if pairing.b is None)
    rematches = sum(met[frozenset(p[:2])] for p in pairings if p.b is not None)
    found.forced += rematches > 0
    if len(seats) <= MOST_SEATS_TRIED:
        best = min(cost(pairs, standings.points, met, given) for pairs in all_rounds(seats))
        if cost([p[:2] for p in pairings], standings.points, met, given) != best:
            yield "not the best round"
        return
    allowed = [[met[frozenset((a, b))] == 0 for b in seats] for a in seats]
    if rematches and max(met.values()) == 1 and rematches != len(seats) // 2 - largest_matching(allowed):
        yield "a rematch that could be avoided"
    if any(given[model] for model in byes):
        # The bye of an odd field is the last seat.
        for place, model in enumerate(standings.models):
            allowed[place][-1] = allowed[-1][place] = not given[model]
        if largest_matching(allowed) == len(seats) // 2 - rematches:
            yield "a second bye that could be avoided"


def cost(
    pairs: Sequence[tuple[str | None, str | None]],
    points: Mapping[str, float],
    met: Counter[frozenset[str | None]],
    given: Counter[str],
) -> tuple[int, int, int]:
    """Return rematches, second byes and squared distances of points, in this order of importance."""
    steps = {name: round(POINT_STEPS * value) for name, value in points.items()}
    distance = sum((steps.get(a or "", 0) - steps.get(b or "", 0)) ** 2 for a, b in pairs)
    again = sum(met[frozenset((a, b))] for a, b in pairs if a is not None and b is not None)
    return again, sum(given[a or b or ""] for a, b in pairs if a is None or b is None), distance


def all_rounds(seats: Sequence[str | None]) -> Iterator[list[tuple[str | None, str | None]]]:
    """Yield every way of pairing all seats."""
    if not seats:
        yield []
        return
    for place in range(1, len(seats)):
        for rest in all_rounds([*seats[1:place], *seats[place + 1 :]]):
            yield [(seats[0], seats[place]), *rest]


def largest_matching(allowed: Sequence[Sequence[bool]]) -> int:
    """Return how many disjoint pairs are allowed at once: half the rank of a random Tutte matrix modulo a prime."""
    size = len(allowed)
    draws = np.random.default_rng(size).integers(1, PRIME, (size, size))
    matrix = np.where(np.triu(np.array(allowed, dtype=bool), 1), draws, 0)
    matrix = (matrix - matrix.T) % PRIME
    rank = 0
    for column in range(size):
        rows = np.flatnonzero(matrix[rank:, column])
        if not len(rows):
            continue
        pivot = rank + rows[0]
        matrix[[rank, pivot]] = matrix[[pivot, rank]]
        matrix[rank] = matrix[rank] * pow(int(matrix[rank, column]), -1, PRIME) % PRIME
        below = matrix[rank + 1 :]
        below -= below[:, [column]] * matrix[rank] % PRIME
        below %= PRIME
        rank += 1
        if rank == size:
            break
    return rank // 2


def nine(seeds: int) -> Counter[int]:
    """Return how many matches the models of a field of nine play, over many seeds."""
    played: Counter[int] = Counter()
    names = tuple("abcdefghi")
    for seed in range(seeds):
        rng = np.random.default_rng([9, seed])
        skill = dict(zip(names, rng.normal(size=9).tolist(), strict=True))
        standings, schedule = Standings(names, seed), Swiss()
        while pairings := tuple(schedule.next_round(standings)):
            standings = after(standings, pairings, skill, rng)
        matches = Counter(model for done in standings.rounds for p in done if p.b for model in p[:2])
        played.update(matches[name] for name in names)
    return played


def main() -> None:
    """Print what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tournaments", type=int, default=5000)
    parser.add_argument("--first", type=int, default=0, help="number of the first tournament")
    parser.add_argument("--seeds", type=int, default=1000)
    options = parser.parse_args()
    found, began = Found(), time.process_time()
    for number in range(options.first, options.first + options.tournaments):
        tournament(number, found)
    print(f"{found.tournaments} tournaments, {found.rounds} rounds, {found.forced} with a rematch that was forced")
    print(f"what could have been avoided: {dict(sorted((+found.faults).items())) or 'nothing'}")
    print(
        f"greedy pairing: {found.greedy_byes} of {found.greedy_rounds} rounds with a bye too many, "
        f"{found.greedy_again} byes for a model that had one"
    )
    print(f"field of 9, {options.seeds} seeds: matches by one model {dict(sorted(nine(options.seeds).items()))}")
    print(f"{time.process_time() - began:.0f} s of one core")


if __name__ == "__main__":
    main()
