"""What a battle costs beside its models: CPU of bus and gateway, CPU with the store, and a thousand battles at once.

Models answer at once (or after --latency in the last part), so what is measured is ours; simulated ones work for their
answers. A committee of five and one discussion round: 19 calls a battle.

    python benchmarks/battle_overhead.py [--battles 200] [--concurrent 1000] [--latency 0.2] [--json]
"""

import argparse
import asyncio
import gc
import json
import re
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import BaseChatMessage, TextMessage
from autogen_core import CancellationToken, SingleThreadedAgentRuntime

import coupled_arena as ca
from coupled_arena.models.calls import Abilities, Call, Reply
from coupled_arena.models.model import Model
from coupled_arena.protocols import TurnRequest, Utterance, converse
from coupled_arena.records import Usage
from coupled_arena.tournaments.playing.play import play
from coupled_arena.tournaments.playing.questions import given_questions
from coupled_arena.tournaments.playing.runner import Runner
from coupled_arena.tournaments.playing.seating import Seating

SENTENCE = "The answer follows from the stated conditions, as each step shows. "
ACTION = re.compile(r"<(respond|criticize|raise)>…")
MEGABYTE = 1e6


class Instant:
    """Answers every call in the form it asks for, at once or after a latency."""

    def __init__(self, latency: float = 0.0) -> None:
        self.latency = latency

    def abilities(self, model: Model) -> Abilities:
        """Return that nothing special can be asked for."""
        return Abilities()

    def identity(self, model: Model) -> str:
        """Return the model string."""
        return model.model

    def problems(self, model: Model) -> Sequence[str]:
        """Return that nothing is wrong."""
        return ()

    async def complete(self, call: Call) -> Reply:
        """Answer in the form that is asked for."""
        if self.latency:
            await asyncio.sleep(self.latency)
        asked = ACTION.findall(call.messages[-1].content)
        text = "".join(f"<{tag}>{SENTENCE * 12}</{tag}>" for tag in asked) or f"{SENTENCE * 3}\n[[A]]"
        return Reply(text=text, outcome="ok", usage=Usage(prompt_tokens=500, completion_tokens=200))

    async def aclose(self) -> None:
        """Hold nothing."""


def tournament(battles: int, seed: int, provider: str = "bench") -> ca.Tournament:
    """Return two models of a provider that fight so many battles before five judges."""
    text = "Which of the two proofs of the theorem is easier to check, and why? Case {}."
    questions = [
        ca.Question(id=f"q{n}", domain="logic", language="en", text=text.format(n), author="bench")
        for n in range(battles)
    ]
    return ca.Tournament(
        name="overhead",
        models=[f"{provider}/a", f"{provider}/b"],
        judges=[f"{provider}/j{n}" for n in range(5)],
        domains=["logic"],
        questions=tuple(questions),
        questions_per_domain=battles,
        schedule="round_robin",
        seed=seed,
    )


async def bare(definition: ca.Tournament, latency: float) -> int:
    """Play without a store: bus, agents and gateway only; return the calls made."""
    async with ca.Gateway(backends={"hosted": Instant(latency)}) as gateway:
        prompts = ca.load_prompts("en")
        questions = given_questions(definition)
        await Runner(definition, Seating(definition, gateway, prompts), prompts, questions).play()
        return gateway.counts.made


async def stored(definition: ca.Tournament, latency: float, store: Path) -> int:
    """Play on a store, as users do; return the calls made."""
    return (await play(definition, store, backends={"hosted": Instant(latency)})).counts.made


class Silent(BaseChatAgent):
    """Answers with one fixed message."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "silent")

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        """Plain text."""
        return (TextMessage,)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        """Answer at once."""
        return Response(chat_message=TextMessage(content=SENTENCE, source=self.name))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        """Remember nothing."""


class Rounds:
    """Asks seats in turn, so that a conversation has as many messages as a battle's."""

    def __init__(self, seats: Sequence[str]) -> None:
        self.left = list(seats)
        self.result: bool | None = None

    def open(self) -> Sequence[TurnRequest]:
        """Ask the next seat."""
        return [TurnRequest(self.left[0], TextMessage(content=SENTENCE, source="bench"))]

    def hear(self, utterance: Utterance) -> Sequence[TurnRequest]:
        """Go on until everybody has spoken."""
        del self.left[0]
        self.result = None if self.left else True
        return self.open() if self.left else ()


async def bus_alone(battles: int) -> dict[str, float]:
    """Hold as many conversations with as many messages as battles have, without agents that do anything."""
    cpu = time.process_time()
    for number in range(battles):
        for seats in ((["a", "b"] * 5)[:9], [f"j{n}" for n in range(5)] * 2):
            agents = {seat: Silent(seat) for seat in seats}
            await converse(Rounds(seats), agents, conversation=f"{number}:{len(seats)}")
    return {"cpu_ms_per_battle": 1000 * (time.process_time() - cpu) / battles}


async def timed(
    battles: int,
    store: Path | None,
    *,
    latency: float = 0.0,
    seed: int = 0,
    concurrency: int = 64,
    provider: str = "bench",
) -> dict[str, float]:
    """Play battles and return what they took and left."""
    definition = tournament(battles, seed, provider).model_copy(update={"concurrency": concurrency})
    gc.collect()
    before, tasks = memory(), len(asyncio.all_tasks())
    wall, cpu = time.perf_counter(), time.process_time()
    made = await (bare(definition, latency) if store is None else stored(definition, latency, store))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MEGABYTE
    gc.collect()
    agents = sum(isinstance(thing, SingleThreadedAgentRuntime | ca.Debater | ca.Judge) for thing in gc.get_objects())
    return {
        "battles": battles,
        "calls": made,
        "cpu_ms_per_battle": 1000 * cpu / battles,
        "battles_per_cpu_second": battles / cpu,
        "wall_s": wall,
        "peak_mb": peak,
        "grown_mb": memory() - before,
        "tasks_left": len(asyncio.all_tasks()) - tasks,
        "agents_left": agents,
    }


def memory() -> float:
    """Return the resident memory of this process in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / MEGABYTE


async def measure(battles: int, concurrent: int, latency: float) -> dict[str, dict[str, float]]:
    """Run every part, the first ones after a warm-up."""
    with tempfile.TemporaryDirectory() as folder:
        await timed(20, None, seed=1)
        at_once = f"{concurrent} at once, {1000 * latency:.0f} ms a call"
        return {
            "bus alone": await bus_alone(battles),
            "bus and gateway": await timed(battles, None, seed=2),
            "with the store": await timed(battles, Path(folder) / "runs.db", seed=3),
            "simulated models, with the store": await timed(battles, Path(folder) / "runs.db", seed=5, provider="sim"),
            at_once: await timed(concurrent, None, latency=latency, seed=4, concurrency=concurrent),
        }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--battles", type=int, default=200)
    parser.add_argument("--concurrent", type=int, default=1000)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    parts = asyncio.run(measure(options.battles, options.concurrent, options.latency))
    if options.json:
        print(json.dumps(parts, indent=1))
        return
    for name, part in parts.items():
        print(name)
        for key, value in part.items():
            print(f"  {key:<24}{value:>10.2f}")


if __name__ == "__main__":
    main()
