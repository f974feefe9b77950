"""The peer battle: what everybody sees, how turns are read, how a battle can fail."""

import re

import pytest
from autogen_agentchat.agents import BaseChatAgent
from pydantic import ValidationError

from coupled_arena.agents import Debater, Role
from coupled_arena.agents.messages import StepRequest
from coupled_arena.coupling import DiceTable
from coupled_arena.models.calls import Abilities, Call, Reply
from coupled_arena.prompts import load_prompts, read_envelopes
from coupled_arena.protocols import PEER_BATTLE, SINGLE, BattleAgenda, Script, Step, Transcript, converse
from coupled_arena.records import Outcome, Usage
from tests.support import QUESTION, backend_of, voice

EN = load_prompts("en")
TABLE = DiceTable(7, "coupled")


def asked(call: Call) -> tuple[str, ...]:
    """Return the actions a prompt asks for."""
    return tuple(re.findall(r"<(\w+)>…</\1>", call.messages[-1].content))


def speaks(name: str) -> "object":
    """Return an answering function that says its name, the action and how many requests it has had."""

    def answer(call: Call) -> str:
        turn = sum(message.role == "user" for message in call.messages)
        return "".join(f"<{tag}>{name} {tag} {turn}</{tag}>" for tag in asked(call))

    return answer


async def play(
    script: Script, a: Debater, b: Debater, /, roles: dict[str, BaseChatAgent] | None = None, **rules: object
) -> Transcript:
    """Hold a battle."""
    seats: dict[str, BaseChatAgent] = {"A": a, "B": b, **(roles or {})}
    agenda = BattleAgenda(
        script,
        QUESTION,
        {"A": "ada", "B": "bob", **dict.fromkeys(roles or {}, "checker")},
        EN,
        lambda step: TABLE.step(QUESTION.id, 0, script.labels[step - 1], "ada", "bob", "A"),
        **rules,  # type: ignore[arg-type]
    )
    return await converse(agenda, seats, conversation="battle")


def debater(name: str, answer: object = None, able: Abilities | None = None, **settings: int) -> Debater:
    return Debater(f"debater_{name}", voice(answer or speaks(name), able), EN, **settings)  # type: ignore[arg-type]


async def test_the_default_script_is_the_papers_nine_steps() -> None:
    transcript = await play(PEER_BATTLE, debater("ada"), debater("bob"))
    assert transcript.status is None
    assert [(turn.speaker, " ".join(s.tag for s in turn.sections)) for turn in transcript.turns] == [
        ("A", "respond"),
        ("B", "respond"),
        ("B", "criticize raise"),
        ("A", "respond"),
        ("A", "criticize raise"),
        ("B", "respond"),
        ("A", "criticize raise"),
        ("B", "respond criticize raise"),
        ("A", "respond"),
    ]
    assert not any(turn.missing for turn in transcript.turns)


async def test_every_speaker_sees_exactly_what_the_script_says() -> None:
    a, b = debater("ada"), debater("bob")
    await play(PEER_BATTLE, a, b)

    def shown(agent: Debater) -> list[list[str]]:
        return [
            [envelope.text for envelope in read_envelopes(call.messages[-1].content, "turn")]
            for call in backend_of(agent.voice).calls
        ]

    assert shown(a) == [
        [],
        ["<criticize>bob criticize 2</criticize>\n<raise>bob raise 2</raise>"],
        ["<respond>bob respond 1</respond>"],
        ["<respond>bob respond 3</respond>"],
        ["<respond>bob respond 4</respond>\n<criticize>bob criticize 4</criticize>\n<raise>bob raise 4</raise>"],
    ]
    assert shown(b) == [
        [],
        ["<respond>ada respond 1</respond>"],
        ["<criticize>ada criticize 3</criticize>\n<raise>ada raise 3</raise>"],
        ["<criticize>ada criticize 4</criticize>\n<raise>ada raise 4</raise>"],
    ]


async def test_openings_are_the_same_prompt_on_either_side_and_name_nobody() -> None:
    a, b = debater("ada"), debater("bob")
    await play(SINGLE, a, b)
    first, second = backend_of(a.voice).calls[0], backend_of(b.voice).calls[0]
    assert first.messages == second.messages
    assert first.noise == second.noise
    assert not re.search(r"\bada\b|\bbob\b|side A|side B|speaker=", " ".join(m.content for m in first.messages))


async def test_thoughts_stay_with_their_speaker() -> None:
    def thinks(call: Call) -> str:
        return "<think>secret plan</think>" + "".join(f"<{tag}>x</{tag}>" for tag in asked(call))

    a, b = debater("ada", thinks), debater("bob", thinks)
    transcript = await play(PEER_BATTLE, a, b)
    assert all(turn.sections[0].tag == "think" for turn in transcript.turns)
    for agent in (a, b):
        for call in backend_of(agent.voice).calls:
            assert all("secret" not in message.content for message in call.messages if message.role == "user")
    own = backend_of(a.voice).calls[-1].messages
    assert any("secret plan" in message.content for message in own if message.role == "assistant")


async def test_criticism_is_hidden_on_request() -> None:
    a, b = debater("ada"), debater("bob")
    await play(PEER_BATTLE, a, b, hidden=("think", "criticize"))
    seen = "\n".join(message.content for call in backend_of(a.voice).calls for message in call.messages[2:])
    assert "bob raise" in seen
    assert "bob criticize" not in seen


async def test_a_missing_action_is_asked_for_twice_with_dice_of_its_own() -> None:
    def forgets(call: Call) -> str:
        return "<respond>always the answer</respond>"

    a = debater("ada", forgets)
    script = Script(
        name="s",
        steps=(Step(speaker="A", requires=("respond", "raise")), Step(speaker="B", requires=("respond",))),
    )
    transcript = await play(script, a, debater("bob"))
    turn = transcript.turns[0]
    assert (turn.missing, turn.requests, transcript.status) == (("raise",), 2, None)
    calls = backend_of(a.voice).calls
    assert len({call.noise for call in calls}) == 3
    assert "<raise>…</raise>" in calls[1].messages[-1].content
    assert "<respond>" not in calls[1].messages[-1].content


async def test_what_a_request_brings_is_merged_and_the_first_answer_kept() -> None:
    def slow(call: Call) -> str:
        return "<raise>late point</raise>" if len(call.messages) > 3 else "<respond>first</respond>"

    script = Script(
        name="s",
        steps=(Step(speaker="A", requires=("respond", "raise")), Step(speaker="B", requires=("respond",))),
    )
    turn = (await play(script, debater("ada", slow), debater("bob"))).turns[0]
    assert [(s.tag, s.text) for s in turn.sections] == [("respond", "first"), ("raise", "late point")]
    assert (turn.missing, turn.requests) == ((), 1)


async def test_text_over_the_budget_is_cut_at_a_word_and_marked() -> None:
    transcript = await play(SINGLE, debater("ada", lambda call: "word " * 1000), debater("bob"))
    turn = transcript.turns[0]
    assert EN.grammar.count(turn.sections[0].text) == EN.domain("math").words
    assert (turn.cut, turn.outcome, transcript.status) == (True, "ok", None)


@pytest.mark.parametrize("outcome", ["refused", "filtered", "empty"])
async def test_a_debater_that_gives_no_answer_forfeits_and_the_battle_ends(outcome: Outcome) -> None:
    silent = debater("bob", lambda call: Reply(outcome=outcome, detail="said no"))
    a = debater("ada")
    transcript = await play(PEER_BATTLE, a, silent)
    assert (transcript.status, transcript.forfeited) == ("forfeited", ("B",))
    assert len(transcript.turns) == 2
    assert transcript.reason == f"bob (B), step 2: {outcome}: said no"


async def test_the_other_opening_is_still_asked_for_and_two_forfeits_are_void() -> None:
    nothing = Reply(outcome="refused")
    transcript = await play(PEER_BATTLE, debater("ada", lambda c: nothing), debater("bob", lambda c: nothing))
    assert transcript.status == "void"
    assert [turn.outcome for turn in transcript.turns] == ["refused", "refused"]


@pytest.mark.parametrize("outcome", ["failed", "timeout"])
async def test_a_providers_fault_is_void_even_beside_a_forfeit(outcome: Outcome) -> None:
    a = debater("ada", lambda c: Reply(outcome="refused"))
    b = debater("bob", lambda c: Reply(outcome=outcome, detail="503 overloaded"))
    transcript = await play(PEER_BATTLE, a, b)
    assert transcript.status == "void"
    assert "503 overloaded" in transcript.reason


async def test_a_forfeit_may_be_void_by_rule() -> None:
    transcript = await play(SINGLE, debater("ada", lambda c: Reply(outcome="empty")), debater("bob"), forfeits="void")
    assert transcript.status == "void"


async def test_only_a_wholly_empty_turn_is_empty() -> None:
    half = debater("ada", lambda call: "<respond></respond><raise>a point</raise>")
    script = Script(
        name="s",
        steps=(Step(speaker="A", requires=("respond", "raise")), Step(speaker="B", requires=("respond",))),
    )
    turn = (await play(script, half, debater("bob"))).turns[0]
    assert (turn.outcome, turn.missing) == ("ok", ("respond",))
    blank = await play(script, debater("ada", lambda call: "<respond> </respond>"), debater("bob"))
    assert blank.turns[0].outcome == "empty"


SHORT = Script(
    name="short",
    steps=(Step(speaker="A", requires=("respond", "raise")), Step(speaker="B", requires=("respond",))),
)


async def test_an_empty_turn_is_asked_for_again_in_one_message_with_dice_of_its_own() -> None:
    replies = iter(["", " \n", "<respond>at last</respond><raise>why</raise>"])
    a = debater("ada", lambda call: next(replies))
    transcript = await play(SHORT, a, debater("bob"))
    turn = transcript.turns[0]
    assert (turn.outcome, turn.missing, turn.requests, transcript.status) == ("ok", (), 2, None)
    calls = backend_of(a.voice).calls
    noise = TABLE.step(QUESTION.id, 0, SHORT.labels[0], "ada", "bob", "A")
    assert [call.noise for call in calls] == [noise.key(part) for part in ("whole", "request 1", "request 2")]
    assert all([message.role for message in call.messages] == ["system", "user"] for call in calls)
    assert calls[1].messages[-1].content.startswith(calls[0].messages[-1].content)
    assert calls[1].messages[-1].content.endswith("<respond>…</respond> <raise>…</raise>")


async def test_a_turn_that_stays_empty_is_empty_after_two_requests() -> None:
    a = debater("ada", lambda call: "")
    turn = (await play(SHORT, a, debater("bob"))).turns[0]
    assert (turn.outcome, turn.requests, turn.sections) == ("empty", 2, ())
    assert len(backend_of(a.voice).calls) == 3


async def test_an_empty_request_for_what_is_missing_is_no_end() -> None:
    replies = iter(["<respond>first</respond>", "", "<raise>late</raise>"])
    turn = (await play(SHORT, debater("ada", lambda call: next(replies)), debater("bob"))).turns[0]
    assert (turn.outcome, turn.missing, turn.requests) == ("ok", (), 2)


@pytest.mark.parametrize("able", [Abilities(), Abilities(continues=True)], ids=["whole", "by section"])
async def test_a_refusal_of_the_request_after_an_empty_reply_is_a_refusal(able: Abilities) -> None:
    replies = iter([Reply(outcome="empty"), Reply(outcome="refused", detail="no")])
    transcript = await play(SHORT, debater("ada", lambda call: next(replies), able), debater("bob"))
    assert (transcript.turns[0].outcome, transcript.turns[0].requests) == ("refused", 1)


async def test_a_turn_cut_off_before_any_text_is_empty() -> None:
    cut = Reply(text="<respond>", outcome="truncated")
    assert (await play(SHORT, debater("ada", lambda call: cut), debater("bob"))).turns[0].outcome == "empty"


async def test_a_bound_on_sections_bounds_whole_turns_and_requests() -> None:
    a = debater("ada", lambda call: "<respond>x</respond>", section_tokens=60)
    await play(SHORT, a, debater("bob"))
    assert [call.max_tokens for call in backend_of(a.voice).calls] == [120, 60, 60]


async def test_models_that_continue_are_asked_section_by_section() -> None:
    def continues(call: Call) -> str:
        return f"text after {call.prefix[-12:]}"

    a = debater("ada", continues, Abilities(continues=True), section_tokens=60)
    script = Script(
        name="s",
        steps=(
            Step(speaker="A", requires=("respond", "raise")),
            Step(speaker="B", requires=("respond",)),
        ),
    )
    turn = (await play(script, a, debater("bob"))).turns[0]
    calls = backend_of(a.voice).calls
    assert turn.by_section
    assert [call.prefix for call in calls] == ["<respond>", "<respond>text after <respond></respond>\n<raise>"]
    assert all(call.max_tokens == 60 and "</respond>" in call.stop for call in calls)
    assert len({call.noise for call in calls}) == 2


async def test_an_empty_section_is_asked_for_again_and_then_missing() -> None:
    a = debater("ada", lambda call: "" if "<raise>" in call.prefix else "fine", Abilities(continues=True))
    turn = (await play(SHORT, a, debater("bob"))).turns[0]
    assert (turn.missing, turn.requests, turn.outcome) == (("raise",), 2, "ok")
    noise = TABLE.step(QUESTION.id, 0, SHORT.labels[0], "ada", "bob", "A")
    parts = ("respond", "raise", "raise request 1", "raise request 2")
    assert [call.noise for call in backend_of(a.voice).calls] == [noise.key(part) for part in parts]


async def test_a_section_that_was_empty_at_first_is_kept() -> None:
    replies = iter(["", "answer", "", "", "question"])
    a = debater("ada", lambda call: next(replies), Abilities(continues=True))
    turn = (await play(SHORT, a, debater("bob"))).turns[0]
    assert [(s.tag, s.text) for s in turn.sections] == [("respond", "answer"), ("raise", "question")]
    assert (turn.missing, turn.requests, turn.outcome) == ((), 3, "ok")


async def test_a_first_section_leaves_the_later_ones_their_share() -> None:
    def fills(call: Call) -> Reply:
        usage = Usage(completion_tokens=call.max_tokens)
        return Reply(text="on and on", outcome="truncated", usage=usage)

    a = debater("ada", fills, Abilities(continues=True))
    turn = (await play(SHORT, a, debater("bob"))).turns[0]
    first, second = (call.max_tokens for call in backend_of(a.voice).calls)
    assert first == second == EN.max_tokens(EN.domain("math").words * SHORT.steps[0].budget) // 2
    assert (turn.missing, turn.cut) == ((), True)


async def test_a_tiny_budget_is_still_shared_by_all_sections() -> None:
    a = debater("ada", lambda call: "x", Abilities(continues=True))
    dice = TABLE.step(QUESTION.id, 0, SHORT.labels[0], "ada", "bob", "A")
    request = StepRequest(content="Speak.", dice=dice, requires=("respond", "raise"), limit=9, max_tokens=12)
    turn = await a.answer(request)
    assert (turn.outcome, turn.missing) == ("ok", ())
    assert [call.max_tokens for call in backend_of(a.voice).calls] == [6, 12]


async def test_an_added_role_is_shown_what_it_sees_and_heard_by_those_who_see_it() -> None:
    class Checker(Role):
        instructions = "Check the facts."

    script = Script(
        name="checked",
        steps=(
            Step(speaker="A", requires=("respond",)),
            Step(speaker="B", requires=("respond",)),
            Step(speaker="checker", sees=(1, 2)),
            Step(speaker="A", requires=("respond",), sees=(2, 3), round=2),
        ),
    )
    checker = Checker("checker", voice(lambda call: "both are right"), EN)
    a = debater("ada")
    transcript = await play(script, a, debater("bob"), roles={"checker": checker})
    assert transcript.turns[2].sections[0].tag == "note"
    heard = backend_of(checker.voice).calls[0].messages
    assert heard[0].content == "Check the facts."
    assert [e.attributes["speaker"] for e in read_envelopes(heard[1].content, "turn")] == ["A", "B"]
    seen = read_envelopes(backend_of(a.voice).calls[-1].messages[-1].content, "turn")
    assert [(e.attributes["speaker"], e.text) for e in seen] == [
        ("opponent", "<respond>bob respond 1</respond>"),
        ("checker", "<note>both are right</note>"),
    ]


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        ([Step(speaker="A", requires=("respond",)), Step(speaker="A", requires=("respond",))], "side B never speaks"),
        (
            [Step(speaker="A", requires=("respond",)), Step(speaker="B", requires=("respond",), sees=(2,))],
            "sees step 2",
        ),
        ([Step(speaker="A", requires=("respond",)), Step(speaker="B")], "asks B for no action"),
    ],
)
def test_a_script_that_cannot_be_played_is_refused(steps: list[Step], problem: str) -> None:
    with pytest.raises(ValidationError, match=problem):
        Script(name="s", steps=tuple(steps))
