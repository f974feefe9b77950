"""The documentation is true: tables match the code, links lead somewhere, every code block runs or parses."""

import re
import tomllib
from pathlib import Path

import pytest
from typer.main import get_command

import coupled_arena as ca
from coupled_arena.cli import app
from coupled_arena.models.local.settings import LocalSettings
from coupled_arena.models.simulated.dials import RANGES
from scripts import pages

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", ["data", "parameters", "world"])
def test_a_page_that_is_a_table_of_the_code_is_up_to_date(name: str) -> None:
    """`python scripts/pages.py` writes them anew."""
    assert (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8") == getattr(pages, name)()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_files_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_blocks_run_and_print_what_stands_below_them(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    for block, printed in re.findall(
        r"^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```)?", text, re.MULTILINE | re.DOTALL
    ):
        exec(compile(block, str(page), "exec"), {})
        out = capsys.readouterr().out
        assert printed in ("", out)


def test_every_page_is_in_the_table_of_contents_of_the_site() -> None:
    contents = re.findall(r"^[a-z0-9-]+$", (ROOT / "docs" / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(["index", *contents]) == sorted(page.stem for page in (ROOT / "docs").glob("*.md"))


@pytest.mark.parametrize("language", ["python", "toml"])
def test_there_are_blocks_to_run_and_to_parse(language: str) -> None:
    assert [block for page in PAGES for block in blocks(page, language)] != []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_toml_blocks_are_tournaments(page: Path) -> None:
    for block in blocks(page, "toml"):
        assert len(ca.Tournament.from_mapping(tomllib.loads(block), page.name).models) >= 2


def test_every_command_of_the_documentation_exists() -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    named = [
        (page.name, name)
        for page in PAGES
        for name in re.findall(r"(?:^|[`/ ])coupled-arena ([a-z]+)", page.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert {name for _, name in named} >= {"run", "compare", "bench", "serve"}
    assert [(page, name) for page, name in named if name not in commands] == []


def test_every_dial_and_setting_is_described() -> None:
    world = (ROOT / "docs" / "world.md").read_text(encoding="utf-8")
    assert [dial for dial in (*RANGES, "taste", "brand", "world") if f"| `{dial}` |" not in world] == []
    local = (ROOT / "docs" / "local-models.md").read_text(encoding="utf-8")
    settings = [name.upper() for name in LocalSettings.__dataclass_fields__]
    assert [name for name in settings if f"COUPLED_ARENA_{name}" not in local] == []
