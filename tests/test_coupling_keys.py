"""Noise keys and the table of who shares dice."""

import itertools
from collections import defaultdict
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.coupling import Dice, DiceTable, noise_key
from coupled_arena.errors import ConfigurationError

names = st.lists(st.text(max_size=4), max_size=3).map(tuple)
arguments = st.tuples(st.integers(), names, names, names, st.text(max_size=4), st.integers(min_value=0))

MODELS = ("ada", "bob", "eve")
QUESTIONS = ("math-1", "math-2")
REPLICATES = (0, 1)
STEPS = ("opening", "step 3", "step 4")


def key_of(given: tuple[int, tuple[str, ...], tuple[str, ...], tuple[str, ...], str, int]) -> bytes:
    seed, scope, role, label, part, sample = given
    return noise_key(seed=seed, scope=scope, role=role, label=label, part=part, sample=sample)


@given(arguments, arguments)
def test_keys_are_equal_exactly_when_their_arguments_are(
    one: tuple[int, tuple[str, ...], tuple[str, ...], tuple[str, ...], str, int],
    two: tuple[int, tuple[str, ...], tuple[str, ...], tuple[str, ...], str, int],
) -> None:
    assert (key_of(one) == key_of(two)) == (one == two)


def test_strings_that_only_look_alike_when_joined_have_different_keys() -> None:
    shapes = [(("ab",), ("c",)), (("a",), ("bc",)), (("a", "b"), ("c",)), (("a",), ("b", "c")), (("abc",), ())]
    keys = {noise_key(seed=0, scope=scope, role=role, label=(), part="") for scope, role in shapes}
    assert len(keys) == len(shapes)


@pytest.mark.parametrize("name", ["scope", "role", "label"])
@pytest.mark.parametrize("value", ["q1", ("q1", 0), 7, (b"q1",)])
def test_what_is_no_tuple_of_texts_is_refused_by_name(name: str, value: Any) -> None:
    given: dict[str, Any] = {"scope": ("q1",), "role": ("debater",), "label": (), name: value}
    with pytest.raises(ConfigurationError, match=f"noise_key: {name}: must be a tuple of texts"):
        noise_key(seed=7, part="whole", **given)


def test_a_key_is_the_same_in_every_release() -> None:
    key = noise_key(seed=7, scope=("math-1", "0"), role=("debater",), label=("opening",), part="whole")
    assert key.hex() == "7951a6109ac5dd15107b5f4ee341959e"


def test_dice_give_one_key_a_part() -> None:
    dice = DiceTable(7, "coupled").step("math-1", 0, "opening", "ada", "bob", "A")
    parts = ["whole", "respond", "request 1", "repair 1", "reasons", "choice"]
    assert len({dice.key(part) for part in parts}) == len(parts)
    assert dice.key("whole") == noise_key(
        seed=7, scope=("math-1", "0"), role=("debater",), label=("opening",), part="whole"
    )


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="coupled, independent, fresh"):
        DiceTable(7, "both")


def steps(mode: str) -> dict[tuple[str, ...], Dice]:
    """Every debater's turn of a round robin, by (question, replicate, step, model, opponent, side)."""
    table = DiceTable(7, mode)
    return {
        (question, str(replicate), step, model, opponent, side): table.step(
            question, replicate, step, model, opponent, side
        )
        for question, replicate, step in itertools.product(QUESTIONS, REPLICATES, STEPS)
        for model, opponent in itertools.permutations(MODELS, 2)
        for side in ("A", "B")
    }


@pytest.mark.parametrize(("mode", "told_apart_by"), [("coupled", 3), ("independent", 4), ("fresh", 6)])
def test_turns_share_dice_exactly_where_the_table_says(mode: str, told_apart_by: int) -> None:
    groups: dict[bytes, set[tuple[str, ...]]] = defaultdict(set)
    turns = steps(mode)
    for turn, dice in turns.items():
        groups[dice.key("whole")].add(turn[:told_apart_by])
    assert all(len(group) == 1 for group in groups.values())
    assert len(groups) == len({turn[:told_apart_by] for turn in turns})


def test_judges_share_dice_over_pairs_only_when_coupled_and_never_with_each_other() -> None:
    pairs = [("ada", "bob"), ("ada", "eve")]
    for mode, expected in (("coupled", 8), ("independent", 16), ("fresh", 16)):
        table = DiceTable(7, mode)
        keys = {
            table.judge("math-1", 0, judge, stage, order, pair).key("whole")
            for judge, stage, order, pair in itertools.product(("j1", "j2"), (0, 1), ("AB", "BA"), pairs)
        }
        assert len(keys) == expected


@pytest.mark.parametrize("mode", ["coupled", "independent", "fresh"])
def test_who_sits_on_which_side_never_changes_a_judges_or_a_roles_dice(mode: str) -> None:
    table = DiceTable(7, mode)
    assert table.judge("q", 0, "j", 0, "AB", ("b", "a")) == table.judge("q", 0, "j", 0, "AB", ("a", "b"))
    assert table.role("q", 0, "critic", "m", "step 2", ("b", "a")) == table.role(
        "q", 0, "critic", "m", "step 2", ("a", "b")
    )


def test_examiner_and_reference_have_the_same_dice_in_every_mode() -> None:
    tables = [DiceTable(7, mode) for mode in ("coupled", "independent", "fresh")]
    assert len({table.examiner("math", "en", 0, "gpt") for table in tables}) == 1
    assert len({table.reference("math-1", "gpt") for table in tables}) == 1


def test_a_bench_answer_is_shared_by_models_only_when_coupled() -> None:
    for mode, shared in (("coupled", True), ("independent", False), ("fresh", False)):
        table = DiceTable(7, mode)
        assert (table.answer("item", 0, "ada") == table.answer("item", 0, "bob")) is shared


@pytest.mark.parametrize("mode", ["coupled", "independent", "fresh"])
def test_no_two_kinds_of_call_share_dice(mode: str) -> None:
    table = DiceTable(7, mode)
    dice = [
        table.examiner("q", "0", 0, "m"),
        table.step("q", 0, "opening", "m", "n", "A"),
        table.step("q", 0, "step 3", "m", "n", "A"),
        table.reference("q", "m"),
        table.judge("q", 0, "m", 0, "AB", ("m", "n")),
        table.answer("q", 0, "m"),
        table.role("q", 0, "critic", "m", "opening", ("m", "n")),
    ]
    assert len({die.key("whole") for die in dice}) == len(dice)


def test_another_seed_changes_every_key() -> None:
    one, two = DiceTable(7, "coupled"), DiceTable(8, "coupled")
    assert one.reference("q", "m").key("whole") != two.reference("q", "m").key("whole")
