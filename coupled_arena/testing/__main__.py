"""A fake provider by hand: `python -m coupled_arena.testing ada=sim/ada?skill=1.2 bob=sim/bob judge=sim/judge`.

It writes to standard output what to type into the terminal of the program that is to reach it, and serves until Ctrl-C.
"""

import argparse
import shlex
import signal
import sys
import threading
from collections.abc import Sequence

from coupled_arena.errors import ArenaError, ConfigurationError, Problem
from coupled_arena.testing.faults import Faults
from coupled_arena.testing.provider import FakeProvider

PROGRAM = "python -m coupled_arena.testing"
"""How the program is called."""

COULD_NOT, MISUSED = 1, 2
"""Exit statuses: it could not listen; it was called in a way that means nothing."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve the models named on the command line until a signal comes; return the exit status."""
    given = _parser().parse_args(arguments)
    try:
        models = _models(given.models)
        faults = None if given.faults is None else Faults(share=given.faults, seed=given.seed)
        provider = FakeProvider(models, key=given.key, port=given.port, faults=faults, keep=0)
    except ArenaError as error:
        return _failed(error, MISUSED)
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    try:
        provider.start()
    except ArenaError as error:
        return _failed(error, COULD_NOT)
    # Both LiteLLM and OpenAI's client read these two, and look at no other address where this one is set.
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        sys.stdout.write(f"export {name}={shlex.quote(provider.environment[name])}\n")
    sys.stdout.flush()
    names = ", ".join(f"openai/{name}" for name in models)
    sys.stderr.write(f"serving {names} to programs with this environment; Ctrl-C stops\n")
    sys.stderr.flush()
    stopped.wait()
    provider.stop()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Serve simulated models as an OpenAI-compatible provider on this machine alone.",
        epilog="example: %(prog)s 'ada=sim/ada?skill=1.2' bob=sim/bob judge=sim/judge",
    )
    parser.add_argument(
        "models", nargs="+", metavar="NAME=MODEL", help="a simulated model (sim/...) or a text that is always replied"
    )
    parser.add_argument("--port", type=int, default=0, help="port to listen at; any that is free if not given")
    parser.add_argument("--key", default="fake-key", help="key that requests have to come with (default: %(default)s)")
    parser.add_argument("--faults", type=float, metavar="SHARE", help="share of the calls that fail first")
    parser.add_argument("--seed", type=int, default=0, help="which calls those are")
    return parser


def _models(pairs: Sequence[str]) -> dict[str, str]:
    """Return scripts by name.

    Raises:
        ConfigurationError: a pair is none, or a name is given twice.
    """
    scripts: dict[str, str] = {}
    problems = []
    for pair in pairs:
        name, _, script = pair.partition("=")
        if not name or not script:
            problems.append(Problem("models", pair, "write NAME=MODEL, such as ada=sim/ada"))
        elif name in scripts:
            problems.append(Problem("models", name, "is given twice; keep one"))
        scripts[name] = script
    if problems:
        raise ConfigurationError(problems)
    return scripts


def _failed(error: ArenaError, status: int) -> int:
    sys.stderr.write(f"{PROGRAM}: {'; '.join(str(error).splitlines())}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
