"""A finished run for the tests of what is derived from one, and programs that derive from it."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import coupled_arena as ca

SMALL: dict[str, Any] = {
    "name": "small",
    "models": ["sim/ada?skill=1.5", "sim/bob?skill=0", "sim/cleo?skill=-1.5"],
    "judges": ["sim/j1", "sim/j2", "sim/j3"],
    "domains": ["math", "writing"],
    "questions_per_domain": 2,
    "schedule": "round_robin",
    "seed": 7,
}
KILLS = 2
"""Moments at which a process is killed."""
PANEL = ["sim/k1?acuity=0.3", "sim/k2?position=1", "sim/k3"]
"""Judges that see less, or favour a side."""
PROGRAM = """
import json, sys
import coupled_arena as ca
do, arguments, options = json.loads(sys.argv[1])
print(json.dumps(getattr(ca, do)(*arguments, **options).document()))
"""


def finished(folder: Path, **changes: Any) -> tuple[Path, ca.Result]:
    """Play the small tournament on a store of its own."""
    store = folder / "runs.db"
    return store, ca.Tournament(**{**SMALL, **changes}).run(store)


def copied(store: Path, folder: Path) -> Path:
    """Return a copy of a store that nobody has open."""
    return Path(shutil.copy(store, folder / "copy.db"))


def program(do: str, *arguments: Any, **options: Any) -> subprocess.Popen[str]:
    """Start a process that calls a function of the library and prints what it comes to."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, json.dumps([do, arguments, options])],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ},
    )


def rows(store: Path, run: str) -> dict[str, list[tuple[Any, ...]]]:
    """Return everything that a store holds of a run, to the byte."""
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    try:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        kept = {}
        for name in names:
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})")]
            key = "id" if name == "runs" else "run"
            if key in columns:
                found = connection.execute(f"SELECT * FROM {name} WHERE {key} = ? ORDER BY rowid", (run,))
                kept[name] = found.fetchall()
        return kept
    finally:
        connection.close()


def same(document: dict[str, Any]) -> dict[str, Any]:
    """Return what must be the same in every execution."""
    return {key: value for key, value in document.items() if key not in ("calls", "cost")}


def refusal(error: pytest.ExceptionInfo[ca.ConfigurationError]) -> tuple[str, str]:
    """Return the key and the message of the one problem that was found."""
    (problem,) = error.value.problems
    return problem.key, problem.message
