"""Items with one right answer: a simulated model is told it, and gives it as often as its skill allows.

Simulated models know nothing of the real world, so whoever asks them about it says in the chat what is right and what
may be mistaken for it. The law of the answer, at temperature 1, is a softmax with the logits

    right: log(number of wrong answers) + SLOPE * (skill - difficulty of the item)        wrong: its allure

where difficulty and allure are standard normal numbers that follow from the item's text and the world. Identity in the
shared noise is the answer's text, so models of nearly equal skill that share their dice nearly always answer alike.
"""

import json
import math
from collections.abc import Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from coupled_arena.coupling import Sampler, Sampling, Vocabulary
from coupled_arena.models.calls import Message
from coupled_arena.models.simulated.claims import hashed_normals

SLOPE = 1.5
"""Logit per unit of skill and of difficulty."""

_MARK = "answer sheet: "


class Sheet(NamedTuple):
    """What is right about an item."""

    right: str
    """The right answer."""
    wrong: tuple[str, ...]
    """Answers it may be mistaken for, each different from it, at least one."""
    subject: str
    """The domain whose skill counts; empty for none."""


def answer_sheet(right: str, wrong: Sequence[str], subject: str = "") -> Message:
    """Return the message that tells simulated models, and nobody else, what is right.

    Args:
        right: the right answer.
        wrong: answers it may be mistaken for, each different from it, at least one.
        subject: the domain whose skill counts.
    """
    return Message("system", _MARK + json.dumps([right, list(wrong), subject]))


def find_sheet(messages: Sequence[Message]) -> Sheet | None:
    """Return the sheet that a chat ends with, None where it has none."""
    last = messages[-1]
    if last.role != "system" or not last.content.startswith(_MARK):
        return None
    # Anybody may write such a message, of whatever form.
    try:
        told = json.loads(last.content.removeprefix(_MARK))
    except (ValueError, RecursionError):
        return None
    match told:
        case [str(right), [str(), *_] as wrong, str(subject)] if all(isinstance(answer, str) for answer in wrong):
            return Sheet(right, tuple(wrong), subject)
    return None


def answered(text: str, sheet: Sheet, skill: float, world: int, sampling: Sampling, key: bytes) -> str:
    """Return a simulated model's answer to an item.

    Args:
        text: the item, as it was asked.
        sheet: what is right about it.
        skill: of the model in this subject.
        world: number of the world it lives in.
        sampling: temperature and filters.
        key: its dice, 16 bytes.
    """
    right, wrong, _ = sheet
    digest = blake2b(
        f"{world}\n{text}".encode("utf-8", "surrogatepass"), digest_size=16, person=b"ca sim item"
    ).digest()
    difficulty, *allure = hashed_normals(digest, "item", 1 + len(wrong))
    logits = np.array([math.log(len(wrong)) + SLOPE * (skill - difficulty), *allure, -math.inf], dtype=np.float32)
    answers = (right, *wrong)
    sampler = Sampler(
        Vocabulary([*(answer.encode("utf-8", "surrogatepass") for answer in answers), b""], {len(answers)})
    )
    return answers[sampler.draw(logits, sampling, key, 0).token]
