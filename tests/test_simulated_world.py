import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.models.simulated.claims import asserted, doubted
from coupled_arena.models.simulated.world import CLAIMS, SILENT, ClaimBook, position_of, verdict_of
from coupled_arena.prompts import defang
from coupled_arena.records import Section, Turn
from tests.simulated_scene import QUESTION, play, turn


def test_claims_of_a_question_have_different_codes() -> None:
    for number in range(50):
        assert len({claim.code for claim in ClaimBook(number).subject(QUESTION).claims}) == CLAIMS


def test_qualities_are_standard_normal_over_many_questions() -> None:
    qualities = [claim.quality for number in range(100) for claim in ClaimBook(0).subject(f"question {number}").claims]
    assert statistics.mean(qualities) == pytest.approx(0, abs=0.06)
    assert statistics.stdev(qualities) == pytest.approx(1, abs=0.05)


def test_text_and_number_decide_the_world() -> None:
    subjects = [ClaimBook(0).subject("Why?"), ClaimBook(1).subject("Why?"), ClaimBook(0).subject("How?")]
    assert len({subject.digest for subject in subjects}) == len(subjects)
    assert ClaimBook(0).subject("Why?").claims == ClaimBook(0).subject("  why ?").claims


@given(st.text())
def test_defanging_a_question_does_not_move_it_to_another_world(text: str) -> None:
    assert ClaimBook(3).subject(text).digest == ClaimBook(3).subject(defang(text)).digest


def test_the_truth_is_the_side_with_the_better_mean_claim() -> None:
    world = ClaimBook(7)
    ranked = [claim.code for claim in world.ranked(QUESTION)]
    assert world.truth(QUESTION, ((ranked[0],),), ((ranked[1],),)) == "A"
    assert world.truth(QUESTION, ((ranked[0], ranked[-1]),), ((ranked[1],),)) == "B"
    assert world.truth(QUESTION, ((ranked[0],), (ranked[-1],)), ((ranked[1],),)) == "B"


def test_equal_claims_are_a_tie_in_whatever_order_and_however_often_made() -> None:
    world = ClaimBook(7)
    codes = tuple(claim.code for claim in world.ranked(QUESTION)[:3])
    assert world.truth(QUESTION, (codes,), (codes[::-1] + codes[:1] * 2,)) == "tie"


def test_saying_nothing_loses_against_an_average_claim_and_codes_of_other_questions_are_nothing() -> None:
    world = ClaimBook(7)
    average = min(world.ranked(QUESTION), key=lambda claim: abs(claim.quality)).code
    unknown = next(code for code in ("A2A2", "B3B3", "C4C4") if code not in world.subject(QUESTION).index)
    assert world.values(QUESTION, ((unknown,),), ()) == (SILENT, SILENT)
    assert world.truth(QUESTION, ((unknown,), ()), ((average,),)) == "B"


def test_only_statements_count_in_a_transcript() -> None:
    best, *_, worst = ClaimBook(0).ranked(QUESTION)
    remarks = tuple(Section(tag=tag, text=f"{best.code}: yes") for tag in ("think", "criticize", "raise"))
    silent = Turn(step=1, round=1, speaker="A", model="a", sections=remarks)
    assert position_of([silent, turn("B", (worst.code,))], "A") == ()
    assert ClaimBook(0).truth_of(QUESTION, [silent, turn("A", (best.code,)), turn("B", (worst.code,))]) == "A"


def test_exchanging_the_sides_exchanges_the_truth() -> None:
    exchanged = {"A": "B", "B": "A", "tie": "tie"}
    for number in range(5):
        turns = play("sim/a?skill=0.3", "sim/b", f"question {number}", number)
        swapped = [said.model_copy(update={"speaker": exchanged[said.speaker]}) for said in turns]
        truth = ClaimBook(0).truth_of(f"question {number}", turns)
        assert ClaimBook(0).truth_of(f"question {number}", swapped) == exchanged[truth]


def test_a_lead_within_the_threshold_is_a_tie() -> None:
    assert [verdict_of(lead, 0.1) for lead in (-0.2, -0.1, 0.0, 0.1, 0.2)] == ["B", "tie", "tie", "tie", "A"]


def test_tastes_are_unrelated_to_quality_and_to_each_other() -> None:
    subjects = [ClaimBook(0).subject(f"question {number}") for number in range(100)]
    oak = [value for subject in subjects for value in subject.affinity("oak").tolist()]
    elm = [value for subject in subjects for value in subject.affinity("elm").tolist()]
    quality = [value for subject in subjects for value in subject.quality.tolist()]
    assert abs(statistics.correlation(oak, elm)) < 0.06
    assert abs(statistics.correlation(oak, quality)) < 0.06
    assert statistics.stdev(oak) == pytest.approx(1, abs=0.05)


def test_a_claim_is_made_only_before_a_colon_also_between_chinese_characters() -> None:
    assert asserted("论点K7Q2: 可由已知推出。我怀疑M3B4。") == ("K7Q2",)
    assert doubted("论点K7Q2: 可由已知推出。我怀疑M3B4。") == ("M3B4",)
    assert asserted("XK7Q2: no, K7Q23: no, k7q2: no") == ()
