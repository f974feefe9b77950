"""The chat agent that all of ours build on: a voice, a system prompt, and the history of one conversation."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import BaseChatMessage, TextMessage
from autogen_core import CancellationToken

from coupled_arena.agents.messages import Answer, Request
from coupled_arena.models.calls import Message, Reply
from coupled_arena.models.voice import Voice
from coupled_arena.prompts import PromptSet
from coupled_arena.records import Sharing, Usage, weakest

__all__ = ["BaseChatAgent", "BaseChatMessage", "CancellationToken", "Response", "Tally", "TextMessage", "VoicedAgent"]


class VoicedAgent(BaseChatAgent):
    """An AutoGen chat agent that speaks through the gateway.

    It remembers what it was asked and what it said in this conversation, nothing else. Subclasses implement `answer`.
    """

    def __init__(self, name: str, voice: Voice, prompts: PromptSet, *, system: str, description: str = "") -> None:
        super().__init__(name, description or type(self).__name__)
        self.voice = voice
        self.prompts = prompts
        self.system = system
        self.history: list[Message] = [Message("system", system)] if system else []

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        """The types of messages this agent answers with."""
        return (Answer,)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        """Answer the last message, which must be one of our requests."""
        request = messages[-1]
        if not isinstance(request, Request):
            raise TypeError(f"{self.name}: answers a coupled_arena Request, not {type(request).__name__}")
        self._hear(request.content)
        return Response(chat_message=await self.answer(request))

    def _hear(self, content: str) -> None:
        """Add what is asked; an earlier request that got no answer and this one are one message."""
        if self.history and self.history[-1].role == "user":
            content = f"{self.history.pop().content}\n\n{content}"
        self.history.append(Message("user", content))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        """Forget the conversation."""
        del self.history[1 if self.system else 0 :]

    async def close(self) -> None:
        """Let go of what the voice holds for this conversation."""
        await self.voice.close()

    @abstractmethod
    async def answer(self, request: Any) -> Answer:
        """Answer a request; its text is already the last message of `history`."""


class Tally:
    """Adds up the calls that one answer is made of."""

    def __init__(self) -> None:
        self.usage = Usage()
        self.sharings: list[Sharing] = []
        self.detail = ""

    def add(self, reply: Reply) -> Reply:
        """Count a reply and hand it back; the last word of a provider's fault is kept."""
        self.usage += reply.usage
        if reply.answered:
            self.sharings.append(reply.sharing)
        self.detail = reply.detail or self.detail
        return reply

    @property
    def sharing(self) -> Sharing:
        """What the answer shares: what its least shared call does."""
        return weakest(self.sharings) if self.sharings else "none"
