"""How runs are drawn: what a drawing reads, and what becomes of runs that cannot be drawn."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from coupled_arena.errors import StoreError
from coupled_arena.reports.viewer.drawing import draw
from tests.store_scene import filled


def test_a_run_that_cannot_be_read_ends_no_process(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    filled(path)
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("UPDATE runs SET definition = '{\"models\": 1}'")
    with pytest.raises(StoreError, match="it is damaged"):
        draw(path, "demo-3f2a91")
