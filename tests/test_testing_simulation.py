"""Simulated models behind the fake provider."""

import json
from typing import Any

import pytest

import coupled_arena as ca
from coupled_arena.models.calls import Message
from coupled_arena.prompts import load_prompts, questions_schema, read_json_questions, read_json_verdict, verdict_schema
from coupled_arena.prompts.envelopes import envelope, seal
from coupled_arena.records import Section
from coupled_arena.testing import FakeProvider, Faults, behaviours
from coupled_arena.testing.request import Request, digest_of
from coupled_arena.testing.simulation import answer_of, in_schema
from tests.testing_scene import ask

PROMPTS = load_prompts("en")
QUESTION = envelope("question", "What is 17 + 25?", grammar=PROMPTS.grammar, domain="math")
DEBATE = f"{QUESTION}\nAnswer it: write <respond>…</respond>."


def schema_of(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema, "strict": True}}


def request(text: str, **fields: Any) -> Request:
    body = {"model": "ada", "messages": [{"role": "user", "content": text}], **fields}
    return Request(0, "ada", (Message("user", text),), body, {}, digest_of(body), 1, 0.0)


async def test_equal_seeds_are_equal_dice() -> None:
    with FakeProvider({"ada": "sim/ada"}) as provider:
        texts = [(await ask(provider, text=DEBATE, seed=seed)).content for seed in (1, 1, 2, 3, 4, 5)]
        assert texts[0] == texts[1]
        assert texts[0].startswith("<respond>")
        assert len(set(texts[1:])) > 1


async def test_without_a_seed_the_dice_follow_from_the_request() -> None:
    with FakeProvider({"ada": "sim/ada"}) as provider:
        one = await ask(provider, text=DEBATE)
        again = await ask(provider, text=DEBATE)
        others = {(await ask(provider, text=DEBATE, user=str(number))).content for number in range(5)}
        assert one.content == again.content
        assert len({one.content, *others}) > 1


async def test_the_dials_are_played() -> None:
    with FakeProvider({"no": "sim/no?refusal=1", "ill": "sim/ill?error=1"}) as provider:
        refused = await ask(provider, "no", text=DEBATE)
        assert (refused.content, bool(refused.choice["message"]["refusal"])) == (None, True)
        assert (await ask(provider, "ill", text=DEBATE)).status in (429, 500, 503)


async def test_an_error_of_the_dial_may_pass_when_the_same_is_asked_again() -> None:
    with FakeProvider({"ill": "sim/ill?error=0.5"}) as provider:
        assert {(await ask(provider, "ill", text=DEBATE)).status == 200 for _ in range(30)} == {True, False}


async def test_a_text_is_cut_by_the_tokens_of_the_provider() -> None:
    with FakeProvider({"ada": "sim/ada"}) as provider:
        cut = await ask(provider, text=DEBATE, max_tokens=5)
        assert (len(cut.content), cut.ending) == (20, "length")


async def test_a_stop_ends_the_text() -> None:
    with FakeProvider({"ada": "sim/ada"}) as provider:
        assert "</respond>" not in (await ask(provider, text=DEBATE, stop="</respond>")).content
        assert "</respond>" not in (await ask(provider, text=DEBATE, stop=["</respond>"])).content


@pytest.mark.parametrize(
    "wrong", [{"temperature": -1}, {"temperature": "hot"}, {"top_p": 2}, {"seed": "x"}, {"seed": [1]}, {"stop": 3}]
)
async def test_settings_that_mean_nothing_are_the_clients_fault(wrong: dict[str, Any]) -> None:
    with FakeProvider({"ada": "sim/ada"}) as provider:
        answer = await ask(provider, text=DEBATE, **wrong)
        assert (answer.status, answer.error["type"]) == (400, "invalid_request_error")


async def test_a_function_may_pass_a_request_on_to_a_simulated_model() -> None:
    def script(request: Request) -> behaviours.Behaviour | str:
        return "sim/ada?skill=3" if request.body.get("seed") else behaviours.error(500)

    with FakeProvider({"ada": script}) as provider:
        assert (await ask(provider, text=DEBATE)).status == 500
        assert (await ask(provider, text=DEBATE, seed=3)).content.startswith("<respond>")


def test_an_opinion_fits_the_schema_of_a_verdict() -> None:
    grammar = PROMPTS.grammar
    rounds = envelope("round", envelope("turn", seal([Section(tag="respond", text="So.")], grammar), speaker="A"))
    asked = request(f"{QUESTION}\n{rounds}", response_format=schema_of(verdict_schema(grammar)))
    answer = answer_of("sim/judge", asked)
    assert isinstance(answer, behaviours.Completion)
    reading = read_json_verdict(answer.text or "", grammar)
    assert reading.verdict is not None
    assert reading.reasons


def test_questions_fit_their_schema() -> None:
    answer = answer_of("sim/ex", request("Write 3 questions.", response_format=schema_of(questions_schema())))
    assert isinstance(answer, behaviours.Completion)
    assert len(read_json_questions(answer.text or "")) == 3


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({}, {"text": "so"}),
        ({"properties": {"answer": {"type": "string"}, "sure": {"type": "boolean"}}}, {"answer": "so", "sure": False}),
        ({"properties": {"kind": {"enum": ["x", "y"]}, "n": {"type": "integer"}}}, {"kind": "x", "n": 0}),
        ({"properties": {"deep": {"type": "object", "properties": {"a": {}}}}}, {"deep": {"a": "so"}}),
        ({"properties": {"any": {"type": "object"}, "odd": True}}, {"any": {}}),
        ({"properties": {"verdict": {"type": "string", "enum": ["A", "B"]}}}, {"verdict": "A"}),
    ],
)
def test_any_other_schema_is_filled_with_the_text(schema: dict[str, Any], value: object) -> None:
    assert in_schema("so", schema) == value


@pytest.mark.parametrize(
    "form", [{"type": "json_object"}, {"type": "json_schema"}, {"type": "json_schema", "json_schema": 1}]
)
async def test_json_is_answered_without_a_schema_too(form: dict[str, Any]) -> None:
    with FakeProvider({"ada": "sim/ada"}) as provider:
        answer = await ask(provider, response_format=form)
        assert json.loads(answer.content).keys() == {"text"}


def play(faults: Faults | None = None) -> tuple[list[tuple[str, int, int, int]], int]:
    """Return a leaderboard played over HTTP, and how many requests that took."""
    models = {"ada": "sim/ada?skill=2", "bob": "sim/bob?skill=-2", "ex": "sim/ex", "j1": "sim/j1", "j2": "sim/j2"}
    with FakeProvider(models, faults=faults, port=0) as provider:
        tournament = ca.Tournament(
            models=[provider.model("ada"), provider.model("bob")],
            judges=[provider.model("j1"), provider.model("j2")],
            examiner=provider.model("ex"),
            domains=["math"],
            questions_per_domain=2,
            recuse="none",
            seed=7,
        )
        board = tournament.run().leaderboard()
        rows = list(zip(board["model"], board["wins"], board["losses"], board["ties"], strict=True))
        assert {status for (_, status), _ in provider.counts.items()} >= {200}
        return rows, provider.received


def test_a_tournament_over_http_ends_alike_with_and_without_passing_faults() -> None:
    rows, requests = play()
    disturbed, more = play(Faults(share=0.3, seed=1, kinds=(behaviours.error(429, retry_after=0),)))
    assert rows == disturbed
    assert rows[0][0] == "ada"
    assert more > requests
