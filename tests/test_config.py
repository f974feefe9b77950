"""Whatever is written in a definition, it is a tournament or a list of problems of one line each."""

import copy
import datetime
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import coupled_arena as ca
from coupled_arena.errors import UNSHOWN
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.model import Model
from coupled_arena.tournaments.preflight.checks import MOST_BATTLES, check
from coupled_arena.tournaments.rules import BattleRules, CommitteeRules

SOUND: dict[str, Any] = {
    "models": ["sim/ada?skill=1", {"name": "bob", "model": "sim/bob"}],
    "judges": ["sim/j1"],
    "examiner": "sim/x",
    "domains": ["math"],
}
QUESTION = {"id": "q", "domain": "math", "language": "en", "text": "Why is one odd?", "author": "me"}

KEYS = st.sampled_from(
    [
        *ca.Tournament.model_fields,
        *CommitteeRules.model_fields,
        *BattleRules.model_fields,
        *Model.model_fields,
        *(
            "self",
            "cls",
            "kind",
            "rounds",
            "scores",
            "steps",
            "speaker",
            "requires",
            "budget",
            "text",
            "id",
            "a\nb",
            "",
        ),
    ]
)
PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.just(10**60),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["swiss", "sim/a", "sim/", "local/a", "openai/m", "en", "single", "a\0b", "\ud800", "x.toml"]),
    st.just(datetime.date(2020, 1, 1)),
)
TREES = st.recursive(
    PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def problems(parameters: dict[str, Any]) -> list[str]:
    """Return what is wrong with a definition, held to one line each."""
    try:
        check(ca.Tournament.from_mapping(parameters, "t.toml"), Gateway(), "t.toml")
    except ca.ConfigurationError as error:
        assert error.problems
        said = [str(problem) for problem in error.problems]
        assert not any(UNSHOWN.search(line) for line in said), said
        return said
    return []


def refused(**changes: Any) -> str:
    """Return the one problem of a sound definition with these changes."""
    (problem,) = problems({**SOUND, **changes})
    return problem


@QUICK
@given(st.dictionaries(KEYS, TREES, max_size=6))
def test_any_tree_is_a_tournament_or_a_list_of_problems(parameters: dict[str, Any]) -> None:
    problems(parameters)


@QUICK
@given(KEYS, TREES)
def test_any_value_of_one_key_is_accepted_or_named(key: str, value: Any) -> None:
    for problem in problems({**SOUND, key: value}):
        assert problem.isprintable() or not problem.isascii()


@QUICK
@given(st.sampled_from(["models", "judges"]), KEYS, TREES)
def test_any_value_in_the_table_of_a_model_is_accepted_or_named(place: str, key: str, value: Any) -> None:
    changed = copy.deepcopy(SOUND)
    changed[place][-1] = {"name": "bob", "model": "sim/bob", key: value}
    problems(changed)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"models": "sim/a"}, "t.toml: models: write a list"),
        ({"models": ["sim/a", {"family": "x"}]}, "t.toml: models.1: needs a model string"),
        ({"models": ["sim/a", {"name": "sim/b"}]}, "t.toml: models.1: needs a model string"),
        ({"models": ["sim/a", {"model": "sim/b", "self": 1}]}, "t.toml: models.1.self: unknown key"),
        ({"judges": [{}]}, "t.toml: judges.0: needs a model string"),
        ({"judges": [1]}, "t.toml: judges.0: write a model string"),
        ({"judges": True}, "t.toml: judges: write a number of judges up to 1000, or a list of models"),
        ({"examiner": {}}, "t.toml: examiner: needs a model string"),
        ({"reference": {}}, "t.toml: reference: needs a model string"),
        ({"self": 1}, "t.toml: self: unknown key"),
        ({"a\nb": 1}, "t.toml: a\\nb: unknown key"),
        ({"committee": 3, "recuse": "none"}, "t.toml: committee: write a table"),
        ({"schedule": {"kind": []}}, "t.toml: schedule: no schedule of this kind; there is adaptive, against, "),
        ({"schedule": {"kind": "swiss", "rounds": 2000}}, "t.toml: schedule.rounds: "),
        ({"schedule": {"kind": "swiss", "scores": {"bob": math.nan}}}, "t.toml: schedule.scores.bob: "),
        ({"domains": "math"}, "t.toml: domains: write a list"),
        ({"domains": ["ma\nth"]}, "t.toml: domains.0: must not hold a line break"),
        ({"name": "\ud800"}, "t.toml: name: must not hold a line break, a control character or half a character"),
        ({"questions": 3}, "t.toml: questions: write the path of a JSONL or CSV file, or a list of tables"),
        ({"questions": False}, "t.toml: questions: write the path"),
        ({"questions": {"id": "q"}}, "t.toml: questions: write the path"),
        ({"questions": ["q"]}, "t.toml: questions: write the path"),
        ({"questions": [{"id": "q", "self": 1, **QUESTION}]}, "t.toml: questions.0.self: unknown key"),
        ({"questions": "a\0b.csv"}, "a\\x00b.csv: questions: cannot be read"),
        ({"questions": [{**QUESTION, "id": ""}]}, "t.toml: questions.0.id: must not be empty"),
        ({"questions": [{**QUESTION, "text": ""}]}, "t.toml: questions.0.text: is missing or has fewer than 4"),
        ({"questions": [{**QUESTION, "text": "Why\ud800 so?"}]}, "t.toml: questions.0.text: holds half a character"),
        ({"questions": [{**QUESTION, "language": "de"}]}, "t.toml: questions.0.language: the question is in 'de'"),
        ({"questions": [QUESTION, {**QUESTION, "id": "p"}]}, "t.toml: questions: two questions have the text"),
        ({"prompts": "a\0.toml"}, "a\\x00.toml: prompts: cannot be read"),
        ({"questions_per_domain": 10_001}, "t.toml: questions_per_domain: "),
        ({"replicates": 1_001}, "t.toml: battle.replicates: "),
        ({"concurrency": 10**30}, "t.toml: concurrency: "),
        ({"quorum": math.nan}, "t.toml: committee.quorum: "),
        ({"questions_per_domain": 10_000, "replicates": 1_000}, f"and {MOST_BATTLES} are the most"),
        ({"seed": 10**60}, "t.toml: seed: "),
        ({"roles": {"x": "sim/x"}}, "t.toml: roles.x: a role needs an agent class and a model, or a factory"),
    ],
)
def test_what_once_ended_in_a_traceback_is_one_line(changes: dict[str, Any], said: str) -> None:
    assert said in refused(**changes)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"timeout": math.inf}, "models.0.timeout: "),
        ({"top_k": 10**9}, "models.0.top_k: "),
        ({"options": {"d": datetime.date(2020, 1, 1)}}, "models.0.options: holds what JSON cannot"),
        ({"options": {"d": math.nan}}, "models.0.options: holds what JSON cannot"),
        ({"name": "a\x1bb"}, "models.0.name: must not hold a line break"),
        ({"model": ""}, "models.0.model: must not be empty"),
    ],
)
def test_a_setting_of_a_model_that_nobody_can_use_is_named(settings: dict[str, Any], said: str) -> None:
    model = {"name": "ada", "model": "sim/ada", **settings}
    assert said in refused(models=[model, "sim/bob"])


def test_a_key_pasted_for_the_name_of_its_variable_is_not_shown() -> None:
    problem = refused(models=[{"model": "openai/m", "api_key_env": "sk-hush-hush"}, "sim/bob"])
    assert "models.0.api_key_env: must be the name of an environment variable" in problem
    assert "hush" not in problem


def test_a_name_no_file_can_have_is_no_local_model() -> None:
    for name in ("a" * 5000, f"{'a' * 5000}.gguf", "~nobody-of-this-name/x.gguf"):
        found = problems({**SOUND, "models": [f"local/{name}", "sim/bob"], "judges": ["local/absent"]})
        assert any(f"models: local/{name[:20]}" in problem for problem in found), found


def test_a_broken_prompt_set_hides_no_other_problem() -> None:
    found = problems({**SOUND, "prompts": "absent.toml", "domains": [], "questions": "absent.csv"})
    assert [problem.split(": ")[1] for problem in found] == ["domains", "prompts", "questions"]


def test_a_debater_that_only_thinks_is_refused() -> None:
    steps = [{"speaker": "A", "requires": ["think"]}, {"speaker": "B", "requires": ["respond"]}]
    assert "A is asked to think only" in refused(battle={"script": {"name": "mute", "steps": steps}})
    assert problems({**SOUND, "script": {"name": "s", "steps": [*steps, {**steps[1], "speaker": "A"}]}}) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (f"seed = {'9' * 5000}", "file: is not TOML: "),
        (f"models = {'[' * 900}{']' * 900}", "file: "),
        ('models = ["sim/a", "sim/b"]\nschedule = {kind = "swiss", scores = "s.json"}', "schedule.scores: is not JSON"),
        ('models = ["sim/a", "sim/b"]\nschedule = {kind = "swiss", scores = "a\\u0000"}', "schedule.scores: cannot be"),
        ('models = ["sim/a", "sim/b"]\nquestions = "a\\u0000b"', "questions: cannot be read: "),
        ('models = ["sim/a", "sim/b"]\nprompts = "p.toml"', "domains.math.words: must be a whole number from 1 to"),
        ('models = ["sim/a", "sim/b"]\nprompts = "deep.toml"', "prompts: is not TOML that can be read: it is nested"),
    ],
)
def test_a_file_that_no_parser_can_take_is_one_line(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "t.toml").write_text(content, encoding="utf-8")
    (tmp_path / "s.json").write_text("[" * 100_000, encoding="utf-8")
    (tmp_path / "p.toml").write_text(f'base = "en"\n[domains.math]\nwords = {"9" * 401}', encoding="utf-8")
    (tmp_path / "deep.toml").write_text(f"a = {'[' * 900}{']' * 900}", encoding="utf-8")
    with pytest.raises(ca.ConfigurationError) as caught:
        check(ca.load(tmp_path / "t.toml"), Gateway())
    (problem,) = [str(problem) for problem in caught.value.problems if said in str(problem)]
    assert not UNSHOWN.search(problem)


def test_a_model_prints_as_it_is_written() -> None:
    model = Model("gpt", "openai/gpt-4o-mini", family="gpt")
    assert str(model) == repr(model) == "Model('gpt', 'openai/gpt-4o-mini', family='gpt')"
