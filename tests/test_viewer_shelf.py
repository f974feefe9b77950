"""Drawings that viewers keep on disk: found again while they hold, whoever else uses the folder."""

import os
from pathlib import Path

import pytest

from coupled_arena.reports.viewer import shelf as shelving
from coupled_arena.reports.viewer.drawing import Drawing
from coupled_arena.reports.viewer.gallery import Gallery
from coupled_arena.reports.viewer.shelf import Shelf
from coupled_arena.tournaments.storage.store import Seen, Store
from tests.store_scene import battle, filled, opened
from tests.test_viewer_server import Draws

DRAWN = Drawing(b"over\nview", b"lines", 2.5)
SEEN = Seen("demo-3f2a91", "demo", "finished", 1.0, 1, 2, 3, False)


def finished(path: Path) -> None:
    filled(path)
    with Store(path) as store, opened(store) as run:
        run.finish("finished")


async def drawn(path: Path, folder: Path, draws: Draws) -> bytes:
    """Return the drawing that a viewer shows which was started just now."""
    gallery = Gallery(path, draws, shelf=Shelf(folder, path))
    try:
        return (await gallery.drawing("demo-3f2a91"))[0].overview
    finally:
        await gallery.aclose()


async def test_a_finished_run_is_gone_through_once_for_all_viewers(tmp_path: Path) -> None:
    path, folder, draws = tmp_path / "runs.db", tmp_path / "cache" / "drawings", Draws()
    finished(path)
    assert [await drawn(path, folder, draws) for _ in range(3)] == [b"1"] * 3
    with Store(path) as store, opened(store) as run:
        run.save_battle(battle("b2"))
        assert [await drawn(path, folder, draws) for _ in range(2)] == [b"2", b"3"]
        run.finish("finished")
    assert [await drawn(path, folder, draws) for _ in range(2)] == [b"4"] * 2
    assert len(list(folder.iterdir())) == 2
    assert folder.stat().st_mode & 0o777 == 0o700


async def test_a_run_that_goes_on_while_it_is_drawn_is_not_kept(tmp_path: Path) -> None:
    path, folder = tmp_path / "runs.db", tmp_path / "drawings"
    finished(path)

    class Slow(Draws):
        async def __call__(self, path: Path, run: str) -> Drawing:
            with Store(path) as store, opened(store) as going:
                going.finish("finished")
            return await super().__call__(path, run)

    assert await drawn(path, folder, Slow()) == b"1"
    assert not folder.exists()


def test_a_drawing_is_found_for_the_same_run_store_and_program_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = Shelf(tmp_path, tmp_path / "a.db")
    shelf.keep(SEEN, DRAWN)
    assert shelf.find(SEEN) == DRAWN
    for other in (SEEN._replace(opened=2), SEEN._replace(battles=4), SEEN._replace(status="running")):
        assert shelf.find(other) is None
    assert Shelf(tmp_path, tmp_path / "b.db").find(SEEN) is None
    monkeypatch.setattr(shelving, "_program", lambda: "a newer one")
    assert shelf.find(SEEN) is None


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"[1]\n", b"\xff\n", *(DRAWN.written()[:-1] + end for end in (b"", b"\0", b"s."))],
)
def test_a_file_that_is_no_whole_drawing_is_none(tmp_path: Path, content: bytes) -> None:
    shelf = Shelf(tmp_path, tmp_path / "runs.db")
    shelf.keep(SEEN, DRAWN)
    (file,) = tmp_path.iterdir()
    file.write_bytes(content)
    assert shelf.find(SEEN) is None
    shelf.keep(SEEN, DRAWN)
    assert shelf.find(SEEN) == DRAWN


def test_a_folder_that_cannot_be_used_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    for folder in (tmp_path / "file", tmp_path / "file" / "drawings"):
        shelf = Shelf(folder, tmp_path / "runs.db")
        shelf.keep(SEEN, DRAWN)
        assert shelf.find(SEEN) is None


def test_a_program_that_is_replaced_while_it_runs_finds_and_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone() -> str:
        raise FileNotFoundError("shelf.py")

    monkeypatch.setattr(shelving, "_program", gone)
    shelf = Shelf(tmp_path, tmp_path / "runs.db")
    shelf.keep(SEEN, DRAWN)
    assert shelf.find(SEEN) is None and list(tmp_path.iterdir()) == []


def test_only_so_many_are_kept_and_what_was_wanted_last_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelving, "MOST_FILES", 2)
    shelf, (old, middle, new) = Shelf(tmp_path, tmp_path / "runs.db"), [SEEN._replace(opened=n) for n in range(3)]
    shelf.keep(old, DRAWN)
    shelf.keep(middle, DRAWN)
    for file in tmp_path.iterdir():
        os.utime(file, (1, 1))
    shelf.find(old)
    shelf.keep(new, DRAWN)
    assert [shelf.find(seen) is not None for seen in (old, middle, new)] == [True, False, True]


def test_what_a_killed_viewer_has_left_is_removed_with_the_oldest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelving, "MOST_FILES", 1)
    left = tmp_path / ".00ff.drawing.4711"
    left.write_bytes(b"half")
    os.utime(left, (1, 1))
    Shelf(tmp_path, tmp_path / "runs.db").keep(SEEN, DRAWN)
    assert len(list(tmp_path.iterdir())) == 1 and not left.exists()


def test_a_drawing_is_its_owners_alone_in_a_folder_that_others_can_read(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    Shelf(tmp_path, tmp_path / "runs.db").keep(SEEN, DRAWN)
    assert [file.stat().st_mode & 0o777 for file in tmp_path.iterdir()] == [0o600]


def test_a_drawing_that_another_viewer_removes_while_it_is_read_leaves_no_empty_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf, read = Shelf(tmp_path, tmp_path / "runs.db"), Drawing.read
    shelf.keep(SEEN, DRAWN)
    (file,) = tmp_path.iterdir()

    def removing(content: bytes) -> Drawing:
        file.unlink()
        return read(content)

    monkeypatch.setattr(Drawing, "read", removing)
    assert shelf.find(SEEN) == DRAWN
    assert list(tmp_path.iterdir()) == []
