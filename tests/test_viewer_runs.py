"""The order in which the viewer lists the runs of a store."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from coupled_arena.reports.viewer.server import Viewer
from coupled_arena.tournaments.storage.store import Store
from tests.test_viewer_server import get


def test_runs_are_listed_with_what_was_derived_from_them_right_after_them(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    bases = {"b2": "b1", "b1": "a", "c": "gone", "a2": "a", "x": "y", "y": "x"}
    with Store(path) as store:
        for number, name in enumerate(("a", "b1", "c", "b2", "d", "a2", "x", "y")):
            origin = {"run": f"{bases[name]}-{bases[name]}"} if name in bases else {}
            with store.open_run(f"{number:06}", name, {}, {"base": origin}) as run:
                run.finish("finished")
        ids = {info.name: info.id for info in store.runs()}
    with closing(sqlite3.connect(path)) as damaged, damaged:
        for name, base in bases.items():
            found = json.dumps({"base": {"run": ids.get(base, "gone")}})
            damaged.execute("UPDATE runs SET manifest = ? WHERE name = ?", (found, name))
    with Viewer(path, port=0) as viewer:
        runs = get(viewer, "/runs")[1]["runs"]
    # The newest first; of two that name each other, which no run does, neither is left out.
    assert [run["name"] for run in runs] == ["x", "y", "a", "a2", "b1", "b2", "d", "c"]
    assert runs[3]["base"] == ids["a"] and runs[2]["base"] is None
