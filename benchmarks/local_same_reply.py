"""Whether a local model's reply is the same however it comes about.

64 calls with prompts of about 20, 150 and 1,500 tokens are answered alone, one after the other, by a model without kept
prompts; then among 8, among 32, at random times, again with the prompts kept, and by a model that was loaded afresh in
the middle. Every row of the table counts the replies that equal those given alone, token probabilities included.

    python benchmarks/local_same_reply.py [--models local/NAME ...] [--calls 64] [--tokens 32] [--threads 1]
"""

import argparse
import asyncio
import random
import time
from collections.abc import Sequence

from coupled_arena.coupling import Sampling
from coupled_arena.models.calls import Call, Message, Reply
from coupled_arena.models.local.backend import LocalBackend
from coupled_arena.models.local.settings import LocalSettings
from coupled_arena.models.model import Model

MODELS = tuple(f"local/smollm2-135m{variant}" for variant in ("", ":q8_0", ":q4_0", ":f16"))
SUBJECTS = ("rivers", "bridges", "violins", "winter", "the moon", "bread", "maps", "bees")
FILLER = "The committee heard both sides, weighed what each had said, and was not convinced by either of them. "
REPEATS = (0, 6, 74)
"""How often the filler stands in a prompt, for about 20, 150 and 1,500 tokens."""


def calls_of(model: str, count: int, tokens: int) -> list[Call]:
    """Return calls whose prompts differ in length and share their beginnings."""
    calls = []
    for number in range(count):
        subject = SUBJECTS[number // len(REPEATS) % len(SUBJECTS)]
        text = FILLER * REPEATS[number % len(REPEATS)] + f"Write about {subject}."
        noise = number.to_bytes(16, "little")
        calls.append(Call(Model(model), (Message("user", text),), Sampling(0.7, top_k=50), tokens, noise, logprobs=0))
    return calls


def essence(replies: Sequence[Reply]) -> list[dict[str, object]]:
    """Return what must not differ between replies to one call."""
    return [reply.model_dump(exclude={"latency"}) for reply in replies]


async def among(backend: LocalBackend, calls: Sequence[Call], together: int) -> list[Reply]:
    """Answer calls, so many at a time."""
    limit = asyncio.Semaphore(together)

    async def one(call: Call) -> Reply:
        async with limit:
            return await backend.complete(call)

    return await asyncio.gather(*map(one, calls))


async def at_random_times(backend: LocalBackend, calls: Sequence[Call], dice: random.Random) -> list[Reply]:
    """Answer calls in a random order, each asked a random time after the one before."""
    order = list(range(len(calls)))
    dice.shuffle(order)
    tasks: dict[int, asyncio.Task[Reply]] = {}
    for index in order:
        tasks[index] = asyncio.create_task(backend.complete(calls[index]))
        await asyncio.sleep(dice.expovariate(10))
    return [await tasks[index] for index in range(len(calls))]


async def compare(model: str, count: int, tokens: int, threads: int | None) -> dict[str, tuple[int, float]]:
    """Return for every way of asking how many replies were those given alone, and the seconds it took."""
    calls = calls_of(model, count, tokens)
    cold = LocalBackend(LocalSettings(threads=1, cache_mb=0))
    warm = LocalBackend(LocalSettings(threads=threads))
    began = time.monotonic()
    alone = essence([await cold.complete(call) for call in calls])
    rows = {"alone": (count, time.monotonic() - began)}

    async def row(name: str, replies: Sequence[Reply], began: float) -> None:
        rows[name] = (sum(x == y for x, y in zip(alone, essence(replies), strict=True)), time.monotonic() - began)

    for name, backend, together in (
        ("among 8, nothing kept", cold, 8),
        ("among 32, prompts kept as they come", warm, 32),
        ("one at a time, prompts kept", warm, 1),
    ):
        began = time.monotonic()
        await row(name, await among(backend, calls, together), began)
    began = time.monotonic()
    await row("at random times", await at_random_times(warm, calls, random.Random(0)), began)
    began = time.monotonic()
    half = await among(warm, calls[: count // 2], 32)
    await warm.aclose()
    await row("loaded again in the middle", half + await among(warm, calls[count // 2 :], 32), began)
    await warm.aclose()
    await cold.aclose()
    return rows


def main() -> None:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--calls", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    for model in options.models:
        print(model)
        for name, (same, seconds) in asyncio.run(
            compare(model, options.calls, options.tokens, options.threads)
        ).items():
            print(f"  {name:<38}{same:>4} of {options.calls}   {seconds:7.1f} s", flush=True)


if __name__ == "__main__":
    main()
