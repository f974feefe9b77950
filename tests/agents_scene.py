"""Agents of a user's own: one with a client of its own, and assistants over `model_client`."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autogen_agentchat.agents import AssistantAgent, BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import BaseChatMessage, TextMessage
from autogen_core import CancellationToken
from autogen_core.models import RequestUsage

import coupled_arena as ca
from coupled_arena.agents import Debater
from coupled_arena.agents.factories import AgentBackend
from coupled_arena.agents.guest import AgentVoice, Guest
from coupled_arena.agents.messages import StepAnswer, StepRequest
from coupled_arena.agents.seat import Seat
from coupled_arena.coupling import Dice
from coupled_arena.models.calls import Abilities, Call, Memo, Reply, ToolCall
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.model import Model
from coupled_arena.prompts import load_prompts
from coupled_arena.records import Usage
from tests.support import ScriptedBackend

EN = load_prompts("en")
DICE = Dice(7, ("math-1", "0"), ("debater",), ("opening",))
OPENING = StepRequest(content="What is 17 + 25?", requires=("respond",), limit=30, max_tokens=40, dice=DICE)
TOOLS = Abilities(tools=True, schema=True, context=4096)


@dataclass
class Ledger:
    """Everything that agents with a client of their own were asked, and how they answer."""

    answer: Callable[[Sequence[str]], str] = lambda heard: f"<respond>I was asked {len(heard)} times.</respond>"
    asked: list[str] = field(default_factory=list)
    closed: int = 0


class OwnClient(BaseChatAgent):
    """An agent whose provider nobody but itself knows; it remembers what it was told."""

    def __init__(self, ledger: Ledger, name: str = "own") -> None:
        super().__init__(name, "an agent with a client of its own")
        self.ledger = ledger
        self.heard: list[str] = []

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        return (TextMessage,)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        self.heard += [message.to_text() for message in messages]
        await asyncio.sleep(0)
        self.ledger.asked.append(self.heard[-1])
        said = self.ledger.answer(self.heard)
        usage = RequestUsage(prompt_tokens=100, completion_tokens=len(said))
        return Response(chat_message=TextMessage(content=said, source=self.name, models_usage=usage))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        self.heard.clear()

    async def close(self) -> None:
        self.ledger.closed += 1


class Remembering(OwnClient):
    """One whose memory can be saved."""

    async def save_state(self) -> Mapping[str, Any]:
        return {"heard": list(self.heard)}

    async def load_state(self, state: Mapping[str, Any]) -> None:
        self.heard = list(state["heard"])


def calling(name: str, arguments: str = '{"expression": "17 + 25"}', number: int = 1) -> Reply:
    """Return a reply that asks for a tool."""
    call = ToolCall(id=f"call_{number}", name=name, arguments=arguments)
    return Reply(outcome="ok", tool_calls=(call,), usage=Usage(prompt_tokens=20, completion_tokens=5))


def calculate(expression: str) -> str:
    """Work out a sum."""
    return str(sum(int(part) for part in expression.split("+")))


def assistant(client: object = None, **settings: Any) -> AssistantAgent:
    """Return an assistant that speaks through `model_client`."""
    settings = {"system_message": "You are careful.", **settings}
    return AssistantAgent("assistant", client or ca.model_client("test/model"), **settings)  # type: ignore[arg-type]


@dataclass
class Stage:
    """A gateway with one scripted model, and agents that can be asked through it."""

    gateway: Gateway
    backend: ScriptedBackend

    def voice(self, factory: Callable[[], BaseChatAgent], role: str = "debater", **settings: Any) -> AgentVoice:
        agents = AgentBackend({"x": factory}, self.gateway, lambda model: model)
        self.gateway.use("agent", agents)
        guest = Guest(agents, "x", Seat(self.gateway, role, lambda model: model))
        return AgentVoice(gateway=self.gateway, model=Model("agent/x", **settings), role=role, guest=guest)


def stage(
    answer: Callable[[Call], Reply | str] = lambda call: "fine", memo: Memo | None = None, able: Abilities = TOOLS
) -> Stage:
    backend = ScriptedBackend(answer, able)
    return Stage(Gateway(memo, backends={"hosted": backend}), backend)


async def debate(voice: AgentVoice, request: StepRequest = OPENING, *, debater: Debater | None = None) -> StepAnswer:
    """Return what an agent says as a debater."""
    response = await (debater or Debater("d", voice, EN)).on_messages([request], CancellationToken())
    assert isinstance(response.chat_message, StepAnswer)
    return response.chat_message
