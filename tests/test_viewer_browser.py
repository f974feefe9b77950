"""A run that is being played shows in the browser, goes on by itself, and survives a restart of the viewer."""

from pathlib import Path

from coupled_arena.reports.viewer.server import Viewer
from coupled_arena.tournaments.result import Result
from coupled_arena.tournaments.store import RunStore, Store
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
