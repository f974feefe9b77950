"""Adaptive schedules: fresh questions where they tell most, until the target is resolved, and a result that says so."""

from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coupled_arena as ca
from coupled_arena.ratings.sequences import decided
from coupled_arena.tournaments.schedules import Adaptive, Pairing, Standings
from coupled_arena.tournaments.schedules.goals import Goal, closed

NAMES = ("ada", "bob", "cat", "dan", "eve", "fay")


def play(rule: Adaptive, strength: dict[str, float], questions: int = 40, seed: int = 0) -> Standings:
    """Let the stronger model of a pair score 1 on a share of the questions, evenly spread, until the schedule ends."""
    standings = Standings(tuple(strength), seed, questions=questions)
    while pairings := tuple(rule.next_round(standings)):
        asked, scores = dict(standings.asked), {pair: dict(known) for pair, known in standings.scores.items()}
        for a, b, count in pairings:
            assert b is not None
            assert count is not None
            pair = (min(a, b), max(a, b))
            done, own = asked.get(pair, 0), scores.setdefault(pair, {})
            share = 1 / (1 + np.exp(strength[pair[1]] - strength[pair[0]]))
            for number in range(done, done + count):
                own[f"q{number}"] = float(int((number + 1) * share + 0.5) - int(number * share + 0.5))
            asked[pair] = done + count
        rounds = (*standings.rounds, pairings)
        standings = Standings(tuple(strength), seed, rounds, {}, dict(strength), questions, asked, scores)
    return standings


def spread(gap: float) -> dict[str, float]:
    return {name: -gap * place for place, name in enumerate(NAMES)}


@settings(max_examples=12, deadline=None)
@given(st.floats(0, 3), st.integers(0, 2**32), st.integers(1, 12), st.integers(4, 40), st.sampled_from([None, 1, 3]))
def test_every_match_is_on_fresh_questions_and_nobody_plays_two_in_a_round(
    gap: float, seed: int, batch: int, questions: int, top: int | None
) -> None:
    played = play(Adaptive(top=top, batch=batch), spread(gap), questions, seed)
    most, _ = Adaptive(top=top).matches(len(NAMES))
    assert sum(played.asked.values()) <= most * questions
    assert max(played.asked.values()) <= questions
    for pairings in played.rounds:
        assert max(Counter(name for pairing in pairings for name in pairing[:2]).values()) == 1
        assert all(pairing.questions is not None and pairing.questions >= 1 for pairing in pairings)


@given(st.permutations(NAMES), st.integers(0, 2**32))
@settings(max_examples=6, deadline=None)
def test_the_rounds_depend_on_the_seed_and_not_on_the_order_of_anything(order: list[str], seed: int) -> None:
    strength = spread(1.0)
    first = play(Adaptive(top=2), strength, seed=seed)
    again = play(Adaptive(top=2), {name: strength[name] for name in order}, seed=seed)
    assert first.rounds == again.rounds


def test_the_first_round_is_a_seeded_permutation() -> None:
    begun = {tuple(Adaptive().next_round(Standings(NAMES, seed, questions=40))) for seed in range(20)}
    assert len(begun) > 10
    assert all(len(pairings) == 3 for pairings in begun)


def test_a_wide_field_is_resolved_and_models_far_apart_meet_little() -> None:
    played = play(Adaptive(), spread(3.0))
    level = Adaptive().level(len(NAMES))
    beaten = {pair for pair, scores in played.scores.items() if decided(scores.values(), level)}
    assert set(pairwise(NAMES)) <= beaten
    assert sum(played.asked.values()) < 15 * 40 / 2


def test_the_best_are_found_without_ordering_the_others() -> None:
    strength = dict(zip(NAMES, (6.0, 3.0, 0.0, 0.0, 0.0, 0.0), strict=True))
    played = play(Adaptive(top=2), strength)
    others = [played.asked.get(pair, 0) for pair in combinations(NAMES[2:], 2)]
    assert sum(others) <= 2 * 8
    assert sum(played.asked.values()) < 200


def test_level_models_are_played_to_the_last_question_or_round() -> None:
    level = dict.fromkeys(NAMES, 0.0)
    assert set(play(Adaptive(), level, questions=10).asked.values()) == {10}
    assert len(play(Adaptive(rounds=2), level).rounds) == 2


def test_a_pair_is_asked_about_alone_and_at_the_full_level() -> None:
    rule = Adaptive(pair=("eve", "bob"))
    played = play(rule, spread(2.0))
    assert set(played.asked) == {("bob", "eve")}
    assert played.asked["bob", "eve"] == 8
    assert (rule.comparisons(6), rule.matches(6), Adaptive().matches(6)) == (1, (1, 1), (15, 5))
    assert rule.level(6) == pytest.approx(0.95)
    assert Adaptive().level(6) == pytest.approx(1 - 0.05 / 15)


def test_looks_grow_with_what_was_asked() -> None:
    rounds = play(Adaptive(), {"ada": 0.0, "bob": 0.0}, questions=100).rounds
    sizes = [pairing.questions for pairings in rounds for pairing in pairings]
    assert sizes == [8, 8, 8, 8, 8, 10, 13, 16, 20, 1]


RELATIONS = st.integers(2, 6).flatmap(
    lambda size: st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=12).map(
        lambda pairs: (size, [(min(p), max(p)) for p in pairs if p[0] != p[1]])
    )
)


@given(RELATIONS, st.integers(1, 5))
def test_a_goal_is_reached_exactly_when_all_it_needs_is_known(
    relation: tuple[int, list[tuple[int, int]]], top: int
) -> None:
    size, pairs = relation
    above = np.zeros((size, size), dtype=bool)
    for better, worse in pairs:
        above[better, worse] = True
    above = closed(above)
    assert np.array_equal(above, closed(above))
    assert Goal().is_reached(above) is all(above[i, j] for i, j in combinations(range(size), 2))
    goal = Goal(top=top)
    if top < size:
        best = [
            group
            for group in combinations(range(size), top)
            if all(above[i, j] for i in group for j in range(size) if j not in group)
        ]
        assert goal.is_reached(above) is bool(best)
        # As long as it is not known, something is left to be asked.
        assert goal.is_reached(above) or goal.open_pairs(above).any()


@pytest.mark.parametrize(
    ("schedule", "problem"),
    [
        ({"kind": "adaptive", "top": 2, "pair": ["sim/a", "sim/b"]}, "give either top or pair"),
        ({"kind": "adaptive", "pair": ["sim/a", "sim/a"]}, "pair has 'sim/a' twice"),
        ({"kind": "adaptive", "confidence": 1.0}, "less than 1"),
        ({"kind": "adaptive", "pair": ["sim/a", "sim/z"]}, "schedule.pair: 'sim/z' does not play"),
        ({"kind": "adaptive", "top": 3}, "schedule.top: must be below 3, the number of models"),
    ],
)
def test_what_cannot_be_resolved_is_refused_before_the_first_call(schedule: dict[str, Any], problem: str) -> None:
    with pytest.raises(ca.ConfigurationError, match=problem):
        ca.Tournament(
            models=["sim/a", "sim/b", "sim/c"], judges=["sim/j"], domains=["math"], schedule=schedule
        ).preflight(probe=False)


def test_where_only_two_models_are_to_be_told_apart_nobody_else_meets_and_needs_a_committee() -> None:
    models = [ca.Model(name, f"sim/{name}", family=name) for name in "abc"]
    judge = ca.Model("j", "sim/j", family="c")
    asked = ca.Tournament(
        models=models, judges=[judge], domains=["math"], schedule={"kind": "adaptive", "pair": ["a", "b"]}
    )
    assert [[a.name, b.name] for a, b in asked.possible_pairs] == [["a", "b"]]
    calls = {line["model"]: line["calls"] for line in asked.preflight(probe=False).document()["models"]}
    assert calls.get("c", 0) == 0 < calls["a"] == calls["b"]
    assert {battle.pair for battle in asked.run().battles} == {("a", "b")}


def tournament(**rules: Any) -> ca.Tournament:
    models = ["sim/a?skill=3", "sim/b?skill=1", "sim/c?skill=-3"]
    return ca.Tournament(models=models, judges=["sim/j"], script="single", seed=3, **rules)


def test_a_result_says_what_is_resolved_by_what_and_why_it_stopped() -> None:
    result = tournament(schedule={"kind": "adaptive", "top": 2}, domains=["math", "stem"]).run()
    found = result.resolution
    assert found is not None
    document = result.document()["resolution"]
    assert (found.ended, found.answer, found.is_resolved) == ("resolved", ("sim/a", "sim/b"), True)
    assert found.lines[0] == "the top 2: resolved at 95 %: sim/a, sim/b"
    assert document["multiplicity"] == "confidence sequences that hold at every look, Bonferroni over 3 pairs"
    assert result.document()["multiplicity"] == document["multiplicity"]
    assert document["pairs"] == sorted(document["pairs"], key=lambda pair: (pair["a"], pair["b"]))
    assert document["missing"] == []


def test_what_is_not_resolved_is_named_with_about_how_many_more_questions() -> None:
    result = tournament(schedule={"kind": "adaptive", "rounds": 2}, questions_per_domain=1).run()
    found = result.resolution
    assert found is not None
    assert (found.ended, found.answer) == ("rounds", ())
    assert found.lines[0] == "the ranking: not resolved at 95 %: all rounds are played"
    assert all(line.startswith("not resolved: ") for line in found.lines[1 : 1 + len(found.missing)])
    assert any("more question" in line for line in found.lines)
    assert {pair.multiplicity for pair in result.settled} == {found.multiplicity}
    assert not any(pair.resolved for pair in result.settled if not pair.own)


def test_a_circle_is_no_ranking_and_is_said() -> None:
    above = closed(np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=bool))
    assert not Goal().is_reached(above)
    scores = {
        pair: dict.fromkeys((f"q{n}" for n in range(40)), won)
        for pair, won in zip(combinations(NAMES[:3], 2), (1.0, 0.0, 1.0), strict=True)
    }
    asked = dict.fromkeys(scores, 40)
    standings = Standings(NAMES[:3], 0, ((Pairing("ada", "bob"),),), {}, {}, 40, asked, scores)
    assert Adaptive().next_round(standings) == ()
    found = tournament(schedule=Adaptive(rounds=1), domains=["math"]).run().resolution
    assert found is not None
    turned = replace(found, above=frozenset((a, b) for a in NAMES[:3] for b in NAMES[:3]))
    assert "ada, bob, cat beat each other in a circle: they have no order" in turned.lines
