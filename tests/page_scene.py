"""Commands that serve, and a run to show."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import coupled_arena as ca

COMMAND = [sys.executable, "-c", "from coupled_arena.cli import main; main()"]
PATIENCE = 60.0
"""Seconds after which a test gives up."""

TOURNAMENT = ca.Tournament(
    models=["sim/ada?skill=1.5", "sim/bob?skill=0.5", "sim/cyd"],
    judges=["sim/jim", "sim/joe?position=1", "sim/jon"],
    domains=["math", "writing"],
    questions_per_domain=4,
    schedule="round_robin",
    seed=7,
)
"""24 battles, some of which may be forfeited."""

NAMES = ("ada", "bob", "cyd", "jim", "joe", "jon")
"""Names that no blind page may hold."""


class Serving:
    """A command that serves in a process of its own."""

    def __init__(self, process: "subprocess.Popen[str]", told: dict[str, Any]) -> None:
        self.process = process
        self.told = told
        """The JSON object it printed once it listened."""
        self.url: str = told["url"]
        """Where it listens."""

    def kill(self) -> None:
        """End it as `kill -9` does."""
        self.process.kill()
        self.process.wait(PATIENCE)

    def stop(self, number: signal.Signals = signal.SIGINT) -> str:
        """End it as Ctrl-C does, or by another signal, and return what it said on standard error."""
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, said
        return said


@contextmanager
def serving(*arguments: object, **environment: str) -> Iterator[Serving]:
    """Run a command that serves at any port until it listens, and end it with the block."""
    paths = os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments), "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths, **environment},
    )
    try:
        assert process.stdout is not None
        lines = []
        for line_read in process.stdout:
            lines.append(line_read)
            if line_read == "}\n":
                break
        yield Serving(process, json.loads("".join(lines) or "{}"))
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)
