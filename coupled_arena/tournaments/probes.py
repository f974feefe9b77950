"""One tiny call to every hosted model, to see whether its key, its name and its settings hold and whether it thinks."""

import asyncio
import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from coupled_arena.models.calls import Call, Message, Reply
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.model import CHANGES_NO_REPLY, Model
from coupled_arena.models.voice import Voice
from coupled_arena.tournaments.diagnosis import Finding, diagnosed

PROBE = "Reply with the word OK and nothing else."
"""What is asked."""
PROBE_TOKENS = 16
"""Most tokens of the answer, beside the model's `thinking_tokens`."""
LONGEST_PROBE = 30.0
"""Most seconds for all requests of one probe; less where the model's own time-out is shorter."""
AT_ONCE = 64
"""Most probes in flight."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a probe showed of a model."""

    finding: Finding
    """What it means."""
    latency: float
    """Seconds from asking to the answer, repetitions included."""


async def probe(
    gateway: Gateway, models: Iterable[tuple[Model, str]], *, clock: Callable[[], float] = time.monotonic
) -> dict[Model, Seen]:
    """Ask every model once and return what was seen; models that differ in name only share one call.

    The answers go past memo, counts and store. No probe takes longer than the model's time-out or `LONGEST_PROBE`,
    whatever the provider does.

    Args:
        gateway: the way to the models.
        models: each with the role whose temperature it is asked at.
        clock: seconds.
    """
    slots = asyncio.Semaphore(AT_ONCE)
    asked: dict[str, asyncio.Task[tuple[Reply, float]]] = {}
    keys: dict[Model, str] = {}
    async with asyncio.TaskGroup() as group:
        for model, role in models:
            key = keys[model] = _settings_of(model)
            if key not in asked:
                asked[key] = group.create_task(_ask(gateway, Voice(gateway, model, role), slots, clock))
    found = {}
    for model, key in keys.items():
        reply, latency = asked[key].result()
        found[model] = Seen(diagnosed(reply, model), latency)
    return found


async def _ask(
    gateway: Gateway, voice: Voice, slots: asyncio.Semaphore, clock: Callable[[], float]
) -> tuple[Reply, float]:
    model = voice.model
    limit = min(model.timeout, LONGEST_PROBE)
    call = Call(model, (Message("user", PROBE),), voice.sampling, PROBE_TOKENS, bytes(16))
    began = clock()
    try:
        # Around the wait for a slot too: providers that hang must not keep the others waiting one after the other.
        async with asyncio.timeout(limit), slots:
            began = clock()
            reply = await gateway.probe(call)
    except TimeoutError:
        reply = Reply(outcome="timeout", detail=f"no answer within {limit:g} s")
    return reply, clock() - began


def _settings_of(model: Model) -> str:
    return json.dumps(model.model_dump(mode="json", exclude={"name", "family", *CHANGES_NO_REPLY}), sort_keys=True)
