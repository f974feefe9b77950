"""Runs of a store: found by their definition, written by one process, kept whatever ends it."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from coupled_arena.errors import RunNotFound, StoreError, StoreLocked
from coupled_arena.models.calls import Reply
from coupled_arena.tournaments.storage.store import Store
from tests.store_scene import CALL, KEY, opened


def test_a_run_is_continued_by_its_definition_and_named_readably(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store(path) as store:
        with opened(store) as run:
            assert run.id == "demo-3f2a91"
            run.remember(KEY, CALL, Reply(text="yes", outcome="ok"))
        with opened(store, "3f2a91ffff", "Demo!") as other:
            assert other.id == "demo-3f2a91f"
            other.finish("finished")
    with Store(path) as store, opened(store) as run:
        assert run.id == "demo-3f2a91"
        assert run.recall(KEY) is not None
        assert [(info.id, info.status, info.calls) for info in store.runs()] == [
            ("demo-3f2a91", "running", 1),
            ("demo-3f2a91f", "finished", 0),
        ]
        assert store.run().id == "demo-3f2a91"
        assert store.run("demo-3f2a91f").id == "demo-3f2a91f"


@pytest.mark.parametrize("name", ["", "../../etc", "日本", "a" * 100, "x\0y"])
def test_no_name_makes_a_run_id_that_is_no_plain_word(name: str) -> None:
    with Store(":memory:") as store, opened(store, "3f2a91c0", name) as run:
        word, _, digest = run.id.rpartition("-")
        assert digest == "3f2a91"
        assert 0 < len(word) <= 24
        assert word.replace("-", "").isalnum()
        assert word.isascii()


def test_definition_and_manifest_are_kept_without_secrets() -> None:
    definition = {"models": [{"options": {"api_key": "hush"}}], "max_tokens": 5}
    with (
        Store(":memory:", clock=lambda: 12.5) as store,
        store.open_run("3f2a91", "demo", definition, {"seed": 7, "token": "hush"}) as run,
    ):
        assert run.reader.definition == {"models": [{"options": {"api_key": "***"}}], "max_tokens": 5}
        assert run.reader.manifest == {"seed": 7, "token": "***", "created": "1970-01-01T00:00:12+00:00"}


def test_addresses_are_masked_in_what_reaches_a_model_and_never_in_a_name() -> None:
    model = {"name": "http://a@h", "model": "openai/http://a:b@h", "api_base": "http://a:b@h", "family": "x://f@h"}
    definition = {
        "models": [{**model, "options": {"proxy": "http://a:b@h"}}],
        "domains": ["http://d@h"],
        "roles": {"http://r@h": {"model": {**model, "api_base": None}}, "options": {"tag": "http://t@h"}},
        "questions": [{"text": "What is http://q@h?"}],
    }
    manifest = {"prompts": {"templates": {"judge.system": "As in http://p@h."}}}
    masked = {**model, "model": "openai/http://***@h", "api_base": "http://***@h"}
    with Store(":memory:") as store, store.open_run("3f2a91", "http://n@h", definition, manifest) as run:
        assert run.reader.definition == {
            **definition,
            "models": [{**masked, "options": {"proxy": "http://***@h"}}],
            "roles": {"http://r@h": {"model": {**masked, "api_base": None}}, "options": {"tag": "http://t@h"}},
        }
        assert run.reader.manifest.items() >= manifest.items()
        assert run.reader.name == "http://n@h"


def test_a_manifest_keeps_the_date_of_the_first_execution() -> None:
    days = iter(range(0, 10 * 86400, 86400))
    with Store(":memory:", clock=lambda: float(next(days))) as store:
        for _ in range(2):
            with opened(store) as run:
                run.remember(KEY, CALL, Reply(text="yes", outcome="ok"))
                assert run.reader.manifest["created"] == "1970-01-01T00:00:00+00:00"


def test_a_second_writer_on_a_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store(path) as store, Store(path) as other:
        with opened(store):
            with pytest.raises(StoreLocked, match=rf"demo-3f2a91 is being written by process {os.getpid()}"):
                opened(other)
            with opened(other, "another0") as second:
                assert second.id == "demo-anothe"
        with opened(other) as run:
            assert run.id == "demo-3f2a91"


def test_leaving_a_run_by_an_exception_marks_it_interrupted() -> None:
    with Store(":memory:") as store:
        with pytest.raises(KeyboardInterrupt), opened(store):
            raise KeyboardInterrupt
        assert store.runs()[0].status == "interrupted"


WRITER = """
    import sys
    from coupled_arena.models.calls import Reply
    from coupled_arena.tournaments.storage.store import Store
    from tests.store_scene import CALL

    run = Store(sys.argv[1]).open_run("3f2a91c0d1", "demo", {}, {})
    for number in range(1_000_000):
        run.remember(number.to_bytes(32, "big"), CALL, Reply(text=str(number), outcome="ok"))
        sys.stdout.write(f"{number}\\n")
        sys.stdout.flush()
"""


@pytest.mark.parametrize("answers", [1, 20, 100])
def test_a_killed_run_keeps_every_answer_it_saw_and_frees_its_lock(tmp_path: Path, answers: int) -> None:
    path = tmp_path / "runs.db"
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(WRITER), str(path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        seen = [int(writer.stdout.readline()) for _ in range(answers)]
        with Store(path) as store:
            assert store.runs()[0].status == "running"
            with pytest.raises(StoreLocked, match=str(writer.pid)):
                opened(store)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
    with Store(path) as store:
        assert store.runs()[0].status == "interrupted"
        with opened(store) as run:
            for number in seen:
                recalled = run.recall(number.to_bytes(32, "big"))
                assert recalled is not None
                assert recalled.text == str(number)


@pytest.mark.parametrize("name", ["runs.db", 300 * "n"], ids=["usual", "longer than a name may be"])
def test_a_reader_makes_no_store(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with pytest.raises(StoreError, match="there is no store yet"):
        Store(path, create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_is_not_there_is_not_found() -> None:
    with Store(":memory:") as store:
        with pytest.raises(RunNotFound, match="holds no run yet"):
            store.run()
        opened(store).close()
        with pytest.raises(RunNotFound, match="holds no run 'other'; it holds demo-3f2a91"):
            store.run("other")
