"""The rating input: what enters, what is refused."""

from typing import Any

import numpy as np
import pytest

from coupled_arena.errors import RatingError
from coupled_arena.ratings import RatingInput
from coupled_arena.records import Battle, Decision


def battle(a: str = "ada", b: str = "bob", **changes: Any) -> Battle:
    facts: dict[str, Any] = {
        "id": f"{a}-{b}-{changes.get('question', 'q')}-{changes.get('replicate', 0)}",
        "round": 1,
        "question": "q",
        "domain": "math",
        "replicate": 0,
        "a": a,
        "b": b,
        "arm": "coupled",
        "decision": Decision(status="decided", verdict="A"),
    }
    return Battle(**(facts | changes))


def test_rows_become_columns_of_codes() -> None:
    table = RatingInput.from_rows([("bob", "ada", 1, 1, "q1"), ("ada", "eve", 0.5, 0.5, "q1")], models=["zoe", "ada"])
    assert table.names == ("ada", "bob", "eve", "zoe")
    assert (table.a.tolist(), table.b.tolist()) == ([1, 0], [0, 2])
    assert (table.score.tolist(), table.weight.tolist()) == ([1.0, 0.5], [1.0, 0.5])
    assert table.cluster.tolist() == [0, 0]
    assert (len(table), table.clusters) == (2, 1)


def test_no_rows_make_an_empty_table() -> None:
    table = RatingInput.from_rows([], models=["ada"])
    assert (table.names, len(table), table.clusters) == (("ada",), 0, 0)
    assert table.wins().tolist() == [[0.0]]


def test_wins_add_weights_and_split_ties() -> None:
    rows = [("a", "b", 1, 1, 0), ("b", "a", 1, 2, 0), ("a", "b", 0.5, 1, 1), ("b", "a", 0, 0.5, 1)]
    assert RatingInput.from_rows(rows).wins().tolist() == [[0.0, 2.0], [2.5, 0.0]]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("a", "a", 1, 1, 0), "row 2 of 2: a model cannot meet itself"),
        (("a", "b", 0.7, 1, 0), "row 2 of 2: the score of A must be 0, 0.5 or 1"),
        (("a", "b", float("nan"), 1, 0), "the score of A"),
        (("a", "b", 1, 0, 0), "row 2 of 2: the weight must be finite and above 0"),
        (("a", "b", 1, float("inf"), 0), "the weight"),
    ],
)
def test_a_row_that_cannot_be_rated_is_named(row: tuple[str, str, float, float, int], message: str) -> None:
    with pytest.raises(RatingError, match=message):
        RatingInput.from_rows([("a", "b", 1, 1, 0), row])


def test_columns_that_do_not_fit_are_refused() -> None:
    a, b, one = np.array([0]), np.array([1]), np.array([1.0])
    with pytest.raises(RatingError, match="one length"):
        RatingInput(("x", "y"), a, b, one, np.array([1.0, 1.0]), a)
    with pytest.raises(RatingError, match="one name"):
        RatingInput(("x", "x"), a, b, one, one, a)
    with pytest.raises(RatingError, match="code of B"):
        RatingInput(("x",), a, b, one, one, a)


def test_columns_cannot_be_changed() -> None:
    table = RatingInput.from_rows([("a", "b", 1, 1, 0)])
    with pytest.raises(ValueError, match="read-only"):
        table.score[0] = 0


def test_decided_and_forfeited_battles_enter_and_void_ones_only_name_their_models() -> None:
    table = RatingInput.from_battles(
        [
            battle(question="q1"),
            battle(question="q2", decision=Decision(status="decided", verdict="tie")),
            battle(question="q3", decision=Decision(status="forfeited", verdict="B", forfeited=("A",))),
            battle("ada", "eve", question="q4", decision=Decision(status="void", reason="no majority")),
        ]
    )
    assert table.names == ("ada", "bob", "eve")
    assert table.score.tolist() == [1.0, 0.5, 0.0]
    assert table.clusters == 3


def test_battles_of_one_question_are_one_cluster_unless_told_otherwise() -> None:
    battles = [battle(), battle(replicate=1), battle("ada", "eve")]
    assert RatingInput.from_battles(battles).clusters == 1
    assert RatingInput.from_battles(battles, cluster="battle").clusters == 3


def test_one_battle_twice_is_refused_by_both_ids() -> None:
    with pytest.raises(RatingError, match="first and second are one: ada against bob on question q, replicate 0"):
        RatingInput.from_battles([battle(id="first"), battle(id="second")])


@pytest.mark.parametrize(
    "other", [battle("bob", "ada"), battle(replicate=1), battle(question="p"), battle(arm="independent")], ids=repr
)
def test_another_side_replicate_question_or_arm_is_another_battle(other: Battle) -> None:
    assert len(RatingInput.from_battles([battle(), other])) == 2


def test_a_void_battle_may_be_played_again() -> None:
    void = battle(id="first", decision=Decision(status="void"))
    assert len(RatingInput.from_battles([void, battle(id="second")])) == 1


def test_half_a_pair_enters_only_with_its_other_half() -> None:
    one, two = battle("ada", "bob", weight=0.5), battle("bob", "ada", weight=0.5)
    void = two.model_copy(update={"decision": Decision(status="void")})
    assert RatingInput.from_battles([one, two]).weight.tolist() == [0.5, 0.5]
    assert len(RatingInput.from_battles([one, void])) == 0
    assert len(RatingInput.from_battles([one])) == 0


def test_a_decided_battle_without_a_verdict_is_refused() -> None:
    with pytest.raises(RatingError, match="decided but has no verdict"):
        RatingInput.from_battles([battle(decision=Decision(status="decided"))])


@pytest.mark.parametrize("row", [("a", "b", 1), ("a", "b", "model_a", 1, 0)])
def test_rows_of_another_shape_are_refused_with_the_shape_they_need(row: Any) -> None:
    with pytest.raises(RatingError, match=r"^rows are \(a, b, score of A, weight, cluster\)"):
        RatingInput.from_rows([row])
