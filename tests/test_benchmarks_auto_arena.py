"""The recomputation of Auto-Arena's tables: what follows from the public files, what does not, and how a row is shown.

The files lie beside the project where they are at hand; no test needs them to pass.
"""

import json
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from benchmarks.papers._auto_arena_files import CLONE
from benchmarks.papers._auto_arena_judges import fisher
from benchmarks.papers._auto_arena_ranks import difference, fewest
from benchmarks.papers._rows import Row, agree, show
from benchmarks.papers.auto_arena import recompute

DATA = Path(__file__).parent.parent.parent / "shared" / "data" / "auto_arena"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the public files of Auto-Arena are not at hand")


@cache
def rows() -> dict[tuple[str, str], Row]:
    return {(row.table, row.what): row for row in recompute(DATA)}


def found(table: str, what: str) -> Row:
    """Return the one row whose table starts so and which is about this."""
    (row,) = (row for (title, name), row in rows().items() if title.startswith(table) and name == what)
    return row


@needs_data
@pytest.mark.parametrize(
    ("table", "what", "models", "percent"),
    [
        ("v4 table 4", "Auto-Arena", 15, 92.14),
        ("v4 table 4", "MT-Bench", 15, 88.73),
        ("v4 table 4", "MMLU", 15, 46.20),
        ("v4 table 4", "LC-AlpacaEval", 15, 76.32),
        ("v4 table 4", "Arena-Hard", 15, 45.36),
        ("v4 table 4", "OpenLLM", 15, 32.50),
        ("v4 table 4", "GPQA", 15, 62.86),
        ("v4 table 2", "MT-Bench", 6, 82.86),
        ("v4 table 2", "LC-AlpacaEval", 7, 82.14),
        ("v4 table 2", "Arena-Hard", 8, 85.71),
        ("v4 Chinese", "Auto-Arena", 7, 92.86),
        ("v4 Chinese", "Auto-Arena: pairs ranked alike", 7, 90.48),
        ("v1: Spearman with Chatbot Arena, 13", "Auto-Arena", 13, 94.51),
        ("v1: Spearman with Chatbot Arena, 13", "Auto-Arena: pairs ranked alike", 13, 100 * 72 / 78),
        ("v1: Spearman with Chatbot Arena, 13", "MMLU", 13, 90.11),
        ("v1: Spearman with Chatbot Arena, 13", "OpenLLM", 8, 85.71),
        ("v1: Spearman with Chatbot Arena, 13", "MT-Bench", 7, 89.29),
        ("v1: Spearman with Chatbot Arena, 13", "Arena-Hard", 10, 86.67),
        ("v1: Spearman with Chatbot Arena, 13", "LC-AlpacaEval", 10, 90.30),
    ],
)
def test_published_correlations_that_follow_from_the_files(table: str, what: str, models: int, percent: float) -> None:
    row = found(table, what)
    assert (row.n, row.match) == (models, True)
    assert row.recomputed == pytest.approx(percent, abs=0.006)
    assert row.low is not None and row.high is not None
    assert row.low < percent < row.high


@needs_data
@pytest.mark.parametrize(
    ("what", "models", "percent", "fewest_models"),
    [("OpenLLM", 3, -50, 12), ("GPQA", 4, 40, 18), ("MMLU", 6, 65.71, 10)],
)
def test_columns_that_cannot_be_what_was_printed(what: str, models: int, percent: float, fewest_models: int) -> None:
    row = found("v4 table 2", what)
    assert (row.n, row.match) == (models, False)
    assert row.recomputed == pytest.approx(percent, abs=0.006)
    assert row.note.startswith(f"{fewest_models} models")


@needs_data
def test_on_the_same_models_no_benchmark_is_shown_to_be_worse() -> None:
    """What the paper's margins shrink to: 92.14 against 45.36 is 91.76 against 92.86 on the 13 models of both."""
    assert found("v4 table 4", "on the 13 of Arena-Hard: Arena-Hard").recomputed == pytest.approx(92.86, abs=0.006)
    assert found("v4 table 4", "on the 13 of Arena-Hard: Auto-Arena").recomputed == pytest.approx(91.76, abs=0.006)
    differences = [row for (_, what), row in rows().items() if "Auto-Arena less" in what]
    assert len(differences) == 17
    assert {row.note for row in differences} == {"not resolved"}


@needs_data
def test_ratings_that_lie_too_close_for_a_figure_decide_the_nine_model_number() -> None:
    row = found("v4 table 2", "Auto-Arena")
    assert row.match is False
    assert row.recomputed == pytest.approx(86.67, abs=0.006)
    assert "in other orders it is 86.67, 88.33, 91.67, 93.33" in row.note


@needs_data
@pytest.mark.parametrize(
    ("what", "value"),
    [
        ("annotators: kappa", 0.4227),
        ("committee and annotator 1: kappa", 0.1020),
        ("committee and annotator 2: kappa", 0.0841),
        ("committee and annotators after talking: kappa", 0.0597),
        ("committee and annotator 1: kappa, one spelling", 0.149),
        ("committee and annotator 2: kappa, one spelling", 0.125),
        ("committee and annotators after talking: kappa, one spelling", 0.098),
        ("committee and annotator 1: agreement, %", 100 * 9 / 21),
        ("committee and annotators after talking: agreement, %", 100 * 7 / 21),
        ("committee: verdicts A", 17),
        ("committee: verdicts tie", 1),
        ("annotator 2: verdicts tie", 9),
    ],
)
def test_the_human_study(what: str, value: float) -> None:
    row = found("human study", what)
    assert row.n == 21
    assert row.recomputed == pytest.approx(value, abs=6e-4)
    assert row.match is (None if row.published is None else True)


@needs_data
@pytest.mark.parametrize(
    ("version", "what", "value"),
    [
        ("v4", "kappa among judges before discussion", 0.156),
        ("v4", "kappa among judges after discussion", 0.271),
        ("v4", "kappa with the majority after discussion", 0.537),
        ("v1", "kappa among judges before discussion", 0.115),
        ("v1", "kappa among judges after discussion", 0.377),
        ("v1", "kappa with the majority before discussion", 0.362),
    ],
)
def test_mean_kappas_of_judges(version: str, what: str, value: float) -> None:
    row = found(f"{version}: agreement of judges", what)
    assert (row.published, row.match) == (value, True)


@needs_data
def test_what_needs_battles_or_votes_is_listed_without_a_number() -> None:
    lost = [row for row in rows().values() if row.published is not None and row.recomputed is None]
    assert sorted(row.published or 0 for row in lost) == [-0.12, 48, 50, 53, 64, 68, 86.67, 88.33, 96.4]
    assert all(row.match is None and row.note for row in lost)


@needs_data
def test_every_difference_says_why() -> None:
    differing = [row for row in rows().values() if row.match is False]
    assert len(differing) == 8
    assert all(row.note for row in differing)


@needs_data
def test_a_clone_gives_what_its_tables_hold_and_names_what_they_lack(tmp_path: Path) -> None:
    for compact, place in CLONE.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(DATA / compact, tmp_path / place)
    from_clone = {(row.table, row.what): row for row in recompute(tmp_path)}
    complete = [row for row in rows().values() if row.table.startswith("human study")]
    assert complete != [] and all(from_clone[row.table, row.what] == row for row in complete)
    key = next(key for key in from_clone if key[0].startswith("v4 table 4") and key[1] == "Arena-Hard")
    assert from_clone[key].match
    missing = [row.note for row in from_clone.values() if row.what == "the rest of it"]
    assert "needs ratings_en_v4_15models.csv" in missing
    assert "needs all_baselines.csv" not in missing


@pytest.mark.parametrize(("percent", "digits", "models"), [(92.14, 2, 15), (50, 1, 3), (82.86, 2, 6), (-15.39, 2, 12)])
def test_how_many_models_a_printed_correlation_needs(percent: float, digits: int, models: int) -> None:
    assert fewest(percent, digits) == models


def test_the_difference_of_two_correlations_is_drawn_on_the_same_models() -> None:
    arena = np.arange(9.0)
    other = np.array([1.0, 0, 2, 3, 4, 5, 6, 8, 7])
    assert difference(other, other, arena) == (0, 0, 0)
    value, low, high = difference(arena, other, arena)
    assert value == pytest.approx(100 * 6 * 4 / (9 * 80))
    assert low == 0
    assert high is not None and value < high < 50
    assert difference(arena[:3], other[:3], arena[:3])[1:] == (None, None)


@pytest.mark.parametrize(
    ("first", "second", "p"), [((24, 6), (20, 6), 1.0), ((24, 6), (22, 7), 0.7611), ((1, 9), (11, 3), 0.002759)]
)
def test_fishers_exact_test(first: tuple[int, int], second: tuple[int, int], p: float) -> None:
    assert fisher(first, second) == pytest.approx(p, rel=1e-3)


@pytest.mark.parametrize(
    ("recomputed", "published", "digits", "same"),
    [
        (92.1428, 92.14, 2, True),
        (92.1478, 92.14, 2, True),
        (92.1500, 92.14, 2, False),
        (None, 92.14, 2, None),
        (92.14, None, 2, None),
    ],
)
def test_numbers_agree_when_rounding_or_cutting_makes_them_one(
    recomputed: float | None, published: float | None, digits: int, same: bool | None
) -> None:
    assert agree(recomputed, published, digits) is same


PLAIN = Row(table="t", what="one", n=3, recomputed=0.5, low=0.25, high=0.75, published=0.4, match=False, note="why")
LOST = Row(table="t", what="another", n=None, recomputed=None, published=0.4)
PAIR = Row(table="u", what="pair", n=7, recomputed=1.0, a="x", b="y", saved=0.1)


def test_rows_as_json_hold_the_fields_of_pairs_for_pairs_only(capsys: pytest.CaptureFixture[str]) -> None:
    show([PLAIN, PAIR], True)
    plain, pair = json.loads(capsys.readouterr().out)["rows"]
    assert list(plain) == ["table", "what", "n", "recomputed", "low", "high", "published", "match", "note"]
    assert (plain["match"], pair["a"], pair["saved"], pair["saved_low"]) == (False, "x", 0.1, None)


def test_rows_as_a_table_mark_what_differs_and_what_is_lost(capsys: pytest.CaptureFixture[str]) -> None:
    show([PLAIN, LOST, PAIR], False)
    lines = capsys.readouterr().out.splitlines()
    (differs,) = (line for line in lines if line.startswith("  one"))
    assert differs.split() == ["one", "3", "0.5", "[0.25,", "0.75]", "0.4", "differs", "why"]
    (lost,) = (line for line in lines if line.startswith("  another"))
    assert lost.split() == ["another", "0.4", "no", "data"]
    assert [line for line in lines if line in ("t", "u")] == ["t", "u"]
