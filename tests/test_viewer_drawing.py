"""How runs are drawn: what a drawing reads and costs, and what becomes of runs that cannot be drawn."""

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from coupled_arena.errors import StoreError
from coupled_arena.records import Battle
from coupled_arena.reports.html.document import lines
from coupled_arena.reports.html.overview import overview
from coupled_arena.reports.viewer import drawing
from coupled_arena.reports.viewer.drawing import THREADS, Drawer, draw, gone_through
from coupled_arena.tournaments.results.result import Result
from coupled_arena.tournaments.storage.reader import RunReader
from coupled_arena.tournaments.storage.store import Store
from tests.page_scene import TOURNAMENT
from tests.store_scene import filled


def test_what_is_drawn_without_most_texts_is_what_is_drawn_with_them(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    TOURNAMENT.run(path)
    with Store(path, reading=True) as store:
        whole, (spare, gathered) = Result.of(store.run()), gone_through(store.run())
        assert overview(spare, gathered) == overview(whole)
        assert lines(spare.battles) == lines(whole.battles)
        shown = [
            sum(len(part.text.strip()) for turn in battle.turns for part in turn.sections) for battle in spare.battles
        ]
        assert (
            0
            < sum(shown)
            < sum(len(part.text) for own in whole.battles for turn in own.turns for part in turn.sections)
        )


def test_every_text_is_read_once_for_a_drawing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    TOURNAMENT.run(tmp_path / "runs.db")
    load, read = RunReader.load_battles, list[str]()

    def counted(run: RunReader, ids: Sequence[str] | None = None) -> tuple[Battle, ...]:
        read.extend(run.battle_ids() if ids is None else ids)
        return load(run, ids)

    monkeypatch.setattr(RunReader, "load_battles", counted)
    with Store(tmp_path / "runs.db", reading=True) as store:
        names = store.run().battle_ids()
        draw(tmp_path / "runs.db", store.run().id)
    assert tuple(read) == names


def test_a_drawing_costs_the_processor_time_that_it_took(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    TOURNAMENT.run(tmp_path / "runs.db")
    with Store(tmp_path / "runs.db", reading=True) as store:
        name = store.run().id
    # A busy machine makes it wait, which is no reason to rest.
    monkeypatch.setattr("time.process_time", iter([1.0, 3.5]).__next__)
    assert draw(tmp_path / "runs.db", name).seconds == 2.5


async def test_the_process_that_draws_takes_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[dict[str, str]] = []

    async def start(*words: str, env: dict[str, str], **more: Any) -> None:
        started.append(env)
        raise StoreError("not started")

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start)
    with pytest.raises(StoreError, match="not started"):
        await Drawer()(Path("runs.db"), "demo")
    assert [started[0][name] for name in THREADS] == ["1"] * len(THREADS)


def test_a_run_that_cannot_be_read_ends_no_process(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    filled(path)
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE runs SET definition = '{\"models\": 1}'")
    with pytest.raises(StoreError, match="it is damaged"):
        draw(path, "demo-3f2a91")


def test_a_process_whose_viewer_is_gone_ends_without_a_word(tmp_path: Path) -> None:
    TOURNAMENT.run(tmp_path / "runs.db")
    with Store(tmp_path / "runs.db", reading=True) as store:
        order = json.dumps([str(tmp_path / "runs.db"), store.run().id]) + "\n"
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as gone:
        command = [sys.executable, "-m", drawing.__name__]
        ended = subprocess.run(command, check=False, input=order.encode(), stdout=gone, stderr=subprocess.PIPE)
    assert (ended.returncode, ended.stderr) == (0, b"")
