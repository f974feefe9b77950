"""What a study of judges says where little can be said."""

import numpy as np
import pytest

from coupled_arena.analysis import judges as study
from coupled_arena.analysis.judges import opinions_of
from coupled_arena.analysis.judges.slopes import slope
from coupled_arena.errors import ConfigurationError
from coupled_arena.ratings.student import t_reach
from coupled_arena.ratings.wilson import wilson
from tests.judge_scene import Rows, opinions


def votes(*verdicts: tuple[str, str, str | None], order: str = "AB", judge: str = "ada") -> Rows:
    """Return opinions of one judge as rows of battle, question and verdict."""
    rows: Rows = {"battle": [], "question": [], "verdict": [], "judge": [], "order": []}
    for battle, question, verdict in verdicts:
        for name, value in zip(rows, (battle, question, verdict, judge, order), strict=True):
            rows[name].append(value)
    return rows


def joined(*parts: Rows) -> Rows:
    return {name: [value for part in parts for value in part[name]] for name in parts[0]}


def test_one_question_has_values_but_no_intervals() -> None:
    table = opinions_of(opinions(1, questions=1, missing=0.0))
    found = study.position_effect(table)["j1"]
    assert found.value is not None
    assert (found.low, found.se, found.reason) == (None, None, "a single question shows no spread")
    assert study.agreement(table).low is None


def test_one_judge_agrees_with_nobody_and_is_told_so() -> None:
    table = opinions_of(opinions(1, judges=1))
    assert study.agreement_with_others(table)["j1"].reason == "no other judge judged what it judged"
    assert study.agreement(table).reason == "no battle has two verdicts in one order"
    assert study.position_effect(table)["j1"].low is not None


def test_a_judge_that_always_takes_the_first_side_has_wilsons_interval() -> None:
    rows = joined(
        votes(*((f"b{n}", f"q{n}", "A") for n in range(10))),
        votes(*((f"b{n}", f"q{n}", "B") for n in range(10)), order="BA"),
    )
    table = opinions_of(rows)
    found, flips = study.position_effect(table)["ada"], study.flip_rate(table)["ada"]
    least = wilson(1.0, 10, t_reach(0.95, 9))[0]
    assert (found.value, found.high, flips.value) == (0.5, 0.5, 1.0)
    assert found.low == pytest.approx(least - 0.5)
    assert flips.low == pytest.approx(least)


def test_a_judge_that_never_flips_may_still_have_some_position_effect() -> None:
    rows = joined(
        *(votes(*((f"b{n}", f"q{n}", "AB"[n % 2]) for n in range(12)), order=order) for order in ("AB", "BA"))
    )
    found = study.position_effect(opinions_of(rows))["ada"]
    reach = wilson(0.0, 12, t_reach(0.95, 11))[1] / 2
    assert found.value == 0
    assert found.low == pytest.approx(-reach)
    assert found.high == pytest.approx(reach)


def test_judges_that_never_disagree_have_full_agreement_and_no_kappa_where_all_is_one_verdict() -> None:
    rows = joined(*(votes(*((f"b{n}", f"q{n}", "A") for n in range(8)), judge=judge) for judge in ("ada", "bob")))
    table = opinions_of(rows)
    found = study.agreement(table)
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low is not None and 0.5 < found.low < 1
    assert study.fleiss(table).value is None
    assert "chance alone agrees" in study.alpha(table).reason
    assert study.kappa_with_others(table)["ada"].reason.startswith("all verdicts are one and the same")


def test_with_one_order_the_position_effect_says_that_it_is_the_lead_of_a_side() -> None:
    table = opinions_of(opinions(2, orders=("AB",)))
    assert {found.basis for found in study.position_effect(table).values()} == {"one order"}
    assert study.flip_rate(table)["j1"].reason == "no battle has two verdicts, one in each order"
    rows = opinions(2)
    kept = [
        (order == "AB") == (battle[0] in "024") for order, battle in zip(rows["order"], rows["battle"], strict=True)
    ]
    either = {name: [v for v, own in zip(values, kept, strict=True) if own] for name, values in rows.items()}
    assert study.position_effect(opinions_of(either))["j1"].basis == "either order"


def test_missing_opinions_are_left_out_and_counted() -> None:
    rows = opinions(3, missing=0.4)
    table = opinions_of(rows)
    counts = study.outcomes(table)["j1"]
    own = [v for j, v in zip(rows["judge"], rows["verdict"], strict=True) if j == "j1"]
    assert (counts.opinions, counts.refused) == (len(own), own.count(None))
    assert counts.valid + counts.refused == counts.opinions
    assert counts.abstained > 0
    assert study.outcomes(table, on_flip="abstain")["j1"].abstained > counts.abstained


def test_a_table_without_any_verdict_says_nothing_and_fails_nowhere() -> None:
    rows = opinions(3)
    table = opinions_of({**rows, "verdict": [None] * len(rows["verdict"])})
    for of in (study.position_effect, study.length_effect, study.kappa_with_others, study.conformity, study.ties):
        assert all(found.value is None and found.reason for found in of(table).values())
    assert study.effective_judges(table).value is None
    assert study.committee_sizes(table) == ()
    assert study.left_out(table) == ()


def test_committees_that_differ_by_battle_count_where_they_sat() -> None:
    rows = opinions(4, judges=4, missing=0.0)
    kept = [
        not (judge == "ada" and "ada" in (a, b))
        for judge, a, b in zip(rows["judge"], rows["a"], rows["b"], strict=True)
    ]
    table = opinions_of(
        {name: [v for v, own in zip(values, kept, strict=True) if own] for name, values in rows.items()}
    )
    assert study.preference(table, "self")["ada"].reason == "it never judged itself against another model"
    assert study.fleiss(table).basis == "committees of several sizes"
    assert study.agreement(table).value is not None
    sizes = study.committee_sizes(table)
    assert [size.judges for size in sizes] == [1, 2, 3, 4]
    assert sizes[-1].agreement.value == 1


def test_a_judge_that_nobody_can_be_compared_with_has_no_preference_and_is_told_why() -> None:
    table = opinions_of(opinions(5, judges=1))
    assert (
        study.preference(table, "family")["j1"].reason
        == "no uninvolved judge judged the same battles in the same order"
    )
    without = {k: v for k, v in opinions(5).items() if k != "named"}
    assert study.preference(opinions_of(without), "name")["j1"].reason == "nothing is known of which texts name it"


def test_without_discussion_there_is_nothing_after_it() -> None:
    table = opinions_of(opinions(6, stages=1))
    assert study.agreement(table, when="last").reason == "there was no discussion"
    assert study.moved(table)["j1"].reason == "there was no discussion"
    assert [stage.stage for stage in study.stages(table)] == [0]


def test_carried_verdicts_are_no_moves() -> None:
    rows: Rows = {"battle": ["b"] * 4, "judge": ["j", "j", "k", "k"], "stage": [0, 1, 0, 1],
                  "verdict": ["A", "A", "B", "A"], "carried": [False, True, False, False]}  # fmt: skip
    found = study.moved(opinions_of(rows))
    assert (found["j"].value, found["k"].value) == (None, 1.0)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ({"battle": [1], "judge": ["j"]}, "verdict: is missing; a study of judges needs battle, judge, verdict"),
        ({"battle": [1], "judge": ["j"], "verdict": ["C"]}, "row 1: verdict: must be A, B, tie or missing, not 'C'"),
        ({"battle": [1, 1], "judge": ["j", "j"], "verdict": ["A", "B"]}, "row 2: judge: has the opinion of row 1"),
        ({"battle": [1], "judge": [None], "verdict": ["A"]}, "row 1: judge: is missing"),
        ({"battle": [1], "judge": [["j"]], "verdict": ["A"]}, "judge: must be text that can be written, or a number"),
        ({"battle": [1], "judge": ["j"], "verdict": ["A"], "stage": [-1]}, "row 1: stage: must be a whole number"),
        ({"battle": [1], "judge": ["j"], "verdict": ["A"], "stage": [1e19]}, "row 1: stage: must be a whole number"),
        ({"battle": [1], "judge": ["j"], "verdict": ["A"], "length_a": ["long"]}, "length_a: must be a number"),
        ({"battle": [1], "judge": ["j"], "verdict": ["A"], "length_a": [-3]}, "row 1: length_a: must be at least 0"),
        ({"battle": [1], "judge": ["j"], "verdict": ["A"], "probability_tie": [2]},
         "row 1: probability_tie: must be at least 0 and at most 1"),
        ({"battle": [1, None], "judge": ["j", "k"], "verdict": ["A", "A"]}, "row 2: battle: is missing"),
        ({"battle": [1, 1], "judge": ["j", "k"], "verdict": ["A", "A"], "status": ["valid", "refused"]},
         "row 2: status: says that there is no verdict, and there is one"),
        ({"battle": [1, 1], "judge": ["j", "k"], "verdict": ["A", "B"], "question": ["p", "q"]},
         "row 2: question: is not what row 1 says of the same battle"),
        ({"battle": [1], "judge": ["j"], "verdict": ["A"], "a": ["x"], "b": ["x"]}, "row 1: b: is the model of side A"),
        ({"battle": [1], "judge": ["j\ud800"], "verdict": ["A"]}, "row 1: judge: must be text that can be written"),
        ({"battle": [1, 2, 3], "judge": ["j"] * 3, "verdict": ["A"] * 3, "family": ["x", None, "y"]},
         "row 3: family: is 'y' for j, and 'x' before; say one of them"),
        ({"battle": [1, 2], "judge": ["j"] * 2, "verdict": ["A"] * 2, "a": ["m", "n"], "b": ["n", "m"],
          "family_a": ["x", "z"], "family_b": ["z", "y"]}, "row 2: family_b: is 'y' for m, and 'x' before"),
    ],
)  # fmt: skip
def test_wrong_columns_are_refused_with_row_and_reason(rows: Rows, words: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        opinions_of(rows)
    assert words in str(caught.value)


def test_new_dice_tell_repeatability_and_what_of_a_disagreement_is_dice() -> None:
    table = opinions_of(opinions(7, dice=3, missing=0.0))
    found, share = study.repeatability(table)["j1"], study.share_of_dice(table)
    assert found.basis == share.basis == "new dice"
    assert found.value is not None and 0.3 < found.value < 0.9
    # All judges of the scene follow one law: they disagree by dice alone.
    assert share.value == pytest.approx(1, abs=0.15)


def test_stated_probabilities_stand_in_for_new_dice() -> None:
    rows = votes(*((f"b{n}", f"q{n}", "A") for n in range(5)))
    rows |= {"probability_a": [0.8] * 5, "probability_b": [0.2] * 5, "probability_tie": [0.0] * 5}
    found = study.repeatability(opinions_of(rows))["ada"]
    assert found.basis == "stated probabilities"
    assert found.value == pytest.approx(0.68)


def test_the_effective_number_is_that_of_independent_judges_and_one_for_copies() -> None:
    rng = np.random.default_rng(1)
    rows: Rows = {name: [] for name in ("battle", "question", "judge", "verdict", "truth")}
    for battle in range(400):
        copy = "AB"[int(rng.random() < 0.3)]
        for judge in ("c1", "c2"):
            for name, value in zip(rows, (battle, battle, judge, copy, "A"), strict=True):
                rows[name].append(value)
    assert study.effective_judges(opinions_of(rows)).value == pytest.approx(1)
    rows["verdict"] = ["AB"[int(rng.random() < 0.3)] for _ in rows["battle"]]
    found = study.effective_judges(opinions_of(rows))
    assert found.basis == "truth"
    assert found.low is not None and found.high is not None
    assert found.low < 2 < found.high


@pytest.mark.parametrize("same", [0.1, 0.3, 1.1, 2.7, 1 / 3, 100.7])
@pytest.mark.parametrize("rows", [3, 6, 7, 11])
def test_what_rounding_leaves_of_a_constant_is_no_variation(same: float, rows: int) -> None:
    score = np.arange(rows, dtype=np.float64) % 2
    found = slope(score, np.full((rows, 1), same), None, np.arange(rows), level=0.95, none="it never varies")
    assert (found.value, found.reason) == (None, "it never varies")
