"""A run of sixty battles to look at, in which hostile texts stand wherever a model could write them."""

import functools
import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle

import coupled_arena as ca
from benchmarks.hostile import CASES
from coupled_arena.records import Battle, Opinion, Question, Section, Turn

HOSTILE_NAME = "<img src=x onerror=alert(1)>"
"""Name of a model."""

HOSTILE_DOMAIN = "</script><script>alert(2)</script>"
"""Name of a domain."""

SHORTER = 30_000
"""Characters of the longest texts."""

WORDS = (
    "a", "answer", "because", "both", "case", "claim", "differs", "each", "even", "fails", "first", "follows", "from",
    "given", "holds", "if", "in", "is", "less", "made", "must", "not", "of", "one", "or", "part", "question", "rather",
    "second", "shows", "since", "still", "than", "that", "the", "then", "there", "this", "to", "which", "without",
)  # fmt: skip
"""What ordinary texts are made of."""


@functools.cache
def played() -> ca.Result:
    """Return a run of sixty battles of five simulated models, one with a hostile name."""
    return ca.Tournament(
        name="demo",
        models=[
            "sim/ada?skill=1.2",
            "sim/bob?skill=0.8",
            {"name": HOSTILE_NAME, "model": "sim/cyd?skill=0.3"},
            "sim/dan?skill=0",
            "sim/eve?skill=-0.5&refusal=0.05",
        ],
        judges=["sim/j1", "sim/j2?position=0.5", "sim/j3"],
        examiner="sim/examiner",
        domains=["math", "writing", HOSTILE_DOMAIN],
        questions_per_domain=2,
        schedule="round_robin",
        seed=7,
    ).run()


@functools.cache
def hostile() -> ca.Result:
    """Return the same run, every text of its models a hostile one within ordinary prose."""
    cases, dice = [text[:SHORTER] for text in CASES.values()], random.Random(7)
    # Debaters and judges go through the cases on their own, so that each says every one.
    said, judged = cycle(cases), cycle(cases)
    result = played()
    return replace(
        result,
        questions=tuple(_asked(question, text) for question, text in zip(result.questions, cycle(cases), strict=False)),
        battles=tuple(_spoilt(battle, said, judged, dice) for battle in result.battles),
    )


def prose(dice: random.Random, words: int = 60) -> str:
    """Return an ordinary text."""
    return " ".join(dice.choices(WORDS, k=words)).capitalize() + "."


def _asked(question: Question, text: str) -> Question:
    return question.model_copy(update={"text": f"{question.text} {text}", "reference": text})


def _spoilt(battle: Battle, said: Iterator[str], judged: Iterator[str], dice: random.Random) -> Battle:
    turns = tuple(_turn(turn, said, dice) for turn in battle.turns)
    opinions = tuple(_opinion(opinion, judged) for opinion in battle.opinions)
    decision = battle.decision.model_copy(update={"reason": next(judged) if battle.decision.reason else ""})
    return battle.model_copy(update={"turns": turns, "opinions": opinions, "decision": decision})


def _turn(turn: Turn, texts: Iterator[str], dice: random.Random) -> Turn:
    sections = tuple(
        Section(tag=own.tag, text=f"{prose(dice)}\n\n{next(texts)}\n\n{prose(dice, 25)}") for own in turn.sections
    )
    return turn.model_copy(update={"sections": sections, "detail": next(texts)[:300] if turn.detail else ""})


def _opinion(opinion: Opinion, texts: Iterator[str]) -> Opinion:
    return opinion.model_copy(update={"reasons": next(texts), "detail": next(texts)[:300]})
