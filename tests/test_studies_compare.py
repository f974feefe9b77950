"""Which of two models is better: the answer in words, what belongs to it, and that it is one with the leaderboard."""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import coupled_arena as ca
from coupled_arena.errors import BudgetReached
from coupled_arena.models.calls import Counts, Spent
from coupled_arena.ratings.score import Score, score_of
from coupled_arena.records import Battle, Decision, DecisionStatus, Opinion, Question, Side, Verdict
from coupled_arena.studies.comparing import wording
from coupled_arena.studies.comparing.compare import tournament_of
from coupled_arena.tournaments.results.leaderboard import rated
from coupled_arena.tournaments.results.result import Result

ADA, BOB, JUDGE = "sim/ada?skill=1", "sim/bob", "sim/judge"
SMALL: dict[str, Any] = {"domains": ["math", "writing"], "questions_per_domain": 3, "script": "single", "seed": 7}


def scored(wins: int, losses: int, ties: int = 0) -> Score:
    results = [1.0] * wins + [0.0] * losses + [0.5] * ties
    rows = [("alpha", "bob", result, 1.0, question) for question, result in enumerate(results)]
    return score_of(ca.RatingInput.from_rows(rows, models=["alpha", "bob"]), "alpha", "bob")


@pytest.mark.parametrize(
    ("score", "sentence"),
    [
        (
            scored(26, 11, 3),
            "alpha beats bob: it wins 69 % of 40 battles, ties counted half (95 % interval 53 to 81 %); settled.",
        ),
        (
            scored(18, 22),
            "bob leads alpha: it wins 55 % of 40 battles (95 % interval 39 to 70 %); "
            "not settled: about 350 more questions would settle it if this stays so.",
        ),
        (scored(40, 0), "alpha beats bob: it wins 100 % of 40 battles (95 % interval 91 to 100 %); settled."),
        (
            scored(0, 0, 40),
            "alpha and bob are level: all of their 40 battles are ties (95 % interval 47 to 53 %); not settled.",
        ),
        (
            scored(2, 2, 1),
            "alpha and bob are level: each scores 50 % of 5 battles, ties counted half "
            "(95 % interval 12 to 88 %); not settled.",
        ),
        (
            scored(6, 0),
            "alpha leads bob: it wins 100 % of 6 battles (95 % interval 48 to 100 %); "
            "not settled: about 1 more question would settle it if this stays so.",
        ),
        (
            scored(2, 0),
            "alpha leads bob: it wins 100 % of 2 battles; not settled: 2 questions are too few for an interval.",
        ),
        (
            scored(0, 1),
            "bob leads alpha: it wins 100 % of 1 battle; not settled: 1 question is too few for an interval.",
        ),
        (scored(0, 0), "nothing can be said of alpha and bob: none of their 40 battles could be rated."),
    ],
)
def test_the_answer_is_one_sentence_with_its_interval(score: Score, sentence: str) -> None:
    assert wording.answer(score, 40) == sentence


def test_without_a_battle_the_sentence_says_so() -> None:
    assert wording.answer(scored(0, 0), 0).endswith("no battle was played.")


def test_rounding_hides_neither_that_an_interval_excludes_one_half_nor_that_it_ends_before_all() -> None:
    found = scored(221, 179)
    assert found.settled
    assert "interval 50.3 to 60 %" in wording.answer(found, 400)
    assert "wins 99.8 % of 400 battles (95 % interval 99 to 99.96 %)" in wording.answer(scored(399, 1), 400)
    assert [wording.percent(share) for share in (0.0, 0.004, 0.5, 1.0)] == ["0", "0.4", "50", "100"]


class Fought(NamedTuple):
    """A battle of ada and bob in a few words."""

    domain: str
    first: str
    verdict: Verdict | None
    gave_up: Side | None = None


def battle(number: int, fought: Fought, weight: float = 1.0) -> Battle:
    status: DecisionStatus = "forfeited" if fought.gave_up else "decided" if fought.verdict else "void"
    second = "sim/bob" if fought.first == "sim/ada" else "sim/ada"
    return Battle(
        id=f"b{number}-{fought.first}",
        round=1,
        question=f"{fought.domain}-{number}",
        domain=fought.domain,
        replicate=0,
        a=fought.first,
        b=second,
        arm="coupled",
        opinions=(Opinion(judge=JUDGE, stage=0, verdict=fought.verdict, status="valid"),) if fought.verdict else (),
        decision=Decision(
            status=status, verdict=fought.verdict, forfeited=() if fought.gave_up is None else (fought.gave_up,)
        ),
        weight=weight,
    )


def result_of(battles: Sequence[Battle], tournament: ca.Tournament | None = None) -> Result:
    tournament = tournament or tournament_of(ADA, BOB, judges=JUDGE, until_settled=False)
    asked = {
        b.question: Question(id=b.question, domain=b.domain, language="en", text="?", author="test") for b in battles
    }
    run: Any = None
    return Result(
        run="run",
        tournament=tournament,
        questions=tuple(asked.values()),
        battles=tuple(battles),
        ratings=rated(tournament, battles),
        counts=Counts(),
        spent=Spent(),
        caveats=(),
        source=lambda: nullcontext(run),
    )


def comparison_of(*fought: Fought) -> ca.Comparison:
    return ca.Comparison.of(result_of([battle(number, one) for number, one in enumerate(fought)]))


def test_sides_are_told_from_models_and_forfeits_say_nothing_of_sides() -> None:
    won = [Fought("math", "sim/ada", "A"), Fought("math", "sim/bob", "A"), Fought("math", "sim/bob", "tie")]
    found = comparison_of(*won, Fought("math", "sim/ada", "B", gave_up="A"), Fought("math", "sim/ada", None))
    assert (found.score.wins, found.score.losses, found.score.ties, found.score.questions) == (1, 2, 1, 4)
    assert (found.sides.wins, found.sides.losses, found.sides.ties) == (2, 0, 1)
    assert found.document()["battles"] == {"decided": 3, "void": 1, "forfeited": 1, "won": 1, "lost": 2, "tied": 1}
    assert "5 battles: 3 decided, 1 void, 1 forfeited; sim/ada won 1, lost 2, tied 1" in found.lines
    assert "the side that spoke first wins 83 % of 3 battles, ties counted half (12 to 99 %)" in found.lines
    assert found.caveats == ("void are 1 of 5 battles: the answer is about those that could be decided",)


def test_a_side_with_an_advantage_is_named() -> None:
    found = comparison_of(*(Fought("math", model, "B") for model in ("sim/ada", "sim/bob") * 10))
    assert found.score.share == 0.5
    assert [line.partition(": ")[2] for line in found.lines if line.startswith("the side that spoke first")] == [
        "speaking second is an advantage here; each model speaks first on half of the questions"
    ]


def test_domains_have_intervals_that_hold_together_and_claims_only_where_they_exclude_one_half() -> None:
    sweep = [Fought("math", "sim/ada", "A")] * 20
    even = [Fought("writing", "sim/ada", verdict) for verdict in ("A", "B", "A", "B", "A")]
    found = comparison_of(*sweep, *even, Fought("coding", "sim/ada", "B"), Fought("stem", "sim/ada", None))
    alone = comparison_of(*even)
    assert [(name, score.questions, score.settled) for name, score in found.domains] == [
        ("math", 20, True),
        ("writing", 5, False),
        ("coding", 1, False),
        ("stem", 0, False),
    ]
    writing = found.domains[1].score
    assert (writing.low or 1) < (alone.score.low or 0) and (writing.high or 0) > (alone.score.high or 1)
    start = found.lines.index("score of sim/ada by domain (95 % intervals that hold for all of them together):")
    assert found.lines[start + 1 : start + 5] == (
        "  math     100 % of 20 battles (72 to 100 %): sim/ada is better here",
        "  writing   60 % of 5 battles (8 to 96 %)",
        "  coding     0 % of 1 battle: too few questions for an interval",
        "  stem     no battle could be rated",
    )
    assert not any("by domain" in line for line in alone.lines)


def test_questions_are_told_by_who_was_ahead_and_the_rarer_cases_are_named() -> None:
    fought = [Fought("math", "sim/ada", "A")] * 12 + [Fought("math", "sim/ada", "B")] * 10
    found = comparison_of(*fought, Fought("math", "sim/bob", "tie"), Fought("math", "sim/bob", None))
    named = ", ".join(f"math-{number}" for number in range(12, 20))
    assert f"by question sim/ada is ahead on 12, behind on 10 ({named} and 2 more), level on 1 (math-22)" in found.lines
    assert [asked.share for asked in found.questions] == [1.0] * 12 + [0.0] * 10 + [0.5, None]
    assert found.document()["questions"][0] == {"id": "math-0", "domain": "math", "score": 1.0}


def test_battles_on_both_sides_are_one_observation_of_their_question() -> None:
    both = [
        battle(number, Fought("math", first, "A"), weight=0.5)
        for number in range(4)
        for first in ("sim/ada", "sim/bob")
    ]
    found = ca.Comparison.of(result_of(both))
    assert (found.score.battles, found.score.questions, found.score.share) == (8, 4, 0.5)
    assert found.sides.share == 1.0
    assert found.sides.questions == 4


def test_nothing_rated_is_said_and_makes_a_plain_document() -> None:
    found = comparison_of(*[Fought("math", "sim/ada", None)] * 3)
    assert found.sentence == "nothing can be said of sim/ada and sim/bob: none of their 3 battles could be rated."
    document = found.document()
    assert [document[key] for key in ("score", "low", "high", "settled", "more_questions")] == [None] * 3 + [
        False,
        None,
    ]


@pytest.mark.parametrize("until_settled", [True, False])
@pytest.mark.parametrize("wins", [0, 1, 3, 6, 9, 10, 11, 12])
def test_the_leaderboard_and_the_comparison_never_disagree(wins: int, until_settled: bool) -> None:
    fought = [battle(number, Fought("math", "sim/ada", "A" if number < wins else "B")) for number in range(12)]
    tournament = tournament_of(ADA, BOB, judges=JUDGE, until_settled=until_settled)
    found = ca.Comparison.of(result_of(fought, tournament))
    (pair,) = found.result.settled
    assert (pair.resolved, pair.more_questions) == (found.score.settled, found.score.more_questions)
    assert pair.resolved is ("; settled" in found.sentence)


def test_a_run_of_three_models_is_no_comparison() -> None:
    three = ca.Tournament(models=["sim/ada", "sim/bob", "sim/eve"], judges=["sim/j"], domains=["math"])
    with pytest.raises(ca.RatingError, match="run has 3: sim/ada, sim/bob, sim/eve"):
        ca.Comparison.of(result_of([], three))


def test_one_judge_has_nobody_to_discuss_with() -> None:
    assert tournament_of(ADA, BOB, judges=JUDGE).committee.discussion_rounds == 0
    assert tournament_of(ADA, BOB, judges=JUDGE, recuse="author").committee.recuse == "author"
    assert tournament_of(ADA, BOB, judges=JUDGE, discussion_rounds=1).committee.discussion_rounds == 1
    assert tournament_of(ADA, BOB, judges=["sim/j1", "sim/j2"]).committee.discussion_rounds == 1


def test_the_questions_are_five_a_domain_unless_they_are_given(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(f'{{"text": "What is {n} plus {n}?"}}\n' for n in range(10, 17)), encoding="utf-8")
    every: dict[str, Any] = {"judges": JUDGE, "script": "single", "until_settled": False}
    assert ca.compare(ADA, BOB, **every).score.battles == 40
    assert ca.compare(ADA, BOB, **every, questions=file).score.battles == 7


def test_what_is_found_is_the_same_in_the_result_its_text_and_its_document(tmp_path: Path) -> None:
    store = tmp_path / "runs.db"
    found = ca.compare(ADA, BOB, judges=JUDGE, store=store, **SMALL)
    document = found.document()
    assert document["sentence"] == found.sentence == repr(found).splitlines()[0]
    assert repr(found).splitlines()[1:] == list(found.lines)
    assert set(document) == {
        *("a", "b", "score", "low", "high", "settled", "more_questions", "sentence", "questions", "battles"),
        *("until_settled", "domains", "sides", "sharing", "calls", "cost", "caveats", "run"),
    }
    assert "dice of the openings: shared in 6 battles" in found.lines
    assert "judged by sim/judge; intervals are for more questions like these before the same judge" in found.lines
    assert "note: some battles have only 1 judge; 3 or more are advisable" in found.lines
    again = ca.compare(ADA, BOB, judges=JUDGE, store=store, **SMALL)
    assert (again.result.counts.made, again.score, again.lines) == (0, found.score, found.lines)
    with ca.Store(store) as opened:
        kept = ca.Comparison.of(ca.Result.of(opened.run(None)))
        assert (kept.sentence, kept.lines) == (found.sentence, found.lines)


async def test_a_notebook_awaits_the_comparison() -> None:
    with pytest.raises(RuntimeError, match=r"write: await ca\.acompare"):
        ca.compare(ADA, BOB, judges=JUDGE, **SMALL)
    found = await ca.acompare(ADA, BOB, judges=[JUDGE, "sim/j2"], **SMALL)
    assert found.score.battles == 6


def test_two_models_of_one_name_are_refused_and_one_model_under_two_names_is_noted() -> None:
    with pytest.raises(ca.ConfigurationError, match="both are named 'sim/ada'; give each a name of its own"):
        ca.compare("sim/ada?skill=1", "sim/ada?skill=2", judges=JUDGE)
    with pytest.raises(ca.ConfigurationError, match="models: a comparison is of the two models before"):
        ca.compare(ADA, BOB, judges=JUDGE, models=["sim/eve"])
    twins = ca.Model("one", "sim/ada"), ca.Model("two", "sim/ada")
    found = ca.compare(*twins, judges=JUDGE, **SMALL)
    assert found.caveats[-1] == "one and two are one model with the same settings: they differ in dice and sides alone"


def test_a_judge_of_the_debaters_family_is_refused_left_out_or_noted() -> None:
    kin = ca.Model("sim/kin", "sim/kin", family="sim/ada")
    with pytest.raises(ca.ConfigurationError, match=r'sim/ada, sim/kin.*or committee\.recuse = "author"'):
        ca.compare("sim/ada", BOB, judges=kin, **SMALL)
    left_out = ca.compare("sim/ada", BOB, judges=[kin, "sim/other"], **SMALL)
    assert any(line.startswith("judged by sim/other; ") for line in left_out.lines)
    assert "sim/kin judged nothing, because it is of the family of sim/ada: recuse is family" in left_out.caveats
    noted = ca.compare("sim/ada", BOB, judges=kin, recuse="author", **SMALL)
    assert "sim/kin judged although it is of the family of sim/ada: recuse is author" in noted.caveats


def test_a_budget_that_is_spent_leaves_the_comparison_of_what_was_played() -> None:
    with pytest.raises(BudgetReached) as stop:
        ca.compare(ADA, BOB, judges=JUDGE, budget={"calls": 15}, concurrency=1, **SMALL)
    found = ca.Comparison.of(stop.value.result)
    assert 0 < found.score.battles < 6
    assert "battles were played when budget.calls = 15" in found.caveats[0]


def test_where_nothing_was_rated_no_domain_is_listed() -> None:
    with pytest.raises(BudgetReached) as stop:
        ca.compare(ADA, BOB, judges=JUDGE, budget={"calls": 1}, **SMALL)
    found = ca.Comparison.of(stop.value.result)
    assert len(found.domains) > 1
    assert found.sentence.endswith("no battle was played.")
    assert not any("by domain" in line or "could be rated" in line for line in found.lines)
