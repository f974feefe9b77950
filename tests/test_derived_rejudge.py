"""The debates of a finished run are judged anew: judges only, and the same judges say the same."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import BaseChatMessage, TextMessage
from autogen_core import CancellationToken

import coupled_arena as ca
from coupled_arena.studies.derived.rejudging import judged_anew
from coupled_arena.tournaments.results.result import Result
from tests.derived_scene import KILLS, PANEL, SMALL, copied, finished, program, refusal, rows, same
from tests.test_agents_tournament import checker
from tests.test_tournaments_play import killed, stored_calls


class Always(BaseChatAgent):
    """A judge that prefers whoever stands first."""

    produced_message_types = (TextMessage,)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        return Response(chat_message=TextMessage(content="The first one.\n[[A]]", source=self.name))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        pass


def make_always() -> BaseChatAgent:
    return Always("always", "prefers the first")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ca.Result]:
    folder = tmp_path_factory.mktemp("base")
    return finished(folder, models=["sim/ada?skill=1.5", "sim/bob?skill=0", "sim/cleo?skill=-1.5&refusal=0.1"])


@pytest.fixture(scope="module")
def judged(base: tuple[Path, ca.Result], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ca.Rejudged]:
    store = copied(base[0], tmp_path_factory.mktemp("judged"))
    return store, ca.rejudge(store, judges=PANEL)


def test_the_same_panel_and_prompts_change_nothing_and_cost_nothing(
    base: tuple[Path, ca.Result], tmp_path: Path
) -> None:
    found = ca.rejudge(copied(base[0], tmp_path))
    assert found.result.counts.made == 0
    assert sorted(found.result.battles, key=lambda b: b.id) == sorted(base[1].battles, key=lambda b: b.id)
    assert (found.changed, found.reordered, found.differ, found.agreement.value) == (0, False, False, 1.0)
    assert {(shift.shift, shift.change) for shift in found.shifts} == {(0, 0.0)}
    assert found.before == found.after


def test_another_panel_costs_judge_tokens_only(base: tuple[Path, ca.Result], judged: tuple[Path, ca.Rejudged]) -> None:
    found, old = judged[1], {battle.id: battle for battle in base[1].battles}
    assert {battle.id for battle in found.result.battles} == set(old)
    assert all(battle.turns == old[battle.id].turns for battle in found.result.battles)
    assert {model.partition("?")[0] for model in found.result.frame("calls")["model"]} == {"sim/k1", "sim/k2", "sim/k3"}
    assert found.result.counts.made == found.judged * 3 * 2
    assert {o.judge for b in found.result.battles for o in b.opinions} == {"sim/k1", "sim/k2", "sim/k3"}


def test_battles_that_were_given_away_stay_as_they_were(
    base: tuple[Path, ca.Result], judged: tuple[Path, ca.Rejudged]
) -> None:
    given = [battle for battle in base[1].battles if battle.decision.status == "forfeited"]
    assert given
    assert judged[1].judged == len(base[1].battles) - len(given)
    new = {battle.id: battle for battle in judged[1].result.battles}
    assert [new[battle.id] for battle in given] == given
    assert any(line.startswith(f"{len(given)} battle") for line in judged[1].lines)


def test_decisions_are_counted_by_what_they_became(
    base: tuple[Path, ca.Result], judged: tuple[Path, ca.Rejudged]
) -> None:
    found, old = judged[1], {battle.id: battle.decision.verdict for battle in base[1].battles}
    pairs = [(old[battle.id], battle.decision.verdict) for battle in found.result.battles if battle.opinions]
    assert found.changed == sum(before != after for before, after in pairs) > 0
    for turned in found.turned:
        assert turned.battles == pairs.count((turned.before, turned.after))  # type: ignore[arg-type]
    assert found.agreement.value == pytest.approx(1 - found.changed / len(pairs))
    assert found.kappa.value is not None and found.kappa.value < 1


def test_the_run_it_judges_is_untouched_and_the_new_one_stands_by_itself(
    base: tuple[Path, ca.Result], judged: tuple[Path, ca.Rejudged]
) -> None:
    store, found = judged
    assert rows(store, base[1].run) == rows(base[0], base[1].run)
    with ca.Store(store) as opened:
        alone = Result.of(opened.run(found.result.run))
        assert alone.rows == found.after
        assert [judge.name for judge in alone.tournament.judging_models] == ["sim/k1", "sim/k2", "sim/k3"]
        assert opened.check().findings == ()


def test_the_same_call_again_answers_from_the_store(judged: tuple[Path, ca.Rejudged]) -> None:
    again = ca.rejudge(judged[0], judges=PANEL)
    assert again.result.run == judged[1].result.run
    assert again.result.counts.made == 0
    assert same(again.document()) == same(judged[1].document())


def test_without_a_run_the_one_that_was_played_is_judged(
    base: tuple[Path, ca.Result], judged: tuple[Path, ca.Rejudged], tmp_path: Path
) -> None:
    found = ca.rejudge(copied(judged[0], tmp_path), committee={"discussion_rounds": 0})
    assert found.base == base[1].run
    assert {opinion.stage for battle in found.result.battles for opinion in battle.opinions} == {0}
    assert found.result.counts.made == 0


def test_the_document_says_how_ranks_shift(judged: tuple[Path, ca.Rejudged]) -> None:
    found = judged[1]
    document = json.loads(json.dumps(found.document()))
    assert set(document) == {
        "base", "run", "sentence", "judged", "changed", "turned", "agreement", "kappa", "reordered", "differ",
        "shifts", "pairs", "before", "after", "battles", "calls", "cost", "caveats",
    }  # fmt: skip
    assert [shift["model"] for shift in document["shifts"]] == [row["model"] for row in document["after"]]
    for shift in document["shifts"]:
        assert shift["shift"] == shift["rank_after"] - shift["rank_before"]
    assert found.sentence.startswith(f"judged anew, {found.changed} of {found.judged} decisions change")


def test_openings_are_judged_as_if_nothing_had_followed_them(tmp_path: Path) -> None:
    """The same as a run of the script without a debate, down to the calls: in one store they are the same calls."""
    store, played = finished(tmp_path)
    single = ca.Tournament(**{**SMALL, "script": "single"}).run(store)
    found = ca.rejudge(store, played.run, openings_only=True)
    assert found.result.counts.made == 0
    decisions = {battle.id: battle.decision for battle in single.battles}
    assert {battle.id: battle.decision for battle in found.result.battles} == decisions
    assert all(len(battle.turns) == 9 for battle in found.result.battles)
    assert "the judges were shown the two openings only" in found.result.caveats
    with pytest.raises(ca.ConfigurationError, match="judged by the openings only"):
        ca.add("sim/eve", store, found.result.run)


def test_a_rejudging_killed_again_and_again_pays_nothing_twice(
    base: tuple[Path, ca.Result], judged: tuple[Path, ca.Rejudged], tmp_path: Path
) -> None:
    """SIGKILL at random moments; nothing stored is asked again, and the base run stays as it was."""
    store, order = copied(base[0], tmp_path), random.Random(3)
    before = stored_calls(store)
    total = stored_calls(judged[0]) - before
    reached = before
    for moment in sorted(order.sample(range(total), KILLS)):
        reached = killed(program("rejudge", str(store), judges=PANEL, concurrency=1), store, before + moment)
    last = program("rejudge", str(store), judges=PANEL)
    out, err = last.communicate()
    assert last.returncode == 0, err
    document = json.loads(out)
    assert same(document) == same(judged[1].document())
    assert document["calls"]["made"] == before + total - reached
    assert stored_calls(store) == before + total
    assert rows(store, base[1].run) == rows(base[0], base[1].run)


def test_one_judge_more_is_all_that_is_paid_for_before_a_discussion(
    base: tuple[Path, ca.Result], tmp_path: Path
) -> None:
    panel = [*SMALL["judges"], "sim/j4"]
    found = ca.rejudge(copied(base[0], tmp_path), judges=panel, committee={"discussion_rounds": 0})
    assert found.result.counts.made == found.judged
    assert found.result.counts.memoised == 3 * found.judged


def test_only_judges_are_asked_and_paid_for(base: tuple[Path, ca.Result]) -> None:
    seen = judged_anew(base[0], judges=["openai/gpt-4o"]).preflight(base[0], probe=False)
    assert [line.model for line in seen.models] == ["openai/gpt-4o"]
    assert seen.battles == sum(bool(battle.opinions) for battle in base[1].battles)


def test_a_prompt_set_that_has_changed_since_is_refused(tmp_path: Path) -> None:
    words = tmp_path / "mine.toml"
    words.write_text('base = "en"\n', encoding="utf-8")
    store, played = finished(tmp_path, prompts=str(words), questions_per_domain=1, domains=["writing"])
    with pytest.raises(ca.ConfigurationError) as error:
        ca.rejudge(store)
    assert refusal(error)[0] == "prompts"
    definition = ca.Tournament(**{**SMALL, "prompts": str(words), "questions_per_domain": 1, "domains": ["writing"]})
    assert ca.rejudge(store, definition=definition).result.counts.made == 0
    assert ca.rejudge(store, prompts="en").base == played.run


def test_roles_of_a_run_need_not_be_at_hand(tmp_path: Path) -> None:
    """Their words are part of the debates."""
    steps = (*ca.SINGLE.steps, ca.Step(speaker="checker", sees=(1, 2), round=2))
    definition = {**SMALL, "questions_per_domain": 1, "roles": {"checker": checker}}
    store = tmp_path / "runs.db"
    ca.Tournament(**definition, script=ca.Script(name="checked", steps=steps)).run(store)
    found = ca.rejudge(store)
    assert (found.changed, found.result.counts.made) == (0, 0)
    again = ca.rejudge(store, found.result.run)
    assert (again.base, again.changed, again.result.counts.made) == (found.result.run, 0, 0)


def test_the_same_judges_with_new_dice_are_asked_anew_and_the_run_says_which(
    base: tuple[Path, ca.Result], tmp_path: Path
) -> None:
    store = copied(base[0], tmp_path)
    drawn = [ca.rejudge(store, dice=number) for number in (1, 2)]
    for number, found in enumerate(drawn, 1):
        assert found.result.counts.made == found.judged * 3 * 2
        assert set(found.result.frame("calls")["sample"]) == {number}
    verdicts = [[o.verdict for b in found.result.leading for o in b.opinions] for found in (*drawn, ca.rejudge(store))]
    assert verdicts[0] != verdicts[1] and verdicts[0] != verdicts[2]
    assert ca.rejudge(store, dice=1).result.run == drawn[0].result.run
    with ca.Store(store) as opened:
        assert opened.run(drawn[1].result.run).manifest["base"]["dice"] == 2


def test_a_judge_written_in_python_judges_a_run_that_knew_nothing_of_it(
    base: tuple[Path, ca.Result], tmp_path: Path
) -> None:
    store = copied(base[0], tmp_path)
    found = ca.rejudge(
        store, judges=["agent/always"], agents={"always": make_always}, committee={"discussion_rounds": 0}
    )
    assert {o.verdict for b in found.result.battles for o in b.opinions} == {"A"}
    assert found.result.counts.made == found.judged
    again = ca.rejudge(
        store, judges=["agent/always"], agents={"always": make_always}, committee={"discussion_rounds": 0}
    )
    assert (again.result.run, again.result.counts.made) == (found.result.run, 0)


@pytest.mark.parametrize("rules", [{"seed": 1}, {"domains": ["math"]}])
def test_nothing_else_may_be_changed(base: tuple[Path, ca.Result], rules: dict[str, Any]) -> None:
    with pytest.raises(ca.ConfigurationError) as error:
        ca.rejudge(base[0], **rules)
    assert refusal(error)[0] == next(iter(rules))


async def test_inside_an_event_loop_it_is_awaited(base: tuple[Path, ca.Result], tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"await ca\.arejudge"):
        ca.rejudge(base[0])
    assert (await ca.arejudge(copied(base[0], tmp_path))).changed == 0
