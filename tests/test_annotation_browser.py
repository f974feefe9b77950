"""People vote in the browser: blind, by keyboard, and nothing that was voted is lost."""

import functools
import json
import subprocess
from pathlib import Path
from typing import Any

from coupled_arena.tournaments.storage.store import Store
from tests.browser import Visit, browser, visit
from tests.page_scene import COMMAND, NAMES, PATIENCE, TOURNAMENT, serving


def vote(seen: Visit, key: str) -> None:
    """Press a key and wait for the next battle."""
    seen.page.evaluate(
        "() => { window.waiting = new Promise(done => addEventListener('drawn', done, { once: true })) }"
    )
    seen.page.keyboard.press(key)
    seen.page.evaluate("() => window.waiting.then(() => null)")


def texts_of(finished: list[Any]) -> list[str]:
    """Return what was answered; not to be asked while Playwright tells of something."""
    return [request.response().text() for request in finished]


def votes(path: Path) -> list[tuple[str, str, str | None]]:
    with Store(path, create=False) as store:
        return [(vote.battle, vote.order, vote.verdict) for vote in store.human_votes.load()]


def test_twenty_votes_survive_a_kill_and_show_who_agrees(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    TOURNAMENT.run(path)
    keys = ["1", "2", "3", "ArrowLeft", "ArrowRight"] * 4
    with browser() as started, visit(started) as seen:
        finished: list[Any] = []
        seen.page.on("requestfinished", functools.partial(list.append, finished))
        with serving("annotate", "--store", path) as first:
            seen.open(first.url)
            assert seen.violations() == []
            for key in keys[:10]:
                vote(seen, key)
            heard = texts_of(finished)
            first.kill()
        assert len(votes(path)) == 10
        with serving("annotate", "--store", path) as second:
            texts = second.told["texts"]
            seen.open(second.url)
            assert f"10 of {texts} voted on" in seen.text("#far")
            for key in keys[10:]:
                vote(seen, key)
            assert f"20 of {texts} voted on" in seen.text("#far")
            vote(seen, "u")
            vote(seen, "s")
            assert f"19 of {texts} voted on, 1 passed" in seen.text("#far")
            heard += texts_of(finished[len(heard) :])
            said = second.stop()
        assert seen.said == []
    assert len(heard) > 20 and not [name for name in NAMES if any(name in text for text in heard)]
    cast = votes(path)
    assert len({battle for battle, _, _ in cast}) == len(cast) == 20
    assert {order for _, order, _ in cast} == {"AB", "BA"}
    assert f"{texts} battles to vote on" in said
    command = [*COMMAND, "annotate", "--agreement", "--json", "--store", str(path)]
    found = json.loads(subprocess.run(command, capture_output=True, check=True, timeout=PATIENCE).stdout)
    # Two battles are one text, and a vote on it counts for both.
    assert texts == 23
    assert (found["battles"], found["voted"], found["annotators"], found["passed"]) == (24, 20, {"me": 20}, 1)
    assert [line["stage"] for line in found["committee"]] == [0, 1]
    assert {line["rater"] for line in found["judges"]} == {"sim/jim", "sim/joe", "sim/jon"}
    assert all(line["same"]["items"] == 20 for line in (*found["committee"], *found["judges"]))
