"""Kills runs at random moments in every phase (SIGKILL) and resumes them: nothing is lost, doubled or different.

A tournament of simulated models that take some milliseconds a call is killed in each of its phases by turns: after a
random event of the phase and a random pause. What was resumed must hold the same calls, battles and leaderboard as an
undisturbed run, and only calls that were in flight may have been paid for twice.

    python benchmarks/kills.py [--kills 100] [--seed 0] [--chain 10] [--json]
"""

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal

import coupled_arena as ca
from coupled_arena.models.calls import Call, Reply
from coupled_arena.models.simulated.backend import SimulatedBackend
from coupled_arena.tournaments.playing.events import BattleEnded, CallAnswered, Event, RunOpened
from coupled_arena.tournaments.playing.play import play
from coupled_arena.tournaments.storage.columns import FRAMES, FrameName
from coupled_arena.tournaments.storage.store import Store

Phase = Literal["examination", "references", "battles", "committee", "rounds", "finishing"]
PHASES: tuple[Phase, ...] = ("examination", "references", "battles", "committee", "rounds", "finishing")
"""`rounds` begins with the last battle of the first round (ratings, pairing), `finishing` with that of the last."""

DEFINITION = ca.Tournament(
    name="killed",
    models=["sim/ada?skill=1", "sim/bob?skill=0.5", "sim/cleo?refusal=0.05", "sim/dan?skill=-1"],
    judges=["sim/j1", "sim/j2?error=0.05", "sim/j3"],
    examiner="sim/examiner",
    reference="sim/writer",
    domains=["math"],
    questions_per_domain=2,
    schedule=ca.Swiss(rounds=2),
    concurrency=4,
    seed=11,
)
ROLES: dict[str, Phase] = {"sim/examiner": "examination", "sim/writer": "references"}
ROLES |= {model.name: "battles" for model in DEFINITION.models}
ROLES |= {judge.name: "committee" for judge in DEFINITION.judging_models}
LATENCY = 0.006
"""Seconds that most calls take at least; the longest take three times as long."""
PAUSE = 0.02
"""Longest pause between an event and the kill, in seconds."""
TIMES = {"created", "latency"}
"""Columns that differ between any two executions."""


class Paid(SimulatedBackend):
    """Simulated models that take their time, and write down every call the moment it is paid for.

    Args:
        log: the file; a line is there as soon as it is written, whatever becomes of the process.
    """

    def __init__(self, log: Path) -> None:
        super().__init__()
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    async def complete(self, call: Call) -> Reply:
        """Write the call down, wait, and answer."""
        os.write(self._log, f"{call.key(self.identity(call.model)).hex()}\n".encode())
        await asyncio.sleep(LATENCY * (1 + call.noise[0] / 128))
        return await super().complete(call)

    async def aclose(self) -> None:
        """Close the file."""
        os.close(self._log)


def execute(store: Path, log: Path, pipe: Connection | None = None) -> ca.Result:
    """Play the tournament, or go on with it, and tell every event's phase."""
    left = 0
    ended: Counter[int] = Counter()

    def tell(event: Event) -> None:
        nonlocal left
        if pipe is None:
            return
        if isinstance(event, RunOpened):
            left = event.battles
        elif isinstance(event, CallAnswered):
            pipe.send(ROLES[event.call.model.name])
        elif isinstance(event, BattleEnded):
            ended[event.battle.round] += 1
            if ended[event.battle.round] == left // 2:
                pipe.send("finishing" if event.battle.round == 2 else "rounds")

    return asyncio.run(play(DEFINITION, store, listeners=[tell], backends={"sim": Paid(log)}))


def _child(store: Path, log: Path, pipe: Connection) -> None:
    execute(store, log, pipe)


@dataclass(frozen=True, slots=True)
class Kill:
    """One kill."""

    phase: Phase
    """In which phase."""
    stored: frozenset[str]
    """Keys of the calls that the store held after it."""
    paid: tuple[str, ...]
    """Keys of all calls paid for until then, in order."""


def kill(folder: Path, phase: Phase, after: int, pause: float) -> Kill | None:
    """Run in a process of its own and kill it some time after an event of a phase; None if it ended before.

    Args:
        folder: where store and log are.
        phase: the phase.
        after: after how many of its events; answers from the memo are events too.
        pause: seconds between the event and the kill.
    """
    store, log = folder / "runs.db", folder / "paid.log"
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["__main__", __name__])
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(store, log, theirs))
    process.start()
    theirs.close()
    seen = 0
    try:
        while seen <= after:
            seen += ours.recv() == phase
    except EOFError:
        pass
    time.sleep(pause)
    process.kill()
    process.join()
    ours.close()
    if process.exitcode != -9:
        return None
    with Store(store, create=False) as opened:
        if [run.status for run in opened.runs()] != ["interrupted"]:
            return None
    return Kill(phase, frozenset(stored_keys(store)), tuple(log.read_text(encoding="ascii").split()))


def stored_keys(store: Path) -> list[str]:
    """Return the memo keys of a store's calls."""
    with Store(store, create=False) as opened:
        rows = opened._connection.exec_driver_sql("SELECT hex(key) FROM calls")
        return [key.lower() for (key,) in rows]


def content(result: ca.Result) -> dict[str, Any]:
    """Return everything a run holds but for times."""
    document = {key: value for key, value in result.document().items() if key not in ("calls", "cost", "run")}
    with result.source() as run:
        frames: dict[str, Any] = {name: [_timeless(name, row) for row in run.rows(name)] for name in FRAMES}
    return {"document": document, **frames}


def _timeless(frame: FrameName, row: Sequence[Any]) -> tuple[Any, ...]:
    columns = zip(FRAMES[frame], row, strict=True)
    return tuple(value for column, value in columns if column.name not in TIMES)


def compare(folder: Path, killed: Sequence[Kill], undisturbed: dict[str, Any], calls: int) -> tuple[list[str], int]:
    """Resume a killed run and return what is wrong with it, and how many calls were paid for twice."""
    store, log = folder / "runs.db", folder / "paid.log"
    resumed = execute(store, log)
    wrong = [f"{name} differ" for name, value in content(resumed).items() if value != undisturbed[name]]
    with Store(store, create=False) as opened:
        wrong += map(str, opened.check().findings)
    written = log.read_text(encoding="ascii").split()
    paid = Counter(written)
    for one in killed:
        after = set(written[len(one.paid) :])
        wrong += [f"{key} was stored and paid for again" for key in sorted(one.stored & after)]
        wrong += [f"{key} was stored and not paid for" for key in sorted(one.stored - set(one.paid))]
    keys = stored_keys(store)
    wrong += [f"{len(keys)} calls stored, {calls} expected"] if len(keys) != calls else []
    wrong += [f"{key} is there twice" for key, count in Counter(keys).items() if count > 1]
    wrong += [f"{key} was stored and never paid for" for key in sorted(set(keys) - paid.keys())]
    wrong += [f"{key} was paid for and is not stored" for key in sorted(paid.keys() - set(keys))]
    return wrong, paid.total() - len(paid)


def measure(kills: int, seed: int, chain: int) -> dict[str, Any]:
    """Kill and resume runs, and count."""
    draw = random.Random(seed)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        plain = execute(folder / "plain.db", folder / "plain.log")
        undisturbed, calls = content(plain), len(stored_keys(folder / "plain.db"))
        events = _events(folder)
        phases: Counter[str] = Counter()
        twice: list[int] = []
        wrong: list[str] = []
        done = tries = 0
        while done < kills:
            own = folder / f"kill-{tries}"
            own.mkdir()
            phase = PHASES[done % len(PHASES)]
            one = kill(own, phase, draw.randrange(events[phase]), draw.random() * PAUSE)
            tries += 1
            if one is None:
                continue
            done += 1
            phases[phase] += 1
            found, again = compare(own, [one], undisturbed, calls)
            wrong += [f"kill {done} ({phase}): {problem}" for problem in found]
            twice.append(again)
            sys.stderr.write(f"{done} kills, {len(wrong)} problems\n")
        chained: list[Kill] = []
        own = folder / "chain"
        own.mkdir()
        while len(chained) < chain:
            phase = PHASES[len(chained) % len(PHASES)]
            one = kill(own, phase, draw.randrange(events[phase]), draw.random() * PAUSE)
            chained += [] if one is None else [one]
        found, again = compare(own, chained, undisturbed, calls) if chained else ([], 0)
        wrong += [f"chain: {problem}" for problem in found]
    return {
        "kills": {phase: phases[phase] for phase in PHASES},
        "ended before the kill": tries - done,
        "calls of a run": calls,
        "paid twice": {"most": max(twice, default=0), "mean": sum(twice) / max(len(twice), 1)},
        "one run killed in a row": {"kills": len(chained), "paid twice": again},
        "wrong": wrong,
        "seconds": round(time.perf_counter() - began, 1),
    }


def _events(folder: Path) -> Counter[str]:
    """Return how many events every phase of an undisturbed run has."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    counted: Counter[str] = Counter()
    execute(folder / "events.db", folder / "events.log", theirs)
    theirs.close()
    try:
        while True:
            counted[ours.recv()] += 1
    except EOFError:
        return counted


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--chain", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options.kills, options.seed, options.chain)
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        for name, value in found.items():
            print(f"{name}: {value}")
    if found["wrong"]:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
