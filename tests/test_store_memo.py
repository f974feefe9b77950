"""The store as a memo: what was answered is there, is answered once, and shows no secret."""

import dataclasses
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from coupled_arena.coupling import Sampling
from coupled_arena.models.calls import Call, Message, Reply
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.model import Model
from coupled_arena.records import Usage
from coupled_arena.tournaments.storage.columns import COLUMNS
from coupled_arena.tournaments.storage.store import Store
from tests.store_scene import CALL, KEY, opened


def test_a_reply_comes_back_as_it_was_remembered() -> None:
    reply = Reply(
        text="yes\0\n日本",
        outcome="truncated",
        usage=Usage(prompt_tokens=3, completion_tokens=2),
        cost=0.125,
        latency=1.5,
        reasoning="hmm",
        probabilities={"B": 0.25, "A": 0.75},
        sharing="shared",
        detail="cut",
        retries=2,
    )
    with Store(":memory:") as store, opened(store) as run:
        assert run.recall(KEY) is None
        run.remember(KEY, CALL, reply)
        recalled = run.recall(KEY)
    assert recalled == reply
    assert recalled is not None
    assert list(recalled.probabilities) == ["B", "A"]


def test_the_first_answer_to_a_call_stays() -> None:
    with Store(":memory:") as store, opened(store) as run:
        run.remember(KEY, CALL, Reply(text="first", outcome="ok"))
        run.remember(KEY, CALL, Reply(text="second", outcome="ok", cost=None))
        recalled = run.recall(KEY)
    assert recalled is not None
    assert recalled.text == "first"


@pytest.mark.parametrize(
    ("outcome", "reused"),
    [
        ("ok", True),
        ("truncated", True),
        ("failed", False),
        ("refused", False),
        ("filtered", False),
        ("empty", False),
        ("timeout", False),
    ],
)
def test_another_run_reuses_only_answers_with_text(outcome: Any, reused: bool) -> None:
    reply = Reply(text="yes" if reused else "", outcome=outcome)
    with Store(":memory:") as store:
        with opened(store) as first:
            first.remember(KEY, CALL, reply)
            assert first.recall(KEY) == reply
        with opened(store, "another0") as second:
            assert second.recall(KEY) == (reply if reused else None)
            copied = second.reader.rows("calls")
        assert len(copied) == reused
        # Once copied it is this run's own answer, and says who paid for it.
        assert [dict(zip(COLUMNS["calls"], row, strict=True))["reused_from"] for row in copied] == [first.id] * reused


def test_the_calls_frame_shows_what_was_sent_without_secrets() -> None:
    with Store(":memory:") as store, opened(store) as run:
        run.remember(KEY, CALL, Reply(text="yes", outcome="ok", cost=None))
        run.remember(b"l" * 32, CALL, Reply(text="no", outcome="ok"))
        (row, _) = (dict(zip(COLUMNS["calls"], row, strict=True)) for row in run.reader.rows("calls"))
    assert row["messages"] == '[["system","be brief"],["user","hello"]]'
    assert row["noise"] == CALL.noise.hex()
    assert row["cost"] is None
    assert '"options":{"extra":{"api_key":"***","n":1}}' in row["settings"]
    assert "hush" not in str(row)


@pytest.mark.parametrize("names", [("ada", "bob"), ("bob", "ada")])
def test_the_calls_frame_does_not_show_which_of_two_names_asked_first(names: tuple[str, str]) -> None:
    rows = []
    with Store(":memory:", clock=lambda: 0.0) as store, opened(store) as run:
        for name in names:
            call = dataclasses.replace(CALL, model=CALL.model.model_copy(update={"name": name}))
            run.remember(KEY, call, Reply(text="yes", outcome="ok"))
        rows = [dict(zip(COLUMNS["calls"], row, strict=True)) for row in run.reader.rows("calls")]
    assert [row["model"] for row in rows] == ["openai/m"]
    assert not {*names} & set(map(str, rows[0].values()))
    assert "model" not in json.loads(rows[0]["settings"])


def test_a_message_is_stored_once_however_often_it_is_sent(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store, opened(store) as run:
        for number in range(5):
            run.remember(bytes([number]) * 32, CALL, Reply(text="yes", outcome="ok"))
    with sqlite3.connect(tmp_path / "runs.db") as connection:
        assert connection.execute("SELECT count(*) FROM texts").fetchone() == (2,)
    connection.close()


async def test_a_run_played_again_pays_for_nothing(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    calls = [Call(Model("sim/ada?world=1"), (Message("user", str(i)),), Sampling(), 9, bytes(16)) for i in range(5)]
    replies = []
    for _ in range(2):
        with Store(path) as store, opened(store) as run:
            async with Gateway(run) as gateway:
                replies.append([await gateway.reply(call) for call in calls])
            counts = gateway.counts
    assert replies[0] == replies[1]
    assert (counts.made, counts.memoised) == (0, 5)
