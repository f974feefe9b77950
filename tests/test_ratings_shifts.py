"""How far ranks and ratings move between two arms over the same questions."""

from itertools import combinations

import numpy as np
import pytest

from coupled_arena.errors import RatingError
from coupled_arena.ratings.rate import rate
from coupled_arena.ratings.shifts import Shift, rank_shifts
from coupled_arena.ratings.table import RatingInput
from coupled_arena.records import Battle, Decision, Verdict

MODELS = ("ada", "bob", "cleo")
SKILL = {"ada": 1.0, "bob": 0.0, "cleo": -1.0}


def battle(question: int, a: str, b: str, arm: str, verdict: Verdict) -> Battle:
    return Battle(
        id=f"{arm}:{a}:{b}:{question}", round=1, question=f"q{question}", domain="math", replicate=0, a=a, b=b, arm=arm,
        decision=Decision(status="decided", verdict=verdict),
    )  # fmt: skip


def played(skill: dict[str, float], arm: str, *, questions: int = 30, seed: int = 0, noise: int = 0) -> list[Battle]:
    """Return battles of all pairs: latent outcomes by the seed, some of them told wrongly by the noise."""
    latent, told = np.random.default_rng(seed), np.random.default_rng([seed, noise])
    battles = []
    for question in range(questions):
        for a, b in combinations(sorted(skill), 2):
            ahead = skill[a] - skill[b] > latent.logistic()
            wrong = noise and told.random() < 0.1
            battles.append(battle(question, a, b, arm, "A" if ahead != wrong else "B"))
    return battles


def moved(first: list[Battle], second: list[Battle]) -> dict[str, Shift]:
    shifts = rank_shifts([*first, *second], "old", "new", models=sorted({*(b.a for b in first), *(b.b for b in first)}))
    return {shift.model: shift for shift in shifts}


def test_equal_arms_move_nobody() -> None:
    for shift in moved(played(SKILL, "old"), played(SKILL, "new")).values():
        assert (shift.shift, shift.low, shift.high) == (0, 0, 0)
        assert shift.change == pytest.approx(0, abs=1e-9)
        assert shift.change_low is None


def test_ranks_and_ratings_are_those_of_the_arms_by_themselves() -> None:
    first, second = played(SKILL, "old"), played({**SKILL, "bob": 2.0}, "new", seed=1)
    found = moved(first, second)
    alone = [rate(RatingInput.from_battles(battles), prior="weak") for battles in (first, second)]
    for name in MODELS:
        assert (found[name].rating_before, found[name].rating_after) == tuple(side.rating(name) for side in alone)
        places = tuple(side.ranking.index(name) + 1 for side in alone)
        assert (found[name].before, found[name].after) == places


def test_a_model_that_changes_places_is_seen_to() -> None:
    found = moved(played(SKILL, "old"), played({"ada": 0.0, "bob": 3.0, "cleo": -2.0}, "new", seed=1))
    bob, ada = found["bob"], found["ada"]
    assert (bob.shift, ada.shift) == (-1, 1)
    assert bob.high is not None and bob.high < 0 and ada.low is not None and ada.low > 0
    assert bob.change_low is not None and bob.change_low > 0
    assert list(found) == ["bob", "ada", "cleo"]


def test_what_both_arms_share_does_not_widen_the_intervals() -> None:
    """Judges that differ on a tenth of the same battles tell a move more exactly than other battles would."""

    def width(shift: Shift) -> float:
        assert shift.change_low is not None and shift.change_high is not None
        return shift.change_high - shift.change_low

    paired = moved(played(SKILL, "old", noise=1), played(SKILL, "new", noise=2))
    other = moved(played(SKILL, "old", noise=1), played(SKILL, "new", seed=5, noise=2))
    assert width(paired["bob"]) < 0.8 * width(other["bob"])


def test_there_is_no_interval_where_questions_do_not_outnumber_the_models_of_both_arms() -> None:
    few = moved(played(SKILL, "old", questions=6), played(SKILL, "new", questions=6, seed=1))
    more = moved(played(SKILL, "old", questions=7), played(SKILL, "new", questions=7, seed=1))
    assert all(shift.low is None and shift.change_low is None for shift in few.values())
    assert any(shift.low is not None for shift in more.values())


def test_a_model_without_a_battle_has_no_place_to_move_from() -> None:
    battles = [*played(SKILL, "old"), *played(SKILL, "new", seed=1)]
    found = {shift.model: shift for shift in rank_shifts(battles, "old", "new", models=[*MODELS, "dora"])}
    dora = found["dora"]
    assert (dora.before, dora.after, dora.shift, dora.change, dora.low) == (None, None, None, None, None)
    assert found["ada"].low is not None


def test_intervals_of_ranks_that_do_not_move_hold_zero() -> None:
    """Two models alike and a third: judges tell a tenth of the battles wrongly, and no rank truly moves."""
    held = 0
    for seed in range(20):
        first, second = (played({"ada": 0.6, "bob": 0.0, "cleo": 0.0}, arm, seed=seed, noise=n, questions=20)
                         for n, arm in ((1, "old"), (2, "new")))  # fmt: skip
        shifts = rank_shifts([*first, *second], "old", "new", models=MODELS, replicates=400)
        held += all(
            shift.low is not None and shift.high is not None and shift.low <= 0 <= shift.high for shift in shifts
        )
    assert held >= 18


@pytest.mark.parametrize(("second", "prior"), [("old", "weak"), ("new", 0.0)])
def test_one_arm_or_no_prior_is_refused(second: str, prior: float) -> None:
    with pytest.raises(RatingError, match="name two"):
        rank_shifts(played(SKILL, "old"), "old", second, models=MODELS, prior=prior)
