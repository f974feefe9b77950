"""The store: what was remembered is there, whatever happens, and records come back as they went in."""

import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.coupling import Sampling
from coupled_arena.errors import RunNotFound, StoreError, StoreLocked
from coupled_arena.models.calls import Call, Message, Reply
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.model import Model
from coupled_arena.records import Battle, Decision, Opinion, Question, Section, Turn, Usage
from coupled_arena.tournaments import schema
from coupled_arena.tournaments.store import RunStore, Store

CALL = Call(
    Model("m", "openai/m", options={"api_key": "hush", "seed": 1}),
    (Message("system", "be brief"), Message("user", "hello")),
    Sampling(0.7),
    10,
    bytes(range(16)),
)
KEY = b"k" * 32


def opened(store: Store, digest: str = "3f2a91c0d1", name: str = "demo") -> RunStore:
    return store.open_run(digest, name, {"seed": 7}, {"version": "1"})


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
        assert [dict(zip(calls_columns(), row, strict=True))["reused_from"] for row in copied] == [first.id] * reused


def calls_columns() -> list[str]:
    from coupled_arena.tournaments.columns import COLUMNS

    return list(COLUMNS["calls"])


def test_the_calls_frame_shows_what_was_sent_without_secrets() -> None:
    with Store(":memory:") as store, opened(store) as run:
        run.remember(KEY, CALL, Reply(text="yes", outcome="ok", cost=None))
        run.remember(b"l" * 32, CALL, Reply(text="no", outcome="ok"))
        (row, _) = (dict(zip(calls_columns(), row, strict=True)) for row in run.reader.rows("calls"))
    assert row["messages"] == '[["system","be brief"],["user","hello"]]'
    assert row["noise"] == CALL.noise.hex()
    assert row["cost"] is None
    assert '"options":{"api_key":"***","seed":1}' in row["settings"]
    assert "hush" not in str(row)


def test_a_message_is_stored_once_however_often_it_is_sent(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store, opened(store) as run:
        for number in range(5):
            run.remember(bytes([number]) * 32, CALL, Reply(text="yes", outcome="ok"))
    with sqlite3.connect(tmp_path / "runs.db") as connection:
        assert connection.execute("SELECT count(*) FROM texts").fetchone() == (2,)
    connection.close()


def test_lone_surrogates_are_written_as_escapes() -> None:
    with Store(":memory:") as store, opened(store) as run:
        run.remember(KEY, CALL, Reply(text="a\udc80", outcome="ok"))
        recalled = run.recall(KEY)
        run.save_question(question(text="\ud800?"))
        run.save_battle(battle("\udc80", a="\udc81"))
        run.drop_unsaved()
        (loaded,) = run.reader.load_questions()
        (played,) = run.reader.load_battles()
    assert recalled is not None
    assert (recalled.text, loaded.text) == ("a\\udc80", "\\ud800?")
    assert (played.id, played.a) == ("\\udc80", "\\udc81")


def question(**changes: Any) -> Question:
    fields = {"id": "math-1", "domain": "math", "language": "en", "text": "?", "author": "sim/examiner"}
    return Question(**{**fields, **changes})


def test_questions_come_back_in_the_order_of_their_numbers() -> None:
    written = [question(id=f"math-{number}", reference=str(number)) for number in (10, 2, 1)]
    with Store(":memory:") as store, opened(store) as run:
        for each in written:
            run.save_question(each)
        run.save_question(written[0])
        assert run.reader.load_questions() == tuple(reversed(written))


TEXT = st.text(max_size=20)
COUNT = st.integers(0, 2**40)
USAGES = st.builds(Usage, prompt_tokens=COUNT, completion_tokens=COUNT)
TURNS = st.builds(
    Turn,
    step=COUNT,
    round=COUNT,
    speaker=TEXT,
    model=TEXT,
    sections=st.lists(st.builds(Section, tag=TEXT, text=TEXT), max_size=3).map(tuple),
    missing=st.lists(TEXT, max_size=2).map(tuple),
    requests=COUNT,
    usage=USAGES,
    detail=TEXT,
)
OPINIONS = st.builds(
    Opinion,
    judge=TEXT,
    stage=COUNT,
    reasons=TEXT,
    probabilities=st.dictionaries(TEXT, st.floats(0, 1), max_size=3),
    repairs=COUNT,
    usage=USAGES,
    detail=TEXT,
)
VERDICTS = st.sampled_from(["A", "B", "tie", None])
DECISIONS = st.builds(
    Decision,
    verdict=VERDICTS,
    votes=st.dictionaries(st.sampled_from(["A", "B", "tie"]), COUNT),
    stages=st.lists(VERDICTS, max_size=3).map(tuple),
    reason=TEXT,
)
BATTLES = st.builds(
    Battle,
    id=TEXT,
    round=COUNT,
    question=TEXT,
    domain=TEXT,
    replicate=COUNT,
    a=TEXT,
    b=TEXT,
    arm=TEXT,
    turns=st.lists(TURNS, max_size=3).map(tuple),
    opinions=st.lists(OPINIONS, max_size=3).map(tuple),
    decision=DECISIONS,
    weight=st.floats(0, 1),
)


@given(BATTLES)
def test_a_battle_comes_back_exactly(battle: Battle) -> None:
    with Store(":memory:") as store, opened(store) as run:
        run.save_battle(battle)
        (loaded,) = run.reader.load_battles()
    assert loaded == battle
    assert loaded.model_dump_json() == battle.model_dump_json()


def battle(name: str = "b1", **changes: Any) -> Battle:
    fields: dict[str, Any] = {
        "id": name,
        "round": 1,
        "question": "math-1",
        "domain": "math",
        "replicate": 0,
        "a": "ada",
        "b": "bob",
        "arm": "coupled",
        "turns": (
            Turn(step=1, round=1, speaker="A", model="ada", sections=(Section(tag="respond", text="42"),)),
            Turn(step=2, round=1, speaker="B", model="bob", outcome="refused", detail="no"),
        ),
        "opinions": (Opinion(judge="j1", stage=0, status="valid", verdict="A", probabilities={"A": 0.9, "tie": 0.1}),),
        "decision": Decision(status="decided", verdict="B", votes={"B": 2}, stages=("B", None)),
    }
    return Battle(**{**fields, **changes})


def test_saving_a_battle_again_replaces_it() -> None:
    void = battle(decision=Decision(status="void", reason="no quorum"))
    with Store(":memory:") as store, opened(store) as run:
        run.save_battle(void)
        run.save_battle(battle())
        run.save_battle(battle())
        assert run.reader.load_battles() == (battle(),)
        assert len(run.reader.rows("turns")) == 2


def test_what_an_earlier_execution_played_and_this_one_did_not_can_be_dropped() -> None:
    with Store(":memory:") as store:
        with opened(store) as run:
            run.save_question(question())
            run.save_battle(battle("b1"))
            run.save_battle(battle("b2", round=2))
            run.remember(KEY, CALL, Reply(text="yes", outcome="ok"))
        with opened(store) as run:
            run.save_question(question())
            run.save_battle(battle("b1"))
            run.save_battle(battle("b3", round=2))
            run.drop_unsaved()
            assert [each.id for each in run.reader.load_battles()] == ["b1", "b3"]
            assert len(run.reader.rows("turns")) == len(run.reader.rows("opinions")) * 2 == 4
            assert run.reader.load_questions() == (question(),)
            assert run.recall(KEY) is not None


def test_battles_come_back_by_round_and_number_in_whatever_order_they_ended() -> None:
    names = [(2, "b1"), (1, "b10"), (1, "b9")]
    with Store(":memory:") as store, opened(store) as run:
        for number, name in names:
            run.save_battle(battle(name, round=number))
        assert [each.id for each in run.reader.load_battles()] == ["b9", "b10", "b1"]
        assert [row[1] for row in run.reader.rows("decisions")] == ["b9", "b10", "b1"]


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
    with Store(":memory:") as store, store.open_run("3f2a91", "demo", definition, {"seed": 7}) as run:
        assert run.reader.definition == {"models": [{"options": {"api_key": "***"}}], "max_tokens": 5}
        assert run.reader.manifest == {"seed": 7}


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
    from coupled_arena.tournaments.store import Store
    from tests.test_store_runs import CALL

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


def test_what_is_no_store_is_named(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no database " * 100, encoding="utf-8")
    with pytest.raises(StoreError, match=r"notes\.txt.*not a database.*another file"):
        Store(path)


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE mine (x)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        Store(path)
    assert path.read_bytes() == before


def test_a_newer_store_asks_for_an_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    Store(path).close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    connection.close()
    with pytest.raises(StoreError, match="upgrade coupled-arena"):
        Store(path)


def test_a_damaged_store_is_said_to_be_damaged(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with Store(path) as store, opened(store) as run:
        for number in range(200):
            run.remember(bytes([number]) * 32, CALL, Reply(text="x" * 2000, outcome="ok"))
    content = bytearray(path.read_bytes())
    content[4096 * 2 :] = b"\xff" * (len(content) - 4096 * 2)
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"malformed.*damaged"), Store(path) as store:
        store.run().rows("calls")


def test_a_store_that_may_not_be_written_says_so(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store, opened(store) as run:
        run._execute("PRAGMA query_only = ON")
        with pytest.raises(StoreError, match="may not be written"):
            run.remember(KEY, CALL, Reply(text="x", outcome="ok"))
        run._execute("PRAGMA query_only = OFF")


def test_a_full_disk_says_so_and_loses_nothing_answered(tmp_path: Path) -> None:
    with Store(tmp_path / "runs.db") as store, opened(store) as run:
        run.remember(KEY, CALL, Reply(text="kept", outcome="ok"))
        (pages,) = run._execute("PRAGMA page_count").fetchone()
        run._execute(f"PRAGMA max_page_count = {pages}")
        big = Call(CALL.model, (Message("user", "x" * 1_000_000),), Sampling(), 10, bytes(16))
        with pytest.raises(StoreError, match="the disk is full; make room and run again"):
            run.remember(b"l" * 32, big, Reply(text="y" * 1_000_000, outcome="ok"))
        with pytest.raises(StoreError, match="the disk is full; make room and run again"):
            run.save_question(question(text="x" * 1_000_000))
        recalled = run.recall(KEY)
    assert recalled is not None
    assert recalled.text == "kept"


def test_a_missing_folder_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="check that its folder exists"):
        Store(tmp_path / "no" / "runs.db")


def test_a_reader_makes_no_store(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with pytest.raises(StoreError, match="there is no store yet"):
        Store(path, create=False)
    assert not path.exists()


def test_a_run_that_is_not_there_is_not_found() -> None:
    with Store(":memory:") as store:
        with pytest.raises(RunNotFound, match="holds no run yet"):
            store.run()
        opened(store).close()
        with pytest.raises(RunNotFound, match="holds no run 'other'; it holds demo-3f2a91"):
            store.run("other")
