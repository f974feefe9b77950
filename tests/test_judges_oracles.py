"""The study of judges against other ways to compute the same: naive loops, and the krippendorff package."""

from typing import Any

import krippendorff
import numpy as np
import pytest

from coupled_arena.analysis import fleiss_kappa, kappa, krippendorff_alpha
from coupled_arena.analysis import judges as study
from coupled_arena.analysis.judges import Estimate, opinions_of
from coupled_arena.ratings.student import t_reach
from tests.judge_scene import Rows, opinions

Numbers = "np.ndarray[Any, np.dtype[np.float64]]"


def chosen(rows: Rows, keep: list[bool]) -> Rows:
    return {name: [value for value, own in zip(values, keep, strict=True) if own] for name, values in rows.items()}


def jackknifed(rows: Rows, value: Any, of: list[bool]) -> tuple[float, float]:
    """Return a value with its standard error from the study without each question in turn, by plain loops."""
    names = sorted({name for name, own in zip(rows["question"], of, strict=True) if own})
    without = np.array([value(chosen(rows, [q != name for q in rows["question"]])) for name in names])
    spread = (len(names) - 1) / len(names) * float(((without - without.mean()) ** 2).sum())
    return value(rows), spread**0.5


@pytest.mark.parametrize(
    "name",
    ["position_effect", "length_effect", "kappa_with_others", "discrimination", "conformity", "flip_rate", "moved"],
)
def test_the_jackknife_is_that_of_the_study_repeated_without_each_question(name: str) -> None:
    rows, of = opinions(3, questions=8), getattr(study, name)

    def value(part: Rows) -> float:
        return float(of(opinions_of(part))["j1"].value)

    expected, se = jackknifed(rows, value, [judge == "j1" for judge in rows["judge"]])
    found: Estimate = of(opinions_of(rows))["j1"]
    assert found.questions == 8
    assert found.value == pytest.approx(expected)
    assert found.se == pytest.approx(se)
    if name not in ("flip_rate", "moved"):
        assert found.value is not None and found.high is not None
        assert found.high - found.value == pytest.approx(t_reach(0.95, 7) * se)


def test_the_length_effect_is_least_squares_with_a_dummy_for_every_pair() -> None:
    rows = opinions(5, questions=9, missing=0.2)
    table = opinions_of(rows)
    design, score = [], []
    value = {"A": 1.0, "tie": 0.5, "B": 0.0}
    fields = zip(*(rows[name] for name in ("judge", "stage", "verdict", "a", "b", "order", "length_a", "length_b")),
                 strict=True)  # fmt: skip
    for judge, stage, verdict, a, b, order, one, other in fields:
        if judge == "j2" and stage == 0 and verdict is not None:
            sign = 1 if a < b else -1
            pair = "".join(sorted(m[0] for m in (a, b)))
            dummies = [pair == "ab", pair == "ac", pair == "bc"]
            shown = sign if order == "AB" else -sign
            design.append([sign * np.log2(one / other), shown, sign, *map(float, dummies)])
            score.append(0.5 + sign * (value[verdict] - 0.5))
    expected = np.linalg.lstsq(np.array(design), np.array(score), rcond=None)[0][0]
    assert study.length_effect(table)["j2"].value == pytest.approx(expected)


def matrix(rows: Rows, stage: int) -> list[list[str | None]]:
    """Return a row of verdicts for every judge, by battle and order."""
    items = sorted({(b, o) for b, o in zip(rows["battle"], rows["order"], strict=True)})
    said: dict[tuple[str, tuple[str, str]], str | None] = {}
    for judge, battle, order, own, verdict in zip(
        rows["judge"], rows["battle"], rows["order"], rows["stage"], rows["verdict"], strict=True
    ):
        if own == stage:
            said[judge, (battle, order)] = verdict
    return [[said[judge, item] for item in items] for judge in sorted(set(rows["judge"]))]


@pytest.mark.parametrize("stage", [0, 1])
def test_alpha_is_that_of_the_krippendorff_package(stage: int) -> None:
    rows = opinions(2, missing=0.25)
    verdicts = matrix(rows, stage)
    found = study.alpha(opinions_of(rows), when="alone" if stage == 0 else "last")
    coded = [[np.nan if v is None else {"A": 0, "B": 1, "tie": 2}[v] for v in row] for row in verdicts]
    expected = krippendorff.alpha(reliability_data=np.array(coded), level_of_measurement="nominal")
    assert found.value == pytest.approx(expected)
    assert found.value == pytest.approx(krippendorff_alpha(verdicts).value)


def test_fleiss_is_the_coefficient_of_full_panels() -> None:
    rows = opinions(4, missing=0.0)
    assert study.fleiss(opinions_of(rows)).value == pytest.approx(fleiss_kappa(matrix(rows, 0)).value)


def test_two_judges_have_cohens_kappa_with_each_other() -> None:
    rows = opinions(6, judges=2, missing=0.1)
    first, second = matrix(rows, 0)
    found = study.kappa_with_others(opinions_of(rows))
    assert found["j1"].value == pytest.approx(kappa(first, second).value)
    assert found["j1"].value == pytest.approx(found["j2"].value)


def test_circles_are_counted_as_one_by_one() -> None:
    rows = opinions(9, questions=12, judges=4, missing=0.0)
    circles = triples = 0
    for judge in sorted(set(rows["judge"])):
        for question in sorted(set(rows["question"])):
            lead: dict[frozenset[str], dict[str, float]] = {}
            for at, verdict in enumerate(rows["verdict"]):
                if (rows["judge"][at], rows["question"][at], rows["stage"][at]) == (judge, question, 0):
                    pair = {rows["a"][at]: 0.0, rows["b"][at]: 0.0}
                    score = {"A": 1.0, "tie": 0.0, "B": -1.0}[verdict]
                    counts = lead.setdefault(frozenset(pair), pair)
                    counts[rows["a"][at]] += score
            wins = [max(pair, key=lambda name: pair[name]) for pair in map(balanced, lead.values()) if pair]
            if len(wins) == 3:
                triples += 1
                circles += len(set(wins)) == 3
    found = study.intransitive(opinions_of(rows)).rate
    assert triples > 10
    assert found.trials == triples
    assert found.value == pytest.approx(circles / triples)


def balanced(pair: dict[str, float]) -> dict[str, float]:
    """Return the leads of two models over each other, none where they balance; one may have been on either side."""
    (first, lead), (second, other) = pair.items()
    return {} if lead == other else {first: lead - other, second: other - lead}
