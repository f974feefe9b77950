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
from coupled_arena.tournaments.playing.conversations import together
from coupled_arena.tournaments.preflight.diagnosis import Finding, diagnosed

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
    prober = _Prober(gateway, clock)
    keys: dict[Model, str] = {}
    voices: dict[str, Voice] = {}
    for model, role in models:
        key = keys[model] = _settings_of(model)
        voices.setdefault(key, Voice(gateway, model, role))
    listener, gateway.on_wait = gateway.on_wait, prober.waiting
    try:
        answers = dict(zip(voices, await together(map(prober.ask, voices.values())), strict=True))
    finally:
        gateway.on_wait = listener
    return {model: Seen(diagnosed(answers[key][0], model), answers[key][1]) for model, key in keys.items()}


class _Prober:
    """Asks models, and remembers which of them were held back."""

    def __init__(self, gateway: Gateway, clock: Callable[[], float]) -> None:
        self._gateway = gateway
        self._clock = clock
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._held: dict[str, str] = {}

    def waiting(self, model: Model, seconds: float, reason: str) -> None:
        """Remember why a call waits before it is sent."""
        self._held[model.name] = reason

    async def ask(self, voice: Voice) -> tuple[Reply, float]:
        """Return a model's answer, and in how many seconds it came."""
        model = voice.model
        limit = min(model.timeout, LONGEST_PROBE)
        call = Call(model, (Message("user", PROBE),), voice.sampling, PROBE_TOKENS, bytes(16))
        began = self._clock()
        try:
            # Around the wait for a slot too: providers that hang must not keep the others waiting one after the other.
            async with asyncio.timeout(limit), self._slots:
                began = self._clock()
                reply = await self._gateway.probe(call)
        except TimeoutError:
            reply = Reply(outcome="timeout", detail=f"no answer within {limit:g} s", fault="time")
            if reason := self._held.get(model.name):
                reply = Reply(outcome="timeout", detail=f"held back for {limit:g} s: {reason}", fault="rate")
        return reply, self._clock() - began


def _settings_of(model: Model) -> str:
    return json.dumps(model.model_dump(mode="json", exclude={"name", "family", *CHANGES_NO_REPLY}), sort_keys=True)
