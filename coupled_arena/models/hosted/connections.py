"""The connections that LiteLLM keeps for an event loop, closed when the last user of ours is done with it."""

import asyncio
import inspect
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from coupled_arena.models.litellm_loader import load_litellm


@dataclass(slots=True)
class _Shared:
    """What the users of one event loop share."""

    before: frozenset[str]
    """Clients that were there first, and so are somebody else's."""
    users: "WeakSet[Connections]" = field(default_factory=WeakSet)
    """Who may be sending."""


_LOOPS: WeakKeyDictionary[asyncio.AbstractEventLoop, _Shared] = WeakKeyDictionary()


class Connections:
    """One user's claim on the connections of the event loops it sends from.

    LiteLLM keeps a client with open connections for every provider, key and event loop, and lets go of it an hour
    later or when the process ends; a program that plays many tournaments would run out of file descriptors before.
    """

    def claim(self) -> None:
        """Keep the connections of the running event loop open until `aclose`."""
        loop = asyncio.get_running_loop()
        shared = _LOOPS.get(loop)
        if shared is None:
            shared = _LOOPS[loop] = _Shared(frozenset(_clients()))
        shared.users.add(self)

    async def aclose(self) -> None:
        """Give the claim up; without any other, close every client that was made for this loop since the first one."""
        loop = asyncio.get_running_loop()
        shared = _LOOPS.get(loop)
        if shared is None:
            return
        shared.users.discard(self)
        if shared.users:
            return
        del _LOOPS[loop]
        for name in [name for name in _clients() if name not in shared.before]:
            client = load_litellm().in_memory_llm_clients_cache.cache_dict.get(name)
            load_litellm().in_memory_llm_clients_cache.delete_cache(name)
            await _close(client)


def _clients() -> Iterator[str]:
    """Yield the names under which LiteLLM keeps clients of the running event loop."""
    cache = load_litellm().in_memory_llm_clients_cache
    ending = cache.update_cache_key_with_event_loop("")
    return (name for name in tuple(cache.cache_dict) if ending and name.endswith(ending))


async def _close(client: Any) -> None:
    close = getattr(client, "aclose", None) or getattr(client, "close", None)
    if close is None:
        return
    # A client that cannot be closed any more (its socket is gone) needs no closing.
    with suppress(OSError, RuntimeError):
        closing = close()
        if inspect.isawaitable(closing):
            await closing
