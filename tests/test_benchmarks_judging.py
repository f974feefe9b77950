"""The benchmarks on judges and on shared dice, in the small."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import coupled_arena as ca
from benchmarks import coupling_arms, judge_discussion
from benchmarks.papers import committees
from benchmarks.papers._auto_arena_files import Files
from coupled_arena.analysis import kappa
from coupled_arena.analysis.judges import opinions_of
from tests.test_benchmarks_auto_arena import DATA, needs_data

VERDICTS = {
    "j1": ["A", "A", "B", "tie", "B", "A", "A", "B"],
    "j2": ["A", "B", "B", "tie", "B", "A", "tie", "B"],
    "j3": ["B", "A", "B", "A", "B", "tie", "A", "A"],
}


def table() -> dict[str, list[str]]:
    """Return the verdicts as columns of opinions."""
    rows = [
        (f"b{at}", f"q{at // 2}", judge, verdict) for judge in VERDICTS for at, verdict in enumerate(VERDICTS[judge])
    ]
    return dict(zip(("battle", "question", "judge", "verdict"), map(list, zip(*rows, strict=True)), strict=True))


def test_kappa_among_judges_is_the_mean_over_their_pairs() -> None:
    found = committees.among(opinions_of(table()), "alone")
    expected = [kappa(VERDICTS[a], VERDICTS[b]).value for a, b in combinations(VERDICTS, 2)]
    assert found.value == pytest.approx(np.mean([value or 0.0 for value in expected]))
    assert None not in (found.low, found.value, found.high)


def test_kappa_with_the_majority_counts_the_judge_itself() -> None:
    majority = ["A", "A", "B", "tie", "B", "A", "A", "B"]
    expected = [kappa(own, majority).value for own in VERDICTS.values()]
    found = committees.with_majority(opinions_of(table()), "alone")
    assert found.value == pytest.approx(np.mean([value or 0.0 for value in expected]))


@needs_data
def test_the_published_committees_are_those_of_the_paper() -> None:
    v4, v1 = committees.published(Files(Path(DATA)))
    assert [round(v4[key][0], 3) for key in ("among alone", "among last", "majority alone", "majority last")] == [
        0.155, 0.271, 0.412, 0.538,
    ]  # fmt: skip
    assert (v4["judges"], v1["judges"]) == (5, 7)
    assert [round(v4[key][0], 2) for key in ("outside", "outsiders")] == [0.15, 0.42]


def test_three_models_change_places_with_shared_dice() -> None:
    rows = {row.pop("what"): row for row in coupling_arms.three(draws=200)}
    exact = {mode: rows[f"win rate, {mode}, exact"] for mode in ("coupled", "independent")}
    order = {mode: sorted(rates, key=lambda name: -rates[name]) for mode, rates in exact.items()}
    assert order == {"coupled": ["m1", "m3", "m2"], "independent": ["m3", "m2", "m1"]}
    assert order["coupled"] == sorted(rows["accuracy"], key=lambda name: -rows["accuracy"][name])
    for mode, rates in exact.items():
        for name, rate in rates.items():
            assert rows[f"win rate, {mode}, drawn"][name] == pytest.approx(rate, abs=0.06)


def test_what_discussion_did_is_told_apart_by_who_was_right_alone() -> None:
    """Two battles: the majority alone is right in the first and wrong in the second, and everybody follows it."""
    said = {0: {"b1": "AAB", "b2": "BBA"}, 1: {"b1": "AAA", "b2": "BBB"}}
    rows = [
        {"battle": battle, "question": battle, "judge": f"j{at}", "stage": stage, "verdict": verdict, "truth": "A"}
        for stage, battles in said.items()
        for battle, verdicts in battles.items()
        for at, verdict in enumerate(verdicts)
    ]
    table = opinions_of({name: [row[name] for row in rows] for name in rows[0]})
    found = judge_discussion.row("a panel/0.3", table)
    assert (found["panel"], found["conformity"], found["battles"]) == ("a panel", 0.3, 2)
    assert [found[key] for key in ("agreement before", "agreement after")] == [pytest.approx(1 / 3), 1.0]
    assert [found[key] for key in ("right before", "right after", "majority was wrong")] == [0.5, 0.5, 0.5]
    changes = [found[key][0] for key in ("gain", "majority right", "majority wrong", "committee gain")]
    assert changes == pytest.approx([0, 1 / 3, -1 / 3, 0])


def test_every_panel_of_the_study_of_discussion_can_be_asked() -> None:
    panels = judge_discussion.panels(list(judge_discussion.PANELS))
    assert len(panels) == len(judge_discussion.PANELS) * len(judge_discussion.CONFORMITY)
    study = ca.JudgeStudy(panels=panels)
    assert [len(panel) for panel in study.panels.values() if isinstance(panel, tuple)] == [5] * len(panels)
