import math

import numpy as np
import pytest

import coupled_arena as ca
from coupled_arena.errors import ConfigurationError
from coupled_arena.models.simulated.wording import spread_said
from coupled_arena.studies.world import World
from coupled_arena.studies.world.further import further_questions

MODELS = ["sim/ada?skill=1", "sim/bob?skill=0.9", "sim/eve?skill=-1&skill.math=1"]
BASE = {
    "models": MODELS,
    "judges": ["sim/j1", "sim/j2"],
    "examiner": "sim/examiner",
    "domains": ["math", "stem"],
    "questions_per_domain": 2,
    "script": "single",
    "references": False,
    "seed": 5,
}


def world(**changes: object) -> World:
    return World(**{**BASE, **changes})


def test_skills_are_those_of_the_model_strings_by_domain_and_over_the_questions() -> None:
    skills = world().truth(questions=4).skills.set_index(["model", "domain"])["skill"]
    assert skills["sim/eve", "math"] == 1
    assert skills["sim/eve", "stem"] == -1
    assert skills["sim/eve", ""] == 0
    assert skills["sim/ada", ""] == 1


def test_win_probabilities_add_up_and_shared_dice_tie_models_that_are_nearly_equal() -> None:
    truth = world().truth(questions=60)
    near, far, _ = truth.win_probabilities.to_dict("records")
    assert (near["a"], near["b"], far["b"]) == ("sim/ada", "sim/bob", "sim/eve")
    assert near["coupled_tie"] > 0.5
    assert near["independent_tie"] < 0.1
    assert far["coupled"] > 0.3
    scores = truth.scores.set_index("model")["score"]
    assert scores.sum() == pytest.approx(1.5)
    ada = [row["coupled"] + row["coupled_tie"] / 2 for row in (near, far)]
    assert scores["sim/ada"] == pytest.approx(np.mean(ada))


def test_win_probabilities_are_those_of_many_played_battles_before_a_perfect_judge() -> None:
    perfect = world(judges=["sim/judge?acuity=1000&tie=0&position=0"], questions_per_domain=15, models=MODELS[::2])
    battles = perfect.play().battles
    won = np.mean([battle.decision.verdict == ("A" if battle.a == "sim/ada" else "B") for battle in battles])
    (row,) = perfect.truth(questions=200).win_probabilities.to_dict("records")
    error = math.hypot(row["coupled_error"], math.sqrt(won * (1 - won) / len(battles)))
    assert abs(row["coupled"] - won) < 4 * error


def test_verdicts_are_those_of_the_perfect_judge_and_leave_out_what_ended_early() -> None:
    played = world(
        models=["sim/ada?skill=1", "sim/bob?refusal=0.3"], judges=["sim/j?acuity=1000&tie=0&position=0"]
    ).play()
    verdicts = world().truth(questions=1).verdicts(played)
    decided = {battle.id: battle.decision.verdict for battle in played.battles if battle.decision.status == "decided"}
    assert verdicts == decided
    assert 0 < len(verdicts) < len(played.battles)


def test_a_forfeit_counts_as_a_loss_and_no_judge_sees_it() -> None:
    truth = world(models=["sim/ada", "sim/bob?refusal=1"]).truth(questions=10)
    assert truth.win_probabilities["coupled"].tolist() == [1.0]
    assert len(truth.opinions.battle) == 0


def test_a_battle_that_nobody_can_play_is_void_and_counts_for_nothing() -> None:
    truth = world(models=["sim/ada", "sim/bob?error=1"]).truth(questions=4)
    assert truth.win_probabilities["coupled"].isna().all()


def test_the_truth_is_the_same_whenever_it_is_asked_for_and_errors_shrink_with_questions() -> None:
    one, again, more = (world(orders="both").truth(questions=count).judges for count in (10, 10, 90))
    assert one.equals(again)
    assert (more["position_effect_error"] < one["position_effect_error"] / 2).all()


async def test_the_truth_can_be_asked_for_inside_an_event_loop() -> None:
    asked = world()
    assert len((await asked.aplay()).battles) == 8
    assert asked.truth(questions=2).panel["agreement_before"].notna().all()


def test_every_dial_moves_the_estimate_it_is_about() -> None:
    judges = [
        "sim/plain?position=0&conformity=0",
        "sim/first?position=1",
        "sim/long?length=2",
        "sim/kin?taste=oak&family=2",
        "sim/fan?brand=Acme&name=2",
        "sim/meek?conformity=3",
        "sim/dull?acuity=0",
    ]
    models = ["sim/ada?taste=oak&brand=Acme", "sim/bob?verbosity=6", "sim/eve?verbosity=1"]
    truth = world(judges=judges, models=models, orders="both", recuse="none").truth(questions=80, draws=8)
    found = truth.judges.set_index("judge")
    moved = {
        "position_effect": "first",
        "length_effect": "long",
        "family_preference": "kin",
        "name_preference": "fan",
        "conformity": "meek",
    }
    for estimate, judge in moved.items():
        assert found[estimate].idxmax() == f"sim/{judge}", estimate
    assert found["accuracy_before"].idxmin() in ("sim/dull", "sim/first")
    assert abs(found["position_effect"]["sim/plain"]) < 4 * found["position_effect_error"]["sim/plain"]
    assert truth.panel["agreement_after"][0] > truth.panel["agreement_before"][0]


@pytest.mark.parametrize(
    ("changes", "key", "said"),
    [
        ({"models": ["sim/ada", "openai/gpt-4o"]}, "models", "is not simulated"),
        ({"judges": ["openai/gpt-4o"]}, "judges", "is not simulated"),
        ({"models": []}, "models", "needs two models, not 0"),
        ({"models": ["sim/ada"]}, "models", "needs two models, not 1"),
        ({"judges": ["sim/j?world=9"]}, "judges", "lives in world 9"),
        ({"models": ["sim/ada?skil=1", "sim/bob"]}, "skil", "is no dial"),
    ],
)
def test_what_has_no_truth_is_refused(changes: dict[str, object], key: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        world(**changes)
    assert [(problem.key, said in problem.message) for problem in caught.value.problems] == [(key, True)]


def test_a_tournament_and_keywords_are_refused_together() -> None:
    with pytest.raises(ConfigurationError, match="seed"):
        World(ca.Tournament(**BASE), seed=3)


def test_a_truth_over_nothing_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="questions: must be a whole number of at least 1, not 0"):
        world().truth(questions=0)
    with pytest.raises(ConfigurationError, match="draws: must be a whole number of at least 1"):
        world().truth(draws=0)


def test_the_truth_of_judges_needs_a_listed_panel_but_that_of_debates_does_not() -> None:
    truth = world(judges=3, models=[*MODELS, "sim/joe", "sim/ann"]).truth(questions=2)
    assert len(truth.scores) == 5
    with pytest.raises(ConfigurationError, match="there is no one committee to be true of; list the judges by name"):
        truth.opinions  # noqa: B018


def test_further_questions_have_the_domains_and_spreads_of_those_asked() -> None:
    graded = world(examiner=["sim/x?difficulty=2", "sim/y"], difficulty={"math": "easy"}).tournament
    kinds = [(question.domain, spread_said(question.text)) for question in further_questions(graded, 8)]
    assert kinds == [("math", 1.0)] * 2 + [("math", None)] * 2 + [("stem", 2.0)] * 2 + [("stem", None)] * 2
    own = [
        ca.Question(id=f"q{n}", domain=domain, language="en", text=f"Why {n}?{said}", author="me")
        for n, (domain, said) in enumerate([("math", ""), ("math", ""), ("law", ""), ("law", " Difficulty: 0.50.")])
    ]
    given = world(examiner=None, domains=["math", "law"], questions=own).tournament
    kinds = [(question.domain, spread_said(question.text)) for question in further_questions(given, 4)]
    assert kinds == [("math", None), ("math", None), ("law", None), ("law", 0.5)]


def test_the_default_truth_is_of_about_two_thousand_debates() -> None:
    truth = world(models=[f"sim/m{number}" for number in range(11)]).truth()
    assert len(truth.questions) * 55 == pytest.approx(2_000, rel=0.05)
