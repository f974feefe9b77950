"""Who shares dice with whom in a whole tournament: exactly what the table of the design allows."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

import coupled_arena as ca
from coupled_arena.models.calls import Abilities, Call, Message, Reply
from coupled_arena.models.model import Model
from coupled_arena.models.voice import Voice
from coupled_arena.prompts import read_envelopes
from coupled_arena.records import Question
from tests.support import ScriptedBackend


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


# One tournament in which every kind of call occurs: sections, requests, repairs, reasons, choices, an added role.

OPENINGS = (ca.Step(speaker="A", requires=("respond",)), ca.Step(speaker="B", requires=("respond",)))
CHECKED = ca.Script(
    name="checked",
    steps=(
        *OPENINGS,
        ca.Step(speaker="checker", sees=(1, 2)),
        ca.Step(speaker="A", requires=("criticize", "raise"), sees=(2, 3), round=2),
        ca.Step(speaker="B", requires=("respond", "raise"), sees=(3, 4), round=2),
        ca.Step(speaker="checker", sees=(4, 5), round=2),
    ),
)
FIRST = {4: "criticize", 5: "respond"}
"""What the steps after the openings ask for beside `raise`."""
SECTION_BY_SECTION = ("test/a", "test/b", "test/d")
CHOOSING = ("test/j1", "test/j2")


def later_step(prompt: str) -> int:
    """Return which of steps 4 and 5 a debater is asked for: only the speaker of step 5 has been criticized."""
    heard = [turn for turn in read_envelopes(prompt, "turn") if turn.attributes["speaker"] == "opponent"]
    return 5 if any("<criticize>" in turn.text for turn in heard) else 4


class Checker(ca.Role):
    """Checks facts."""

    instructions = "Name every factual error in what you read."


@dataclass
class Manifold(ScriptedBackend):
    """Models that differ in what they can be asked for; each is silent or unreadable when first asked."""

    def abilities(self, model: Model) -> Abilities:
        return Abilities(continues=model.name in SECTION_BY_SECTION, chooses=model.name in CHOOSING)


def reluctant() -> Manifold:
    """Return models that leave out `raise` until they are asked again, and judges whose first reply has no verdict.

    Every text names its speaker, so that what a later call has read tells who met whom.
    """
    asked: set[tuple[str, tuple[Message, ...], str]] = set()

    def answer(call: Call) -> str:
        name, last = call.model.name, call.messages[-1].content
        if call.choices:
            return call.choices[0]
        if name in SECTION_BY_SECTION:
            first = (name, call.messages, call.prefix) not in asked
            asked.add((name, call.messages, call.prefix))
            return "" if first and call.prefix.endswith("<raise>") else f"{name} says so."
        if name == "test/c":
            tag = "respond" if "<question" in last else "raise" if "<turn " not in last else FIRST[later_step(last)]
            return f"<{tag}>{name} says so.</{tag}>"
        if name == "test/j3":
            return f"{name} cannot say." if "<transcript>" in last or "<opinion " in last else "[[A]]"
        return f"{name} notes nothing."

    return Manifold(answer)


def play_reluctantly(monkeypatch: pytest.MonkeyPatch, coupling: str) -> tuple[ca.Result, list[Heard]]:
    backend = reluctant()
    texts = ("What is 17 + 25, and how do you know?", "Is every even number a sum of two primes?")
    with listening(monkeypatch) as heard:
        result = ca.Tournament(
            models=[*SECTION_BY_SECTION, "test/c"],
            judges=[*CHOOSING, "test/j3"],
            reference="test/writer",
            questions=tuple(
                Question(id=f"q{n}", domain="math", language="en", text=text, author="me")
                for n, text in enumerate(texts)
            ),
            schedule="round_robin",
            coupling=coupling,
            script=CHECKED,
            roles={"checker": (Checker, "test/checker")},
            orders="both",
            seed=11,
        ).run(backends={"hosted": backend})
    return result, heard


def shown(call: Heard) -> dict[str, str]:
    """Return who spoke in the turns that a call has read, by the name it was shown."""
    turns = [turn for m in call.messages if m.role == "user" for turn in read_envelopes(m.content, "turn")]
    found = {turn.attributes["speaker"]: re.search(r"test/[abcd]\b", turn.text) for turn in turns}
    return {speaker: match[0] for speaker, match in found.items() if match}


def row_of(call: Heard, coupling: str, first: Mapping[tuple[str, frozenset[str]], str]) -> tuple[Any, ...]:
    """Return the row of the design's table a call belongs to, as far as what it has read tells.

    `first` is who spoke first, by the question and the pair.
    """
    what = (call.role, call.part, call.question)
    # A request or a repair belongs to the turn before it.
    turn = call.turn - call.part.startswith(("request", "repair"))
    others = shown(call)
    pair = frozenset(others.values())
    added = () if coupling == "coupled" else (pair,)
    match call.role:
        case "judge":
            order = "AB" if first[call.question, pair] == others["A"] else "BA"
            return (*what, call.model, turn, order, *added)
        case "checker":
            return (*what, call.model, turn, *added)
        case "debater":
            asked = [m.content for m in call.messages if m.role == "user"][:turn]
            label = "opening" if turn == 1 else later_step(asked[-1])
            own = () if coupling == "coupled" else (call.model,)
            return (*what, label, *own, *([others.get("opponent")] if coupling == "fresh" else []))
        case _:
            return (*what, call.model)


@pytest.mark.parametrize("coupling", ["coupled", "independent", "fresh"])
def test_sections_repairs_requests_reasons_and_choices_share_no_dice(
    monkeypatch: pytest.MonkeyPatch, coupling: str
) -> None:
    result, heard = play_reluctantly(monkeypatch, coupling)
    assert {battle.decision.status for battle in result.battles} == {"decided"}
    assert not any(turn.missing for battle in result.battles for turn in battle.turns)
    assert {(call.role, call.part) for call in heard} == {
        ("reference", "whole"),
        ("checker", "whole"),
        *(("debater", part) for part in ("respond", "criticize", "raise", "raise request 1", "whole", "request 1")),
        *(("judge", part) for part in ("reasons", "choice", "whole", "repair 1")),
    }
    texts = {question.id: question.text for question in result.questions}
    first = {(texts[battle.question], frozenset(battle.pair)): battle.a for battle in result.battles}
    rows: dict[bytes, set[tuple[Any, ...]]] = defaultdict(set)
    keys: dict[tuple[Any, ...], set[bytes]] = defaultdict(set)
    for call in heard:
        row = row_of(call, coupling, first)
        rows[call.noise].add(row)
        keys[row].add(call.noise)
    assert {len(found) for found in rows.values()} == {1}
    for row, found in keys.items():
        # An opening has not read its opponent; it has other dice against each of the three.
        assert len(found) == (3 if coupling == "fresh" and row[3] == "opening" else 1), row


def test_later_sections_of_several_models_share_dice_only_in_a_coupled_run(monkeypatch: pytest.MonkeyPatch) -> None:
    for coupling, most in (("coupled", 3), ("independent", 1), ("fresh", 1)):
        _, heard = play_reluctantly(monkeypatch, coupling)
        later = [group for group in groups(heard).values() if group[0].part == "raise request 1"]
        assert max(len({call.model for call in group}) for group in later) == most
