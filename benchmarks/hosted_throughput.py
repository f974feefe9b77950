"""500 concurrent calls over HTTP: the gateway against the bare OpenAI client in one run, and memory over 20,000 calls.

The fake provider runs in a process of its own. Bars: every call answered, 500 really in flight at once, memory flat
after the first 5,000 calls.

    python benchmarks/hosted_throughput.py [--part throughput|memory]
"""

import argparse
import asyncio
import gc
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import openai

import coupled_arena as ca
from coupled_arena.coupling import Sampling
from coupled_arena.models.calls import Call, Message, Reply
from coupled_arena.models.hosted.backend import HostedBackend

CONCURRENT = 500
COMPARED = 4_000
CALLS = 20_000
WARM_UP = 500
PAGE = os.sysconf("SC_PAGE_SIZE")
KEY = "fake-key"


@contextmanager
def provider() -> Iterator[str]:
    """Run a fake provider in another process and yield its address."""
    arguments = [sys.executable, "-m", "coupled_arena.testing", "ada=Forty-two.", "--key", KEY]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        lines = iter(process.stdout or ())
        try:
            yield next(line for line in lines if "BASE" in line).partition("=")[2].strip().strip("'\"")
        finally:
            process.terminate()


def megabytes() -> float:
    """Return the resident memory of this process."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 1e6


async def timed(ask: Callable[[int], Awaitable[object]], calls: range) -> float:
    """Make calls, `CONCURRENT` at once, and return how many were answered in a second."""
    free = asyncio.Semaphore(CONCURRENT)

    async def one(number: int) -> None:
        async with free:
            await ask(number)

    began = time.perf_counter()
    await asyncio.gather(*(one(number) for number in calls))
    return len(calls) / (time.perf_counter() - began)


def call_of(model: ca.Model, number: int) -> Call:
    """Return a call that no other one equals."""
    return Call(model, (Message("user", f"question {number}"),), Sampling(), 50, number.to_bytes(16, "big"))


async def throughput(url: str, model: ca.Model) -> None:
    """Compare the gateway with the bare client, in turns."""
    bounds = httpx2.Limits(max_connections=CONCURRENT, max_keepalive_connections=CONCURRENT)
    client = httpx2.AsyncClient(limits=bounds, timeout=120)
    bare = openai.AsyncOpenAI(base_url=url, api_key=KEY, max_retries=0, http_client=client)

    async def through_client(number: int) -> object:
        return await bare.chat.completions.create(
            model="ada", messages=[{"role": "user", "content": f"question {number}"}], max_tokens=50, seed=number
        )

    async with ca.Gateway() as gateway:

        async def through_gateway(number: int) -> Reply:
            return await gateway.reply(call_of(model, number))

        await timed(through_client, range(WARM_UP))
        await timed(through_gateway, range(WARM_UP))
        rates: dict[str, list[float]] = {"openai client": [], "gateway": []}
        for part in range(2):
            numbers = range(10**6 * (part + 1), 10**6 * (part + 1) + COMPARED // 2)
            rates["openai client"].append(await timed(through_client, numbers))
            rates["gateway"].append(await timed(through_gateway, numbers))
        for name, found in rates.items():
            print(f"{name:14} {min(found):6.0f} to {max(found):6.0f} calls/s, {CONCURRENT} at once")
        print(f"ratio          {sum(rates['gateway']) / sum(rates['openai client']):6.2f}")
        print(f"gateway: {gateway.counts.made} calls made, {gateway.counts.failed} failed")
    await bare.close()


async def memory(model: ca.Model) -> None:
    """Make many calls past the gateway, whose memo keeps every answer of a run that has no store."""
    backend = HostedBackend()
    outcomes: dict[str, int] = {}

    async def ask(number: int) -> None:
        reply = await backend.complete(call_of(model, number))
        outcomes[reply.outcome] = outcomes.get(reply.outcome, 0) + 1

    before = megabytes()
    for done in range(0, CALLS, CALLS // 8):
        await timed(ask, range(done, done + CALLS // 8))
        print(f"after {done + CALLS // 8:6} calls: {megabytes():6.1f} MB (before: {before:.1f})", flush=True)
    print(f"outcomes: {outcomes}")
    await backend.aclose()


async def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("throughput", "memory"), help="left out: both")
    part = parser.parse_args().part
    with provider() as url:
        os.environ["THROUGHPUT_API_KEY"] = KEY
        model = ca.Model("ada", "openai/ada", api_base=url, api_key_env="THROUGHPUT_API_KEY")
        if part != "memory":
            await throughput(url, model)
        if part != "throughput":
            await memory(model)


if __name__ == "__main__":
    asyncio.run(main())
