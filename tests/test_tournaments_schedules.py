"""Schedules are pure: the same standings give the same pairings, and no rematch or bye that can be avoided."""

import itertools
import math
from collections import Counter

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coupled_arena as ca
from benchmarks import insertion, swiss_pairing
from coupled_arena.tournaments.schedules import Against, Insertion, Pairing, RoundRobin, Schedule, Standings, Swiss


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


@pytest.mark.parametrize("number", [0, 1, 2, 11, 21])
def test_an_oracle_finds_nothing_that_a_swiss_tournament_could_have_avoided(number: int) -> None:
    """A small version of benchmarks/swiss_pairing.py."""
    found = swiss_pairing.Found()
    swiss_pairing.tournament(number, found)
    assert found.rounds > 0
    assert +found.faults == Counter()


def test_the_oracle_sees_a_round_that_could_have_been_better() -> None:
    models = names(10)
    met = tuple(Pairing(models[place], models[place + 1]) for place in range(0, 10, 2))
    standings = Standings(models, 0, (met,), dict.fromkeys(models, 0.5))
    assert [*swiss_pairing.faults(met, standings, swiss_pairing.Found())] == ["a rematch that could be avoided"]
    bye = (Pairing("m00", None), *(Pairing(f"m0{a}", f"m0{a + 1}") for a in (1, 3, 5, 7)))
    again = (Pairing("m00", None), *(Pairing(f"m0{a}", f"m0{b}") for a, b in ((1, 3), (2, 4), (5, 7), (6, 8))))
    standings = Standings(models[:9], 0, (bye,), dict.fromkeys(models[:9], 0.5))
    assert [*swiss_pairing.faults(again, standings, swiss_pairing.Found())] == ["a second bye that could be avoided"]


def test_swiss_finds_a_round_where_greedy_pairing_leaves_two_models_out() -> None:
    models = names(6)
    played = (Pairing("m04", "m05"), Pairing("m00", "m01"), Pairing("m02", "m03"))
    standings = Standings(models, 0, (played,), {}, {name: -float(place) for place, name in enumerate(models)})
    assert [pairing.b for pairing in swiss_pairing.greedy(standings)].count(None) == 2
    assert all(pairing.b is not None for pairing in Swiss(rounds=9).next_round(standings))


def test_every_model_of_a_field_of_nine_plays_in_every_seed() -> None:
    assert min(swiss_pairing.nine(20)) == 3


def test_all_meet_the_baseline_once() -> None:
    standings = play(Against(baseline="m02"), names(4), dict.fromkeys(names(4), 0.0))
    assert standings.rounds == (tuple(Pairing(name, "m02") for name in ("m00", "m01", "m03")),)
    assert Against(baseline="m02").matches(4) == (3, 3)


@pytest.mark.parametrize(("n", "opponents"), [(2, 1), (3, 2), (9, 4), (16, 4), (17, 5)])
def test_a_newcomer_meets_so_many_different_opponents_one_a_round(n: int, opponents: int) -> None:
    strength = {name: float(place) for place, name in enumerate(names(n))}
    schedule = Insertion(newcomer="m00")
    standings = play(schedule, names(n), strength)
    met = [pairing.b for played in standings.rounds for pairing in played]
    assert len(met) == len({*met}) == len(standings.rounds) == opponents == schedule.matches(n)[0]
    assert {pairing.a for played in standings.rounds for pairing in played} == {"m00"}


RATED = {"m00": 1300.0, "m01": 1100.0, "m02": 1000.0, "m03": 900.0, "m04": 700.0}


def test_a_newcomer_begins_at_the_median_or_at_the_closest_score() -> None:
    standings = Standings((*RATED, "new"), 0, (), {}, RATED)
    scores = {"new": 70.0, "m03": 69.0, "m00": 90.0}
    assert Insertion(newcomer="new").next_round(standings) == (Pairing("new", "m02"),)
    assert Insertion(newcomer="new", scores=scores).next_round(standings) == (Pairing("new", "m03"),)
    unknown = {name: score for name, score in scores.items() if name != "new"}
    assert Insertion(newcomer="new", scores=unknown).next_round(standings) == (Pairing("new", "m02"),)


def test_a_newcomer_goes_on_to_the_closest_rating_it_has_not_met() -> None:
    standings = Standings((*RATED, "new"), 0, ((Pairing("m02", "new"),),), {}, {**RATED, "new": 1010.0})
    assert Insertion(newcomer="new", scores={"new": 0.0}).next_round(standings) == (Pairing("new", "m01"),)
    void = Standings((*RATED, "new"), 0, ((Pairing("m02", "new"),),), {}, RATED)
    assert Insertion(newcomer="new").next_round(void) == (Pairing("new", "m01"),)


def test_an_inserted_model_ends_up_near_its_place() -> None:
    """A small version of benchmarks/insertion.py."""
    found = [insertion.designs(insertion.World(seed, spread=2.0, questions=40)) for seed in range(3)]
    assert all(designs["insertion by the median"] <= (insertion.NEAR, 200) for designs in found)
    assert all(designs["round robin replayed"][1] == 17 * 16 // 2 * 40 for designs in found)


RULES = {"models": ["sim/a", "sim/b", "sim/c"], "judges": ["sim/j"], "domains": ["math"], "script": "single"}


@pytest.mark.parametrize(
    ("schedule", "problem"),
    [
        ({"kind": "against", "baseline": "sim/x"}, "schedule.baseline: 'sim/x' does not play; the names are sim/a,"),
        ({"kind": "insertion", "newcomer": "sim/x"}, "schedule.newcomer: 'sim/x' does not play"),
        ({"kind": "insertion", "newcomer": "sim/a", "scores": {"x": 1}}, "schedule.scores: 'x' does not play"),
        ({"kind": "against", "base": "sim/a"}, "schedule.base: unknown key; did you mean 'baseline'?"),
        (
            {"kind": "round_robin", "rounds": 2},
            "schedule.rounds: unknown key of this schedule; it is one of adaptive, swiss",
        ),
        ({"kind": "swiss", "scores": {"sim/a": True}}, "schedule.scores: of 'sim/a' is no finite number: True"),
        ("against", "schedule.baseline: Field required"),
    ],
)
def test_a_model_that_a_schedule_names_has_to_play(schedule: object, problem: str) -> None:
    with pytest.raises(ca.ConfigurationError) as caught:
        ca.Tournament(**RULES, schedule=schedule).preflight(probe=False)
    assert problem in str(caught.value)


def test_a_result_against_a_baseline_says_what_it_cannot_tell() -> None:
    tournament = ca.Tournament(**RULES, questions_per_domain=1, schedule={"kind": "against", "baseline": "sim/b"})
    result = tournament.run()
    assert [battle.pair for battle in result.battles] == [("sim/a", "sim/b"), ("sim/b", "sim/c")]
    assert any("all meet sim/b alone" in caveat for caveat in result.caveats)
    assert [[a.name, b.name] for a, b in tournament.possible_pairs] == [["sim/a", "sim/b"], ["sim/b", "sim/c"]]


def test_equally_far_opponents_go_by_name_whatever_the_last_digits_say() -> None:
    standings = Standings(("new", "m01", "m02"), seed=0, ratings={"m01": 1100.1, "m02": 899.9 + 1e-10})
    assert Insertion(newcomer="new").next_round(standings) == (Pairing("new", "m01"),)
