"""Simulated and local models as LiteLLM providers."""

import asyncio
from typing import Any

import pytest

from coupled_arena.models.calls import Abilities, Call, Reply
from coupled_arena.models.gateway import default_backend
from coupled_arena.models.litellm_loader import PYDANTIC_COMPLAINT, load_litellm
from coupled_arena.models.litellm_provider import register
from coupled_arena.models.model import Model
from coupled_arena.records import Usage

pytestmark = pytest.mark.filterwarnings(f"ignore:{PYDANTIC_COMPLAINT}:UserWarning")
litellm = load_litellm()
MESSAGES = [{"role": "user", "content": "hello"}]


class Keeper:
    """Gives one answer and keeps the calls."""

    def __init__(self, reply: Reply) -> None:
        self.reply = reply
        self.calls: list[Call] = []

    def abilities(self, model: Model) -> Abilities:
        return Abilities()

    def problems(self, model: Model) -> tuple[str, ...]:
        return ()

    def identity(self, model: Model) -> str:
        return model.model

    async def complete(self, call: Call) -> Reply:
        self.calls.append(call)
        return self.reply

    async def aclose(self) -> None:
        pass


def keeper(**reply: Any) -> Keeper:
    kept = Keeper(Reply(**{"outcome": "ok", "text": "hi", **reply}))
    register({"sim": kept})
    return kept


async def test_any_litellm_program_can_call_a_simulated_model() -> None:
    kept = keeper(usage=Usage(prompt_tokens=3, completion_tokens=2))
    response = await litellm.acompletion(
        "sim/ada?skill=1", MESSAGES, temperature=0.3, top_p=0.9, max_tokens=7, stop="##", noise="ab" * 16, top_k=4
    )
    assert response.choices[0].message.content == "hi"
    assert response.choices[0].finish_reason == "stop"
    assert (response.usage.prompt_tokens, response.usage.completion_tokens) == (3, 2)
    (call,) = kept.calls
    assert (call.model.model, call.model.parameters) == ("sim/ada?skill=1", {"skill": "1"})
    assert [tuple(message) for message in call.messages] == [("user", "hello", "")]
    assert (call.noise, call.max_tokens, call.stop) == (bytes.fromhex("ab" * 16), 7, ("##",))
    assert (call.sampling.temperature, call.sampling.top_p, call.sampling.top_k) == (0.3, 0.9, 4)


async def test_the_blocking_call_works_inside_and_outside_of_a_loop() -> None:
    keeper()
    inside = litellm.completion("sim/ada", MESSAGES, seed=1)
    outside = await asyncio.to_thread(litellm.completion, "sim/ada", MESSAGES, seed=1)
    assert inside.choices[0].message.content == outside.choices[0].message.content == "hi"


async def test_equal_seeds_share_dice_and_no_seed_shares_none() -> None:
    kept = keeper()
    for arguments in ({"seed": 1}, {"seed": 1}, {"seed": 2}, {}, {}):
        await litellm.acompletion("sim/ada", MESSAGES, **arguments)
    noises = [call.noise for call in kept.calls]
    assert noises[0] == noises[1]
    assert len(set(noises)) == 4


def test_registering_twice_adds_nothing() -> None:
    register()
    before = list(litellm.custom_provider_map)
    register()
    assert litellm.custom_provider_map == before
    assert [entry["provider"] for entry in before].count("sim") == 1
    assert [entry["provider"] for entry in before].count("local") == 1


@pytest.mark.parametrize(
    ("outcome", "ending", "content"),
    [("truncated", "length", "hi"), ("filtered", "content_filter", None), ("empty", "stop", None)],
)
async def test_outcomes_are_finish_reasons(outcome: str, ending: str, content: str | None) -> None:
    keeper(outcome=outcome, text="hi" if content else "")
    choice = (await litellm.acompletion("sim/ada", MESSAGES)).choices[0]
    assert (choice.finish_reason, choice.message.content) == (ending, content)


async def test_a_refusal_is_a_refusal() -> None:
    keeper(outcome="refused", text="", detail="no")
    assert (await litellm.acompletion("sim/ada", MESSAGES)).choices[0].message.refusal == "no"


@pytest.mark.parametrize(("outcome", "error"), [("failed", litellm.InternalServerError), ("timeout", litellm.Timeout)])
async def test_failures_are_litellms_own_exceptions(outcome: str, error: type[Exception]) -> None:
    keeper(outcome=outcome, text="", detail="out of order")
    with pytest.raises(error, match="out of order"):
        await litellm.acompletion("sim/ada", MESSAGES)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"colour": "red"}, "does not know colour"),
        ({"noise": "ab"}, "32 hex digits"),
        ({"noise": "not hex"}, "non-hexadecimal"),
        ({"top_p": 2.0}, "top_p"),
    ],
)
async def test_what_makes_no_sense_is_a_bad_request(arguments: dict[str, Any], words: str) -> None:
    keeper()
    with pytest.raises(litellm.BadRequestError, match=words):
        await litellm.acompletion("sim/ada", MESSAGES, **arguments)


async def test_the_built_in_simulated_model_answers() -> None:
    register({"sim": default_backend("sim")})
    response = await litellm.acompletion("sim/ada?skill=1", MESSAGES, seed=7)
    assert response.model == "sim/ada?skill=1"
