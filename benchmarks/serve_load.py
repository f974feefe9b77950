"""What a crowd does to the server: requests answered, memory, and slots that are free again.

Starts `coupled-arena serve` in a process of its own. First 200 requests come at once; then 2,000 come one after the
other on a few connections, every second one as a stream, and the server's memory is read on the way; at last clients
disconnect in the middle of long replies. Every request has a seed of its own, so no reply is another's; a few at a time
ask the same thing, as an evaluation with repeats does.

    python benchmarks/serve_load.py [--model local/NAME | --simulated] [--at-once N] [--requests N] [--tokens N]
"""

import argparse
import asyncio
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

MODEL, SIMULATED = "local/smollm2-135m", "sim/ada"
CONNECTIONS = 16
"""Connections of the long part."""
KILLED = 20
"""Clients that disconnect."""
KILLED_TOKENS = 2000
"""Tokens that those have asked for."""
REPEATS = 8
"""Requests that ask the same thing."""
READINGS = 4
"""How often memory is read in the long part."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server in another process."""

    process: int
    """Its id."""
    base: str
    """Its address, with `/v1`."""
    model: str
    """What it serves."""

    def memory(self) -> float:
        """Return its resident memory in MB."""
        status = Path(f"/proc/{self.process}/status").read_text(encoding="utf-8")
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        return int(found[1]) / 1024 if found else float("nan")


@contextmanager
def serving(model: str) -> Iterator[Server]:
    """Serve a model while the block runs."""
    command = [sys.executable, "-m", "coupled_arena", "serve", f"model={model}", "--port", "0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        lines = []
        for line in process.stdout or ():
            lines.append(line)
            if line == "}\n":
                break
        try:
            yield Server(process.pid, json.loads("".join(lines))["base_url"], "model")
        finally:
            process.terminate()


async def ask(session: aiohttp.ClientSession, server: Server, seed: int, tokens: int, *, stream: bool) -> bool:
    """Send one request; return whether it was answered."""
    messages = [{"role": "user", "content": f"Write about number {seed // REPEATS}."}]
    body = {"model": server.model, "messages": messages, "seed": seed, "max_tokens": tokens, "stream": stream}
    async with session.post(f"{server.base}/chat/completions", json=body) as response:
        content = await response.read()
        return response.status == 200 and (not stream or content.endswith(b"data: [DONE]\n\n"))


async def disappear(session: aiohttp.ClientSession, server: Server, seed: int) -> None:
    """Begin a long reply and leave after its first bytes."""
    messages = [{"role": "user", "content": f"Write a long story about number {seed}."}]
    body = {"model": server.model, "messages": messages, "seed": seed, "max_tokens": KILLED_TOKENS, "stream": True}
    async with session.post(f"{server.base}/chat/completions", json=body) as response:
        await response.content.readany()
        response.close()


async def in_work(session: aiohttp.ClientSession, server: Server) -> int:
    """Return how many requests the server is answering."""
    async with session.get(server.base.removesuffix("/v1") + "/health") as response:
        health: dict[str, Any] = await response.json()
        return int(health["in_work"])


async def load(server: Server, at_once: int, requests: int, tokens: int) -> None:
    """Send everything and print what came of it."""
    print(f"idle: {server.memory():.0f} MB")
    crowd = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=crowd, timeout=aiohttp.ClientTimeout(total=None)) as session:
        began = time.perf_counter()
        got = await asyncio.gather(
            *(ask(session, server, seed, tokens, stream=seed % 2 == 0) for seed in range(at_once))
        )
        wall = time.perf_counter() - began
        print(f"{at_once} at once: {sum(got)} answered in {wall:.1f} s, then {server.memory():.0f} MB")
    few = aiohttp.TCPConnector(limit=CONNECTIONS)
    async with aiohttp.ClientSession(connector=few, timeout=aiohttp.ClientTimeout(total=None)) as session:
        answered, done = 0, 0
        for part in range(READINGS):
            until = requests * (part + 1) // READINGS
            began = time.perf_counter()
            seeds = range(at_once + done, at_once + until)
            answered += sum(await asyncio.gather(*(ask(session, server, s, tokens, stream=s % 2 == 0) for s in seeds)))
            rate, done = (until - done) / (time.perf_counter() - began), until
            print(f"{done} more: {answered} answered, {rate:.0f} a second, {server.memory():.0f} MB")
        await asyncio.gather(*(disappear(session, server, seed) for seed in range(KILLED)))
        began = time.perf_counter()
        while await in_work(session, server):
            pass
        waited = time.perf_counter() - began
        print(f"{KILLED} clients disappeared: no request in work {waited:.2f} s later, {server.memory():.0f} MB")


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--simulated", action="store_true", help="serve a simulated model, which needs no weights")
    parser.add_argument("--at-once", type=int, default=200)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--tokens", type=int, default=4)
    given = parser.parse_args()
    with serving(SIMULATED if given.simulated else given.model) as server:
        asyncio.run(load(server, given.at_once, given.requests, given.tokens))


if __name__ == "__main__":
    main()
