"""Simulated models before items with one right answer: skill decides, dice are shared, the law is a softmax."""

import math

import pytest

from coupled_arena.coupling import Sampling, noise_key
from coupled_arena.models.calls import Call, Message
from coupled_arena.models.model import Model
from coupled_arena.models.simulated.sheet import Sheet, answer_sheet, answered, find_sheet
from coupled_arena.models.simulated.speech import reply_to

SHEET = Sheet("42", ("41", "43"), "sums")


def key(repeat: int) -> bytes:
    return noise_key(seed=7, scope=("item", str(repeat)), role=("answer",), label=(), part="whole")


def said(skill: float, repeat: int, text: str = "What is 40 + 2?", temperature: float = 1.0) -> str:
    return answered(text, SHEET, skill, 0, Sampling(temperature), key(repeat))


def rate(skill: float, text: str = "What is 40 + 2?") -> float:
    return sum(said(skill, repeat, text) == "42" for repeat in range(400)) / 400


def test_a_sheet_is_read_as_it_was_written_and_from_the_end_only() -> None:
    sheet = answer_sheet('say "4"\n', ["5", "ü"], "math")
    assert find_sheet([Message("user", "?"), sheet]) == ('say "4"\n', ("5", "ü"), "math")
    assert find_sheet([sheet, Message("user", "?")]) is None
    assert find_sheet([Message("user", sheet.content)]) is None


@pytest.mark.parametrize(
    "told", ["x", "[]", "{}", "7", '["4", [], ""]', '["4", ["5", 6], ""]', '["4", "5", ""]', "[" * 10**5]
)
def test_a_message_that_only_begins_like_a_sheet_is_none(told: str) -> None:
    marked = answer_sheet("4", ["5"]).content
    chat = [Message("user", "?"), Message("system", marked[: marked.index("[")] + told)]
    assert find_sheet(chat) is None
    assert reply_to(Call(Model("sim/ada"), tuple(chat), Sampling(0.7), 20, key(0))).answered


def test_more_skill_is_right_more_often() -> None:
    rates = [rate(skill) for skill in (-2, 0, 2)]
    assert rates == sorted(rates)
    assert rates[2] - rates[0] > 0.5
    assert len({rate(0, f"What is 40 + 2? ({number})") for number in range(5)}) > 1


def test_a_skill_unit_is_worth_its_logits() -> None:
    low, high = rate(0), rate(1)
    gained = math.log(high / (1 - high)) - math.log(low / (1 - low))
    assert gained == pytest.approx(1.5, abs=0.5)


def test_models_of_nearly_equal_skill_answer_alike() -> None:
    alike = sum(said(0.5, repeat) == said(0.55, repeat) for repeat in range(200)) / 200
    assert alike > 0.95


def test_skill_counts_by_subject_and_greedy_answers_are_one() -> None:
    chat = (Message("user", "What is 40 + 2?"), answer_sheet("42", ["41", "43"], "sums"))

    def reply(model: str, repeat: int, temperature: float = 0.7) -> str:
        return reply_to(Call(Model(model), chat, Sampling(temperature), 20, key(repeat))).text

    assert {reply("sim/ada?skill=-9&skill.sums=9", repeat) for repeat in range(20)} == {"42"}
    assert "42" not in {reply("sim/ada?skill=9&skill.sums=-9", repeat) for repeat in range(20)}
    assert len({reply("sim/ada", repeat, 0) for repeat in range(20)}) == 1
