"""A whole tournament: the same result in every execution, resumed at any moment, counted honestly."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from autogen_agentchat.agents import BaseChatAgent

import coupled_arena as ca
from coupled_arena.models.calls import Abilities, Call, Reply
from coupled_arena.models.simulated.backend import SimulatedBackend
from coupled_arena.tournaments.playing.events import BattleEnded, CallAnswered, Event, RoundOpened, RunOpened
from tests.support import ScriptedBackend
from tests.test_protocols_bus import Echo

SMALL: dict[str, Any] = {
    "name": "small",
    "models": ["sim/ada?skill=1", "sim/bob?skill=0", "sim/cleo?skill=-1"],
    "judges": ["sim/j1", "sim/j2", "sim/j3"],
    "examiner": "sim/examiner",
    "domains": ["math", "writing"],
    "questions_per_domain": 1,
    "schedule": "round_robin",
    "seed": 7,
}
PROGRAM = """
import json, sys
import coupled_arena as ca
small = json.loads(sys.argv[1])
print(json.dumps(ca.Tournament(**small).run(sys.argv[2]).document()))
"""


def comparable(document: dict[str, Any]) -> dict[str, Any]:
    """Return what must be the same in every execution."""
    return {key: value for key, value in document.items() if key not in ("run", "calls", "cost")}


def program(store: Path, definition: dict[str, Any] = SMALL, **environment: str) -> subprocess.Popen[str]:
    """Start a process that plays the tournament on a store."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, json.dumps(definition), str(store)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )


@pytest.fixture(scope="module")
def undisturbed() -> ca.Result:
    return ca.Tournament(**SMALL).run()


def test_the_result_has_every_battle_and_its_counts_add_up(undisturbed: ca.Result) -> None:
    document = undisturbed.document()
    assert len(undisturbed.battles) == 3 * 2
    assert sum(document["battles"].values()) == 6
    rows = document["leaderboard"]
    assert [row["rank"] for row in rows] == [1, 2, 3]
    assert all(row["wins"] + row["losses"] + row["ties"] + row["void"] == 4 for row in rows)
    assert document["calls"]["made"] > 0
    assert document["calls"]["failed"] == 0
    assert {"run", "leaderboard", "settled", "battles", "calls", "cost"} <= set(document)
    assert list(rows[0]) == [
        "rank", "model", "rating", "low", "high", "rank_low", "rank_high", "wins", "losses", "ties", "void",
        "forfeited", "availability",
    ]  # fmt: skip
    asked = "a b difference low high resolved more_questions battles sharing saved saved_low saved_high line"
    assert [set(row) for row in document["settled"]] == [set(asked.split())] * 2


def test_concurrency_changes_nothing(undisturbed: ca.Result) -> None:
    one = ca.Tournament(**SMALL, concurrency=1).run()
    assert one.document() | {"run": ""} == undisturbed.document() | {"run": ""}
    assert one.battles == undisturbed.battles


def test_completion_order_changes_nothing(undisturbed: ca.Result) -> None:
    class Shuffled(SimulatedBackend):
        """Answers in an order of its own."""

        order = random.Random(3)

        async def complete(self, call: Call) -> Reply:
            for _ in range(self.order.randrange(12)):
                await asyncio.sleep(0)
            return await super().complete(call)

    shuffled = ca.Tournament(**SMALL).run(backends={"sim": Shuffled()})
    assert shuffled.battles == undisturbed.battles


def test_two_hash_seeds_give_one_document(tmp_path: Path, undisturbed: ca.Result) -> None:
    documents = []
    for seed in ("0", "4242"):
        done = program(tmp_path / f"{seed}.db", PYTHONHASHSEED=seed)
        out, err = done.communicate()
        assert done.returncode == 0, err
        documents.append(json.loads(out))
    assert documents[0] | {"run": ""} == documents[1] | {"run": ""}
    assert comparable(documents[0]) == comparable(undisturbed.document())


def test_running_again_resumes_and_asks_nothing(tmp_path: Path, undisturbed: ca.Result) -> None:
    store = tmp_path / "runs.db"
    first = ca.Tournament(**SMALL).run(store)
    again = ca.Tournament(**SMALL).run(store)
    assert again.run == first.run
    assert (again.counts.made, again.counts.memoised) == (0, first.counts.made + first.counts.memoised)
    assert comparable(again.document()) == comparable(undisturbed.document())


def test_a_stored_run_shows_the_same_leaderboard(tmp_path: Path, undisturbed: ca.Result) -> None:
    result = ca.Tournament(**SMALL).run(tmp_path / "runs.db")
    with ca.Store(tmp_path / "runs.db") as store:
        stored = ca.Result.of(store.run())
        assert comparable(stored.document()) == comparable(result.document())
        assert stored.questions == tuple(sorted(result.questions, key=lambda question: question.id))
        assert sorted(stored.battles, key=lambda b: b.id) == sorted(result.battles, key=lambda b: b.id)


@pytest.mark.parametrize("store", ["runs.db", ":memory:", None])
def test_data_frames_can_be_had_with_and_without_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, store: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    result = ca.Tournament(**SMALL).run(store)
    assert bool(list(tmp_path.iterdir())) == (store == "runs.db")
    sizes = {name: len(result.frame(name)) for name in ("battles", "turns", "opinions", "decisions", "questions")}
    assert sizes == {"battles": 6, "turns": 54, "opinions": 36, "decisions": 6, "questions": 2}
    assert len(result.frame("calls")) == result.counts.made
    assert set(result.frame("ratings")["round"]) == {1, 2, 3}


KILLS = 20
"""Moments at which a run is killed."""


def killed(process: subprocess.Popen[str], store: Path, calls: int) -> int:
    """Kill a process once the store holds so many calls, and return how many it holds in the end."""
    while process.poll() is None and stored_calls(store) < calls:
        time.sleep(0)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return stored_calls(store)


def stored_calls(store: Path) -> int:
    import sqlite3

    if not store.exists():
        return 0
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    try:
        return int(connection.execute("SELECT count(*) FROM calls").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


def test_a_run_killed_again_and_again_ends_like_an_undisturbed_one(tmp_path: Path, undisturbed: ca.Result) -> None:
    """SIGKILL at random moments; nothing stored is asked again, and only what was in flight is paid twice."""
    store, order = tmp_path / "runs.db", random.Random(5)
    total = undisturbed.counts.made
    reached = 0
    for moment in sorted(order.sample(range(total), KILLS)):
        reached = killed(program(store, {**SMALL, "concurrency": 2}), store, moment)
        assert reached >= min(moment, total)
    last = program(store)
    out, err = last.communicate()
    assert last.returncode == 0, err
    document = json.loads(out)
    assert comparable(document) == comparable(undisturbed.document())
    assert document["calls"]["made"] == total - reached
    assert stored_calls(store) == total


def test_a_second_writer_is_refused_with_the_holder_named(tmp_path: Path) -> None:
    store = tmp_path / "runs.db"

    def second(event: Event) -> None:
        if isinstance(event, RunOpened):
            other = program(store)
            _, err = other.communicate()
            assert other.returncode == 1
            assert f"is being written by process {os.getpid()}" in err

    ca.Tournament(**SMALL).run(store, listeners=[second])


def test_listeners_hear_rounds_battles_and_calls_in_order() -> None:
    events: list[Event] = []
    result = ca.Tournament(**SMALL).run(listeners=[events.append])
    assert isinstance(events[0], RunOpened)
    assert events[0].battles >= 6
    assert [event.number for event in events if isinstance(event, RoundOpened)] == [1, 2, 3]
    assert {event.battle.id for event in events if isinstance(event, BattleEnded)} == {b.id for b in result.battles}
    answered = [event for event in events if isinstance(event, CallAnswered)]
    assert len(answered) == result.counts.made + result.counts.memoised


async def test_run_inside_an_event_loop_says_what_to_write() -> None:
    with pytest.raises(RuntimeError, match=r"await tournament\.arun"):
        ca.Tournament(**SMALL).run()
    assert (await ca.Tournament(**SMALL).arun()).counted()["decided"] == 6


# Questions and references.


def test_what_a_weak_examiner_fails_to_write_is_taken_from_the_bundled_set_visibly() -> None:
    backend = ScriptedBackend(
        lambda call: "(1) What is the sum of the first ten odd numbers?\n(2) ok then", Abilities()
    )
    result = ca.Tournament(
        **{**SMALL, "examiner": "test/weak", "questions_per_domain": 2, "domains": ["writing"], "references": False},
    ).run(backends={"hosted": backend})
    assert [question.author for question in result.questions] == ["test/weak", "bundled"]
    assert any("1 of 2 questions are bundled ones" in caveat for caveat in result.caveats)


def test_references_are_off_where_their_writer_plays_and_the_result_says_so() -> None:
    result = ca.Tournament(**{**SMALL, "examiner": "sim/ada?skill=1"}).run()
    assert all(question.reference is None for question in result.questions)
    assert any("references are off: sim/ada plays" in caveat for caveat in result.caveats)
    written = ca.Tournament(**SMALL).run()
    assert [bool(question.reference) for question in written.questions] == [True, False]


def test_all_questions_of_a_file_are_used_unless_told_otherwise(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    rows = [f'q{n},sky,"How far away is star number {n} of the catalogue, and how do we know?"' for n in range(7)]
    file.write_text("\n".join(["id,domain,text", *rows]), encoding="utf-8")
    own = {key: value for key, value in SMALL.items() if key not in ("domains", "questions_per_domain", "examiner")}
    assert len(ca.Tournament(**own, questions=file, language="de").run().questions) == 7
    assert {q.language for q in ca.Tournament(**own, questions=file, language="de").run().questions} == {"de"}
    assert len(ca.Tournament(**own, questions=file, questions_per_domain=2).run().questions) == 2


def test_questions_of_a_file_are_used_as_they_are(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    text = "How many moons does Mars have, and who found them?"
    file.write_text(json.dumps({"id": "q", "domain": "sky", "text": text, "reference": "Two."}), encoding="utf-8")
    result = ca.Tournament(**{**SMALL, "domains": ["sky"], "examiner": None}, questions=file).run()
    assert [(q.id, q.text, q.reference) for q in result.questions] == [("q", text, "Two.")]


# What a committee is made of.


def test_a_panel_that_recusal_leaves_small_is_a_caveat() -> None:
    judges = [{"name": f"j{n}", "model": f"sim/j{n}", "family": "ada"} for n in range(2)]
    models = [{"name": "ada", "model": "sim/ada", "family": "ada"}, "sim/bob", "sim/cleo"]
    result = ca.Tournament(**{**SMALL, "models": models, "judges": [*judges, "sim/j9"]}).run()
    assert any("some battles have only 1 judge;" in caveat for caveat in result.caveats)


def test_nobody_judges_a_battle_they_debate_in_whatever_the_recusal() -> None:
    judges = ["sim/ada?skill=1", "sim/j1", "sim/j2", "sim/j3"]
    result = ca.Tournament(**{**SMALL, "judges": judges}, recuse="none").run()
    for battle in result.battles:
        assert ("sim/ada" in {o.judge for o in battle.opinions}) == ("sim/ada" not in battle.pair)


def repeating_agent() -> BaseChatAgent:
    return Echo("echo")


def test_any_chat_agent_can_have_a_role_and_its_words_reach_the_judges() -> None:
    script = ca.Script(name="s", steps=(*ca.SINGLE.steps, ca.Step(speaker="echo", sees=(1,))))
    heard: list[str] = []

    def listen(event: Event) -> None:
        if isinstance(event, CallAnswered):
            heard.append(event.call.messages[-1].content)

    result = ca.Tournament(**SMALL, script=script, roles={"echo": repeating_agent}).run(listeners=[listen])
    notes = [turn for battle in result.battles for turn in battle.turns if turn.speaker == "echo"]
    assert {section.tag for turn in notes for section in turn.sections} == {"note"}
    assert all('<turn speaker="echo">\n<note>' in text for text in heard if "<transcript>" in text)


def test_a_number_of_judges_takes_the_best_rated_of_the_others() -> None:
    names = [f"sim/m{n}?skill={2 - n}" for n in range(6)]
    result = ca.Tournament(
        models=names, judges=3, domains=["math", "stem"], questions_per_domain=1, schedule=ca.Swiss(rounds=2), seed=1
    ).run()
    for battle in result.battles:
        judges = {opinion.judge for opinion in battle.opinions}
        assert len(judges) == 3
        assert not judges & set(battle.pair)
    listing = [f"sim/m{n}" for n in range(6)]
    for battle in (b for b in result.battles if b.round == 1):
        assert {o.judge for o in battle.opinions} == set([n for n in listing if n not in battle.pair][:3])


def test_both_sides_and_both_orders_are_played_and_stored() -> None:
    result = ca.Tournament(**SMALL, sides="both", orders="both").run()
    assert len(result.battles) == 12
    assert {battle.weight for battle in result.battles} == {0.5}
    opinions = result.battles[0].opinions
    assert {(o.stage, o.order) for o in opinions} == {(s, o) for s in (0, 1) for o in ("AB", "BA")}
