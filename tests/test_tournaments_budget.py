"""A budget stops a run cleanly: what was paid for is kept, and a larger budget pays for nothing twice."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import coupled_arena as ca
from coupled_arena.errors import BudgetReached
from coupled_arena.models.calls import Call, Reply
from coupled_arena.models.simulated.backend import SimulatedBackend
from coupled_arena.records import Usage
from coupled_arena.tournaments.playing.events import CallAnswered, Event
from tests.test_tournaments_play import SMALL, comparable

PRICE = 0.25
"""US dollars for a call of the priced backend: a sum of such fractions is exact."""


class Priced(SimulatedBackend):
    """Simulated models that cost money, and count how many calls they answer at once."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Call] = []
        self.flying = self.most = 0

    async def complete(self, call: Call) -> Reply:
        self.asked.append(call)
        self.flying += 1
        self.most = max(self.most, self.flying)
        # Whoever is cancelled here has been asked, and paid, for nothing.
        for _ in range(3):
            await asyncio.sleep(0)
        reply = await super().complete(call)
        self.flying -= 1
        return reply.model_copy(update={"cost": PRICE, "usage": Usage(prompt_tokens=90, completion_tokens=10)})


def play(
    store: Path | None, backend: Priced, listener: Callable[[Event], None] | None = None, **changes: Any
) -> ca.Result:
    """Play the small tournament with money."""
    listeners = [listener] if listener else []
    return ca.Tournament(**{**SMALL, **changes}).run(store, backends={"sim": backend}, listeners=listeners)


@pytest.fixture(scope="module")
def undisturbed() -> tuple[ca.Result, int]:
    backend = Priced()
    return play(None, backend), len(backend.asked)


@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize(
    ("budget", "spent"),
    [
        ({"usd": 5.0}, lambda spent: spent.usd / 5.0),
        ({"tokens": 2_000}, lambda spent: spent.tokens / 2_000),
        ({"calls": 20}, lambda spent: spent.calls / 20),
    ],
)
def test_stops_at_a_bound_with_at_most_the_calls_in_flight_above_it(
    tmp_path: Path, concurrency: int, budget: dict[str, float], spent: Callable[[Any], float]
) -> None:
    backend = Priced()
    with pytest.raises(BudgetReached) as stop:
        play(tmp_path / "runs.db", backend, budget=budget, concurrency=concurrency)
    share = spent(stop.value.result.spent)
    one = 1 / 20
    assert 1 <= share <= 1 + (backend.most - 1) * one + 1e-9
    assert "calls" not in budget or share == 1
    assert backend.flying == 0


def test_what_was_in_flight_is_paid_for_and_kept(tmp_path: Path) -> None:
    backend = Priced()
    with pytest.raises(BudgetReached) as stop:
        play(tmp_path / "runs.db", backend, budget={"usd": 5.0})
    result = stop.value.result
    assert result.spent.usd == PRICE * len(backend.asked)
    assert len(result.frame("calls")) == len(backend.asked)


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_larger_budget_goes_on_and_pays_for_nothing_twice(
    tmp_path: Path, concurrency: int, undisturbed: tuple[ca.Result, int]
) -> None:
    store, asked = tmp_path / "runs.db", []
    for usd in (1.0, 3.0, 7.0):
        backend = Priced()
        with pytest.raises(BudgetReached):
            play(store, backend, budget={"usd": usd}, concurrency=concurrency)
        asked += backend.asked
    backend = Priced()
    result = play(store, backend, budget={"usd": 1_000.0}, concurrency=concurrency)
    asked += backend.asked
    whole, calls = undisturbed
    assert len(asked) == calls
    assert result.spent.usd == PRICE * calls
    assert comparable(result.document()) == comparable(whole.document())


def test_a_budget_that_is_not_reached_changes_nothing(undisturbed: tuple[ca.Result, int]) -> None:
    result = play(None, Priced(), budget={"usd": 1_000, "tokens": 10**9, "calls": 10**6, "minutes": 600})
    assert comparable(result.document()) == comparable(undisturbed[0].document())


def test_a_finished_run_is_answered_from_the_memo_whatever_the_budget(tmp_path: Path) -> None:
    whole = play(tmp_path / "runs.db", Priced())
    backend = Priced()
    again = play(tmp_path / "runs.db", backend, budget={"usd": 0, "calls": 0, "minutes": 0})
    assert (backend.asked, again.document()["leaderboard"]) == ([], whole.document()["leaderboard"])


def test_wall_time_stops_a_run(tmp_path: Path) -> None:
    with pytest.raises(BudgetReached, match=r"budget\.minutes = 0"):
        play(tmp_path / "runs.db", Priced(), budget={"minutes": 0})


def test_the_message_says_what_was_spent_and_the_result_what_is_missing() -> None:
    with pytest.raises(
        BudgetReached, match=r"^stopped at budget\.calls = 40: 40 made; set a larger one and run it "
    ) as stop:
        play(None, Priced(), budget={"calls": 40})
    result = stop.value.result
    assert result.caveats == (
        f"{len(result.battles)} of at most 6 battles were played when budget.calls = 40: 40 made",
    )
    assert result.frame("calls")["run"].nunique() == 1
    assert len(result.rows) == 3


def test_a_budget_spent_on_questions_leaves_a_result_without_battles() -> None:
    with pytest.raises(BudgetReached) as stop:
        play(None, Priced(), budget={"calls": 1})
    assert stop.value.result.counted() == {"decided": 0, "void": 0, "forfeited": 0}
    assert {(row.low, row.wins, row.availability) for row in stop.value.result.rows} == {(None, 0, None)}


def test_another_runs_answers_cost_nothing(tmp_path: Path) -> None:
    first = play(tmp_path / "runs.db", Priced())
    backend = Priced()
    second = play(tmp_path / "runs.db", backend, name="small again", budget={"usd": 0.0, "calls": 0})
    assert (backend.asked, second.spent.usd, second.spent.calls) == ([], 0.0, 0)
    assert second.document()["leaderboard"] == first.document()["leaderboard"]


def test_listeners_hear_of_every_call_that_was_paid_for(tmp_path: Path) -> None:
    heard: list[CallAnswered] = []

    def listen(event: Event) -> None:
        if isinstance(event, CallAnswered) and not event.memoised:
            heard.append(event)

    backend = Priced()
    with pytest.raises(BudgetReached):
        play(tmp_path / "runs.db", backend, listen, budget={"usd": 4.0})
    assert len(heard) == len(backend.asked)
