"""Who is writing a run: named to whoever comes second, and to nobody afterwards."""

import os
import platform
import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from coupled_arena.errors import StoreLocked
from coupled_arena.tournaments.storage.holder import LONGEST_COMMAND, holder_words, this_process
from coupled_arena.tournaments.storage.store import Store
from tests.store_scene import opened


def test_the_holder_is_named_with_process_machine_time_and_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["/usr/bin/coupled-arena", "run", "demo.toml"])
    with Store(tmp_path / "runs.db", clock=lambda: 120.0) as store, Store(tmp_path / "runs.db") as other, opened(store):
        words = f"process {os.getpid()} on {platform.node()} since 1970-01-01 00:02 UTC (coupled-arena run demo.toml)"
        with pytest.raises(StoreLocked, match=f"runs.db: run demo-3f2a91 is being written by {re.escape(words)}; wait"):
            opened(other)


def test_a_store_that_is_passed_on_names_nobody(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store:
        with opened(store) as run:
            run.finish("finished")
        assert store._connection.exec_driver_sql("SELECT writer FROM runs").scalar_one() == ""


def test_a_command_is_kept_without_its_secrets_and_not_at_length(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "hush-hush-hush")
    monkeypatch.setattr(sys, "argv", ["x", "--base", "http://me:you@host", "hush-hush-hush", "y" * 1000])
    kept = this_process(0.0)
    assert "hush" not in kept and "you" not in kept
    assert len(holder_words(kept)) < LONGEST_COMMAND + 200


@pytest.mark.parametrize("kept", ["", "{", "[]", "{}", "null", '{"process": 1, "host": "h", "since": 1e99}', None])
def test_whatever_was_kept_there_are_words_for_it(kept: str | None) -> None:
    assert holder_words(kept) == "another process"


def test_a_holder_that_is_gone_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    program = f"""
import sys, time
from coupled_arena.tournaments.storage.store import Store
run = Store({str(path)!r}).open_run("3f2a91c0d1", "demo", {{}}, {{}})
print("open", flush=True)
time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "open\n"
        with Store(path) as store, pytest.raises(StoreLocked, match=f"process {writer.pid} on "):
            opened(store)
        writer.send_signal(signal.SIGKILL)
    connection = sqlite3.connect(path)
    assert str(writer.pid) in connection.execute("SELECT writer FROM runs").fetchone()[0]
    connection.close()
    with Store(path) as store, opened(store) as run:
        assert run.id == "demo-3f2a91"
