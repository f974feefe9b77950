"""Agents of a user's own in a whole tournament: who they are, what is asked of them again, and what ends a run."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from autogen_agentchat.agents import BaseChatAgent

import coupled_arena as ca
from coupled_arena.errors import BudgetReached, StoreError
from coupled_arena.models.budget import Budget
from coupled_arena.models.calls import Abilities, Call, Reply
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.memo import MemoryMemo
from coupled_arena.prompts import load_prompts
from coupled_arena.tournaments.playing.play import play
from coupled_arena.tournaments.playing.seating import Seating
from tests.agents_scene import Ledger, OwnClient, Remembering, assistant
from tests.support import ScriptedBackend

SMALL: dict[str, Any] = {
    "name": "agents",
    "judges": ["sim/j1", "sim/j2", "sim/j3"],
    "domains": ["writing"],
    "questions_per_domain": 2,
    "seed": 7,
}
LEDGER = Ledger()


def speech(heard: Sequence[str]) -> str:
    """Speak in every tag, of how much was heard."""
    words = f"after {len(heard)} requests of {sum(map(len, heard))} characters"
    return "".join(f"<{tag}>{tag} {words}</{tag}>" for tag in ("respond", "criticize", "raise"))


@pytest.fixture(autouse=True)
def ledger() -> Ledger:
    LEDGER.asked.clear()
    LEDGER.answer, LEDGER.closed = speech, 0
    return LEDGER


def own() -> BaseChatAgent:
    return Remembering(LEDGER)


def forgetful() -> BaseChatAgent:
    return OwnClient(LEDGER)


def ada() -> BaseChatAgent:
    return assistant(ca.model_client("sim/ada?skill=2"))


def eve() -> BaseChatAgent:
    return assistant(ca.model_client("sim/eve?skill=-2"))


def checker() -> BaseChatAgent:
    return OwnClient(LEDGER)


def judging() -> BaseChatAgent:
    return assistant(ca.model_client("sim/j9?acuity=9"))


def examining() -> BaseChatAgent:
    return assistant(ca.model_client("sim/examiner"))


def tournament(**changes: Any) -> ca.Tournament:
    return ca.Tournament(**{**SMALL, "models": ["agent/own", "sim/bob"], "agents": {"own": own}, **changes})


def comparable(result: ca.Result) -> Any:
    return sorted(result.battles, key=lambda battle: battle.id)


# Any role.


def test_agents_debate_and_judge_and_write() -> None:
    """Over simulated models, so that it is known who is better."""
    result = tournament(
        models=["agent/ada", "agent/eve"],
        agents={"ada": ada, "eve": eve, "judging": judging, "examining": examining},
        judges=["sim/j1", "sim/j2", "agent/judging"],
        examiner="agent/examining",
        domains=["math", "writing"],
    ).run()
    assert result.leaderboard()["model"].tolist() == ["agent/ada", "agent/eve"]
    assert {question.author for question in result.questions} == {"agent/examining"}
    assert all(question.reference for question in result.questions if question.domain == "math")
    opinions = [opinion for battle in result.battles for opinion in battle.opinions if opinion.judge == "agent/judging"]
    assert {opinion.status for opinion in opinions} == {"valid"}
    assert all(turn.outcome == "ok" and not turn.missing for battle in result.battles for turn in battle.turns)
    assert {battle.sharing for battle in result.battles} == {"shared"}
    assert result.counts.unpriced == set()


def test_one_agent_debates_and_judges_others() -> None:
    models = ["agent/ada", "agent/eve", "sim/bob", "sim/cleo"]
    result = tournament(models=models, judges=3, agents={"ada": ada, "eve": eve}, min_judges=2, recuse="author").run()
    judged = {opinion.judge for battle in result.battles for opinion in battle.opinions}
    assert {"agent/ada", "agent/eve"} <= judged
    assert all(not {o.judge for o in battle.opinions} & set(battle.pair) for battle in result.battles)


def test_no_coupling_is_claimed_where_there_is_none() -> None:
    """The dice of an agent's calls are not those of a model that is asked directly."""
    mixed = tournament(models=["agent/ada", "sim/bob"], agents={"ada": ada}).run()
    assert {battle.sharing for battle in mixed.battles} == {"none"}
    whole = tournament().run()
    assert {turn.sharing for battle in whole.battles for turn in battle.turns if turn.model == "agent/own"} == {"none"}


def test_a_refusal_forfeits_and_a_provider_s_failure_is_void() -> None:
    for outcome, status in (("refused", "forfeited"), ("failed", "void")):

        def answer(call: Call, outcome: Any = outcome) -> Reply:
            return Reply(outcome=outcome, detail="because")

        LEDGER.answer = speech
        played = ca.Tournament(
            **{**SMALL, "models": ["agent/own", "agent/hosted"], "judges": ["test/judge"]},
            agents={"own": own, "hosted": hosted},
        )
        result = _played(played, answer)
        assert {battle.decision.status for battle in result.battles} == {status}
        assert all("agent/hosted" in battle.decision.reason for battle in result.battles)
        assert result.counts.made > 0


def hosted() -> BaseChatAgent:
    return assistant(ca.model_client("test/model"))


def _played(played: ca.Tournament, answer: Callable[[Call], Reply | str], store: Any = None) -> ca.Result:
    import asyncio

    backend = ScriptedBackend(answer, Abilities(tools=True))
    return asyncio.run(play(played, store, backends={"hosted": backend}))


# Resume.


def test_a_finished_run_asks_its_agents_nothing(tmp_path: Path) -> None:
    first = tournament().run(tmp_path / "runs.db")
    asked = len(LEDGER.asked)
    assert (asked, LEDGER.closed) == (9, 2)
    again = tournament().run(tmp_path / "runs.db")
    assert comparable(again) == comparable(first)
    assert (len(LEDGER.asked), again.counts.made) == (asked, 0)
    assert again.counts.memoised == first.counts.made + first.counts.memoised
    assert first.counts.unpriced == {"agent/own"}


@pytest.mark.parametrize("factory", [own, forgetful])
def test_a_run_stopped_anywhere_in_a_battle_ends_like_an_undisturbed_one(
    tmp_path: Path, factory: Callable[[], BaseChatAgent]
) -> None:
    """Nothing is asked twice, and what an agent remembers is what it remembered."""
    played = {"agents": {"own": factory}, "questions_per_domain": 1, "concurrency": 1}
    undisturbed = tournament(**played).run()
    asked = sorted(LEDGER.asked)
    for calls in range(1, undisturbed.counts.made):
        LEDGER.asked.clear()
        store = tmp_path / f"{calls}.db"
        with pytest.raises(BudgetReached):
            tournament(**played, budget=Budget(calls=calls)).run(store)
        result = tournament(**played).run(store)
        if factory is own:
            assert comparable(result) == comparable(undisturbed)
            assert sorted(LEDGER.asked) == asked
        assert len(LEDGER.asked) == len(asked)


PROGRAM = """
import sys
import coupled_arena as ca
from tests.agents_scene import Ledger, Remembering
from tests.test_agents_tournament import speech, tournament

class Written(list):
    def append(self, text):
        with open(sys.argv[2], "a", encoding="utf-8") as file:
            file.write(repr(text) + chr(10))

def own():
    return Remembering(Ledger(answer=speech, asked=Written()))

print(tournament(agents={"own": own}, concurrency=1).run(sys.argv[1]).battles)
"""


def test_a_killed_run_ends_like_an_undisturbed_one(tmp_path: Path) -> None:
    """SIGKILL in the middle of a battle: at most the turn in flight is asked twice."""

    def start(name: str) -> "subprocess.Popen[str]":
        arguments = [str(tmp_path / f"{name}.db"), str(tmp_path / f"{name}.txt")]
        root = str(Path(__file__).parent.parent)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join((root, os.environ.get("PYTHONPATH", "")))}
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def asked(name: str) -> list[str]:
        file = tmp_path / f"{name}.txt"
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []

    undisturbed, killed = start("a"), start("b")
    whole, error = undisturbed.communicate()
    assert undisturbed.returncode == 0, error
    while killed.poll() is None and len(asked("b")) < 3:
        time.sleep(0)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    again = start("b")
    result, error = again.communicate()
    assert again.returncode == 0, error
    assert result == whole
    assert set(asked("b")) == set(asked("a"))
    assert len(asked("b")) <= len(asked("a")) + 1


def test_an_agent_in_a_role_is_not_asked_again_either(tmp_path: Path) -> None:
    script = ca.Script(name="s", steps=(*ca.SINGLE.steps, ca.Step(speaker="checker", sees=(1,))))
    seats = {"checker": ca.RoleSeat(factory=checker, says="finding")}
    played = {"models": ["sim/ada", "sim/bob"], "agents": {}, "script": script, "roles": seats}
    LEDGER.answer = lambda heard: "All true."
    results = [tournament(**played).run(tmp_path / "runs.db") for _ in range(2)]
    assert comparable(results[0]) == comparable(results[1])
    turns = [turn for battle in results[0].battles for turn in battle.turns if turn.speaker == "checker"]
    assert {(turn.model, *(section.tag for section in turn.sections)) for turn in turns} == {("checker", "finding")}
    assert len(LEDGER.asked) == len(turns) == 2
    assert not any("checker" in caveat for caveat in results[0].caveats)


# What ends a run, and what only a battle.


def test_a_bug_in_an_agent_makes_its_battles_void_and_no_others(caplog: pytest.LogCaptureFixture) -> None:
    def fail(heard: Sequence[str]) -> str:
        raise ZeroDivisionError("a bug")

    LEDGER.answer = fail
    models = ["agent/own", "sim/bob", "sim/cleo"]
    result = tournament(models=models, schedule="round_robin").run()
    assert {battle.decision.status for battle in result.battles if "agent/own" in battle.pair} == {"void"}
    assert {battle.decision.status for battle in result.battles if "agent/own" not in battle.pair} == {"decided"}
    assert all("ZeroDivisionError: a bug" in b.decision.reason for b in result.battles if "agent/own" in b.pair)


def test_what_an_agent_makes_of_a_budget_that_is_spent_does_not_matter(tmp_path: Path) -> None:
    played = {"models": ["agent/stubborn", "sim/bob"], "agents": {"stubborn": stubborn}}
    with pytest.raises(BudgetReached) as raised:
        tournament(**played, budget=Budget(calls=2)).run(tmp_path / "runs.db")
    assert raised.value.result.counts.made == 2


class Stubborn(OwnClient):
    """Takes whatever happens to a call for an answer."""

    async def on_messages(self, messages: Any, cancellation_token: Any) -> Any:
        try:
            await ca.model_client("sim/ada").create([messages[-1].to_model_message()])
        except Exception as error:  # noqa: BLE001 (that is what it is for)
            self.ledger.asked.append(str(error))
        return await super().on_messages(messages, cancellation_token)


def stubborn() -> BaseChatAgent:
    return Stubborn(LEDGER)


class Full(MemoryMemo):
    def remember(self, key: bytes, call: Call, reply: Reply) -> None:
        raise StoreError("the disk is full")


async def test_a_store_that_fails_under_an_agent_s_call_ends_the_turn_with_it() -> None:
    gateway = Gateway(Full())
    seating = Seating(tournament(), gateway, load_prompts("en"))
    seating.agents.factories["stubborn"] = stubborn
    voice = seating.voice(ca.Model("agent/stubborn"), "debater")
    from coupled_arena.coupling import Dice
    from coupled_arena.models.calls import Message

    question = '<question domain="math">\nWhy?\n</question>\n\n<respond>…</respond>'
    with pytest.raises(StoreError, match="the disk is full"):
        await voice.say([Message("user", question)], dice=Dice(0, (), (), ()), part="whole", max_tokens=9)


# Who is who.


def test_a_stored_run_of_agents_can_be_read(tmp_path: Path) -> None:
    result = tournament().run(tmp_path / "runs.db")
    with ca.Store(tmp_path / "runs.db") as store:
        assert ca.Result.of(store.run()).leaderboard().equals(result.leaderboard())
    calls = result.frame("calls")
    assert (calls["model"] == "agent/own").sum() == 9
