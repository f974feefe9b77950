"""A browser for tests of pages: the system's Chromium, driven by Playwright."""

import functools
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
"""What the browser may be called."""

SERIOUS = ("serious", "critical")
"""Findings of axe-core that no page may have."""


def chromium() -> str | None:
    """Return where Chromium lies, or None; the variable CHROMIUM names another one."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@dataclass
class Visit:
    """A page that is open, and what it did that no page of ours may do."""

    page: "Page"
    """The page."""
    said: list[str] = field(default_factory=list)
    """Errors and warnings of its console, and exceptions that nobody caught."""
    asked: list[str] = field(default_factory=list)
    """Addresses it asked for anything, its own file left out."""

    def open(self, address: str, fragment: str = "") -> None:
        """Open an address and wait until the page has drawn itself."""
        self.page.goto(f"{address}{fragment}")
        self.drawn()

    def go(self, fragment: str) -> None:
        """Change the fragment and wait until the page has drawn itself anew."""
        self.page.evaluate(
            """to => new Promise(done => {
                if (location.hash === to) done();
                addEventListener("drawn", () => done(), { once: true });
                location.hash = to;
            })""",
            fragment,
        )

    def until(self, condition: str, told: Any = None) -> None:
        """Wait until a condition in JavaScript holds, which may use `told`.

        Playwright's own waiting compiles text within the page, which a strict policy refuses.
        """
        self.page.evaluate(
            f"async told => {{ while (!({condition})) await new Promise(done => setTimeout(done, 20)); }}", told
        )

    def drawn(self) -> None:
        """Wait until there is more than the word that the page is being opened."""
        self.page.wait_for_selector("main h1")

    def text(self, selector: str = "main") -> str:
        """Return what is to be read in a part of the page."""
        return self.page.inner_text(selector)

    def violations(self) -> list[str]:
        """Return the serious findings of axe-core, a line each."""
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(self.page).response["violations"]
        return [
            f"{one['id']}: {one['help']}: {[node['target'] for node in one['nodes']][:3]}"
            for one in found
            if one["impact"] in SERIOUS
        ]


@contextmanager
def browser() -> "Iterator[Browser]":
    """Start a browser; the test is skipped where there is none.

    While it is open its driver's event loop runs in this thread, so play runs before.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="no browser tests without the package playwright")
    path = chromium()
    if path is None:
        pytest.skip("no browser tests without Chromium: run scripts/browser, or name one in CHROMIUM")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield started
        finally:
            started.close()


@contextmanager
def visit(started: "Browser", **options: Any) -> Iterator[Visit]:
    """Open an empty page in a window of its own.

    Args:
        started: the browser.
        options: of the window: `viewport`, `color_scheme`.
    """
    context: BrowserContext = started.new_context(**options)
    try:
        page = context.new_page()
        found = Visit(page)
        page.on("console", functools.partial(_heard, found))
        page.on("pageerror", lambda fault: found.said.append(str(fault)))
        page.on("request", lambda asked: found.asked.append(asked.url))
        yield found
    finally:
        context.close()


def _heard(found: Visit, message: Any) -> None:
    if message.type in ("error", "warning"):
        found.said.append(message.text)
