"""The page of a run in a browser: it opens from disk, sorts, filters, links, and can be read by everybody."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

import coupled_arena as ca
from tests.browser import Visit, browser, visit
from tests.report_scene import played

if TYPE_CHECKING:
    from playwright.sync_api import Browser

VIEWS = ("#/", "#/battles", "#/questions", "#/judges", "#/dice", "#/method")
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    return ca.report(played(), tmp_path_factory.mktemp("report") / "report.html").as_uri()


@pytest.fixture(scope="module")
def started(address: str) -> "Iterator[Browser]":
    with browser() as found:
        yield found


@pytest.fixture
def window(started: "Browser", address: str) -> Iterator[Visit]:
    """A desktop window with the page; no page may complain or ask for anything but itself."""
    with visit(started, viewport=DESKTOP) as found:
        found.open(address)
        yield found
        assert found.said == []
        assert [asked for asked in found.asked if not asked.startswith(("data:", address))] == []


def battle() -> str:
    """Return the address of a battle that judges decided."""
    own = next(battle for battle in played().battles if battle.opinions)
    return f"#/battle/{quote(own.id, safe='')}"


def test_every_view_opens_from_disk_in_silence(window: Visit) -> None:
    titles = []
    for fragment in (*VIEWS, battle()):
        window.go(fragment)
        titles.append(window.page.inner_text("h1").split("\n")[0])
    assert titles[:-1] == ["demo", "Battles", "Questions", "Judges", "Dice", "Method"]


def test_the_results_say_what_the_result_says(window: Visit) -> None:
    text, result = window.text(), played()
    assert "5 models · 6 questions · 60 battles · 3 judges" in text
    for row in result.rows:
        assert row.model in text and f"{row.rating:.0f}" in text
    for line in (*result.caveats, *(pair.line for pair in result.neighbours)):
        assert line in text


def test_the_leaderboard_sorts_both_ways_and_says_so(window: Visit) -> None:
    def names() -> list[str]:
        return window.page.locator("table.sorted tbody th a").all_inner_texts()

    best = names()
    assert best == [row.model for row in played().rows]
    button = window.page.get_by_role("button", name="Model")
    button.click()
    assert names() == sorted(best)
    button.click()
    assert names() == sorted(best, reverse=True)
    assert window.page.locator("th", has=button).get_attribute("aria-sort") == "descending"


def test_filters_stand_in_the_address_and_come_back_with_it(window: Visit, address: str) -> None:
    window.go("#/battles")
    window.page.select_option("#by-model", "sim/ada")
    window.page.select_option("#by-outcome", "lost")
    lost = next(row.losses for row in played().rows if row.model == "sim/ada")
    assert window.page.locator(".battles li").count() == lost
    fragment = window.page.evaluate("location.hash")
    assert fragment == "#/battles?model=sim%2Fada&outcome=lost"
    window.page.goto("about:blank")
    window.open(address, fragment)
    assert window.page.locator(".battles li").count() == lost
    assert window.page.input_value("#by-model") == "sim/ada"
    window.page.get_by_role("button", name="Clear").click()
    window.until("document.querySelectorAll('.battles li').length > 20")


def test_a_battle_can_be_linked_to_and_shows_all_that_was_said(window: Visit) -> None:
    window.go(battle())
    own = next(battle for battle in played().battles if battle.opinions)
    window.page.evaluate("document.querySelectorAll('details').forEach((own) => { own.open = true; })")
    text = window.text()
    for turn in own.turns:
        assert all(section.text in text for section in turn.sections)
    for opinion in own.opinions:
        assert opinion.judge in text and opinion.reasons.split("\n")[0] in text
    assert window.page.locator(".turn").count() == len(own.turns)


def test_openings_that_share_dice_are_marked_where_they_part(window: Visit) -> None:
    for own in played().battles:
        texts = [next(turn for turn in own.turns if turn.speaker == side).sections[0].text for side in "AB"
                 if any(turn.sections for turn in own.turns if turn.speaker == side)]  # fmt: skip
        if own.opinions and len(texts) == 2 and texts[0] != texts[1] and texts[0].split()[:4] == texts[1].split()[:4]:
            break
    window.go(f"#/battle/{quote(own.id, safe='')}")
    shared = window.page.locator(".shared").all_inner_texts()
    assert len(shared) == 2 and shared[0].split() == shared[1].split()
    assert all(text.startswith(shared[0].strip()) for text in texts)
    assert window.page.locator(".parts").count() == 2


def test_the_keyboard_reaches_everything(window: Visit) -> None:
    keys, page = window.page.keyboard, window.page
    keys.press("2")
    page.wait_for_selector("#battles")
    keys.press("j")
    keys.press("j")
    second = page.evaluate("document.activeElement.hash")
    assert second == page.locator(".battle").nth(1).get_attribute("href")
    keys.press("Enter")
    page.wait_for_selector(".versus")
    keys.press("j")
    window.until("location.hash !== told", second)
    keys.press("k")
    window.until("location.hash === told", second)
    page.wait_for_selector(".versus")
    keys.press("t")
    assert page.locator("details.section[open]").count() == 0
    keys.press("?")
    assert "next battle" in window.text("#help")
    keys.press("Escape")
    keys.press("/")
    window.until("document.activeElement.id === 'search'")
    keys.type("sim/ada")
    window.until("location.hash.includes('text=sim%2Fada')")


def test_a_search_finds_what_was_said_in_the_middle_of_a_debate(window: Visit) -> None:
    own = next(battle for battle in played().battles if battle.opinions)
    said = own.turns[2].sections[0].text
    window.go("#/battles")
    window.page.fill("#search", said)
    window.until("[...document.querySelectorAll('.battle')].some((own) => own.hash === told)", battle())
    texts = {one.id: [section.text for turn in one.turns for section in turn.sections] for one in played().battles}
    found = sum(any(said in text for text in own) for own in texts.values())
    window.until("document.querySelectorAll('.battle').length === told", found)


@pytest.mark.parametrize(("scheme", "views"), [("light", VIEWS), ("dark", ("#/", "#/battles"))])
def test_nobody_is_shut_out(started: "Browser", address: str, scheme: str, views: tuple[str, ...]) -> None:
    with visit(started, viewport=DESKTOP, color_scheme=scheme) as found:
        found.open(address)
        for fragment in (*views, battle()):
            found.go(fragment)
            assert (fragment, found.violations()) == (fragment, [])


def test_a_phone_needs_no_sideways_scrolling(started: "Browser", address: str) -> None:
    with visit(started, viewport=PHONE) as found:
        found.open(address)
        for fragment in (*VIEWS, battle()):
            found.go(fragment)
            assert found.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), fragment


def test_thousands_of_battles_are_listed_as_they_are_scrolled_to(started: "Browser", tmp_path: Path) -> None:
    own = played()
    silent = [battle.model_copy(update={"turns": (), "opinions": ()}) for battle in own.battles]
    many = tuple(
        battle.model_copy(update={"id": f"{battle.id}-{copy}", "replicate": copy})
        for copy in range(50)
        for battle in silent
    )
    path = ca.report(replace(own, battles=many), tmp_path / "many.html")
    with visit(started, viewport=DESKTOP) as found:
        found.open(path.as_uri(), "#/battles")
        assert "3,000 battles" in found.text()
        rows = found.page.locator(".battles li")
        first = rows.count()
        assert first < 200
        found.page.locator("main > .end").scroll_into_view_if_needed()
        found.until("document.querySelectorAll('.battles li').length > told", first)
        found.page.fill("#search", many[-1].id)
        found.until("document.querySelectorAll('.battles li').length === 1")


def test_light_and_dark_follow_the_system_and_the_key_and_paper_has_no_menu(started: "Browser", address: str) -> None:
    def lightness(found: Visit) -> int:
        colour = found.page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in colour[4:-1].split(","))

    with visit(started, viewport=DESKTOP, color_scheme="dark") as found:
        found.open(address)
        assert lightness(found) < 150
        found.page.keyboard.press("d")
        assert lightness(found) > 600
        found.page.emulate_media(media="print")
        assert found.page.locator(".masthead").is_hidden() and found.page.locator("h1").is_visible()
