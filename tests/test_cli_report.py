"""The command that writes a run as a page."""

from pathlib import Path

from tests.store_damage import TOML
from tests.test_cli import arena, parsed


def test_report_writes_a_page_and_says_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(TOML, encoding="utf-8")
    run = parsed(arena(tmp_path, "run", "small.toml", "--json"))["run"]
    document = parsed(arena(tmp_path, "report", "--run", run, "--output", "page.html", "--json"))
    page = tmp_path / "page.html"
    assert document == {"file": "page.html", "bytes": page.stat().st_size}
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    lost = arena(tmp_path, "report", "--run", "nobody", "--output", "other.html")
    assert (lost.returncode, (tmp_path / "other.html").exists()) == (1, False)
    assert "nobody" in lost.stderr
