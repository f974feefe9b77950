"""Model strings of earlier versions keep their replies, so that stored ones stay true and earlier runs go on."""

import hashlib

import pytest

from coupled_arena.models.calls import Message
from coupled_arena.models.simulated.speech import identity_of
from coupled_arena.prompts import load_prompts
from coupled_arena.records import Verdict
from tests.simulated_scene import QUESTION, ask, discussion_chat, judge_chat, noise, play

BATTLES = (
    ("sim/ada?skill=1.2", "sim/bob?skill=-0.5&verbosity=8"),
    ("sim/ada?skill.stem=2&taste=oak&world=5", "sim/eve?taste=elm&verbosity=1&world=5"),
)
JUDGES = ("sim/j", "sim/j?acuity=2&position=-1&length=0.5&family=1&taste=oak&tie=0.3&conformity=2&world=5")
OTHERS: list[Verdict] = ["A", "B", "A"]


@pytest.mark.parametrize(
    ("language", "digest"),
    [("en", "aa0f45528d1d71b0"), ("de", "08461f6ac05e3d83"), ("zh", "d0586284ecbf13a0")],
)
def test_every_role_says_what_it_said_before(language: str, digest: str) -> None:
    prompts, texts = load_prompts(language), []
    for temperature in (0.0, 0.7):
        for a, b in BATTLES:
            turns = play(a, b, QUESTION, temperature, prompts)
            texts += [section.text for turn in turns for section in turn.sections]
            for judge in JUDGES:
                chat = judge_chat(turns, QUESTION, prompts)
                alone = ask(judge, chat, noise(judge), temperature=temperature).text
                talk = discussion_chat(chat, alone, OTHERS, prompts)
                texts += [alone, ask(judge, talk, noise(judge, 1), temperature=temperature).text]
        examination = Message("user", prompts.render("examiner.more", count="5", known="-"))
        texts.append(ask("sim/examiner", [examination], noise("x"), temperature=temperature).text)
    assert hashlib.blake2b("\n".join(texts).encode(), digest_size=8).hexdigest() == digest


def test_the_name_in_a_store_holds_no_dial_that_is_newer_and_not_turned() -> None:
    assert identity_of("sim/ada") == (
        "simulation 1 sim/ada?skill=0.0&verbosity=3.0&taste=&refusal=0.0&error=0.0&acuity=0.7&position=0.15&length=0.0"
        "&family=0.0&tie=0.1&conformity=0.3&world=0"
    )
