"""What the viewer answers, what it does to the store, and how often it goes through a run."""

import asyncio
import gzip
import http.client
import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from coupled_arena.errors import RunNotFound, StoreError
from coupled_arena.records import Section, Turn
from coupled_arena.reports.viewer.drawing import Drawing
from coupled_arena.reports.viewer.gallery import Gallery
from coupled_arena.reports.viewer.server import Viewer
from coupled_arena.tournaments.storage.store import Store
from tests.store_scene import battle, filled, opened
from tests.test_store_migration import old, version_of
from tests.test_store_readonly import read_only

RUN = "/run/demo-3f2a91"


def get(viewer: Viewer, path: str) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=60)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        content = response.read()
        if response.getheader("content-encoding") == "gzip":
            content = gzip.decompress(content)
        return response.status, json.loads(content)
    finally:
        connection.close()


def test_a_battle_is_fetched_and_found_by_what_was_said(tmp_path: Path) -> None:
    path, hard = tmp_path / "runs.db", 'r1:ä/"b"?&#%_:1'
    filled(path)
    said = (
        Turn(step=1, round=1, speaker="A", model="ada", sections=(Section(tag="respond", text='100 % "É_x" \\ é'),)),
    )
    with Store(path) as store, opened(store) as run:
        run.save_battle(battle(hard, turns=said))
    with Viewer(path, port=0) as viewer:
        assert get(viewer, f"{RUN}/battle?id={quote(hard, safe='')}")[1]["id"] == hard
        for text, found in (
            ("42", ["b1"]),
            ("100 %", [hard]),
            ('"É_X"', [hard]),
            ("\\ é", [hard]),
            ("É%", []),
            ("_", [hard]),
            ("\0", []),
        ):
            assert get(viewer, f"{RUN}/search?text={quote(text, safe='')}") == (200, found), text
        for path_, status in (("battle?id=no", 404), ("search?text=", 400), (f"search?text={'x' * 1001}", 400)):
            answered, told = get(viewer, f"{RUN}/{path_}")
            assert answered == status and told["problem"]
        for path_ in ("/run/no/", "/run/no/overview", "/run/no/events", "/run/no/battle?id=b1", "/no"):
            assert get(viewer, path_)[0] == 404


def test_a_store_that_goes_and_comes_back_is_a_problem_in_between(tmp_path: Path) -> None:
    path, aside = tmp_path / "runs.db", tmp_path / "aside.db"
    with pytest.raises(StoreError, match="there is no store yet"):
        Viewer(path, port=0)
    filled(path)
    with Viewer(path, port=0) as viewer:
        path.rename(aside)
        status, told = get(viewer, "/runs")
        assert status == 503 and "there is no store yet" in told["problem"]
        aside.rename(path)
        assert [run["id"] for run in get(viewer, "/runs")[1]["runs"]] == ["demo-3f2a91"]


def test_what_lies_in_place_of_a_store_is_a_problem_and_no_wait(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    filled(path)
    with Viewer(path, port=0) as viewer:
        path.unlink()
        for make, words in ((os.mkfifo, "is a folder or a device"), (Path.mkdir, "is a folder or a device")):
            make(path)
            status, told = get(viewer, "/runs")
            assert status == 503 and words in told["problem"]
            (path.rmdir if path.is_dir() else path.unlink)()
        filled(path)
        assert get(viewer, f"{RUN}/battle?id=b1")[0] == 200


def test_asking_only_for_the_head_of_events_ends(tmp_path: Path) -> None:
    filled(tmp_path / "runs.db")
    with Viewer(tmp_path / "runs.db", port=0) as viewer:
        connection = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=20)
        for _ in range(2):
            connection.request("HEAD", "/events")
            response = connection.getresponse()
            assert (response.status, response.read()) == (200, b"")
        connection.close()


def test_viewing_changes_no_store_and_takes_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    old(path)
    before = path.read_bytes()
    with Viewer(path, port=0) as viewer:
        assert get(viewer, f"{RUN}/battle?id=b1")[1]["id"] == "b1"
        assert get(viewer, "/runs")[1]["runs"][0]["status"] == "finished"
    assert path.read_bytes() == before and version_of(path) == 1
    assert not list(tmp_path.glob("*.lock"))


def test_a_store_where_nothing_may_be_written_is_shown() -> None:
    with read_only(fill=filled) as path, Viewer(path, port=0) as viewer:
        assert get(viewer, f"{RUN}/battle?id=b1")[1]["id"] == "b1"


def test_a_run_whose_process_is_gone_is_interrupted(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store(path) as store, Viewer(path, port=0) as viewer:
        run = opened(store)
        assert get(viewer, "/runs")[1]["runs"][0]["status"] == "running"
        run.close()
        assert get(viewer, "/runs")[1]["runs"][0]["status"] == "interrupted"


class Draws:
    """Counts how often a run is drawn; a drawing is said to take a minute."""

    def __init__(self) -> None:
        self.drawn = 0
        self.fault: Exception | None = None

    async def __call__(self, path: Path, run: str) -> Drawing:
        self.drawn += 1
        if self.fault is not None:
            raise self.fault
        return Drawing(str(self.drawn).encode(), b"", 60.0)


async def test_a_run_that_is_played_is_drawn_again_only_after_a_rest(tmp_path: Path) -> None:
    now, draws = [0.0], Draws()
    gallery = Gallery(tmp_path / "runs.db", draws, clock=lambda: now[0], look_seconds=0.01)
    with Store(tmp_path / "runs.db") as store, opened(store) as run:
        assert (await gallery.drawing(run.id))[0].overview == b"1"
        told = gallery.changes(run.id, None, lambda: False)
        assert await anext(told) == "running 1 0 0"
        run.save_battle(battle())
        waiting = asyncio.ensure_future(anext(told))
        for _ in range(20):
            await gallery.drawing(run.id)
            await asyncio.sleep(0)
        assert draws.drawn == 1
        now[0] = 60.0 * 4
        assert await asyncio.wait_for(waiting, 20) == "running 1 0 1"
        assert (await gallery.drawing(run.id))[0].overview == b"2"
        run.save_battle(battle("b2"))
        run.finish("finished")
        assert await asyncio.wait_for(anext(told), 20) == "finished 1 0 2"
    await told.aclose()
    await gallery.aclose()


@pytest.mark.parametrize("fault", [StoreError("the disk failed"), OSError("the disk failed")])
async def test_what_cannot_be_drawn_says_why_until_it_can(tmp_path: Path, fault: Exception) -> None:
    filled(tmp_path / "runs.db")
    draws = Draws()
    gallery = Gallery(tmp_path / "runs.db", draws, look_seconds=0.01)
    draws.fault = fault
    with pytest.raises(StoreError, match="the disk failed"):
        await gallery.drawing("demo-3f2a91")
    told = gallery.changes("demo-3f2a91", None, lambda: False)
    assert await asyncio.wait_for(anext(told), 20) == ""
    looking = asyncio.ensure_future(anext(told))
    done, _ = await asyncio.wait([looking], timeout=0.2)
    assert not done and draws.drawn == 1
    looking.cancel()
    draws.fault = None
    assert (await gallery.drawing("demo-3f2a91"))[0].overview == b"2"
    with pytest.raises(RunNotFound, match="holds no run 'other'"):
        await gallery.drawing("other")
    await gallery.aclose()
