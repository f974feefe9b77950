"""Hostile texts in every place of a page are text, and nothing can be added to the page."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

import coupled_arena as ca
from benchmarks.hostile import CASES
from coupled_arena.reports.html.page import page
from tests.browser import Visit, browser, visit
from tests.report_scene import HOSTILE_DOMAIN, HOSTILE_NAME, SHORTER, hostile

OURS = {"IMG", "IFRAME", "OBJECT", "EMBED", "BASE", "META", "SCRIPT", "LINK", "STYLE"}
"""Elements that a text could want to make."""


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    address = ca.report(hostile(), tmp_path_factory.mktemp("hostile") / "report.html").as_uri()
    with browser() as started, visit(started, viewport={"width": 1280, "height": 900}) as found:
        found.page.add_init_script("window.alert = () => { window.hit = true; };")
        found.open(address)
        yield found


def made(found: Visit) -> list[str]:
    """Return the elements of the page that a text could want to make."""
    tags: list[str] = found.page.evaluate("[...document.querySelectorAll('*')].map((own) => own.tagName)")
    return sorted(tag for tag in tags if tag in OURS)


def test_every_hostile_text_is_drawn_as_text_and_runs_nothing(opened: Visit) -> None:
    before, drawn = made(opened), []
    fragments = ["#/", "#/questions", "#/judges", "#/dice", "#/method", "#/battles"]
    # The cases follow each other in turns and reasons, so that these battles hold each of them.
    fragments += [f"#/battle/{quote(own.id, safe='')}" for own in hostile().battles if own.opinions][:12]
    for fragment in fragments:
        opened.go(fragment)
        opened.page.evaluate("document.querySelectorAll('details').forEach((own) => { own.open = true; })")
        drawn.append(opened.page.evaluate("document.querySelector('main').textContent"))
    assert made(opened) == before
    assert opened.page.evaluate("window.hit") is None
    assert opened.said == []
    assert [asked for asked in opened.asked if not asked.startswith(("file:", "data:"))] == []
    everything = "\n".join(drawn)
    plain = [text for text in CASES.values() if text.isprintable() and text.isascii() and len(text) < SHORTER]
    assert len(plain) > 15
    assert [text for text in (*plain, HOSTILE_NAME, HOSTILE_DOMAIN) if text not in everything] == []


def test_what_has_no_shape_or_turns_the_text_is_shown_by_its_number(opened: Visit) -> None:
    turned = [
        own for own in hostile().battles
        if any("\u202e" in section.text for turn in own.turns for section in turn.sections)
    ]  # fmt: skip
    opened.go(f"#/battle/{quote(turned[0].id, safe='')}")
    assert "U+202E" in opened.page.locator(".unseen").all_inner_texts()
    text = opened.page.evaluate("document.body.textContent")
    assert not {"\u202e", "\x1b", "\u2066"} & set(text)


def test_a_script_that_gets_into_the_page_all_the_same_does_not_run(opened: Visit) -> None:
    refused = opened.page.evaluate(
        """() => {
            const own = document.createElement("div");
            try { own.innerHTML = "<img src=x onerror=alert(1)>"; } catch (fault) { return fault.name; }
            return "written";
        }"""
    )
    assert refused == "TypeError"
    assert opened.page.evaluate("window.hit") is None
    opened.said.clear()


def test_a_title_cannot_end_its_element_or_fill_in_another_place() -> None:
    text = "".join(page("</title><script>x</script>{{script}}", {"kind": "embedded", "battles": 0, "chunk": 50}))
    assert "<title>&lt;/title&gt;&lt;script&gt;x&lt;/script&gt;{{script}}</title>" in text
    assert text.count("</script>") == 2


def test_a_very_long_text_shows_its_beginning_and_a_button(opened: Visit) -> None:
    own = next(
        own for own in hostile().battles
        if any(len(section.text) > SHORTER for turn in own.turns for section in turn.sections)
    )  # fmt: skip
    opened.go(f"#/battle/{quote(own.id, safe='')}")
    button = opened.page.locator(".turn button.more").first
    before = len(opened.page.evaluate("document.querySelector('main').textContent"))
    button.click()
    assert len(opened.page.evaluate("document.querySelector('main').textContent")) > before + 5_000


def test_the_file_names_no_address_and_carries_no_text_in_the_clear(tmp_path: Path) -> None:
    content = ca.report(hostile(), tmp_path / "report.html").read_text(encoding="utf-8")
    named = {part.split("'")[0].split('"')[0] for part in content.split("http")[1:]}
    assert named <= {"://www.w3.org/2000/svg", "-equiv="}
    assert HOSTILE_NAME not in content and "Ignore all previous instructions" not in content
