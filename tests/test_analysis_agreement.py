"""Kappa, alpha and shares of agreement: worked examples of the literature, properties, intervals and refusals."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.analysis.agreement import Agreement, kappa, percent_agreement
from coupled_arena.analysis.panel import fleiss_kappa, krippendorff_alpha
from coupled_arena.errors import ConfigurationError

VERDICTS = ("A", "tie", "B")
PAIRS = st.lists(st.tuples(st.sampled_from(VERDICTS), st.sampled_from(VERDICTS)), min_size=2, max_size=30)


def raters_of(table: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Return the labels that a table of counts sums up: rows are one rater's, columns the other's."""
    cells = [(i, j) for i, row in enumerate(table) for j, count in enumerate(row) for _ in range(count)]
    return [i for i, _ in cells], [j for _, j in cells]


def numbers(found: Agreement) -> list[float | None]:
    return [found.value, found.se, found.low, found.high]


@pytest.mark.parametrize(
    ("table", "value", "se"),
    [
        # Fleiss 1981, Statistical Methods for Rates and Proportions, table 13.1.
        ([[75, 1, 4], [5, 4, 1], [0, 0, 10]], 0.676, 0.0877),
        # Fleiss, Cohen and Everitt 1969: 200 items.
        ([[106, 10, 4], [22, 28, 10], [2, 12, 6]], 0.429, 0.0537),
    ],
)
def test_kappa_and_its_error_are_those_of_the_textbook(table: list[list[int]], value: float, se: float) -> None:
    found = kappa(*raters_of(table))
    assert found.value == pytest.approx(value, abs=5e-4)
    # The textbook has no small-sample correction.
    assert found.se is not None
    assert found.se * math.sqrt((found.items - 1) / found.items) == pytest.approx(se, abs=5e-5)


def test_weights_follow_the_distance_of_categories() -> None:
    table = [[20, 5, 1], [4, 10, 6], [2, 3, 9]]
    agreeing, chance = (
        np.outer(np.sum(table, 1), np.sum(table, 0)) / 60**2 if expected else np.array(table) / 60
        for expected in (0, 1)
    )
    weight = np.array([[1, 0.75, 0], [0.75, 1, 0.75], [0, 0.75, 1]])
    by_hand = 1 - (1 - (weight * agreeing).sum()) / (1 - (weight * chance).sum())
    assert kappa(*raters_of(table), categories=[0, 1, 2], weights="quadratic").value == pytest.approx(by_hand)
    binary = raters_of([[20, 5], [10, 15]])
    linear = kappa(*binary, categories=[0, 1], weights="linear")
    assert numbers(linear) == pytest.approx(numbers(kappa(*binary)))


def test_fleiss_kappa_is_that_of_the_worked_example() -> None:
    """Ten items, fourteen raters, five categories: kappa 0.210."""
    counts = [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
    items = [np.repeat(np.arange(5), row).tolist() for row in counts]
    found = fleiss_kappa(list(zip(*items, strict=True)))
    assert [found.value, found.observed, found.expected] == pytest.approx([0.210, 0.378, 0.213], abs=5e-4)


def test_alpha_is_that_of_the_worked_examples() -> None:
    """Krippendorff 2011, four observers of twelve units: 0.743; three coders of fifteen units, many gaps: 0.691."""
    four = ["123321412***", "1233224125*3", "*3332342251*", "12332441251*"]
    three = ["*****34121133*3", "1*213343*******", "**21344*21133*4"]
    for table, value in ((four, 0.743), (three, 0.691)):
        found = krippendorff_alpha([[None if label == "*" else label for label in row] for row in table])
        assert found.value == pytest.approx(value, abs=5e-4)


@given(PAIRS)
def test_the_order_of_raters_and_of_items_does_not_matter(pairs: list[tuple[str, str]]) -> None:
    a, b = zip(*pairs, strict=True)
    for measure in (kappa, percent_agreement):
        assert numbers(measure(a, b)) == pytest.approx(numbers(measure(b, a)), abs=1e-9)
        assert numbers(measure(a, b)) == pytest.approx(numbers(measure(a[::-1], b[::-1])), abs=1e-9)
    for panel in (fleiss_kappa, krippendorff_alpha):
        assert numbers(panel([a, b, a])) == pytest.approx(numbers(panel([a, a, b])), abs=1e-9)


@given(PAIRS, st.permutations(VERDICTS))
def test_new_names_of_the_categories_change_nothing(pairs: list[tuple[str, str]], names: list[str]) -> None:
    a, b = zip(*pairs, strict=True)
    renamed = dict(zip(VERDICTS, names, strict=True))
    other = [[renamed[label] for label in rater] for rater in (a, b)]
    assert numbers(kappa(*other)) == pytest.approx(numbers(kappa(a, b)), abs=1e-9)
    assert numbers(fleiss_kappa(other)) == pytest.approx(numbers(fleiss_kappa([a, b])), abs=1e-9)
    assert numbers(krippendorff_alpha(other)) == pytest.approx(numbers(krippendorff_alpha([a, b])), abs=1e-9)


@given(st.lists(st.sampled_from(VERDICTS), min_size=2, max_size=20).filter(lambda labels: len(set(labels)) > 1))
def test_full_agreement_is_one_and_has_no_interval_by_the_delta_method(labels: list[str]) -> None:
    for found in (kappa(labels, labels), fleiss_kappa([labels] * 3), krippendorff_alpha([labels] * 3)):
        assert found.value == pytest.approx(1)
        assert (found.low, found.high) == (None, None)
        assert "no spread" in found.reason
    share = percent_agreement(labels, labels)
    assert share.value == 1
    assert share.low is not None and share.low < 1


def test_one_category_leaves_agreement_beyond_chance_undefined() -> None:
    for found in (kappa("AAA", "AAA"), fleiss_kappa(["AAA", "AAA"]), krippendorff_alpha(["AAA", "AAA"])):
        assert (found.value, found.observed, found.expected) == (None, 1, 1)
        assert "one and the same" in found.reason


@given(PAIRS)
def test_kappa_leaves_out_what_one_rater_left_out(pairs: list[tuple[str, str]]) -> None:
    a, b = zip(*pairs, strict=True)
    with_gaps = kappa([*a, None, "A", math.nan, pd.NA], [*b, "B", None, "tie", "A"], categories=VERDICTS)
    assert numbers(with_gaps) == pytest.approx(numbers(kappa(a, b)), abs=1e-9)
    assert with_gaps.items == len(pairs)


def test_nothing_in_common_is_no_agreement_and_says_so() -> None:
    for found in (
        kappa(["A", None], [None, "B"]),
        percent_agreement(["tie"], ["A"], without=["tie"]),
        krippendorff_alpha([["A", None], [None, "B"]]),
        kappa([], []),
        fleiss_kappa([[], []]),
    ):
        assert (found.value, found.items) == (None, 0)
        assert found.reason.startswith("no item")


def test_agreement_without_ties_leaves_out_every_item_that_either_tied() -> None:
    human, judge = ["A", "tie", "B", "B", "A"], ["A", "A", "tie", "B", "B"]
    assert percent_agreement(human, judge).value == 2 / 5
    strict = percent_agreement(human, judge, without=["tie"])
    assert (strict.value, strict.items) == (2 / 3, 3)


def test_every_item_twice_in_clusters_leaves_the_error_as_it_was() -> None:
    a, b = raters_of([[20, 5, 1], [4, 10, 6], [2, 3, 9]])
    cluster = [*range(60), *range(60)]
    for measure in (kappa, percent_agreement):
        twice, once = measure(a * 2, b * 2, cluster=cluster), measure(a, b)
        assert (twice.clusters, twice.items) == (60, 120)
        assert numbers(twice) == pytest.approx(numbers(once), rel=1e-9)
    assert numbers(krippendorff_alpha([a, b])) != pytest.approx(numbers(krippendorff_alpha([a * 2, b * 2])), rel=1e-3)


@pytest.mark.parametrize("measure", [fleiss_kappa, krippendorff_alpha])
def test_the_error_of_a_panel_is_close_to_that_of_the_jackknife(
    measure: Callable[[list[list[str]]], Agreement],
) -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(3, size=80)
    panel = np.where(rng.random((4, 80)) < 0.6, truth, rng.integers(3, size=(4, 80)))
    names = [[VERDICTS[label] for label in rater] for rater in panel]
    left = [measure([rater[:item] + rater[item + 1 :] for rater in names]).value or 0.0 for item in range(80)]
    assert measure(names).se == pytest.approx(math.sqrt(79 * np.var(left)), rel=0.03)


@pytest.mark.parametrize(("measure", "truth"), [(kappa, 0.36), (percent_agreement, 0.36 + 0.64 / 3)])
def test_intervals_hold_the_truth_about_as_often_as_they_say(measure: Callable[..., Agreement], truth: float) -> None:
    """40 questions of three battles, all won by one side: each of two raters sees it in three questions of five."""
    rng = np.random.default_rng(11)
    cluster = np.repeat(np.arange(40), 3).tolist()
    held, simulations = 0, 400
    for _ in range(simulations):
        won, seen = rng.integers(3, size=(40, 1)), rng.random((2, 40, 1)) < 0.6
        a, b = np.where(seen, won, rng.integers(3, size=(2, 40, 3))).reshape(2, -1).tolist()
        found = measure(a, b, cluster=cluster)
        held += found.low is not None and found.high is not None and found.low <= truth <= found.high
    assert 0.92 <= held / simulations <= 0.98


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kappa(["A"], ["A", "B"]), "rater 2: has 2 labels, rater 1 1"),
        (lambda: kappa(["A", "Tie"], ["A", "tie"], categories=VERDICTS), "rater 1, item 1: 'Tie' is none of"),
        (lambda: kappa(["A"], ["B"], weights="linear"), "their order says which are neighbours"),
        (lambda: kappa(["A"], ["B"], cluster=[1, 2]), "cluster: has 2 items, the labels 1"),
        (lambda: kappa(["A"], ["B"], level=95), "kappa: level: needs a coverage between 0 and 1, not 95"),
        (lambda: percent_agreement(["A"], ["B"], level=1), "percent_agreement: level"),
        (lambda: krippendorff_alpha([["A"], ["B"]], level=0), "krippendorff_alpha: level"),
        (lambda: fleiss_kappa([["A"], ["B"]], level=math.nan), "fleiss_kappa: level"),
        (lambda: fleiss_kappa([["A"]]), "needs two raters or more, not 1"),
        (lambda: fleiss_kappa([["A", "B"], ["A", None]]), "item 1: has 1 label of 2; use krippendorff_alpha"),
    ],
)
def test_what_cannot_be_compared_is_refused_by_name(call: Callable[[], Agreement], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        call()


def test_a_single_cluster_has_a_measure_but_no_interval() -> None:
    for found in (kappa("AABB", "ABBB", cluster="qqqq"), percent_agreement("AABB", "ABBB", cluster="qqqq")):
        assert found.value is not None
        assert (found.low, found.reason) == (None, "a single cluster shows no spread")
