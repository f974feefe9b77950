"""A run that is being played shows in the browser, goes on by itself, and survives a restart of the viewer."""

from pathlib import Path
from typing import Any

from coupled_arena.reports.viewer.server import Viewer
from coupled_arena.tournaments.results.result import Result
from coupled_arena.tournaments.storage.store import RunStore, Store
from coupled_arena.tournaments.stored import digest_of
from tests.browser import browser, visit
from tests.page_scene import PATIENCE, TOURNAMENT

HOSTILE = "<img src=x onerror=\"document.title='taken'\"><script>document.title='taken'</script>"


def begin(store: Store, played: Result) -> RunStore:
    """Open a run of the tournament that has its questions and no battle."""
    definition = TOURNAMENT.document()
    run = store.open_run(digest_of(TOURNAMENT), HOSTILE, definition, {"prompts": {"digest": ""}})
    for question in played.questions:
        run.save_question(question.model_copy(update={"text": HOSTILE}))
    return run


def test_a_run_is_followed_while_it_is_played_and_across_a_restart(tmp_path: Path) -> None:
    path, played = tmp_path / "runs.db", TOURNAMENT.run()
    with browser() as started, visit(started) as seen, Store(path) as store, begin(store, played) as run:
        page = seen.page
        page.set_default_timeout(1000 * PATIENCE)

        def play(start: int, end: int) -> None:
            for battle in played.battles[start:end]:
                run.save_battle(battle)

        play(0, 8)
        with Viewer(path, port=0) as first:
            seen.open(first.url)
            assert seen.violations() == []
            assert "running" in seen.text()
            page.click("main a")
            page.wait_for_url(f"**/run/{run.id}/**")
            page.wait_for_selector("text=8 battles")
            page.evaluate("window.sameAsBefore = true")
            play(8, 16)
            page.wait_for_selector("text=16 battles")
        with Viewer(path, port=first.port):
            play(16, 24)
            run.save_ratings(1, played.rows)
            run.finish("finished")
            page.wait_for_selector("text=24 battles")
            assert page.evaluate("window.sameAsBefore")
            seen.go("#/battles?sort=close")
            assert HOSTILE in seen.text()
            page.click("ol a")
            page.wait_for_selector(".turn")
            assert HOSTILE in seen.text()
        assert "taken" not in page.title()
        assert not [text for text in seen.said if "ERR_CONNECTION" not in text and "ERR_INCOMPLETE" not in text]
        assert all(asked.startswith(first.url) for asked in seen.asked)


COUNTED = """
window.following = 0;
window.EventSource = class extends EventSource {
    constructor(address) { super(address); window.following += 1; }
    close() { super.close(); window.following -= 1; }
};
window.turned = hidden => {
    Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
};
"""


def test_a_tab_takes_in_what_it_missed_unseen_or_because_it_could_not_be_fetched(tmp_path: Path) -> None:
    path, played = tmp_path / "runs.db", TOURNAMENT.run()
    with browser() as started, visit(started) as seen, Store(path) as store, Viewer(path, port=0) as viewer:
        seen.page.set_default_timeout(1000 * PATIENCE)
        seen.page.add_init_script(COUNTED)
        with begin(store, played) as run:
            run.save_battle(played.battles[0])
            for address in ("/", f"/run/{run.id}/"):
                seen.open(f"{viewer.url}{address}")
                seen.until("window.following === 1")
                seen.page.evaluate("window.turned(true)")
                # A browser has few connections to one server for all its tabs together.
                assert seen.page.evaluate("window.following") == 0
            run.save_battle(played.battles[1])
            run.finish("finished")
            seen.page.evaluate("window.turned(false)")
            seen.page.wait_for_selector("text=2 battles")
        failed: list[str] = []

        def fail(route: Any) -> None:
            failed.append(route.request.url)
            route.abort()

        # As when the server is stopped between telling of a change and being asked for it.
        seen.page.route("**/lines", fail, times=1)
        with begin(store, played) as again:
            again.save_battle(played.battles[2])
            again.finish("finished")
        seen.page.wait_for_selector("text=3 battles")
        assert len(failed) == 1


def test_a_list_of_runs_comes_back_with_its_store(tmp_path: Path) -> None:
    path, away = tmp_path / "runs.db", tmp_path / "away.db"
    with Store(path) as store, store.open_run("3f2a91", "demo", {}, {}) as run:
        run.finish("finished")
    with browser() as started, visit(started) as seen, Viewer(path, port=0) as viewer:
        seen.page.set_default_timeout(1000 * PATIENCE)
        seen.open(viewer.url)
        path.rename(away)
        seen.page.goto(viewer.url)
        seen.page.wait_for_selector("text=there is no store yet")
        away.rename(path)
        seen.page.wait_for_selector("main a")
        assert "demo" in seen.text("main a")
