"""What a definition accepts, and what it refuses with every problem named at once."""

from pathlib import Path
from typing import Any

import pytest

import coupled_arena as ca
from coupled_arena.models.gateway import Gateway
from coupled_arena.tournaments.preflight.checks import check

SIMULATED: dict[str, Any] = {
    "models": ["sim/ada?skill=1", "sim/bob"],
    "judges": ["sim/j1", "sim/j2", "sim/j3"],
    "examiner": "sim/examiner",
    "domains": ["math"],
}


def problems(where: str = "Tournament", **changes: Any) -> list[str]:
    """Return everything wrong with a definition."""
    try:
        check(ca.Tournament.from_mapping({**SIMULATED, **changes}, where), Gateway(), where)
    except ca.ConfigurationError as error:
        return [str(problem) for problem in error.problems]
    return []


def test_a_sound_definition_has_no_problems() -> None:
    assert problems() == []


def test_strings_and_tables_stand_for_models() -> None:
    tournament = ca.Tournament(
        models=["sim/ada?skill=1", {"name": "bob", "model": "sim/b?skill=0"}, {"model": "sim/c?skill=2"}], judges=2
    )
    assert [model.name for model in tournament.models] == ["sim/ada", "bob", "sim/c"]


def test_keys_of_a_table_may_be_given_directly_but_not_twice() -> None:
    direct = ca.Tournament(**SIMULATED, recuse="author", sides="both")
    assert direct == ca.Tournament(**SIMULATED, committee={"recuse": "author"}, battle={"sides": "both"})
    mixed = ca.Tournament(**SIMULATED, recuse="none", committee=ca.CommitteeRules(orders="both"))
    assert (mixed.committee.recuse, mixed.committee.orders) == ("none", "both")
    with pytest.raises(ca.ConfigurationError, match="recuse is given twice"):
        ca.Tournament(**SIMULATED, recuse="none", committee={"recuse": "author"})


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"modles": []}, "t.toml: modles: unknown key"),
        ({"committee": {"judgez": 3}}, "t.toml: committee.judgez: unknown key"),
        ({"battle": {"script": "duel"}}, "t.toml: battle.script: no script named 'duel'"),
        ({"budget": {"eur": 5}}, "t.toml: budget.eur: unknown key"),
        ({"limits": 4}, "t.toml: limits: write a table"),
        ({"models": ["sim/ada"]}, "t.toml: models: a tournament needs at least two models, not 1"),
        ({"models": ["sim/ada", "sim/ada?skill=1"]}, "t.toml: models: 'sim/ada' is listed 2 times"),
        ({"schedule": "ladder"}, "t.toml: schedule: no schedule named 'ladder'; there is adaptive, against, "),
        ({"language": "xx"}, "t.toml: language: "),
        ({"models": ["sim/ada?skil=1", "sim/bob"]}, "t.toml: models: sim/ada: skil: is no dial"),
        ({"models": ["sim/ada?skill=high", "sim/bob"]}, "t.toml: models: sim/ada: skill: "),
        ({"models": ["local/nothing-of-the-kind", "local/x"], "judges": ["local/y"]}, "local/nothing-of-the-kind"),
        ({"models": ["gpt-4o", "sim/bob"]}, "t.toml: models: gpt-4o: write the provider too"),
        ({"models": ["opnai/gpt-4o", "sim/bob"]}, "opnai/gpt-4o: LiteLLM knows no provider 'opnai'; for "),
        ({"domains": []}, "t.toml: domains: name at least one domain"),
        ({"domains": ["math", "math"]}, "t.toml: domains: 'math' is listed twice"),
        ({"examiner": None, "domains": ["falconry"]}, "a file, or choose from writing, roleplay, extraction"),
        ({"roles": {"checker": "sim/x"}}, "roles"),
        ({"questions_per_domain": 0}, "t.toml: questions_per_domain: "),
        ({"judges": 0}, "t.toml: judges: a committee needs at least one judge"),
        ({"judges": []}, "t.toml: judges: name at least one judge"),
    ],
)
def test_a_problem_is_named_with_file_key_and_remedy(changes: dict[str, Any], expected: str) -> None:
    found = problems("t.toml", **changes)
    assert any(expected in problem for problem in found), found


def test_all_problems_are_listed_together() -> None:
    found = problems(models=["sim/ada?skil=1", "gpt-4o"], domains=["math", "math"], language="xx")
    assert len(found) >= 4


def test_a_pairing_without_enough_eligible_judges_is_found() -> None:
    (problem,) = problems(models=["sim/ada", "sim/bob", "sim/cleo"], judges=2)
    assert "a battle needs 3 eligible judges, and there are fewer for sim/ada against sim/bob: 1" in problem


def test_families_are_recused_by_default() -> None:
    family: list[Any] = [{"name": name, "model": f"sim/{name}", "family": "x"} for name in ("ada", "j1")]
    (problem,) = problems(models=[family[0], "sim/bob"], judges=[family[1]])
    assert "a battle needs 1 eligible judge, and" in problem
    assert "families may not judge their own (x: ada, j1)" in problem
    assert problems(models=[family[0], "sim/bob"], judges=[family[1]], recuse="author") == []


def test_one_author_under_two_names_is_recused_by_author() -> None:
    judges = [{"name": "twin", "model": "sim/ada?skill=1"}]
    assert problems(models=["sim/ada?skill=1", "sim/bob"], judges=judges, recuse="author") != []
    hotter = [{"name": "twin", "model": "sim/ada?skill=1", "temperature": 1.0}]
    assert problems(models=["sim/ada?skill=1", "sim/bob"], judges=hotter, recuse="author") == []


def test_a_simulated_judge_before_real_debaters_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-shown")
    found = problems(models=["openai/gpt-4o", "openai/gpt-4o-mini"])
    assert any("sim/j1 is simulated and can judge only simulated debaters" in problem for problem in found)
    assert any("examiner: sim/examiner is simulated and can question only" in problem for problem in found)


def test_a_missing_key_is_named_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    own = {"name": "mine", "model": "openai/x", "api_key_env": "MY_KEY_NAME"}
    found = problems(models=["openai/gpt-4o", own], judges=["openai/gpt-4o-mini"])
    assert any("OPENAI_API_KEY is not set" in problem for problem in found)
    assert any("MY_KEY_NAME is not set" in problem for problem in found)


def test_one_name_for_two_models_is_refused() -> None:
    found = problems(judges=[{"name": "sim/ada", "model": "sim/other"}, "sim/j2", "sim/j3", "sim/j4"])
    assert any("'sim/ada' means two different models" in problem for problem in found)


def test_an_unreadable_question_file_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text('{"id": "q1", "domain": "math", "text": "What is 2 + 2, and why?"}\nnot json\n', encoding="utf-8")
    found = problems(questions=file)
    assert any("questions.jsonl:2" in problem for problem in found)
    assert any("cannot be read" in problem for problem in problems(questions=tmp_path / "absent.jsonl"))


def test_two_questions_with_one_id_are_refused() -> None:
    twice = [ca.Question(id="q", domain="math", language="en", text=f"Why {n}?", author="me") for n in range(2)]
    assert any("two questions have the id 'q'" in problem for problem in problems(questions=tuple(twice)))


def test_scores_of_models_that_do_not_play_are_refused() -> None:
    (problem,) = problems(schedule={"kind": "swiss", "scores": {"sim/ada": 1.0, "typo": 3.0}})
    assert "schedule.scores: 'typo' does not play" in problem


def test_a_domain_without_a_question_in_the_file_is_found(tmp_path: Path) -> None:
    file = tmp_path / "questions.jsonl"
    file.write_text('{"id": "q1", "domain": "math", "text": "What is 2 + 2, and why?"}\n', encoding="utf-8")
    (problem,) = problems(questions=file, domains=["math", "law"])
    assert "questions.jsonl: questions: has no question for domain 'law'" in problem
    (problem,) = problems(questions=file, domains=["law"])
    assert "questions.jsonl: questions: has no question for domain 'law'" in problem


def test_the_digest_ignores_concurrency_and_sees_everything_else() -> None:
    base = ca.Tournament(**SIMULATED)
    assert ca.Tournament(**SIMULATED, concurrency=1).digest() == base.digest()
    others: list[dict[str, Any]] = [
        {"seed": 1},
        {"recuse": "none"},
        {"sides": "both"},
        {"coupling": "fresh"},
        {"schedule": "round_robin"},
    ]
    assert len({base.digest(), *(ca.Tournament(**SIMULATED, **change).digest() for change in others)}) == 6


class Checker(ca.Role):
    instructions = "Check the facts."


class Stricter(Checker):
    instructions = "Check every fact."


def test_the_digest_knows_what_a_role_is_told() -> None:
    script = ca.Script(name="s", steps=(*ca.SINGLE.steps, ca.Step(speaker="x", sees=(1,))))
    digests = {
        ca.Tournament(**SIMULATED, script=script, roles={"x": (agent, "sim/x")}).digest()
        for agent in (Checker, Stricter)
    }
    assert len(digests) == 2
    with pytest.raises(ca.ConfigurationError, match="a factory needs a name"):
        ca.Tournament(**SIMULATED, script=script, roles={"x": lambda: None})
    with pytest.raises(ca.ConfigurationError, match="Checker needs a model to speak through"):
        ca.Tournament(**SIMULATED, script=script, roles={"x": Checker})


def test_a_definition_survives_its_document() -> None:
    tournament = ca.Tournament(**SIMULATED, schedule=ca.Swiss(rounds=3), script="single", recuse="author")
    assert ca.Tournament.stored(tournament.document()) == tournament


class TestFiles:
    def test_a_file_holds_the_parameters(self, tmp_path: Path) -> None:
        file = tmp_path / "mine.toml"
        file.write_text(
            'models = ["sim/ada", "sim/bob"]\njudges = 2\nquestions = "q.csv"\n[committee]\nrecuse = "none"\n',
            encoding="utf-8",
        )
        tournament = ca.load(file)
        assert tournament.name == "mine"
        assert tournament.questions == tmp_path / "q.csv"
        assert tournament.committee.recuse == "none"

    def test_the_digest_does_not_depend_on_the_working_folder(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "p.toml").write_text('base = "en"', encoding="utf-8")
        (tmp_path / "t.toml").write_text('models = ["sim/a", "sim/b"]\nprompts = "p.toml"', encoding="utf-8")
        from_afar = ca.load(tmp_path / "t.toml").digest()
        monkeypatch.chdir(tmp_path)
        assert ca.load("t.toml").digest() == from_afar

    @pytest.mark.parametrize(
        ("content", "expected"),
        [
            (b"models = [", "is not TOML"),
            (b'models = ["\xff"]', "is not UTF-8"),
            (b'models = ["sim/a", "sim/b"]\n[budget]\nusd = "a lot"\n', "budget.usd: "),
        ],
    )
    def test_a_file_that_is_no_definition_is_named(self, tmp_path: Path, content: bytes, expected: str) -> None:
        file = tmp_path / "bad.toml"
        file.write_bytes(content)
        with pytest.raises(ca.ConfigurationError, match=expected) as caught:
            ca.load(file)
        assert str(file) in str(caught.value)

    def test_a_missing_file_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(ca.ConfigurationError, match=r"absent\.toml: file: cannot be read"):
            ca.load(tmp_path / "absent.toml")
