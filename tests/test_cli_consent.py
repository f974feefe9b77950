"""What `run` asks its user and its providers before it spends anything."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from coupled_arena.cli.playing import run
from coupled_arena.errors import ConfigurationError
from coupled_arena.testing import FakeProvider

TOML = """
models = [{models}]
judges = [{judges}]
domains = ["writing"]
questions_per_domain = 1
schedule = "round_robin"
script = "single"
"""


def write(folder: Path, provider: FakeProvider, *models: str) -> None:
    def table(name: str) -> str:
        return (
            f'{{ name = "{name}", model = "openai/{name}", api_base = "{provider.url}", '
            f'api_key_env = "{provider.key_env}", price = {{ prompt = 1, completion = 2 }} }}'
        )

    judges = ", ".join(map(table, ("j1", "j2", "j3")))
    text = TOML.format(models=", ".join(map(table, models)), judges=judges)
    (folder / "t.toml").write_text(text, encoding="utf-8")


@pytest.fixture
def provider() -> Any:
    names = ("ada", "bob", "j1", "j2", "j3")
    with FakeProvider({name: f"sim/{name}" for name in names}) as provider:
        yield provider


class Terminal(io.StringIO):
    """A terminal at which somebody answers."""

    def isatty(self) -> bool:
        return True


Ran = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ran:
    """Run a definition in this process and return its exit status and what it wrote."""

    def run_it(answer: str | None = None, **options: Any) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO() if answer is None else Terminal(f"{answer}\n"))
        code = 0
        try:
            run(tmp_path / "t.toml", store=tmp_path / "runs.db", **options)
        except typer.Exit as stop:
            code = stop.exit_code
        return (code, *capsys.readouterr())

    return run_it


def test_a_terminal_is_asked_after_the_probes_and_the_table(tmp_path: Path, provider: FakeProvider, ran: Ran) -> None:
    write(tmp_path, provider, "ada", "bob")
    code, out, err = ran("n", as_json=True)
    assert (code, out) == (1, "")
    assert "1 battle at most; worst case: $0." in err
    assert "Go on?" in err
    assert provider.received == 5
    assert not (tmp_path / "runs.db").exists()
    code, out, err = ran("y", as_json=True)
    assert code == 0, err
    document = json.loads(out)
    assert provider.received == 5 + 5 + document["calls"]["made"]
    provider.clear()
    # What is finished is not asked for again: neither the providers nor the user.
    code, out, err = ran("", as_json=True)
    assert (code, json.loads(out)["calls"]["made"], provider.received) == (0, 0, 0)
    assert "Go on?" not in err


def test_without_a_terminal_yes_is_the_only_consent(tmp_path: Path, provider: FakeProvider, ran: Ran) -> None:
    write(tmp_path, provider, "ada", "bob")
    code, out, err = ran(as_json=True)
    assert (code, out) == (2, "")
    assert "say --yes to go on" in err
    assert provider.received == 0
    code, out, err = ran(as_json=True, yes=True)
    assert code == 0, err
    # Each of the five models was asked once before, and only once.
    assert provider.received == 5 + json.loads(out)["calls"]["made"]


def test_consent_does_not_help_where_something_is_wrong(tmp_path: Path, provider: FakeProvider, ran: Ran) -> None:
    write(tmp_path, provider, "ada", "nobody")
    with pytest.raises(ConfigurationError) as caught:
        ran(yes=True)
    (problem,) = caught.value.problems
    assert (problem.where, problem.key) == (str(tmp_path / "t.toml"), "models")
    assert problem.message.startswith("nobody: the provider knows no openai/nobody, or not for this key")
    assert provider.received == 5


def test_a_dry_run_asks_no_provider_and_writes_no_store(tmp_path: Path, provider: FakeProvider, ran: Ran) -> None:
    write(tmp_path, provider, "ada", "bob")
    code, out, _ = ran(dry_run=True, as_json=True)
    document = json.loads(out)
    assert (code, document["battles"], document["probed"], document["finished"]) == (0, 1, False, False)
    assert [model["model"] for model in document["models"]] == ["ada", "bob", "j1", "j2", "j3"]
    assert ran(dry_run=True)[1].startswith("model")
    assert provider.received == 0
    assert [path.name for path in tmp_path.iterdir()] == ["t.toml"]
