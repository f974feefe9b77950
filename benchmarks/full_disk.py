"""Lets the disk run full in the middle of a run: what is said, and that the run goes on once there is room.

The command plays a tournament of simulated models on a small disk of its own (a tmpfs, which takes the right to mount),
or with a limit on the size of its files (which anybody may set, and a quota fails in the same way). It must end with
one line and status 1, leave a store that can be read and holds every answer it had, and, given room, end as an
undisturbed run does without paying for a stored answer again.

    python benchmarks/full_disk.py [--ways tmpfs limit] [--json]
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from coupled_arena.config import load
from coupled_arena.errors import StoreError
from coupled_arena.tournaments.results.result import Result
from coupled_arena.tournaments.storage.store import Store

DEFINITION = """
name = "full disk"
models = ["sim/ada?skill=1", "sim/bob?skill=0.5", "sim/cleo?skill=0"]
judges = ["sim/j1", "sim/j2", "sim/j3"]
examiner = "sim/examiner"
domains = ["writing"]
questions_per_domain = 2
schedule = "round_robin"
seed = 5
"""
ROOT = Path(__file__).parent.parent
SIZES = (64 << 10, 640 << 10, 1 << 20)
"""Bytes of room at first: too few for the tables, and enough for a part of the run; most of it takes the log."""


def arena(folder: Path, store: Path, limit: int | None = None) -> subprocess.CompletedProcess[str]:
    """Play by the command, with a limit on the size of its files if one is given."""

    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        [sys.executable, "-m", "coupled_arena", "run", "full.toml", "--store", str(store)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limited,
    )


class Whole(NamedTuple):
    """An undisturbed run."""

    result: Result
    """What it came to."""
    answers: dict[str, str]
    """Its answers, by memo key."""


def keys(store: Path) -> dict[str, str]:
    """Return the answers of a store by memo key; nothing where it could not even be begun."""
    with suppress(StoreError), Store(store, create=False) as opened:
        return dict(opened._connection.exec_driver_sql("SELECT hex(key), text FROM calls").all())
    return {}


def judged(folder: Path, store: Path, full: subprocess.CompletedProcess[str], whole: Whole) -> dict[str, Any]:
    """Go on where there is room again, and return what was said and what is wrong.

    Args:
        folder: where the definition is.
        store: the store.
        full: how the command ended without room.
        whole: an undisturbed run.
    """
    lines = [line for line in full.stderr.splitlines() if f"{store}: " in line]
    wrong = []
    if full.returncode != 1 or len(lines) != 1 or "Traceback" in full.stderr:
        wrong.append(f"ended with {full.returncode} and said {full.stderr!r}")
    kept = keys(store)
    resumed = load(folder / "full.toml").run(store)
    if resumed.rows != whole.result.rows or resumed.battles != whole.result.battles or keys(store) != whole.answers:
        wrong.append("the resumed run is another one")
    if kept.items() - whole.answers.items():
        wrong.append("answers were changed")
    if resumed.counts.made != len(whole.answers) - len(kept):
        wrong.append(f"{resumed.counts.made} calls made, with {len(kept)} of {len(whole.answers)} stored")
    with Store(store, create=False) as opened:
        wrong += map(str, opened.check().findings)
    said = [line.removeprefix(f"{store}: ") for line in lines]
    return {"said": said, "kept": len(kept), "of": len(whole.answers), "wrong": wrong}


@contextmanager
def mounted(size: int) -> Iterator[Path]:
    """Yield a folder that is a disk of so many bytes.

    Raises:
        subprocess.CalledProcessError: this process may not mount.
    """
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True, capture_output=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", folder], check=True)


def on_a_small_disk(folder: Path, whole: Whole, size: int) -> dict[str, Any]:
    """Fill a tmpfs, read what is there, then make it larger and go on."""
    with mounted(size) as disk:
        store = disk / "runs.db"
        full = arena(folder, store)
        with suppress(StoreError), Store(store, create=False) as opened:
            opened.runs()
        subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
        return {"bytes": size, **judged(folder, store, full, whole)}


def under_a_limit(folder: Path, whole: Whole, size: int) -> dict[str, Any]:
    """Reach a limit on the size of files, then go on without it."""
    store = folder / f"limited-{size}.db"
    return {"bytes": size, **judged(folder, store, arena(folder, store, size), whole)}


WAYS = {"tmpfs": on_a_small_disk, "limit": under_a_limit}
"""Ways of running out of room."""


def measure(ways: Sequence[str], sizes: Sequence[int] = SIZES) -> dict[str, Any]:
    """Run out of room in every way, at several points of a run."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "full.toml").write_text(DEFINITION, encoding="utf-8")
        store = folder / "plain.db"
        whole = Whole(load(folder / "full.toml").run(store), keys(store))
        for way in ways:
            try:
                found[way] = [WAYS[way](folder, whole, size) for size in sizes]
            except subprocess.CalledProcessError as error:
                found[way] = f"not tried: {error.stderr.decode().strip()}"
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ways", nargs="+", choices=sorted(WAYS), default=sorted(WAYS))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options.ways)
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        for way, trials in found.items():
            for line in trials if isinstance(trials, list) else [trials]:
                print(f"{way}: {line}")
    if any(trial["wrong"] for trials in found.values() if isinstance(trials, list) for trial in trials):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
