"""A study of judges: a grid over stored debates, every cell a rejudging that shares all it can."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import BaseChatMessage, TextMessage
from autogen_core import CancellationToken

import coupled_arena as ca
from coupled_arena.prompts import read_envelopes
from coupled_arena.studies.derived.rejudged import Rejudged

STRICT = """
base = "en"

[judge]
marker = "End with [[A]], [[B]] or [[tie]], on a line alone."
"""
SMALL: dict[str, Any] = {
    "models": ["sim/ada?skill=1", "sim/bob?skill=0"],
    "judges": ["sim/j1", "sim/j2", "sim/j3"],
    "domains": ["math"],
    "questions_per_domain": 3,
    "seed": 7,
}
BATTLES = 3
NOISY = ["sim/k1?acuity=0.1", "sim/k2?acuity=0.1"]


@pytest.fixture
def played() -> tuple[ca.Store, ca.Result]:
    store = ca.Store(":memory:")
    return store, ca.Tournament(**SMALL).run(store)


class Longer(BaseChatAgent):
    """A judge that prefers the longer text."""

    produced_message_types = (TextMessage,)

    async def on_messages(self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken) -> Response:
        turns = [turn for message in messages for turn in read_envelopes(message.to_text(), "turn")]
        a, b = (sum(len(turn.text) for turn in turns if turn.attributes["speaker"] == side) for side in "AB")
        verdict = f"A has {a} characters, B {b}.\n[[{'A' if a > b else 'B'}]]"
        return Response(chat_message=TextMessage(content=verdict, source=self.name))

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        pass


def make_longer() -> BaseChatAgent:
    return Longer("longer", "prefers the longer text")


def test_every_cell_of_the_grid_is_in_the_frames_with_its_factors(played: tuple[ca.Store, ca.Result]) -> None:
    store, result = played
    study = ca.JudgeStudy(panels={"own": None, "noisy": NOISY}, orders=["one", "both"], replicates=2)
    found = study.run(store)
    cells = found.cells
    assert cells["cell"].tolist() == list(range(1, 9))
    assert cells[["panel", "orders", "dice"]].drop_duplicates().shape[0] == 8
    assert set(cells["judged"]) == {BATTLES} and found.base.run == result.run
    opinions = found.opinions
    assert opinions.columns[:7].tolist() == [
        "cell", "panel", "prompts", "orders", "temperature", "discussion_rounds", "dice",
    ]  # fmt: skip
    counted = opinions.groupby("cell").size().tolist()
    seats = {"own": 3, "noisy": 2}
    assert counted == [
        BATTLES * seats[panel] * 2 * (2 if orders == "both" else 1)
        for panel, orders in zip(cells["panel"], cells["orders"], strict=True)
    ]
    assert set(opinions[opinions["panel"] == "noisy"]["judge"]) == {"sim/k1", "sim/k2"}


def test_what_cells_have_in_common_is_asked_once_and_a_finished_study_asks_nothing(
    played: tuple[ca.Store, ca.Result],
) -> None:
    study = ca.JudgeStudy(orders=["one", "both"], discussion_rounds=[0, 1], replicates=2)
    first = study.run(played[0])
    rows = first.cells[["orders", "discussion_rounds", "dice", "made"]].itertuples(index=False)
    alone = BATTLES * 3
    # The first dice are those of the run, which has asked for one order already; without discussion all is at hand.
    assert [row.made for row in rows] == [0, alone, 0, alone, alone, alone, alone, alone]
    again = study.run(played[0])
    assert again.cells["made"].sum() == 0
    assert again.opinions.equals(first.opinions)
    assert first.rejudged(1).changed == first.cells["changed"][0] == 0
    with pytest.raises(KeyError):
        first.rejudged(99)


def test_judges_are_studied_in_every_condition_with_all_their_dice(played: tuple[ca.Store, ca.Result]) -> None:
    panels = {"first": ["sim/k1?position=9", "sim/k2?position=9"], "fair": ["sim/k1?position=0", "sim/k2?position=0"]}
    found = ca.JudgeStudy(panels=panels, orders="both", discussion_rounds=0, replicates=3).run(played[0])
    rows = found.judges[["panel", "judge", "opinions", "position_effect", "flip_rate"]].itertuples(index=False)
    listed = list(rows)
    first, fair = ([row for row in listed if row.panel == panel] for panel in panels)
    assert [(row.judge, row.opinions) for row in first] == [(judge, BATTLES * 2 * 3) for judge in ("sim/k1", "sim/k2")]
    assert {(row.position_effect, row.flip_rate) for row in first} == {(0.5, 1.0)}
    assert 0.5 not in {row.position_effect for row in fair}
    assert found.panels["panel"].tolist() == ["first", "fair"]
    assert found.panels["battles"].tolist() == [BATTLES] * 2


def test_a_study_that_spends_its_budget_keeps_whole_cells_and_goes_on_with_a_larger_one(
    played: tuple[ca.Store, ca.Result],
) -> None:
    grid: dict[str, Any] = {"panels": {"noisy": NOISY}, "discussion_rounds": 0, "replicates": 3}
    calls = BATTLES * len(NOISY)
    with pytest.raises(ca.BudgetReached) as stopped:
        ca.JudgeStudy(**grid, budget={"calls": calls + 1}, concurrency=1).run(played[0])
    found = stopped.value.result
    assert found.cells["dice"].tolist() == [0]
    assert repr(found).splitlines()[0].endswith(": 1 cell")
    with pytest.raises(ca.BudgetReached) as at_once:
        ca.JudgeStudy(panels={"other": ["sim/k3"]}, budget={"calls": 0}).run(played[0])
    nothing = at_once.value.result
    assert (len(nothing.cells), len(nothing.opinions)) == (0, 0)
    assert [nothing.cells.columns.tolist(), nothing.opinions.columns.tolist()] == [
        found.cells.columns.tolist(), found.opinions.columns.tolist(),
    ]  # fmt: skip
    with pytest.raises(ca.BudgetReached):
        ca.JudgeStudy(**grid, budget={"calls": calls + 1}, concurrency=1).run(played[0])
    found = ca.JudgeStudy(**grid, budget={"calls": 3 * calls}).run(played[0])
    assert found.cells["made"].tolist() == [0, calls - 1, calls]


def test_temperature_and_words_reach_the_judges(played: tuple[ca.Store, ca.Result], tmp_path: Path) -> None:
    words = tmp_path / "strict.toml"
    words.write_text(STRICT, encoding="utf-8")
    study = ca.JudgeStudy(prompts=[None, str(words)], temperatures=[None, 0.9], discussion_rounds=0)
    found = study.run(played[0])
    assert found.cells["prompts"].tolist() == ["en", "en", "strict.toml", "strict.toml"]
    calls = [one.result.frame("calls") for one in found.judged]
    temperatures = [{json.loads(settings)["temperature"] for settings in frame["settings"]} for frame in calls]
    assert temperatures == [{0.1}, {0.9}, {0.1}, {0.9}]
    strict = ["on a line alone" in frame["messages"][0] for frame in calls]
    assert strict == [False, False, True, True]


def test_a_judge_of_ones_own_takes_less_than_twenty_lines(played: tuple[ca.Store, ca.Result]) -> None:
    study = ca.JudgeStudy(
        panels={"longer": ["agent/longer"]}, agents={"longer": make_longer}, orders="both", discussion_rounds=0
    )
    opinions = study.run(played[0]).opinions
    assert len(opinions) == 2 * BATTLES and set(opinions["sharing"]) == {"none"}
    # It goes by length alone, so that it says the same in both orders.
    assert opinions.groupby("battle")["verdict"].nunique().eq(1).all()


@pytest.mark.parametrize(
    ("grid", "key", "message"),
    [
        ({"orders": ["one", "one"]}, "orders", "comes to one twice"),
        ({"discussion_rounds": [None, 1]}, "discussion_rounds", "comes to 1 twice"),
        ({"prompts": []}, "prompts", "is empty"),
        ({"panels": {"best": 1}, "temperatures": 0.5}, "temperatures", "list the panel"),
        ({"committee": {"orders": "both"}}, "committee.orders", "give it as orders"),
        ({"panels": {"unknown": ["agent/nobody"]}}, "judges", "nobody"),
        ({"prompts": "nowhere.toml"}, "prompts", "nowhere"),
    ],
)
def test_a_grid_that_cannot_be_judged_is_refused_before_the_first_call(
    played: tuple[ca.Store, ca.Result], grid: dict[str, Any], key: str, message: str
) -> None:
    runs = len(played[0].runs())
    with pytest.raises(ca.ConfigurationError) as error:
        ca.JudgeStudy(**grid).run(played[0])
    assert [problem.key for problem in error.value.problems] == [key]
    assert message in str(error.value)
    assert len(played[0].runs()) == runs


def test_a_key_that_is_none_is_named_with_the_one_that_was_meant() -> None:
    with pytest.raises(ca.ConfigurationError, match="did you mean 'temperatures'"):
        ca.JudgeStudy(temperature=0.5)


async def test_inside_an_event_loop_it_is_awaited(played: tuple[ca.Store, ca.Result]) -> None:
    study = ca.JudgeStudy(discussion_rounds=0)
    with pytest.raises(RuntimeError, match=r"await study\.arun"):
        study.run(played[0])
    assert len((await study.arun(played[0])).cells) == 1


def test_a_study_and_what_it_comes_to_show_themselves_in_a_few_lines(played: tuple[ca.Store, ca.Result]) -> None:
    study = ca.JudgeStudy(panels={"own": None, "<b>": ["sim/k1?acuity=9"]}, orders=["one", "both"], discussion_rounds=0)
    assert repr(study) == (
        "JudgeStudy(panels={'own': None, '<b>': (Model('sim/k1', 'sim/k1?acuity=9'),)}, "
        "orders=('one', 'both'), discussion_rounds=(0,))"
    )
    assert eval(repr(study), {"JudgeStudy": ca.JudgeStudy, "Model": ca.Model}) == study
    found = study.run(played[0])
    head, *lines = repr(found).splitlines()
    assert head == f"Judges on the debates of {played[1].run}: 4 cells"
    assert lines[3] == (
        "cell 4 (panel <b>, prompts en, orders both, temperature None, discussion_rounds 0, dice 0): "
        f"{found.judged[3].result.run}"
    )
    assert len(lines) == 4 and repr(replace(found, judged=found.judged * 6)).splitlines()[-1] == "and 4 more"
    html = found._repr_html_()
    assert html.count("<tr>") == 5 and "<td>&lt;b&gt;</td>" in html


def test_a_bench_in_the_store_is_not_what_a_study_starts_from(played: tuple[ca.Store, ca.Result]) -> None:
    ca.bench(["sim/ada"], "arithmetic", items=2, repeats=1, store=played[0])
    assert ca.JudgeStudy(discussion_rounds=0).run(played[0]).base.run == played[1].run


def test_two_cells_are_compared_battle_by_battle(played: tuple[ca.Store, ca.Result]) -> None:
    panels = {"own": None, "noisy": NOISY, "first": ["sim/k1?position=9"]}
    found = ca.JudgeStudy(panels=panels, discussion_rounds=0).run(played[0])
    said = [[battle.decision.verdict for battle in one.result.battles] for one in found.judged]
    for one, two in [(1, 2), (2, 3), (3, 2), (3, 3)]:
        contrast = found.contrast(one, two)
        before, after = said[one - 1], said[two - 1]
        assert (contrast.judged, contrast.base) == (BATTLES, found.judged[one - 1].result.run)
        assert contrast.changed == sum(x != y for x, y in zip(before, after, strict=True))
        assert [row.model for row in contrast.after] == [row.model for row in found.judged[two - 1].result.rows]
    assert found.contrast(3, 2).changed > 0
    assert found.contrast(1, 2).turned == found.rejudged(2).turned, "the run's own panel says what it said"
    with pytest.raises(KeyError):
        found.contrast(1, 4)
    fewer = replace(found.judged[1].result, battles=found.judged[1].result.battles[1:])
    with pytest.raises(ca.RatingError, match="has other debates than"):
        Rejudged.of(found.judged[0].result, fewer)
