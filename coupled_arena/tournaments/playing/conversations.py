"""How a run holds its conversations: many at once, with faults of this machine told from faults of a seat."""

import asyncio
import logging
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from coupled_arena.agents.base import BaseChatAgent
from coupled_arena.errors import (
    BudgetReached,
    ConfigurationError,
    ConversationError,
    ListenerFailed,
    ModelError,
    StoreError,
)
from coupled_arena.protocols import Agenda, Observer, converse

ResultT = TypeVar("ResultT")

logger = logging.getLogger(__name__)

RUNS_END = (BudgetReached, StoreError, ModelError, ConfigurationError, ListenerFailed)
"""Bounds and faults that end the run, while a fault of a seat only makes its battle void."""


async def hold(
    agenda: Agenda[ResultT],
    seats: Mapping[str, BaseChatAgent],
    *,
    conversation: str,
    observers: Sequence[Observer] = (),
) -> ResultT:
    """Hold one conversation; see `protocols.converse`.

    Raises:
        BudgetReached: nothing more may be spent.
        StoreError: an answer could not be kept; the run cannot go on.
        ModelError: a model cannot be used on this machine; the run cannot go on.
        ConfigurationError: something was asked for that cannot be done; the run cannot go on.
        ListenerFailed: an observer or listener raised; the run stops.
        ConversationError: a seat failed, or nobody was left to speak; other conversations can go on.
    """
    try:
        return await converse(agenda, seats, conversation=conversation, observers=observers)
    except ConversationError as error:
        if isinstance(error.__cause__, RUNS_END):
            raise error.__cause__ from None
        raise
    finally:
        for name, seat in seats.items():
            await _close(name, seat, conversation)


async def _close(name: str, agent: BaseChatAgent, conversation: str) -> None:
    """Let an agent let go of what it holds; what it said stands whatever comes of that."""
    try:
        await agent.close()
    except Exception:
        logger.exception("%s: the agent in seat %s could not be closed", conversation, name)


async def together(coroutines: Iterable[Coroutine[Any, Any, ResultT]]) -> list[ResultT]:
    """Run coroutines at the same time and return their results in order; the first exception cancels the others."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(coroutine) for coroutine in coroutines]
    except ExceptionGroup as faults:
        raise faults.exceptions[0] from None
    return [task.result() for task in tasks]
