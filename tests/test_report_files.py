"""Where a page comes from, and where it goes: results, stores and paths; files that are no pages are left alone."""

from pathlib import Path

import pytest

import coupled_arena as ca
from coupled_arena.errors import ArenaError, ConfigurationError, StoreError
from coupled_arena.reports.html import report as writing

SMALL = ca.Tournament(models=["sim/ada", "sim/bob"], judges=["sim/j"], domains=["math"], questions_per_domain=1)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("report") / "runs.db"
    SMALL.run(found)
    return found


def test_a_page_is_the_same_from_a_result_a_store_and_a_path(path: Path, tmp_path: Path) -> None:
    with ca.Store(path) as store:
        result = ca.Result.of(store.run())
        pages = [ca.report(source, tmp_path / "page.html").read_bytes() for source in (result, store, path)]
    pages.append(ca.report(str(path), tmp_path / "page.html", run=result.run).read_bytes())
    assert len(set(pages)) == 1


@pytest.mark.parametrize(
    ("source", "run", "words"),
    [
        (7, None, "report: source: must be a result, a store or the path of one, not int"),
        (None, None, "not NoneType"),
        ("nowhere.db", None, "nowhere.db: there is no store yet"),
        ("runs.db", "nobody", "nobody"),
        ("result", "nobody", "report: run: names a run of a store"),
        ("rejudged", None, "not Rejudged; take its `result`"),
    ],
)
def test_a_source_without_a_result_is_refused_and_nothing_is_written(
    path: Path, tmp_path: Path, source: object, run: str | None, words: str
) -> None:
    with ca.Store(":memory:") as store:
        if source in ("result", "rejudged"):
            result = SMALL.run(store)
            source = result if source == "result" else ca.rejudge(store)
        given = path if source == "runs.db" else source
        with pytest.raises(ArenaError, match=words):
            ca.report(given, tmp_path / "page.html", run=run)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", [".", "/", "folder", "file/page.html", "lost/page.html", "x" * 300])
def test_a_place_that_cannot_be_written_is_said(
    path: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("mine")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StoreError, match=r"cannot be written .*; name a file that can"):
        ca.report(path, name)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "folder"]


def test_what_is_no_page_is_never_replaced(path: Path, tmp_path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is there, and no page of a run; name another file"):
        ca.report(path, path)
    assert path.read_bytes() == before
    (tmp_path / "device").symlink_to("/dev/null")
    with pytest.raises(StoreError, match="no page of a run"):
        ca.report(path, tmp_path / "device")
    assert (tmp_path / "device").is_symlink()
    (tmp_path / "empty.html").touch()
    size = ca.report(path, tmp_path / "empty.html").stat().st_size
    assert ca.report(path, tmp_path / "empty.html").stat().st_size == size > 10_000


def test_a_page_that_fails_half_way_leaves_the_old_one(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = ca.report(path, tmp_path / "page.html")
    before = page.read_bytes()
    monkeypatch.setattr(writing, "lines", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        ca.report(path, page)
    assert page.read_bytes() == before and list(tmp_path.iterdir()) == [page]


def test_judges_take_what_reports_take(path: Path) -> None:
    with pytest.raises(ConfigurationError, match="must be a result, a store or the path of one, not int"):
        ca.judges(7)  # type: ignore[arg-type]
