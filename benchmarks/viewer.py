"""How fast the viewer answers on a large run, and how much memory it takes.

Writes a store with one run whose battles are copies of a few simulated ones, their texts as long as real ones, between
20 models and judged by three. Then `coupled-arena view` shows it from a process of its own: every kind of request is
made again and again, while another connection of the store stays open as a tournament's would. The first page waits
until the run has been drawn by a process that goes through all of it; how long that took and how much memory it held is
told apart. So is how long it takes from the start of another viewer to the same page, which is kept by then.

    python benchmarks/viewer.py [--battles N] [--requests N] [--characters N] [--store FILE] [--json]
"""

import argparse
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import combinations, cycle, islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

import coupled_arena as ca
from coupled_arena.records import Battle, Section, Verdict
from coupled_arena.tournaments.stored import digest_of

MODELS, QUESTIONS, SEED = 20, 100, 7
BAR_MS, BAR_MB = 200, 500
"""What 95 % of pages must be answered in, and the memory the server may take."""

TOLD_APART = ("drawn first", "search", "started again")
"""Kinds of requests that are no pages."""

Timings = dict[str, list[float]]
"""Milliseconds by kind of request."""


@dataclass(slots=True)
class Watched:
    """A viewer in another process, and the most memory it and its own processes have held, in MB."""

    process: int
    """Its id."""
    port: int
    """Where it listens."""
    began: float
    """When it was started, by the clock."""
    server: float = 0.0
    """The server itself."""
    drawer: float = 0.0
    """The process that goes through whole runs."""
    done: threading.Event = field(default_factory=threading.Event)
    """Set when nobody watches any more."""

    def watch(self) -> None:
        """Look at the memory until it is done."""
        while not self.done.wait(0.2):
            self.server = max(self.server, peak(self.process))
            children = Path(f"/proc/{self.process}/task/{self.process}/children").read_text(encoding="utf-8")
            self.drawer = max(self.drawer, *map(peak, map(int, children.split())), 0.0)

    def get(self, path: str) -> float:
        """Fetch an address on a connection of its own and return the milliseconds until the last byte."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        began = time.perf_counter()
        connection.request("GET", path)
        response = connection.getresponse()
        content = response.read()
        taken = 1000 * (time.perf_counter() - began)
        connection.close()
        if response.status != http.client.OK:
            raise RuntimeError(f"{path}: {response.status}: {content[:200]!r}")
        return taken


def peak(process: int) -> float:
    """Return the most memory a process has held, in MB; 0 where it has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except OSError:
        return 0.0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) / 1024 if found else 0.0


def definition() -> ca.Tournament:
    """Return the tournament whose run is written."""
    names = [f"sim/m{number:02}?skill={number / 10}" for number in range(MODELS)]
    judges = ["sim/j1", "sim/j2", "sim/j3"]
    return ca.Tournament(models=names, judges=judges, domains=["math"], questions_per_domain=QUESTIONS, seed=SEED)


def templates(characters: int) -> list[Battle]:
    """Return a few battles with long texts."""
    played = ca.Tournament(
        models=["sim/m00", "sim/m01"],
        judges=["sim/j1", "sim/j2", "sim/j3"],
        domains=["math"],
        schedule="round_robin",
        seed=SEED,
    ).run()
    return [long(battle, characters) for battle in played.battles if battle.decision.status == "decided"]


def long(battle: Battle, characters: int) -> Battle:
    """Return a battle whose sections are filled up with their own words."""

    def filled(section: Section) -> Section:
        words = f"{section.text} "
        return section.model_copy(update={"text": (words * (characters // len(words) + 1))[:characters]})

    turns = [turn.model_copy(update={"sections": tuple(map(filled, turn.sections))}) for turn in battle.turns]
    return battle.model_copy(update={"turns": tuple(turns)})


def write(path: Path, battles: int, characters: int) -> tuple[str, list[str]]:
    """Write the store and return the id of its run and those of its battles."""
    tournament, rng, ids = definition(), np.random.default_rng(SEED), []
    pairs = list(combinations([model.name for model in tournament.models], 2))
    with ca.Store(path) as store, store.open_run(digest_of(tournament), "large", tournament.document(), {}) as run:
        for number in range(QUESTIONS):
            text = f"Question {number}: " + "what follows from this? " * 8
            run.save_question(
                ca.Question(id=f"math-{number}", domain="math", language="en", text=text, author="file.jsonl")
            )
        for number, template in enumerate(islice(cycle(templates(characters)), battles)):
            (a, b), question = pairs[number % len(pairs)], f"math-{number % QUESTIONS}"
            name = f"r{1 + number // 1000}:{a}~{b}:{question}:{number}"
            stronger: Verdict = "B" if rng.random() < 0.7 else "A"
            models = {"A": a, "B": b}
            turns = [turn.model_copy(update={"model": models[turn.speaker]}) for turn in template.turns]
            decision = template.decision.model_copy(update={"verdict": stronger})
            changes = {"id": name, "round": 1 + number // 1000, "question": question, "replicate": number}
            run.save_battle(
                template.model_copy(update={**changes, "a": a, "b": b, "turns": tuple(turns), "decision": decision})
            )
            ids.append(name)
        run.finish("finished")
        return run.id, ids


@contextmanager
def viewing(path: Path, cache: Path) -> Iterator[Watched]:
    """Show a store while the block runs, drawings kept in a cache folder."""
    command = [sys.executable, "-m", "coupled_arena", "view", "--store", str(path), "--port", "0", "--json"]
    environment, began = {**os.environ, "XDG_CACHE_HOME": str(cache)}, time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    if process.stdout is None:
        raise RuntimeError("the viewer says nothing")
    told = "".join(iter(process.stdout.readline, "}\n")) + "}"
    watched = Watched(process.pid, int(json.loads(told)["url"].rpartition(":")[2]), began)
    thread = threading.Thread(target=watched.watch)
    thread.start()
    try:
        yield watched
    finally:
        watched.done.set()
        thread.join()
        process.terminate()
        process.wait()


def measure(watched: Watched, run: str, ids: list[str], requests: int) -> Timings:
    """Fetch every kind of address and return how long each took."""
    rng, base = np.random.default_rng(SEED), f"/run/{quote(run)}/"
    chosen = [ids[place] for place in rng.integers(len(ids), size=requests)]
    return {
        "drawn first": [watched.get(f"{base}overview")],
        "list of runs": [watched.get("/runs") for _ in range(requests)],
        "page": [watched.get(base) for _ in range(requests)],
        "overview": [watched.get(f"{base}overview") for _ in range(requests)],
        "lines of all battles": [watched.get(f"{base}lines") for _ in range(requests)],
        "battle": [watched.get(f"{base}battle?id={quote(name)}") for name in chosen],
        "search": [watched.get(f"{base}search?text={quote(text)}") for text in ("claim", "no such words")],
    }


def report(timings: Timings, watched: Watched) -> dict[str, Any]:
    """Return the percentiles, the share of pages within the bar, and the memory."""
    pages = [taken for kind, own in timings.items() if kind not in TOLD_APART for taken in own]
    kinds = {
        kind: {f"p{share}": round(float(np.percentile(own, share)), 1) for share in (50, 95, 99)}
        for kind, own in timings.items()
    }
    return {
        "milliseconds": kinds,
        "pages": {"n": len(pages), "p95": round(float(np.percentile(pages, 95)), 1), "bar": BAR_MS},
        "server_mb": round(watched.server),
        "server_bar_mb": BAR_MB,
        "drawer_mb": round(watched.drawer),
    }


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--battles", type=int, default=10_000)
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--characters", type=int, default=800)
    parser.add_argument("--store", type=Path, help="keep the store there; one that is there is measured")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = given.store or Path(folder) / "large.db"
        began = time.perf_counter()
        if path.exists():
            with ca.Store(path) as there:
                run, ids = there.run().id, list(there.run().battle_ids())
        else:
            run, ids = write(path, given.battles, given.characters)
        written, size = time.perf_counter() - began, path.stat().st_size / 2**20
        cache = Path(folder) / "cache"
        with ca.Store(path) as beside, viewing(path, cache) as watched:
            timings = measure(watched, run, ids, given.requests)
            with viewing(path, cache) as again:
                again.get(f"/run/{quote(run)}/overview")
                timings["started again"] = [1000 * (time.perf_counter() - again.began)]
            found = {"battles": len(beside.run(run).battle_ids()), "store_mb": round(size), **report(timings, watched)}
    if given.json:
        print(json.dumps(found))
        return
    print(f"{found['battles']} battles, {size:.0f} MB, written in {written:.0f} s")
    for kind, own in found["milliseconds"].items():
        print(f"{kind:<22}" + "  ".join(f"{name} {value:8.1f} ms" for name, value in own.items()))
    print(f"pages: 95 % within {found['pages']['p95']} ms (bar {BAR_MS})")
    print(f"memory at most: server {found['server_mb']} MB (bar {BAR_MB}), drawing {found['drawer_mb']} MB")


if __name__ == "__main__":
    main()
