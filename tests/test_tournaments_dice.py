"""Who shares dice with whom in a whole tournament: exactly what the table of the design allows."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

import coupled_arena as ca
from coupled_arena.models.calls import Message, Reply
from coupled_arena.models.voice import Voice
from coupled_arena.prompts import read_envelopes


@dataclass(frozen=True)
class Heard:
    """One call as it left an agent."""

    role: str
    model: str
    part: str
    noise: bytes
    messages: tuple[Message, ...]

    @property
    def question(self) -> str:
        """The question in the prompt."""
        found = [e.text for m in self.messages if m.role == "user" for e in read_envelopes(m.content, "question")]
        return found[0] if found else ""

    @property
    def turn(self) -> int:
        """How often the agent has been asked, requests and repairs included."""
        return sum(message.role == "user" for message in self.messages)

    @property
    def is_opening(self) -> bool:
        """Whether a debater has read nothing but the question."""
        return self.role == "debater" and self.turn == 1 and "<turn " not in self.messages[-1].content


@contextmanager
def listening(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Heard]]:
    """Collect every call of the agents."""
    heard: list[Heard] = []
    say = Voice.say

    async def overheard(self: Voice, messages: Any, *, dice: Any, part: str, **rest: Any) -> Reply:
        heard.append(Heard(self.role, self.model.name, part, dice.key(part), tuple(messages)))
        return await say(self, messages, dice=dice, part=part, **rest)

    with monkeypatch.context() as patch:
        patch.setattr(Voice, "say", overheard)
        yield heard


def play(monkeypatch: pytest.MonkeyPatch, coupling: str, **rules: Any) -> tuple[ca.Result, list[Heard]]:
    with listening(monkeypatch) as heard:
        result = ca.Tournament(
            models=["sim/ada?skill=1", "sim/bob?skill=0", "sim/cleo?skill=-1"],
            judges=["sim/j1", "sim/j2", "sim/j3"],
            examiner="sim/examiner",
            domains=["math", "writing"],
            questions_per_domain=2,
            schedule="round_robin",
            coupling=coupling,
            seed=11,
            **rules,
        ).run()
    return result, heard


def groups(heard: list[Heard]) -> dict[bytes, list[Heard]]:
    """Return the calls by noise key, equal calls once."""
    grouped: dict[bytes, list[Heard]] = defaultdict(list)
    for call in dict.fromkeys(heard):
        grouped[call.noise].append(call)
    return grouped


@pytest.mark.parametrize("coupling", ["coupled", "independent", "fresh"])
def test_calls_that_share_dice_differ_only_where_the_table_allows(
    monkeypatch: pytest.MonkeyPatch, coupling: str
) -> None:
    _, heard = play(monkeypatch, coupling, orders="both", replicates=2)
    assert {call.role for call in heard} == {"examiner", "debater", "reference", "judge"}
    for group in groups(heard).values():
        first = group[0]
        for call in group:
            assert (call.role, call.part, call.question) == (first.role, first.part, first.question)
            assert call.is_opening == first.is_opening
            if call.role != "debater" or coupling != "coupled":
                assert call.model == first.model
            if call.is_opening:
                assert call.messages == first.messages
            if call.role in ("judge", "debater"):
                assert call.turn == first.turn
            if call.role in ("examiner", "reference"):
                assert call.messages == first.messages


def test_openings_of_all_models_share_dice_only_in_a_coupled_run(monkeypatch: pytest.MonkeyPatch) -> None:
    for coupling, models in (("coupled", 3), ("independent", 1), ("fresh", 1)):
        _, heard = play(monkeypatch, coupling)
        openings = [group for group in groups(heard).values() if group[0].is_opening]
        assert {len({call.model for call in group}) for group in openings} == {models}


def test_dice_are_fresh_for_every_opponent_and_side_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    def openings(coupling: str) -> int:
        _, heard = play(monkeypatch, coupling)
        return len({call.noise for call in heard if call.is_opening})

    questions, models = 4, 3
    assert openings("coupled") == questions
    assert openings("independent") == questions * models
    assert openings("fresh") == questions * models * (models - 1)


def test_no_two_calls_of_one_battle_share_dice_but_the_openings(monkeypatch: pytest.MonkeyPatch) -> None:
    with listening(monkeypatch) as heard:
        ca.Tournament(
            models=["sim/ada", "sim/bob"],
            judges=["sim/j1", "sim/j2", "sim/j3"],
            domains=["math"],
            questions_per_domain=1,
            orders="both",
            seed=3,
        ).run()
    calls = [call for call in heard if not call.is_opening]
    assert len({call.noise for call in calls}) == len(calls) > 15
    assert len({call.noise for call in heard}) == len(calls) + 1


def test_a_models_opening_is_one_text_in_every_match_of_a_coupled_run(monkeypatch: pytest.MonkeyPatch) -> None:
    for coupling, same in (("coupled", True), ("independent", True), ("fresh", False)):
        result, _ = play(monkeypatch, coupling, replicates=2)
        texts: dict[tuple[str, str, int], set[str]] = defaultdict(set)
        for battle in result.battles:
            for turn in battle.turns[:2]:
                texts[turn.model, battle.question, battle.replicate].add(turn.sections[0].text)
        assert all(len(found) == 1 for found in texts.values()) == same


def test_another_replicate_rolls_other_dice(monkeypatch: pytest.MonkeyPatch) -> None:
    result, _ = play(monkeypatch, "coupled", replicates=2)
    texts: dict[tuple[str, str], dict[int, str]] = defaultdict(dict)
    for battle in result.battles:
        for turn in battle.turns[:2]:
            texts[turn.model, battle.question][battle.replicate] = turn.sections[0].text
    assert any(found[0] != found[1] for found in texts.values())
