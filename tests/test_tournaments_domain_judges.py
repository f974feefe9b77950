"""Domains may have judges of their own: seated, checked, priced, probed and reported as such."""

from collections import Counter
from typing import Any

import pytest

import coupled_arena as ca
from coupled_arena.config import load
from coupled_arena.errors import ConfigurationError
from coupled_arena.models.gateway import Gateway
from coupled_arena.tournaments.panels import eligible, panel, panels_in
from coupled_arena.tournaments.preflight.casting import cast, hosted_models, role_under
from coupled_arena.tournaments.preflight.checks import problems_in

SMALL: dict[str, Any] = {
    "models": ["sim/ada?skill=1", "sim/bob", "sim/cyd?skill=-1"],
    "judges": ["sim/j1", "sim/j2", "sim/j3"],
    "judges_by_domain": {"math": ["sim/m1", "sim/m2", "sim/j3"]},
    "examiner": "sim/x",
    "domains": ["math", "writing"],
    "questions_per_domain": 2,
    "script": "single",
    "schedule": "round_robin",
}
PRICE = {"prompt": 1.0, "completion": 1.0}


def problems_of(**changes: Any) -> list[str]:
    try:
        return [str(problem) for problem in problems_in(ca.Tournament(**{**SMALL, **changes}), Gateway())]
    except ConfigurationError as error:
        return [str(problem) for problem in error.problems]


def judges_of(result: ca.Result) -> dict[str, set[str]]:
    return {
        domain: {opinion.judge for b in result.battles if b.domain == domain for opinion in b.opinions}
        for domain in ("math", "writing")
    }


def test_each_domain_is_judged_by_its_own_panel() -> None:
    result = ca.Tournament(**SMALL).run()
    assert judges_of(result) == {
        "math": {"sim/m1", "sim/m2", "sim/j3"},
        "writing": {"sim/j1", "sim/j2", "sim/j3"},
    }
    assert result.counted() == {"decided": 12, "void": 0, "forfeited": 0}


def test_a_panel_of_a_domain_takes_the_place_of_a_number_of_judges() -> None:
    result = ca.Tournament(**{**SMALL, "judges": 1, "min_judges": 1, "recuse": "none"}).run()
    assert judges_of(result) == {"math": {"sim/m1", "sim/m2", "sim/j3"}, "writing": {"sim/ada", "sim/bob", "sim/cyd"}}


def test_a_file_says_the_same_as_tables(tmp_path: Any) -> None:
    text = """
        models = ["sim/ada", "sim/bob"]
        judges = ["sim/j1"]
        domains = ["math", "writing"]
        [committee]
        recuse = "author"
        [committee.judges_by_domain]
        writing = ["sim/w1", { name = "strict", model = "sim/w2?tie=0" }]
        """
    (tmp_path / "t.toml").write_text("\n".join(map(str.strip, text.splitlines())), encoding="utf-8")
    found = load(tmp_path / "t.toml")
    judges = found.judges_in("writing")
    assert not isinstance(judges, int)
    assert [judge.name for judge in judges] == ["sim/w1", "strict"]
    assert found.judges_in("math") == found.judges
    assert ca.Tournament.stored(found.document()).document() == found.document()


def test_another_panel_of_a_domain_is_another_definition_and_its_price_is_not() -> None:
    base = ca.Tournament(**SMALL)
    other = ca.Tournament(**{**SMALL, "judges_by_domain": {"math": ["sim/m1"]}})
    priced = ca.Tournament(
        **{**SMALL, "judges_by_domain": {"math": [{"model": "sim/m1", "price": PRICE}, "sim/m2", "sim/j3"]}}
    )
    assert len({base.digest(), other.digest(), priced.digest()}) == 2
    assert base.document() == ca.Tournament(**SMALL).document()


def test_nobody_judges_a_relative_in_a_panel_of_a_domain_either() -> None:
    related = {"name": "cousin", "model": "sim/cousin", "family": "f"}
    tournament = ca.Tournament(
        models=[{"name": "ada", "model": "sim/ada", "family": "f"}, "sim/bob", "sim/cyd"],
        judges=["sim/j1"],
        judges_by_domain={"math": [related, "sim/m2"]},
    )
    ada, bob, cyd = tournament.models
    seated = {
        (domain, pair): [judge.name for judge in eligible(tournament, domain, pair, repr)]
        for domain in ("math", "stem")
        for pair in ((ada, bob), (bob, cyd))
    }
    assert seated == {
        ("math", (ada, bob)): ["sim/m2"],
        ("math", (bob, cyd)): ["cousin", "sim/m2"],
        ("stem", (ada, bob)): ["sim/j1"],
        ("stem", (bob, cyd)): ["sim/j1"],
    }
    assert panel(tournament, "math", (ada, bob), repr, {"sim/bob": 1.0}) == eligible(
        tournament, "math", (ada, bob), repr
    )


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"judges_by_domain": {"math": []}}, "committee.judges_by_domain.math: name at least one judge"),
        ({"judges_by_domain": {"law": ["sim/l"]}}, "committee.judges_by_domain.law: no question is about this"),
        ({"judges_by_domain": {"math": "sim/m"}}, "committee.judges_by_domain.math: write a list"),
        (
            {"judges_by_domain": {"math": ["sim/m", "sim/m"]}},
            "committee.judges_by_domain.math: 'sim/m' is listed 2 times",
        ),
        ({"judges_by_domain": {"math": ["sim/m?acuty=1"]}}, "committee.judges_by_domain.math: sim/m: "),
        (
            {"judges_by_domain": {"math": [{"model": "sim/m", "familly": "f"}]}},
            "committee.judges_by_domain.math.0.familly: unknown key; did you mean 'family'?",
        ),
        (
            {"judges_by_domain": {"math": ["sim/ada?skill=1"]}},
            "committee.judges_by_domain.math: too few judges: a battle needs 1 eligible judge, and there are fewer for "
            "sim/ada against sim/bob: 0",
        ),
        (
            {"judges_by_domain": {"math": [{"name": "sim/j1", "model": "sim/other"}]}},
            "committee.judges_by_domain.math: 'sim/j1' means two different models",
        ),
    ],
)
def test_a_problem_with_a_panel_is_named_with_its_key(change: dict[str, Any], problem: str) -> None:
    assert any(problem in found for found in problems_of(**change)), problems_of(**change)


def test_a_simulated_judge_of_a_domain_may_not_judge_real_debaters() -> None:
    found = problems_of(models=["openai/a", "openai/b"], judges=["openai/c"], examiner=None)
    assert any("committee.judges_by_domain.math: sim/m1 is simulated" in problem for problem in found), found


def test_judges_of_a_domain_are_priced_by_its_battles_and_probed_as_judges() -> None:
    hosted = {"model": "openai/m", "price": PRICE}
    tournament = ca.Tournament(**{**SMALL, "judges_by_domain": {"math": [hosted, "sim/j3"]}})
    seen = {model.model: model for model in tournament.preflight(probe=False).models}
    assert seen["openai/m"].keys == ("committee.judges_by_domain.math",)
    assert seen["sim/j3"].keys == ("judges", "committee.judges_by_domain.math")
    assert seen["openai/m"].spending.usd is not None
    assert seen["openai/m"].spending.usd > 0
    assert {name: seen[name].spending.calls for name in ("openai/m", "sim/j1", "sim/j3")} == {
        "openai/m": 12,
        "sim/j1": 12,
        "sim/j3": 24,
    }
    ((model, key),) = hosted_models(tournament).items()
    assert (model.name, role_under(key)) == ("openai/m", "judge")


def test_what_is_asked_of_judges_is_what_was_estimated() -> None:
    tournament = ca.Tournament(**SMALL)
    estimated = {model.model: model.spending.calls for model in tournament.preflight().models}
    result = tournament.run()
    asked = Counter(opinion.judge for battle in result.battles for opinion in battle.opinions)
    judges = {judge.name for judge in tournament.judging_models}
    assert {name: asked[name] for name in judges} == {name: estimated[name] for name in judges}


def test_a_small_panel_of_a_domain_is_said_before_and_after() -> None:
    tournament = ca.Tournament(**{**SMALL, "judges_by_domain": {"math": ["sim/m1"]}})
    notes = tournament.preflight().notes
    assert any("sim/ada against sim/bob in math: judged by sim/m1 only" in note for note in notes)
    assert not any("in writing" in note for note in notes)
    caveats = tournament.run().caveats
    assert "some battles of math have only 1 judge; 3 or more are advisable" in caveats
    assert not any(caveat.startswith("some battles have") for caveat in caveats)


def test_other_judges_of_a_finished_run_judge_every_domain(tmp_path: Any) -> None:
    ca.Tournament(**SMALL).run(tmp_path / "runs.db")
    anew = ca.rejudge(tmp_path / "runs.db", judges=["sim/k1", "sim/k2", "sim/k3"]).result
    assert judges_of(anew) == {domain: {"sim/k1", "sim/k2", "sim/k3"} for domain in ("math", "writing")}
    law = {"judges_by_domain": {"writing": ["sim/w"]}}
    anew = ca.rejudge(tmp_path / "runs.db", judges=["sim/k1"], committee=law).result
    assert judges_of(anew) == {"math": {"sim/k1"}, "writing": {"sim/w"}}


def test_panels_go_by_the_keys_that_name_them() -> None:
    tournament = ca.Tournament(**SMALL)
    assert panels_in(tournament, ["writing"]) == {"judges": ["writing"]}
    assert list(cast(tournament)) == ["models", "judges", "committee.judges_by_domain.math", "examiner"]
    assert [judge.name for judge in tournament.judging_models] == ["sim/j1", "sim/j2", "sim/j3", "sim/m1", "sim/m2"]
