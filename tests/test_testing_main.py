"""`python -m coupled_arena.testing`: what it prints, what it serves, and how it ends."""

import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

COMMAND = [sys.executable, "-m", "coupled_arena.testing"]


@contextmanager
def serving(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, str], str]]:
    """Run the program and give it with the environment that it printed and the line it wrote after that."""
    pipe = subprocess.PIPE
    with subprocess.Popen([*COMMAND, *arguments], stdout=pipe, stderr=pipe, text=True) as program:
        try:
            assert program.stdout is not None
            assert program.stderr is not None
            lines = [program.stdout.readline() for _ in range(2)]
            exports = [line.removeprefix("export ").strip().partition("=") for line in lines]
            yield program, {name: value for name, _, value in exports}, program.stderr.readline()
        finally:
            program.kill()


def test_it_serves_what_it_is_told_to_programs_with_the_printed_environment() -> None:
    with serving("ada=sim/ada?skill=1.2", "bob=Hello.", "--key", "sk-given-key") as (_, environment, line):
        assert list(environment) == ["OPENAI_API_KEY", "OPENAI_BASE_URL"]
        assert environment["OPENAI_API_KEY"] == "sk-given-key"
        headers = {"Authorization": f"Bearer {environment['OPENAI_API_KEY']}"}
        listing = urllib.request.Request(f"{environment['OPENAI_BASE_URL']}/models", headers=headers)
        with urllib.request.urlopen(listing) as response:
            content = response.read().decode()
        assert '"id": "ada"' in content
        assert '"id": "bob"' in content
        assert "openai/ada, openai/bob" in line


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_at_a_signal_without_a_trace(number: signal.Signals) -> None:
    with serving("ada=sim/ada", "--faults", "0.3") as (program, _, _):
        program.send_signal(number)
        rest = program.communicate(timeout=30)
        assert (program.returncode, *rest) == (0, "", "")


def test_a_port_that_is_taken_is_said_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [*COMMAND, "ada=sim/ada", "--port", str(port)], capture_output=True, text=True, check=False
        )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert f"port: {port} is taken by another program" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ada"], "models: ada: write NAME=MODEL"),
        (["=sim/ada"], "write NAME=MODEL"),
        (["ada=sim/ada", "ada=sim/bob"], "ada: is given twice"),
        (["ada=sim/ada?skil=1"], "skil: is no dial"),
        (["ada=sim/ada", "--faults", "2"], "share: must be from 0 to 1"),
        (["ada=sim/ada", "--port", "70000"], "port: must be a whole number"),
        ([], "the following arguments are required: NAME=MODEL"),
    ],
)
def test_wrong_use_is_said_before_anything_is_served(arguments: list[str], words: str) -> None:
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
