"""A bench: shared dice, honest intervals, nothing paid twice, and nothing claimed that was not shared."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coupled_arena as ca
from coupled_arena.analysis.mean import mean_score
from coupled_arena.errors import BudgetReached, ConfigurationError, RunNotFound
from coupled_arena.models.calls import Abilities, Call, Reply
from coupled_arena.models.hosted.backend import HostedBackend
from coupled_arena.models.simulated.backend import SimulatedBackend
from coupled_arena.ratings.student import t_quantile
from coupled_arena.studies.bench.planning import planned
from coupled_arena.studies.bench.playing import aplay
from coupled_arena.testing import FakeProvider, behaviours
from coupled_arena.tournaments.playing.events import BenchOpened, CallAnswered, Event
from tests.support import ScriptedBackend
from tests.test_tournaments_play import killed, stored_calls

ADA, BOB, EVE = "sim/ada?skill=1", "sim/bob?skill=0.9", "sim/eve?skill=-1"
SMALL: dict[str, Any] = {"task": "arithmetic", "items": 30, "repeats": 6, "seed": 7}
Start = Callable[..., FakeProvider]


@pytest.fixture(scope="module")
def found() -> ca.Bench:
    return ca.bench([ADA, BOB, EVE], **SMALL)


def played(models: list[Any], backends: Any, **rules: Any) -> ca.Bench:
    """Bench models behind other backends."""
    return asyncio.run(aplay(planned(models, **{**SMALL, **rules}), preflight=False, backends=backends))


def comparable(bench: ca.Bench) -> dict[str, Any]:
    return {key: value for key, value in bench.document().items() if key not in ("run", "calls", "cost")}


def test_shared_dice_show_in_every_number(found: ca.Bench) -> None:
    close = found.pair_rows[0]
    assert (close.a, close.b, close.sharing, close.items, close.missing) == ("sim/ada", "sim/bob", "shared", 30, 0)
    assert close.identical is not None and close.identical > 0.9
    assert close.saved is not None and close.saved > 0.5
    assert close.se_coupled is not None and close.se_independent is not None
    assert close.se_coupled < close.se_independent
    accuracies = [row.accuracy for row in found.model_rows]
    assert accuracies == sorted(accuracies, key=float, reverse=True)  # type: ignore[arg-type]
    assert found.pair_rows[1].resolved


def test_as_many_more_items_as_said_are_the_fewest_that_settle_it() -> None:
    (pair,) = ca.bench(["sim/ada?skill=1", "sim/bob?skill=0.4"], "arithmetic", items=5, repeats=2).pair_rows
    assert pair.more_items == 7
    assert pair.difference is not None and pair.low is not None
    reach = pair.difference - pair.low
    for items, settles in ((5 + 6, False), (5 + 7, True)):
        then = reach * t_quantile(0.975, items - 1) / t_quantile(0.975, 4) * np.sqrt(5 / items)
        assert bool(then < pair.difference) is settles


def test_models_with_dice_of_their_own_say_nothing_of_savings(found: ca.Bench) -> None:
    alone = ca.bench([ADA, BOB], **SMALL, coupling="independent")
    (pair,) = alone.pair_rows
    assert (pair.sharing, pair.saved, pair.se_coupled, pair.covariance) == ("independent", None, None, None)
    assert pair.identical is not None and pair.identical < 0.8
    assert alone.lines[-1].endswith("; no shared dice")
    # The coupled run knows what dice of each model's own would have given.
    assert pair.se_independent == pytest.approx(found.pair_rows[0].se_independent, rel=0.6)


def test_the_rows_are_the_means_of_the_answers(found: ca.Bench) -> None:
    answers = found.answers
    assert len(answers) == 3 * 30 * 6
    means = answers.groupby("model", sort=False)["score"].mean()
    assert found.models["accuracy"].tolist() == pytest.approx(means.tolist())
    ada, bob = (answers[answers["model"] == name].reset_index() for name in ("sim/ada", "sim/bob"))
    assert found.pairs["difference"][0] == pytest.approx((ada["score"] - bob["score"]).mean())
    assert found.pairs["identical"][0] == (ada["text"] == bob["text"]).mean()
    assert set(ada["gold"]) == {item.gold for item in found.plan.items}
    by_item = ada.groupby("item")["score"].mean()
    reach = 2.04523 * by_item.std() / np.sqrt(30)
    assert found.models["high"][0] - found.models["accuracy"][0] == pytest.approx(reach, rel=1e-4)


def test_a_mean_without_spread_or_scores_has_no_interval() -> None:
    assert mean_score([[1.0, 1.0], [1.0, np.nan]]) == mean_score([[1.0], [1.0]])
    assert (mean_score([[1.0]]).low, mean_score([[np.nan]]).value) == (None, None)
    assert mean_score([[0.0, np.nan], [1.0, 0.0], [np.nan, np.nan]]).value == 0.25


def test_settings_are_swept_with_the_same_dice() -> None:
    swept = ca.bench([ADA, BOB], **SMALL, temperature=[0.7, 1.3], top_p=[0.9])
    assert [(row.temperature, row.top_p) for row in swept.model_rows] == [(0.7, 0.9)] * 2 + [(1.3, 0.9)] * 2
    assert [row.temperature for row in swept.pair_rows] == [0.7, 1.3]
    alone = ca.bench([ADA, BOB], **SMALL, temperature=1.3, top_p=0.9)
    assert (alone.model_rows, alone.pair_rows) == (swept.model_rows[2:], swept.pair_rows[1:])


def test_a_model_keeps_its_own_settings_where_none_are_given() -> None:
    cold = ca.bench([ca.Model("cold", ADA, temperature=0), ca.Model("warm", ADA)], **SMALL)
    assert [row.temperature for row in cold.model_rows] == [0, 0.7]
    assert (cold.pair_rows[0].temperature, cold.pair_rows[0].sharing) == (None, "shared")
    # Greedy repeats are one call.
    assert (cold.counts.made, cold.counts.memoised) == (30 + 30 * 6, 30 * 5)


def test_without_dice_nothing_is_called_shared() -> None:
    greedy = ca.bench([ADA, BOB], **SMALL, temperature=0)
    assert {row.sharing for row in greedy.model_rows} == {"deterministic"}
    assert (greedy.pair_rows[0].sharing, greedy.pair_rows[0].saved) == ("deterministic", None)


@pytest.mark.parametrize("concurrency", [1, 7])
def test_concurrency_changes_nothing(found: ca.Bench, concurrency: int) -> None:
    assert comparable(ca.bench([ADA, BOB, EVE], **SMALL, concurrency=concurrency)) == comparable(found)


def test_a_bench_is_answered_from_its_store(tmp_path: Path, found: ca.Bench) -> None:
    store = tmp_path / "bench.db"
    first = ca.bench([ADA, BOB, EVE], **SMALL, store=store)
    again = ca.bench([ADA, BOB, EVE], **SMALL, store=store)
    assert (again.run, again.counts.made, again.counts.memoised) == (first.run, 0, first.counts.made)
    assert comparable(again) == comparable(found)
    larger = ca.bench([ADA, BOB], **{**SMALL, "items": 40, "repeats": 7}, store=store)
    assert larger.counts.made == 2 * (40 * 7 - 30 * 6)
    with ca.Store(store) as opened, pytest.raises(RunNotFound, match="is a bench, which has no battles"):
        ca.Result.of(opened.run(first.run))


def test_listeners_hear_how_many_answers_there_are_to_be_and_every_call() -> None:
    heard: list[Event] = []
    played = ca.bench([ADA], "arithmetic", items=2, repeats=3, listeners=[heard.append])
    opened, *calls = heard
    assert opened == BenchOpened(played.run, 6)
    assert [type(event) for event in calls] == [CallAnswered] * 6


PROGRAM = """
import json, sys
import coupled_arena as ca
ca.bench(["sim/ada?skill=1", "sim/bob?skill=0.9", "sim/eve?skill=-1"], **json.loads(sys.argv[1]), store=sys.argv[2])
"""


def test_a_killed_bench_pays_nothing_twice(tmp_path: Path, found: ca.Bench) -> None:
    """SIGKILL in the middle; only what was in flight is asked again."""
    store = tmp_path / "bench.db"
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, json.dumps({**SMALL, "concurrency": 2}), str(store)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    reached = killed(program, store, 200)
    assert reached >= 200
    rest = ca.bench([ADA, BOB, EVE], **SMALL, store=store)
    assert (rest.counts.made, rest.counts.memoised) == (540 - reached, reached)
    assert stored_calls(store) == 540
    assert comparable(rest) == comparable(found)


def test_a_budget_stops_a_bench_which_then_goes_on(tmp_path: Path, found: ca.Bench) -> None:
    store = tmp_path / "bench.db"
    with pytest.raises(BudgetReached) as caught:
        ca.bench([ADA, BOB, EVE], **SMALL, store=store, budget={"calls": 100}, concurrency=12)
    partial = caught.value.result
    assert partial.counts.made == 100
    assert sum(row.answers for row in partial.model_rows) <= 100
    assert partial.caveats[0].endswith("of 540 answers were given when budget.calls = 100: 100 made")
    assert all(row.missing > 0 for row in partial.model_rows)
    rest = ca.bench([ADA, BOB, EVE], **SMALL, store=store)
    assert (rest.counts.made, comparable(rest)) == (440, comparable(found))


def test_failures_are_missing_and_refusals_score_nothing(found: ca.Bench) -> None:
    mixed = ca.bench([f"{ADA}&error=0.2", f"{BOB}&refusal=0.3"], **SMALL)
    failing, refusing = mixed.model_rows
    assert failing.answers + failing.missing == 180
    assert failing.missing > 10
    assert (refusing.missing, refusing.answers) == (0, 180)
    assert refusing.silent > 30
    answers = mixed.answers
    assert answers[answers["outcome"] == "failed"]["score"].isna().all()
    assert (answers[answers["outcome"] == "refused"]["score"] == 0).all()
    whole, rest = found.model_rows[0].accuracy, failing.accuracy
    assert whole is not None and rest == pytest.approx(whole, abs=0.06)
    assert mixed.pair_rows[0].missing == failing.missing
    assert any(f"{failing.missing} of 180 answers failed and are missing" in line for line in mixed.caveats)
    assert any(f"{refusing.silent} of 180 answers were refused" in line for line in mixed.caveats)
    header = next(line for line in mixed.lines if line.startswith("model"))
    assert "missing" in header and "silent" in header
    assert "missing" not in next(line for line in found.lines if line.startswith("model"))


def test_only_what_failed_is_asked_again(tmp_path: Path) -> None:
    models, store = [f"{ADA}&error=0.2"], tmp_path / "bench.db"
    first = ca.bench(models, **SMALL, store=store)
    again = ca.bench(models, **SMALL, store=store, retry_failed=True)
    assert again.counts.made == first.counts.failed
    assert again.model_rows[0].missing < first.model_rows[0].missing


def test_a_model_whose_provider_never_answers_leaves_the_others_alone() -> None:
    dead = ca.bench([f"{ADA}&error=1", BOB], **SMALL)
    assert (dead.model_rows[0].accuracy, dead.pair_rows[0].difference) == (None, None)
    assert dead.model_rows[1].answers == 180
    assert [row.sharing for row in dead.model_rows] == ["none", "shared"]
    assert dead.pair_rows[0].sharing == "none"
    assert "nothing can be said of sim/ada and sim/bob" in str(dead)
    json.dumps(dead.document(), allow_nan=False)


def test_hosted_models_take_part_uncoupled_and_the_table_says_so(fake_provider: Start) -> None:
    provider = fake_provider({"one": "It is 12.", "two": "12 or so", "mute": behaviours.refusal()}, keep=0)
    models = [provider.model(name) for name in ("one", "two", "mute")]
    hosted = played(models, {"hosted": HostedBackend()}, items=5, repeats=2)
    assert {pair.sharing for pair in hosted.pair_rows} <= {"none", "seed-only"}
    assert {pair.saved for pair in hosted.pair_rows} == {None}
    assert any("hosted, with dice of its provider's" in caveat for caveat in hosted.caveats)
    assert hosted.model_rows[2].silent == 10
    assert [pair["sharing"] for pair in hosted.document()["pairs"]] == [pair.sharing for pair in hosted.pair_rows]
    assert hosted.document()["cost"]["unpriced_models"] == ["mute", "one", "two"]


def test_a_broken_hosted_model_is_found_before_the_first_call(fake_provider: Start, tmp_path: Path) -> None:
    provider = fake_provider({"one": "12", "two": behaviours.error(401, "no such key")})
    with pytest.raises(ConfigurationError, match="bench: models: two: the provider refuses its key"):
        ca.bench([provider.model("one"), provider.model("two")], **SMALL, store=tmp_path / "bench.db")
    assert provider.received == 2
    assert not (tmp_path / "bench.db").exists()


def test_choices_are_for_models_that_choose() -> None:
    def answer(call: Call) -> str:
        return call.choices[0] if call.choices else "I cannot say"

    task = ca.Task("t", (ca.Item("1", "Is it so?", "yes"),), ca.Exact(ca.yes_or_no), choices=("yes", "no"))
    backends = {
        "hosted": ScriptedBackend(answer),
        "local": ScriptedBackend(answer, Abilities(chooses=True)),
    }
    found = played(["openai/free", "local/chooser"], backends, task=task, items=1)
    assert [row.accuracy for row in found.model_rows] == [0.0, 1.0]
    assert "openai/free: wrote freely, while the others chose among yes, no" in found.caveats


def test_all_repeats_of_an_item_are_in_flight_together() -> None:
    class Counting(SimulatedBackend):
        flying = most = 0
        seen: list[tuple[str, ...]] = []

        async def complete(self, call: Call) -> Reply:
            self.flying += 1
            self.most = max(self.most, self.flying)
            self.seen.append((call.model.name, call.messages[0].content))
            await asyncio.sleep(0)
            self.flying -= 1
            return await super().complete(call)

    backend = Counting()
    played([ADA, BOB], {"sim": backend}, concurrency=12)
    assert backend.most == 12
    for start in range(0, len(backend.seen), 6):
        assert len(set(backend.seen[start : start + 6])) == 1


@pytest.mark.parametrize(
    ("rules", "problem"),
    [
        ({"models": []}, "models: name at least one model"),
        ({"models": [ADA, ADA]}, "models: 'sim/ada' is listed 2 times"),
        ({"models": [ADA, "openai/gpt-4o"]}, "models: simulated models are told what is right"),
        ({"models": [{"name": "ada", "model": ADA, "temprature": 1}]}, "models.temprature: unknown key"),
        ({"models": [3]}, "models: write a model string"),
        ({"models": ["agent/solver"]}, "models: agent/solver is an agent"),
        ({"models": ["sim/ada?skil=1"]}, "models: sim/ada: skil: is no dial"),
        ({"models": [ca.Model("x", ADA, temperature=1)], "temperature": 0.7}, "temperature: is stated by x already"),
        ({"items": 301}, "items: arithmetic has 300 items, not 301"),
        ({"items": 0}, "items: must be a whole number from 1"),
        ({"repeats": 2.5}, "repeats: must be a whole number from 1 to 10000, not 2.5"),
        ({"temperature": [0.7, 0.7]}, "temperature: 0.7 is listed 2 times"),
        ({"temperature": []}, "temperature: name at least one value"),
        ({"temperature": 11}, "temperature: must be from 0 to 10, not 11"),
        ({"top_p": 0}, "top_p: must be above 0 and at most 1, not 0"),
        ({"coupling": "fresh"}, "coupling: must be one of coupled, independent, not 'fresh'"),
        ({"alignment": "bytes"}, "alignment: must be one of step, context, not 'bytes'"),
        ({"seed": -1}, "seed: must be a whole number of at most 40 digits, not -1"),
        ({"task": "arithmetics"}, "task: there is no such file"),
        ({"budget": {"usd": -1}}, "budget.usd: "),
    ],
)
def test_what_cannot_be_benched_is_said_before_the_first_call(rules: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        ca.bench(**{"models": [ADA, BOB], **SMALL, **rules})
    assert any(problem in str(found) for found in caught.value.problems), caught.value
    assert len(caught.value.problems) == 1


def test_several_problems_are_said_at_once() -> None:
    with pytest.raises(ConfigurationError) as caught:
        ca.bench([ADA, ADA], "no-such", repeats=0, temperature=-1)
    assert [problem.key for problem in caught.value.problems] == ["models", "temperature", "repeats", "task"]


def test_a_scorer_that_raises_is_mended_without_paying_again(tmp_path: Path) -> None:
    items, store = (ca.Item("1", "What is 1 + 1?", "2"), ca.Item("2", "What is 2 + 2?", "4")), tmp_path / "bench.db"

    def broken(item: ca.Item, text: str) -> float:
        raise KeyError(text)

    with pytest.raises(ConfigurationError, match="sums: 1: its scorer raised KeyError"):
        ca.bench([ADA], ca.Task("sums", items, broken), store=store, concurrency=1)
    stored = stored_calls(store)
    mended = ca.bench([ADA], ca.Task("sums", items, ca.Exact(ca.last_number)), store=store)
    assert 0 < stored <= 20
    assert (mended.counts.made, mended.counts.memoised) == (20 - stored, stored)


async def test_inside_an_event_loop_it_is_awaited(found: ca.Bench) -> None:
    with pytest.raises(RuntimeError, match=r"ca\.abench"):
        ca.bench([ADA], "arithmetic")
    awaited = await ca.abench([ADA, BOB, EVE], **SMALL)
    assert comparable(awaited) == comparable(found)
