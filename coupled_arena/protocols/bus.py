"""Conversations on an AutoGen runtime: an agenda decides who speaks next, seats speak, observers listen.

Each conversation has a runtime of its own, which costs 0.3 ms and is freed with it. Topics are `start`, `turn.<seat>`
and `transcript`; the conversation's id is their source.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from autogen_core import (
    AgentId,
    BaseAgent,
    CancellationToken,
    MessageContext,
    MessageHandlerContext,
    SingleThreadedAgentRuntime,
    TopicId,
)
from autogen_core import TypeSubscription as Subscription
from autogen_core._single_threaded_agent_runtime import PublishMessageEnvelope
from opentelemetry.trace import NoOpTracerProvider

from coupled_arena.agents.base import BaseChatAgent, BaseChatMessage
from coupled_arena.errors import ConversationFailed, ConversationStalled, ListenerFailed

GRACE_S = 5.0
"""Seconds a cancelled conversation waits for agents that do not heed their cancellation."""

ResultT_co = TypeVar("ResultT_co", covariant=True)
ResultT = TypeVar("ResultT")
MessageT = TypeVar("MessageT", bound=BaseChatMessage)


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """Asks one seat to speak."""

    seat: str
    """Name of the seat."""
    message: BaseChatMessage
    """What the seat has not seen and may see, and what it is to do."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """What a seat said."""

    seat: str
    """Name of the seat."""
    message: BaseChatMessage
    """Its answer."""


def said_as(kind: type[MessageT], utterance: Utterance) -> MessageT:
    """Return an utterance's message, which must be of this kind.

    Raises:
        TypeError: it is not; the agent in the seat does not know what it is asked for.
    """
    message = utterance.message
    if not isinstance(message, kind):
        raise TypeError(
            f"{utterance.seat}: answered with a {type(message).__name__} and not a {kind.__name__}; "
            "seat an agent of your own by Tournament(agents={...})"
        )
    return message


class Agenda(Protocol[ResultT_co]):
    """Decides who speaks next. It owns the transcript and is plain synchronous code."""

    def open(self) -> Sequence[TurnRequest]:
        """Return the first requests."""
        ...

    def hear(self, utterance: Utterance) -> Sequence[TurnRequest]:
        """Take note of an utterance and return what is asked next; nothing while others still have to speak."""
        ...

    @property
    def result(self) -> ResultT_co | None:
        """The result, once there is one."""
        ...


Observer = Callable[[str, Utterance], None]
"""Called with the conversation's id and each utterance, in the order they were said."""


@dataclass(slots=True)
class _Fault:
    """The first exception of a conversation, if any."""

    error: BaseException | None = None


class _Runtime(SingleThreadedAgentRuntime):
    """AutoGen's runtime without the spans, log lines and extra tasks that are most of what a message costs in it.

    What it overrides does the same: queue a message, and hand it to whoever has subscribed. It uses what is not public;
    AutoGen is pinned to the version that has it.
    """

    def __init__(self) -> None:
        super().__init__(tracer_provider=NoOpTracerProvider())

    async def publish_message(
        self,
        message: object,
        topic_id: TopicId,
        *,
        sender: AgentId | None = None,
        cancellation_token: CancellationToken | None = None,
        message_id: str | None = None,
    ) -> None:
        await self._message_queue.put(
            PublishMessageEnvelope(
                message=message,
                cancellation_token=cancellation_token or CancellationToken(),
                sender=sender,
                topic_id=topic_id,
                message_id=message_id or "",
            )
        )

    async def _process_publish(self, message_envelope: PublishMessageEnvelope) -> None:
        sent = message_envelope
        context = MessageContext(sent.sender, sent.topic_id, False, sent.cancellation_token, sent.message_id)
        try:
            # One after the other: a topic has one seat, or a moderator and observers who wait for nothing.
            for recipient in await self._subscription_manager.get_subscribed_recipients(sent.topic_id):
                agent = await self._get_agent(recipient)
                with MessageHandlerContext.populate_context(recipient):
                    await agent.on_message(sent.message, context)
        finally:
            self._message_queue.task_done()

    def release(self) -> None:
        """Let go of the agents, who hold the runtime: a circle of the two would wait for the garbage collector."""
        self._instantiated_agents.clear()
        self._agent_factories.clear()


class _Start:
    """Opens a conversation."""


class _Guarded(BaseAgent):
    """An agent whose exceptions end its own conversation and no other.

    Nobody waits for what a handler of a published message raises; here the first exception is kept, the conversation's
    token is cancelled, and the queue drains by itself.
    """

    def __init__(self, description: str, fault: _Fault) -> None:
        super().__init__(description)
        self.fault = fault

    async def on_message_impl(self, message: object, ctx: MessageContext) -> None:
        if ctx.cancellation_token.is_cancelled():
            return
        try:
            await self.handle(message, ctx)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
        except Exception as error:  # noqa: BLE001 - whatever an agent raises belongs to this conversation's caller
            self.fault.error = self.fault.error or error
            ctx.cancellation_token.cancel()

    async def handle(self, message: object, ctx: MessageContext) -> None:
        """Do the agent's work."""
        raise TypeError(f"{self.metadata['type']}: no handler for {type(message).__name__}")


class _Moderator(_Guarded):
    """Hosts the agenda."""

    def __init__(self, agenda: Agenda[object], fault: _Fault) -> None:
        super().__init__("moderator", fault)
        self.agenda = agenda

    async def handle(self, message: object, ctx: MessageContext) -> None:
        requests = self.agenda.hear(message) if isinstance(message, Utterance) else self.agenda.open()
        for request in requests:
            topic = TopicId(f"turn.{request.seat}", self.id.key)
            await self.publish_message(request, topic, cancellation_token=ctx.cancellation_token)


class _Seat(_Guarded):
    """Hosts a chat agent."""

    def __init__(self, seat: str, agent: BaseChatAgent, fault: _Fault) -> None:
        super().__init__(seat, fault)
        self.seat = seat
        self.agent = agent

    async def handle(self, message: object, ctx: MessageContext) -> None:
        if not isinstance(message, TurnRequest):
            return await super().handle(message, ctx)
        # A task of its own, so that cancelling the conversation also stops an agent that links nothing to the token.
        speaking = asyncio.ensure_future(self.agent.on_messages([message.message], ctx.cancellation_token))
        ctx.cancellation_token.link_future(speaking)
        response = await speaking
        if not isinstance(response.chat_message, BaseChatMessage):
            raise TypeError(f"{self.seat}: an agent answers with a chat message")
        said = Utterance(self.seat, response.chat_message)
        await self.publish_message(said, TopicId("transcript", self.id.key), cancellation_token=ctx.cancellation_token)


class _Listener(_Guarded):
    """Hosts an observer."""

    def __init__(self, observer: Observer, fault: _Fault) -> None:
        super().__init__("observer", fault)
        self.observer = observer

    async def handle(self, message: object, ctx: MessageContext) -> None:
        if not isinstance(message, Utterance):
            return
        try:
            self.observer(self.id.key, message)
        except Exception as error:
            raise ListenerFailed(f"an observer raised {type(error).__name__}: {error}") from error


async def converse(
    agenda: Agenda[ResultT],
    seats: Mapping[str, BaseChatAgent],
    *,
    conversation: str,
    observers: Sequence[Observer] = (),
) -> ResultT:
    """Hold one conversation and return the agenda's result.

    Args:
        agenda: who speaks when; it is used up by the conversation.
        seats: a chat agent for every seat the agenda may ask; names of letters, digits, `_`, `-` and `.`.
        conversation: unique id, named in every error.
        observers: called with every utterance.

    Raises:
        ConversationFailed: an agent, the agenda or an observer raised; the cause is chained.
        ConversationStalled: nobody was left to speak and the agenda had no result.
    """
    runtime = _Runtime()
    fault, token = _Fault(), CancellationToken()

    async def seat(kind: str, agent: BaseAgent, *topics: str) -> None:
        await runtime.register_agent_instance(agent, AgentId(kind, conversation))
        for topic in topics:
            await runtime.add_subscription(Subscription(topic, kind))

    await seat("moderator", _Moderator(agenda, fault), "start", "transcript")
    for name, agent in seats.items():
        await seat(f"seat.{name}", _Seat(name, agent, fault), f"turn.{name}")
    for number, observer in enumerate(observers):
        await seat(f"observer.{number}", _Listener(observer, fault), "transcript")
    runtime.start()
    await runtime.publish_message(_Start(), TopicId("start", conversation), cancellation_token=token)
    # Idle means over: every request is answered or nothing more was asked. Waiting on a task of its own keeps the
    # runtime's loop alive when the caller is cancelled.
    drained = asyncio.create_task(runtime.stop_when_idle())
    try:
        await asyncio.wait({drained})
    finally:
        if not drained.done():
            token.cancel()
            _, stuck = await asyncio.wait({drained}, timeout=GRACE_S)
            for task in stuck:
                task.cancel()
    drained.result()
    runtime.release()
    if fault.error is not None:
        raise ConversationFailed(conversation, f"{type(fault.error).__name__}: {fault.error}") from fault.error
    if agenda.result is None:
        raise ConversationStalled(conversation, "nobody was left to speak and there was no result")
    return agenda.result
