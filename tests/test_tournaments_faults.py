"""A tournament in which something fails: models, judges, agents, listeners."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import coupled_arena as ca
from coupled_arena.errors import ListenerFailed
from coupled_arena.models.calls import Call, Reply
from coupled_arena.models.simulated.backend import SimulatedBackend
from coupled_arena.tournaments.playing.events import BattleEnded, CallAnswered, Event, RoundOpened, RunOpened
from tests.test_tournaments_play import SMALL, comparable


def faulty(fault: Callable[[Call], Reply | None]) -> SimulatedBackend:
    """Return simulated models some of whose calls go wrong."""

    class Faulty(SimulatedBackend):
        async def complete(self, call: Call) -> Reply:
            return fault(call) or await super().complete(call)

    return Faulty()


def test_a_model_that_always_fails_makes_only_its_own_battles_void() -> None:
    def fault(call: Call) -> Reply | None:
        return Reply(outcome="failed", detail="503 overloaded") if call.model.name == "sim/bob" else None

    result = ca.Tournament(**SMALL).run(backends={"sim": faulty(fault)})
    assert result.counted() == {"decided": 2, "void": 4, "forfeited": 0}
    rows = {row.model: row for row in result.rows}
    assert (rows["sim/bob"].void, rows["sim/bob"].availability) == (4, 0.0)
    assert rows["sim/ada"].availability == 1.0
    assert all("503 overloaded" in b.decision.reason for b in result.battles if "sim/bob" in b.pair)


def test_a_model_that_always_refuses_loses_by_forfeit() -> None:
    def fault(call: Call) -> Reply | None:
        return Reply(outcome="refused", detail="no") if call.model.name == "sim/bob" else None

    result = ca.Tournament(**SMALL).run(backends={"sim": faulty(fault)})
    rows = {row.model: row for row in result.rows}
    assert (rows["sim/bob"].losses, rows["sim/bob"].forfeited, rows["sim/bob"].void) == (4, 4, 0)
    assert rows["sim/ada"].wins >= 2
    assert rows["sim/bob"].rank == 3


def test_a_failing_judge_is_counted_and_the_rest_decide() -> None:
    def fault(call: Call) -> Reply | None:
        return Reply(outcome="failed", detail="500") if call.model.name == "sim/j2" else None

    result = ca.Tournament(**SMALL).run(backends={"sim": faulty(fault)})
    assert result.counted()["decided"] == 6
    failed = [o for battle in result.battles for o in battle.opinions if o.judge == "sim/j2"]
    assert {opinion.status for opinion in failed} == {"failed"}


def test_without_a_quorum_of_judges_a_battle_is_void() -> None:
    def fault(call: Call) -> Reply | None:
        return Reply(outcome="refused") if call.model.name in ("sim/j2", "sim/j3") else None

    result = ca.Tournament(**SMALL).run(backends={"sim": faulty(fault)})
    assert result.counted()["void"] == 6
    assert result.battles[0].decision.reason == "1 of 3 judges hold a valid verdict"


def test_failed_answers_are_replayed_until_they_are_asked_for_again(tmp_path: Path) -> None:
    store = tmp_path / "runs.db"

    def fault(call: Call) -> Reply | None:
        return Reply(outcome="failed", detail="down") if call.model.name == "sim/bob" else None

    broken = ca.Tournament(**SMALL).run(store, backends={"sim": faulty(fault)})
    again = ca.Tournament(**SMALL).run(store)
    assert again.counted() == broken.counted()
    assert again.counts.made == 0
    mended = ca.Tournament(**SMALL).run(store, retry_failed=True)
    assert mended.run == broken.run
    assert comparable(mended.document()) == comparable(ca.Tournament(**SMALL).run().document())


def test_an_exception_in_an_agent_voids_its_battle_and_disturbs_no_other(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(ca.Role):
        instructions = "x"

        async def answer(self, request: Any) -> Any:
            if "math" in self.history[-1].content:
                raise ZeroDivisionError("my bug")
            return await super().answer(request)

    script = ca.Script(name="s", steps=(*ca.SINGLE.steps, ca.Step(speaker="extra", sees=(1, 2))))
    result = ca.Tournament(**SMALL, script=script, roles={"extra": (Broken, "sim/extra")}).run()
    status = {battle.domain: battle.decision.status for battle in result.battles}
    assert status == {"math": "void", "writing": "decided"}
    assert "ZeroDivisionError: my bug" in result.battles[0].decision.reason
    assert "my bug" in caplog.text


@pytest.mark.parametrize("kind", [RunOpened, RoundOpened, CallAnswered, BattleEnded])
def test_a_listener_that_raises_ends_the_run_and_makes_no_battle_void(tmp_path: Path, kind: type) -> None:
    def broken(event: Event) -> None:
        if isinstance(event, kind):
            raise ZeroDivisionError("my listener broke")

    with pytest.raises(ListenerFailed, match="my listener broke"):
        ca.Tournament(**SMALL).run(tmp_path / "runs.db", listeners=[broken])
    assert ca.Tournament(**SMALL).run(tmp_path / "runs.db").counted()["void"] == 0


def test_a_failing_reference_writer_is_quoted() -> None:
    def fault(call: Call) -> Reply | None:
        return Reply(outcome="failed", detail="503 busy") if call.model.name == "sim/writer" else None

    result = ca.Tournament(**SMALL, reference="sim/writer").run(backends={"sim": faulty(fault)})
    assert "sim/writer wrote 0 of 1 reference answers (failed: 503 busy)" in result.caveats
