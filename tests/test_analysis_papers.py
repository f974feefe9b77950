"""The recomputation of the paper on coupled generation: readers of its two layouts, and numbers that were checked."""

import csv
import gzip
import math
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from benchmarks.papers import coupled as paper
from benchmarks.papers._coupled_files import REPEATS, Results, read
from benchmarks.papers._rows import Row

DATA = Path(__file__).parents[2] / "shared" / "data" / "coupled_generation"
"""Compact files of the published results: beside the repository, never in it."""

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the published results are not on this machine")

MODELS = ("ada", "bob")


def answers(questions: int = 60) -> dict[str, list[list[str]]]:
    """Digits of every question, for the two halves of a results file; bob leans on ada's dice in the first."""
    rng = np.random.default_rng(6)
    chances, dice = rng.random((questions, 1)), rng.random((questions, REPEATS))
    halves = {"coupled": (dice, dice), "independent": (rng.random(dice.shape), rng.random(dice.shape))}
    return {
        noise: [
            ["".join("01"[int(x < chance[0])] for x in row) for row, chance in zip(rolled, chances, strict=True)]
            for rolled in both
        ]
        for noise, both in halves.items()
    }


def clone(folder: Path) -> Path:
    path = folder / "outputs" / "GSM8K" / "llama" / "results.csv"
    path.parent.mkdir(parents=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["Noise", *MODELS])
        for noise, tables in answers().items():
            for words in zip(*tables, strict=True):
                writer.writerows(
                    [noise.title(), *(digit == "1" for digit in digits)] for digits in zip(*words, strict=True)
                )
    return folder


def compact(folder: Path) -> Path:
    with gzip.open(folder / "gsm8k_llama.csv.gz", "wt", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "noise", *MODELS])
        for noise, tables in answers().items():
            writer.writerows([place, noise, *words] for place, words in enumerate(zip(*tables, strict=True)))
    return folder


@pytest.mark.parametrize("layout", [clone, compact])
def test_both_layouts_hold_the_same_scores(layout: Callable[[Path], Path], tmp_path: Path) -> None:
    (results,) = read(layout(tmp_path))
    assert (results.dataset, results.family, results.models, results.questions) == ("GSM8K", "llama", MODELS, 60)
    for noise, arm in (("coupled", results.coupled), ("independent", results.independent)):
        for model, words in zip(MODELS, answers()[noise], strict=True):
            assert ["".join(str(int(score)) for score in row) for row in arm[model]] == words


def test_a_folder_without_results_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"results\.csv"):
        read(tmp_path)


def test_equal_models_on_shared_dice_save_all_by_every_estimate(tmp_path: Path) -> None:
    rows = paper.recompute(compact(tmp_path))
    (pair,) = (row for row in rows if row.a is not None)
    assert (pair.a, pair.b, pair.saved, pair.saved_two_run) == ("ada", "bob", 1, 1)
    listed = [row for row in rows if "cannot follow from its files" in row.note]
    assert listed != [] and all(row.recomputed is None for row in listed)
    example = [row for row in rows if "three models" in row.table]
    assert len(example) == 9 and all(row.match for row in example)


@pytest.fixture(scope="module")
def published() -> list[Results]:
    return read(DATA)


def family(published: list[Results], dataset: str, name: str) -> Results:
    return next(results for results in published if (results.dataset, results.family) == (dataset, name))


def only(results: Results, *models: str) -> Results:
    arms = ({model: arm[model] for model in models} for arm in (results.coupled, results.independent))
    coupled, independent = arms
    return Results(results.dataset, results.family, coupled, independent, results.areas)


def near(row: Row, saved: float, low: float, high: float) -> None:
    """Savings are checked to a tenth of a percent; ends of bootstrap intervals to half a percent."""
    assert row.saved is not None and row.saved_low is not None and row.saved_high is not None
    assert 100 * row.saved == pytest.approx(saved, abs=0.06)
    assert 100 * row.saved_low == pytest.approx(low, abs=0.5)
    assert 100 * row.saved_high == pytest.approx(high, abs=0.5)


@needs_data
def test_an_eight_bit_twin_saves_half_of_the_samples(published: list[Results]) -> None:
    pair = only(family(published, "GSM8K", "qwen"), "Qwen2.5-7B-Instruct", "Qwen2.5-7B-Instruct-bnb-8bit")
    (row,) = paper.pair_rows(pair)
    near(row, 51.5, 46.8, 56.4)
    assert row.saved_two_run == pytest.approx(0.482, abs=0.0006)
    assert row.reference_rule == pytest.approx(5 / 9)


@needs_data
def test_models_of_different_sizes_save_nothing_worth_the_name(published: list[Results]) -> None:
    pair = only(family(published, "GSM8K", "llama"), "Llama-3.2-1B-Instruct", "Llama-3.2-3B-Instruct")
    (row,) = paper.pair_rows(pair)
    near(row, 0.5, -0.8, 1.9)
    assert row.saved_two_run == pytest.approx(-0.004, abs=0.0006)


@needs_data
def test_the_errors_that_the_figures_mark_are_found_again(published: list[Results]) -> None:
    rows = list(paper.point_rows(family(published, "MMLU", "llama")))
    marked = [row for row in rows if "shared dice" in row.what]
    assert [row.match for row in marked] == [True, True, True, True, False, True, True]
    college = next(row for row in rows if row.what == "college_computer_science, 3B vs 1B: saved %")
    assert college.recomputed == pytest.approx(39.8, abs=0.1)


@needs_data
def test_single_letters_vary_together_in_every_subject(published: list[Results]) -> None:
    mmlu = family(published, "MMLU", "llama")
    rows = {row.what: row for row in paper.mmlu_rows(mmlu)}
    for a, b in combinations(mmlu.models, 2):
        assert rows[f"{a} vs {b}: subjects above 0"].recomputed == len(mmlu.areas) == 57
    own, within, printed = (row.recomputed or math.nan for row in rows.values() if "proposition 1" in row.table)
    assert within == pytest.approx(own, abs=0.002) and printed > own + 0.1
