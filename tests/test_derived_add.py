"""A newcomer is inserted into a finished run: only its own battles are played, and the run stays as it is."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

import coupled_arena as ca
from coupled_arena.studies.derived.addition import with_newcomer
from coupled_arena.tournaments.results.result import Result
from tests.derived_scene import KILLS, SMALL, copied, finished, program, refusal, rows, same
from tests.test_agents_tournament import ada
from tests.test_tournaments_play import killed, stored_calls

EVE = "sim/eve?skill=0.7"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ca.Result]:
    return finished(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def added(base: tuple[Path, ca.Result], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ca.Addition]:
    store = copied(base[0], tmp_path_factory.mktemp("added"))
    return store, ca.add(EVE, store)


def test_a_newcomer_meets_a_logarithm_of_the_field_and_the_rest_is_copied(
    base: tuple[Path, ca.Result], added: tuple[Path, ca.Addition]
) -> None:
    _, played = base
    _, found = added
    assert found.met[0].opponent == "sim/bob"
    assert len(found.met) == 2
    assert sum(met.wins + met.losses + met.ties + met.void for met in found.met) == 2 * 4
    assert {battle.id: battle for battle in found.result.battles if "sim/eve" not in battle.pair} == {
        battle.id: battle for battle in played.battles
    }
    assert found.result.counts.made < played.counts.made


def test_its_opponents_repeat_their_openings_and_pay_nothing_for_it(added: tuple[Path, ca.Addition]) -> None:
    _, found = added
    own = [battle for battle in found.result.battles if "sim/eve" in battle.pair]
    assert found.result.counts.memoised >= len(own)
    assert {battle.sharing for battle in own} == {"shared"}


def test_the_run_it_came_into_is_untouched(base: tuple[Path, ca.Result], added: tuple[Path, ca.Addition]) -> None:
    assert rows(added[0], base[1].run) == rows(base[0], base[1].run)


def test_the_same_call_again_answers_from_the_store(added: tuple[Path, ca.Addition]) -> None:
    store, found = added
    again = ca.add(EVE, store)
    assert again.result.run == found.result.run
    assert again.result.counts.made == 0
    assert same(again.document()) == same(found.document())


def test_the_new_run_stands_by_itself(base: tuple[Path, ca.Result], added: tuple[Path, ca.Addition]) -> None:
    store, found = added
    with ca.Store(store) as opened:
        run = opened.run(found.result.run)
        alone = Result.of(run)
        assert alone.rows == found.result.rows
        assert [len(run.frame("battles")), len(run.frame("questions"))] == [12 + 8, 4]
        assert set(run.frame("ratings")["round"]) == {1, 2, 3, 4, 5}
        assert run.manifest["base"] == {
            "run": base[1].run,
            "digest": run.manifest["base"]["digest"],
            "added": "sim/eve",
        }
        assert opened.check().findings == ()


def test_moves_are_on_the_scale_of_the_old_models(
    base: tuple[Path, ca.Result], added: tuple[Path, ca.Addition]
) -> None:
    found = added[1]
    before = {row.model: row.rating for row in base[1].rows}
    assert {move.model: move.before for move in found.moves} == before
    after = [move.after for move in found.moves if move.after is not None]
    assert sum(after) == pytest.approx(sum(rating for rating in before.values() if rating is not None))
    leaderboard = {row.model: row.rating or 0.0 for row in found.result.rows}
    assert found.moves[0].after == pytest.approx(leaderboard[found.moves[0].model] + found.shift)
    assert found.largest is not None
    assert abs(found.largest.change or 0) == max(abs(move.change or 0) for move in found.moves)


def test_the_document_and_the_sentence_say_where_it_stands(added: tuple[Path, ca.Addition]) -> None:
    found = added[1]
    document = json.loads(json.dumps(found.document()))
    assert set(document) == {
        "base", "run", "sentence", "newcomer", "met", "moves", "largest", "reordered", "shift", "leaderboard",
        "settled", "battles", "sharing", "calls", "cost", "caveats",
    }  # fmt: skip
    assert document["newcomer"]["rank"] == found.newcomer.rank
    assert found.sentence.startswith(f"sim/eve comes in at rank {found.newcomer.rank} of 4")
    assert str(found).startswith(found.sentence)
    assert document["calls"]["made"] == found.result.counts.made


def test_a_second_newcomer_builds_on_the_first(added: tuple[Path, ca.Addition], tmp_path: Path) -> None:
    store = copied(added[0], tmp_path)
    found = ca.add("sim/zoe?skill=2", store)
    assert found.base == added[1].result.run
    assert len(found.moves) == 4
    assert ca.add("sim/zoe?skill=2", store).result.counts.made == 0
    with ca.Store(store) as opened:
        assert opened.check().findings == ()


def test_a_model_as_good_as_another_moves_the_others_little(tmp_path: Path) -> None:
    """Less than what the battles leave open anyway; and it stands beside its like."""
    models = ["sim/ada?skill=0.7", "sim/bob?skill=0", "sim/cleo?skill=-0.7"]
    store, played = finished(tmp_path, models=models, questions_per_domain=4)
    found = ca.add(ca.Model("twin", "sim/bob?skill=0"), store)
    reach = {row.model: row.high - row.rating for row in played.rows if row.high is not None and row.rating is not None}
    assert len(reach) == 3
    assert not found.reordered
    for move in found.moves:
        assert move.change is not None and abs(move.change) < reach[move.model] / 2
    assert found.newcomer.rank in (2, 3)


def test_scores_say_whom_it_meets_first(base: tuple[Path, ca.Result], tmp_path: Path) -> None:
    scores = {"sim/ada": 0.9, "sim/bob": 0.5, "sim/cleo": 0.1, "sim/eve": 0.85}
    assert ca.add(EVE, copied(base[0], tmp_path), scores=scores).met[0].opponent == "sim/ada"


def test_an_addition_killed_again_and_again_pays_nothing_twice(
    base: tuple[Path, ca.Result], added: tuple[Path, ca.Addition], tmp_path: Path
) -> None:
    """SIGKILL at random moments; nothing stored is asked again, and the base run stays as it was."""
    store, order = copied(base[0], tmp_path), random.Random(3)
    before = stored_calls(store)
    total = stored_calls(added[0]) - before
    reached = before
    for moment in sorted(order.sample(range(total), KILLS)):
        reached = killed(program("add", EVE, str(store), concurrency=2), store, before + moment)
    last = program("add", EVE, str(store))
    out, err = last.communicate()
    assert last.returncode == 0, err
    document = json.loads(out)
    assert same(document) == same(added[1].document())
    assert stored_calls(store) == before + total
    assert document["calls"]["made"] <= before + total - reached
    assert rows(store, base[1].run) == rows(base[0], base[1].run)


def test_a_budget_stops_it_and_a_larger_one_goes_on(base: tuple[Path, ca.Result], tmp_path: Path) -> None:
    store = copied(base[0], tmp_path)
    with pytest.raises(ca.BudgetReached) as stop:
        ca.add(EVE, store, budget={"calls": 20})
    partial = ca.Addition.of(stop.value.result)
    assert "0 of at most 8 battles were played" in partial.result.caveats[0]
    assert "no rated battle" in partial.sentence
    with pytest.raises(ca.ConfigurationError, match="is not finished"):
        ca.add("sim/zoe", store)
    assert ca.add(EVE, store).newcomer.rank is not None


def test_the_estimate_covers_the_new_battles_only(base: tuple[Path, ca.Result]) -> None:
    seen = with_newcomer(EVE, base[0]).preflight(base[0])
    assert seen.battles == 2 * 4
    figures = {line.model: line.spending for line in seen.models}
    assert figures["sim/ada"].calls * 2 == figures["sim/eve"].calls
    assert "sim/examiner" not in figures


def test_a_name_that_is_taken_is_refused(base: tuple[Path, ca.Result]) -> None:
    with pytest.raises(ca.ConfigurationError) as error:
        ca.add("sim/bob?skill=1", base[0])
    assert refusal(error)[0] == "models"
    assert f"'sim/bob' has played in run {base[1].run}" in refusal(error)[1]


def test_a_newcomer_that_leaves_too_few_judges_is_refused(tmp_path: Path) -> None:
    store, _ = finished(tmp_path, questions_per_domain=1, committee={"min_judges": 3})
    with pytest.raises(ca.ConfigurationError) as error:
        ca.add(ca.Model("eve", "sim/eve", family="sim/j1"), store)
    assert refusal(error)[0] == "judges"
    assert "too few judges" in refusal(error)[1]


def test_only_bounds_may_be_set_beside_it(base: tuple[Path, ca.Result]) -> None:
    rules: dict[str, Any] = {"seed": 8}
    with pytest.raises(ca.ConfigurationError) as error:
        ca.add(EVE, base[0], **rules)
    assert refusal(error)[0] == "seed"


def test_a_bench_takes_no_newcomer(tmp_path: Path) -> None:
    store = tmp_path / "bench.db"
    ca.bench(["sim/ada"], "arithmetic", items=2, repeats=1, store=store)
    with pytest.raises(ca.StoreError, match="is a bench"):
        ca.add(EVE, store)


def test_the_writer_of_the_references_is_judged_without_them(tmp_path: Path) -> None:
    store, played = finished(tmp_path, reference="sim/writer?skill=1", questions_per_domain=1)
    assert any(question.reference for question in played.questions)
    found = ca.add("sim/writer?skill=1", store)
    assert "sim/writer writes reference answers: its own battles are judged without them" in found.result.caveats
    assert found.result.questions == played.questions
    assert "note: references" not in "".join(found.lines)


def test_what_builds_on_a_run_that_stopped_by_what_it_saw_says_so_at_every_remove(
    added: tuple[Path, ca.Addition], tmp_path: Path
) -> None:
    says = "a run that was adaptive and stopped by what it saw"
    store, played = finished(tmp_path, schedule={"kind": "adaptive", "rounds": 2})
    first = ca.add(EVE, store)
    second = ca.add("sim/fay", store)
    assert second.base == first.result.run
    anew = ca.rejudge(store, second.result.run, judges=["sim/k1", "sim/k2", "sim/k3"])
    for found in (first.result, second.result, anew.result):
        assert says in "".join(found.caveats)
    of_the_run_itself = ca.rejudge(store, played.run, judges=["sim/k1", "sim/k2", "sim/k3"]).result
    assert of_the_run_itself.resolution is not None
    for found in (added[1].result, played, of_the_run_itself):
        assert says not in "".join(found.caveats)


def test_agents_written_in_python_are_given_along(tmp_path: Path) -> None:
    changes = {"questions_per_domain": 1, "models": ["agent/loud", "sim/bob"], "agents": {"loud": ada}}
    definition = ca.Tournament(**{**SMALL, **changes})
    store = tmp_path / "runs.db"
    definition.run(store)
    with pytest.raises(ca.ConfigurationError) as error:
        ca.add(EVE, store)
    assert "agents written in Python (loud)" in refusal(error)[1]
    assert len(ca.add(EVE, store, definition=definition).met) == 2


def test_the_definition_of_another_run_is_refused(base: tuple[Path, ca.Result]) -> None:
    with pytest.raises(ca.ConfigurationError) as error:
        ca.add(EVE, base[0], definition=ca.Tournament(**{**SMALL, "seed": 8}))
    assert refusal(error)[0] == "seed"


async def test_inside_an_event_loop_it_is_awaited(base: tuple[Path, ca.Result], tmp_path: Path) -> None:
    store = copied(base[0], tmp_path)
    with pytest.raises(RuntimeError, match=r"await ca\.aadd"):
        ca.add(EVE, store)
    assert (await ca.aadd(EVE, store)).newcomer.rank is not None
