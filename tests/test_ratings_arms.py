"""Whether two arms rank differently: as each arm's own ratings say, with intervals that know the questions."""

import numpy as np
import pytest

from coupled_arena.errors import RatingError
from coupled_arena.ratings import RatingInput, rate
from coupled_arena.ratings.arms import compare_arms
from coupled_arena.records import Battle, Decision, Verdict

MODELS = ("ada", "bob", "cleo")


def battle(arm: str, question: int, a: str, b: str, verdict: Verdict) -> Battle:
    return Battle(
        id=f"{arm}:{a}~{b}:{question}",
        round=1,
        question=f"q{question}",
        domain="math",
        replicate=0,
        a=a,
        b=b,
        arm=arm,
        decision=Decision(status="decided", verdict=verdict),
    )


def arm_of(name: str, chances: dict[tuple[str, str], float], questions: int, seed: int) -> list[Battle]:
    """Play every pair on every question; the first of a pair wins with its chance."""
    rng = np.random.default_rng(seed)
    return [
        battle(name, question, a, b, "A" if rng.random() < chance else "B")
        for question in range(questions)
        for (a, b), chance in sorted(chances.items())
    ]


def chances(ab: float, ac: float, bc: float) -> dict[tuple[str, str], float]:
    return {("ada", "bob"): ab, ("ada", "cleo"): ac, ("bob", "cleo"): bc}


FAIR = chances(0.5, 0.5, 0.5)


def test_each_arm_keeps_the_ratings_it_has_alone() -> None:
    battles = arm_of("coupled", chances(0.7, 0.8, 0.6), 40, 1) + arm_of("independent", FAIR, 40, 2)
    arms = compare_arms(battles, "coupled", "independent")
    for name in ("coupled", "independent"):
        alone = rate(RatingInput.from_battles([b for b in battles if b.arm == name]), prior="weak")
        for change in arms.changes:
            difference = alone.within[alone.names.index(change.a)] - alone.within[alone.names.index(change.b)]
            assert (change.first if name == "coupled" else change.second) == pytest.approx(difference, abs=0.01)


def test_rankings_that_are_far_apart_differ() -> None:
    battles = arm_of("coupled", chances(0.9, 0.5, 0.2), 80, 1) + arm_of("independent", chances(0.1, 0.5, 0.8), 80, 2)
    arms = compare_arms(battles, "coupled", "independent")
    assert arms.differ
    assert "rank in opposite orders: ada and bob" in arms.line
    assert arms.line.endswith("resolved)")


def test_arms_that_are_copies_do_not_differ_at_all() -> None:
    one = arm_of("coupled", chances(0.7, 0.6, 0.4), 30, 3)
    other = [b.model_copy(update={"arm": "independent", "id": f"i{b.id}"}) for b in one]
    arms = compare_arms([*one, *other], "coupled", "independent")
    assert max(abs(change.change or 0) for change in arms.changes) < 0.01
    assert (arms.differ, arms.line) == (False, "coupled and independent dice rank all models alike")


def test_the_joint_interval_covers_no_change_where_there_is_none() -> None:
    """Arms of one law on the same questions: at a joint level of 95 %, 200 seeds may miss 19 times (binomial, 1e-3)."""
    missed = 0
    for seed in range(200):
        battles = arm_of("coupled", FAIR, 40, 2 * seed) + arm_of("independent", FAIR, 40, 2 * seed + 1)
        missed += any(change.resolved for change in compare_arms(battles, "coupled", "independent").changes)
    assert missed <= 19


def test_shared_questions_make_the_interval_of_the_change_narrower() -> None:
    """Where questions favour a model in both arms, what the arms share cancels."""
    rng = np.random.default_rng(4)
    winners = ["A" if favoured else "B" for favoured in rng.random(60) < 0.5]

    def play(name: str, order: list[int]) -> list[Battle]:
        flips = rng.random(60) < 0.1
        return [
            battle(name, q, "ada", "bob", "A" if (winners[order[q]] == "A") != bool(flips[q]) else "B")
            for q in range(60)
        ]

    same = compare_arms(
        play("coupled", list(range(60))) + play("independent", list(range(60))), "coupled", "independent"
    )
    mixed = [int(q) for q in rng.permutation(60)]
    apart = compare_arms(play("coupled", list(range(60))) + play("independent", mixed), "coupled", "independent")
    widths = [arms.changes[0].high - arms.changes[0].low for arms in (same, apart)]  # type: ignore[operator]
    assert widths[0] < 0.75 * widths[1]


def test_too_few_questions_leave_no_interval_and_claim_nothing() -> None:
    battles = arm_of("coupled", chances(0.9, 0.5, 0.2), 5, 1) + arm_of("independent", chances(0.1, 0.5, 0.8), 5, 2)
    arms = compare_arms(battles, "coupled", "independent")
    assert {change.low for change in arms.changes} == {None}
    assert not arms.differ


@pytest.mark.parametrize(("second", "prior"), [("coupled", "weak"), ("independent", 0.0)])
def test_what_cannot_be_compared_is_refused(second: str, prior: float | str) -> None:
    with pytest.raises(RatingError):
        compare_arms([], "coupled", second, prior=prior)  # type: ignore[arg-type]


def test_a_model_that_an_arm_does_not_know_changes_nothing_and_widens_nothing() -> None:
    both = [*arm_of("coupled", chances(0.7, 0.8, 0.6), 40, 1), *arm_of("independent", chances(0.6, 0.8, 0.6), 40, 2)]
    extra = [battle("coupled", question, "cleo", "dan", "B" if question % 3 else "A") for question in range(40)]
    arms = compare_arms([*both, *extra], "coupled", "independent", models=["eve"])
    found = {(change.a, change.b): change for change in arms.changes}
    known = {pair for pair, change in found.items() if change.change is not None}
    assert known == {("ada", "bob"), ("ada", "cleo"), ("bob", "cleo")}
    assert all(found[pair].low is not None for pair in known)
    assert found["cleo", "dan"].first is not None
    missing = [change for pair, change in found.items() if pair not in known]
    assert {(change.second, change.low, change.high, change.turned) for change in missing} == {
        (None, None, None, False)
    }
    assert found["dan", "eve"].first is None
    assert arms.line == "coupled and independent dice rank alike the 3 pairs that both have"


def test_arms_without_a_model_in_common_say_so() -> None:
    battles = [battle("coupled", n, "ada", "bob", "A") for n in range(9)]
    assert compare_arms(battles, "coupled", "independent").line.endswith("dice have no two models in common")
