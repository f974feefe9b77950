"""Seats any AutoGen chat agent: our agents of the same role speak through it as they do through a model.

So what is asked of a model is asked of an agent of the user's, in plain words, and its text is read by the same rules:
sections, verdicts, what is asked for again, and what is cut.
"""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from coupled_arena.agents.base import BaseChatAgent, BaseChatMessage, CancellationToken, Response, TextMessage
from coupled_arena.agents.factories import AgentBackend
from coupled_arena.agents.seat import Seat, Speech
from coupled_arena.coupling import Dice
from coupled_arena.errors import HERE, CallFailed, ConfigurationError, Problem
from coupled_arena.models.calls import Call, Message, Reply
from coupled_arena.models.model import Model
from coupled_arena.models.voice import Voice
from coupled_arena.records import Outcome, Usage

MODERATOR = "moderator"
"""Who asks, in the messages an agent is given."""

_UNANSWERED = frozenset(get_args(Outcome)) - {"ok", "truncated"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentVoice(Voice):
    """An agent of the user's in one conversation, spoken to like a model.

    An agent keeps its own memory, so it is told only what is new: the last message of a chat, and before the first one
    what a model finds in its system prompt.
    """

    guest: "Guest"
    """The agent and what it has been told."""
    shares: bool = True
    """Whether whoever it is compared with rolls the dice of its calls, too."""

    async def say(self, messages: Sequence[Message], *, dice: Dice, part: str, max_tokens: int, **_: Any) -> Reply:
        """Ask the agent and return its reply; see `Voice.say`.

        A turn in which the agent asked none of our models is kept and counted as one call. One that is made of such
        calls is not: they are kept themselves.

        Raises:
            BudgetReached: the agent has to be asked, and nothing more may be spent.
            ConfigurationError: what the agent remembers cannot be kept.
        """
        guest = self.guest
        told = messages[-1].content
        if not guest.log and messages[0].role == "system":
            told = f"{messages[0].content}\n\n{told}"
        asked = Message("user", told)
        call = Call(
            model=self.model,
            messages=(*guest.log, asked),
            sampling=self.sampling,
            max_tokens=max_tokens,
            noise=dice.key(part),
            sample=dice.sample,
        )
        turn = _Turn(self, told, Speech(dice, part, max_tokens))
        reply = await self.gateway.reply(call, turn)
        guest.hear(asked, reply, turn)
        return reply

    async def close(self) -> None:
        """Let the agent let go of what it holds."""
        if self.guest.agent is not None:
            await self.guest.agent.close()


@dataclass(slots=True)
class Guest:
    """One agent of the user's in one conversation.

    It is made when it first has to be asked. A turn that came from the memo it does not remember, so before it is asked
    again a fresh agent is given the state that was kept with the last such turn.
    """

    backend: AgentBackend
    """What makes it."""
    name: str
    """Its name there."""
    seat: Seat
    """What it speaks through."""
    log: list[Message] = field(default_factory=list)
    """What it was told and what it said."""
    state: dict[str, Any] = field(default_factory=dict)
    """What it remembered after its last turn that was kept as a whole; empty where it keeps no state."""
    agent: BaseChatAgent | None = None
    """The agent, None until it has to be asked."""
    models: tuple[Model, ...] = ()
    """The models it can ask through `model_client`."""
    knows: int = 0
    """How much of the log the agent remembers; less than nothing where a turn of its was broken off."""

    def made(self) -> BaseChatAgent:
        """Return the agent, made if need be."""
        if self.agent is None:
            self.agent, self.models = self.backend.make(self.name, self.seat.role)
        return self.agent

    async def ready(self) -> list[BaseChatMessage]:
        """Bring the agent to where the log ends; return what else it has to be told because it keeps no state."""
        agent = self.made()
        if self.knows == len(self.log):
            return []
        if self.knows:
            await agent.close()
            self.agent, self.knows = None, 0
            agent = self.made()
        if self.state:
            with self.seat.taken():
                await agent.load_state(self.state)
            return []
        return [
            TextMessage(content=message.content, source=MODERATOR if message.role == "user" else agent.name)
            for message in self.log
        ]

    def hear(self, asked: Message, reply: Reply, turn: "_Turn") -> None:
        """Take note of a turn, from the memo or spoken."""
        whole = not (turn.spoken and turn.speech.calls)
        if whole and not reply.answered:
            self.knows = -1 if turn.spoken else self.knows
            return
        self.log.append(asked)
        if reply.text:
            self.log.append(Message("assistant", reply.text))
        if whole:
            self.state = dict(reply.state)
        if turn.spoken:
            self.knows = len(self.log)


@dataclass(slots=True)
class _Turn:
    """Lets the agent speak; the gateway asks it in place of a backend."""

    voice: AgentVoice
    told: str
    speech: Speech
    spoken: bool = False

    @property
    def whole(self) -> bool:
        """Whether the turn is one call: likely where the agent holds no model client, and so where it used none."""
        if self.spoken:
            return not self.speech.calls
        guest = self.voice.guest
        guest.made()
        return not guest.models

    async def complete(self, call: Call) -> Reply:
        """Ask the agent; what a provider did to its calls is an outcome, anything else it raises a fault of its own."""
        speech, guest = self.speech, self.voice.guest
        before = await guest.ready()
        agent = guest.made()
        self.spoken = True
        # A turn made of calls has their time limits, and may have to wait for its turn at a provider.
        clock = asyncio.timeout(None if guest.models else call.model.timeout)
        try:
            with guest.seat.speaking(speech):
                text, usage = await _asked(agent, [*before, TextMessage(content=self.told, source=MODERATOR)], clock)
                if speech.fault is not None:
                    raise speech.fault
                state = await _state_of(agent, call.model) if text.strip() and not speech.calls else {}
        except Exception as error:
            if speech.fault is not None:
                raise speech.fault from None
            if clock.expired():
                return Reply(outcome="timeout", detail=f"no answer within {call.model.timeout:g} s", cost=None)
            if (ending := _ending(error, speech)) is None:
                raise
            return ending
        usage = speech.tally.usage if speech.calls else usage
        price = call.model.price
        about: dict[str, Any] = {"usage": usage, "cost": None if price is None else price.of(usage), "state": state}
        if not text.strip():
            return Reply(outcome="empty", detail="the agent said nothing", **about)
        cut = speech.last is not None and speech.last.outcome == "truncated"
        sharing = speech.tally.sharing
        if not self.voice.shares and sharing != "deterministic":
            sharing = "none"
        return Reply(text=text, outcome="truncated" if cut else "ok", sharing=sharing, **about)


async def _asked(agent: BaseChatAgent, messages: list[BaseChatMessage], clock: asyncio.Timeout) -> tuple[str, Usage]:
    """Return what an agent answers, and the tokens it says it took."""
    token = CancellationToken()
    try:
        async with clock:
            response: Any = await agent.on_messages(messages, token)
    except BaseException:
        # What it started and linked to the token must not outlive the turn.
        token.cancel()
        raise
    if not isinstance(response, Response) or not isinstance(response.chat_message, BaseChatMessage):
        raise TypeError(f"{agent.name}: on_messages has to return a Response with a chat message")
    usage = Usage()
    for part in (*(response.inner_messages or ()), response.chat_message):
        if part.models_usage is not None:
            used = part.models_usage
            usage += Usage(prompt_tokens=used.prompt_tokens, completion_tokens=used.completion_tokens)
    return response.chat_message.to_text(), usage


async def _state_of(agent: BaseChatAgent, model: Model) -> dict[str, Any]:
    """Return what an agent remembers, nothing where it does not say.

    Raises:
        ConfigurationError: it cannot say, or JSON cannot hold it.
    """
    if type(agent).save_state is BaseChatAgent.save_state:
        return {}
    try:
        state: dict[str, Any] = json.loads(json.dumps(dict(await agent.save_state()), allow_nan=False))
    except Exception as error:
        message = f"its save_state failed, or returned what JSON cannot hold ({type(error).__name__}: {error}); "
        message += "mend it, or leave it out to be told the whole conversation again after a resume"
        raise ConfigurationError([Problem(HERE, model.name, message)]) from error
    return state


def _ending(error: Exception, speech: Speech) -> Reply | None:
    """Return how a turn ended that the agent could not finish, None where it failed by itself.

    AutoGen hands on the exceptions of agents in a team as text only, so the latest call tells more than the exception.
    """
    last = speech.last
    if last is not None and not last.answered:
        return Reply(outcome=last.outcome, detail=last.detail, usage=speech.tally.usage)
    if isinstance(error, CallFailed):
        known = error.outcome if error.outcome in _UNANSWERED else "failed"
        return Reply.model_validate({"outcome": known, "detail": error.detail, "cost": None})
    return None
