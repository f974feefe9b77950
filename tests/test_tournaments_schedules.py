"""Schedules are pure: the same standings give the same pairings, and no rematch or bye that can be avoided."""

import itertools
import math
from collections import Counter

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coupled_arena.tournaments.schedules import Pairing, RoundRobin, Schedule, Standings, Swiss


def names(n: int) -> tuple[str, ...]:
    return tuple(f"m{number:02}" for number in range(n))


def play(schedule: Schedule, models: tuple[str, ...], strength: dict[str, float], seed: int = 0) -> Standings:
    """Let the stronger model win every match until the schedule ends."""
    standings = Standings(models, seed)
    while pairings := tuple(schedule.next_round(standings)):
        points = dict(standings.points)
        for a, b, _ in pairings:
            winner = a if b is None or strength[a] > strength[b] else b
            points[winner] = points.get(winner, 0.0) + 1.0
        standings = Standings(models, seed, (*standings.rounds, pairings), points, dict(strength))
    return standings


def is_round(pairings: tuple[Pairing, ...], models: tuple[str, ...]) -> bool:
    """Return whether everybody is in exactly one pairing."""
    return Counter(model for pairing in pairings for model in pairing if model) == Counter(models)


@pytest.mark.parametrize("n", range(2, 12))
def test_round_robin_lets_everybody_meet_once(n: int) -> None:
    standings = play(RoundRobin(), names(n), dict.fromkeys(names(n), 0.0))
    met = Counter(frozenset(p[:2]) for played in standings.rounds for p in played if p.b is not None)
    assert met == Counter(frozenset(pair) for pair in itertools.combinations(names(n), 2))
    assert all(is_round(played, names(n)) for played in standings.rounds)
    assert len(standings.rounds) == n - 1 + n % 2


@pytest.mark.parametrize(("n", "rounds"), [(2, 1), (3, 2), (8, 3), (9, 4), (16, 4), (17, 5)])
def test_swiss_plays_ceil_log2_rounds(n: int, rounds: int) -> None:
    assert Swiss().length(n) == rounds == max(1, math.ceil(math.log2(n)))


@settings(max_examples=120)
@given(st.integers(2, 20), st.integers(0, 2**32), st.randoms(use_true_random=False))
def test_swiss_never_rematches_or_sits_out_twice_where_that_can_be_avoided(n: int, seed: int, random: object) -> None:
    strength = {name: random.random() for name in names(n)}  # type: ignore[attr-defined]
    standings = play(Swiss(), names(n), strength, seed)
    byes: Counter[str] = Counter()
    met: set[frozenset[str]] = set()
    for played in standings.rounds:
        assert is_round(played, names(n))
        rematches = [frozenset((a, b)) for a, b, _ in played if b is not None and frozenset((a, b)) in met]
        sitting = [p.a for p in played if p.b is None]
        assert len(sitting) == n % 2
        if rematches:
            assert not perfect_without(names(n), met, byes)
        met |= {frozenset((a, b)) for a, b, _ in played if b is not None}
        byes.update(sitting)
    assert max(byes.values(), default=0) <= 1


def perfect_without(models: tuple[str, ...], met: set[frozenset[str]], byes: Counter[str]) -> bool:
    """Return whether a round without any rematch exists."""
    seats = [*models, *(["bye"] if len(models) % 2 else [])]
    graph = nx.Graph()
    for a, b in itertools.combinations(seats, 2):
        if frozenset((a, b)) not in met and not (b == "bye" and byes[a]):
            graph.add_edge(a, b)
    return 2 * len(nx.max_weight_matching(graph, maxcardinality=True)) == len(seats)


@given(st.integers(2, 12), st.permutations(range(12)))
def test_swiss_does_not_depend_on_the_order_of_a_dict(n: int, order: list[int]) -> None:
    points = {name: float(index % 3) for index, name in enumerate(names(n))}
    shuffled = {names(12)[index]: points[names(12)[index]] for index in order if index < n}
    first = Swiss(rounds=9).next_round(Standings(names(n), 1, (), points, points))
    assert first == Swiss(rounds=9).next_round(Standings(names(n), 1, (), shuffled, shuffled))


def test_swiss_pairs_close_points_and_gives_the_bye_to_the_fewest() -> None:
    models = names(5)
    points = dict(zip(models, (2.0, 1.0, 2.0, 1.0, 0.0), strict=True))
    pairings = Swiss(rounds=9).next_round(Standings(models, 0, ((Pairing("m00", "m01"),),), points, points))
    assert {frozenset(p[:2]) for p in pairings} == {
        frozenset(("m00", "m02")),
        frozenset(("m01", "m03")),
        frozenset(("m04", None)),
    }


def test_the_first_swiss_round_is_a_seeded_permutation_or_follows_scores() -> None:
    models = names(16)
    by_seed = {tuple(Swiss().next_round(Standings(models, seed))) for seed in range(20)}
    assert len(by_seed) == 20
    scores = {name: -float(index) for index, name in enumerate(models)}
    pairings = Swiss(scores=scores).next_round(Standings(models, 0))
    assert {frozenset(p[:2]) for p in pairings} == {frozenset(models[i : i + 2]) for i in range(0, 16, 2)}
