import pytest

from coupled_arena.errors import ConfigurationError
from coupled_arena.models.model import Model
from coupled_arena.models.simulated.dials import RANGES, Dials, dial_problems, in_world, read_dials


def test_every_dial_can_be_set() -> None:
    dials = read_dials(
        "sim/x?skill=1.2&skill.math=-1&verbosity=5&taste=oak&refusal=0.1&error=0.2&acuity=2&position=0.3"
        "&length=0.4&family=0.5&tie=0.6&conformity=0.7&world=9"
    )
    assert dials == Dials(
        skill=1.2,
        skills=(("math", -1.0),),
        verbosity=5,
        taste="oak",
        refusal=0.1,
        error=0.2,
        acuity=2,
        position=0.3,
        length=0.4,
        family=0.5,
        tie=0.6,
        conformity=0.7,
        world=9,
    )


def test_a_model_without_parameters_has_the_defaults_and_lives_in_world_zero() -> None:
    assert read_dials("sim/x") == Dials()
    assert read_dials("sim/x").world == 0


def test_the_skill_of_a_domain_replaces_the_general_one_there() -> None:
    dials = read_dials("sim/x?skill=1&skill.math=-2&skill.social%20science=0.5")
    assert [dials.skill_in(domain) for domain in ("math", "social science", "coding", "")] == [-2, 0.5, 1, 1]


@pytest.mark.parametrize(
    ("parameters", "dial", "said"),
    [
        ("skil=1", "skil", "allowed: skill, skill.DOMAIN, verbosity"),
        ("skill.=1", "skill.", "no dial"),
        ("skill=good", "skill", "not 'good'"),
        ("skill=", "skill", "not ''"),
        ("skill=nan", "skill", "not nan"),
        ("skill=11", "skill", "from -10 to 10"),
        ("skill.math=x", "skill.math", "not 'x'"),
        ("refusal=1.01", "refusal", "from 0 to 1"),
        ("error=-0.1", "error", "from 0 to 1"),
        ("verbosity=0", "verbosity", "from 1 to 12"),
        ("tie=-1", "tie", "from 0 to 10"),
        ("world=", "world", "whole number"),
        ("world=٣", "world", "whole number"),
        ("world=1.5", "world", "whole number"),
        ("skill=1&skill=2", "skill", "twice"),
    ],
)
def test_a_bad_dial_is_refused_in_one_line_that_names_it(parameters: str, dial: str, said: str) -> None:
    (problem,) = dial_problems(f"sim/x?{parameters}")
    assert (problem.where, problem.key) == (f"sim/x?{parameters}", dial)
    assert said in problem.message
    assert "\n" not in str(problem)


def test_several_models_in_one_string_are_refused() -> None:
    (problem,) = dial_problems("sim/ada,sim/bob?skill=1")
    assert (problem.key, problem.message) == ("name", "has a comma; name several models one by one")


def test_all_bad_dials_are_listed_at_once() -> None:
    with pytest.raises(ConfigurationError) as caught:
        read_dials("sim/x?skil=1&tie=-1&world=x")
    assert [problem.key for problem in caught.value.problems] == ["skil", "tie", "world"]


@pytest.mark.parametrize("name", sorted(RANGES))
def test_the_bounds_of_a_dial_are_allowed_and_hold_its_default(name: str) -> None:
    low, high, *_ = RANGES[name]
    assert dial_problems(f"sim/x?{name}={low}") == ()
    assert dial_problems(f"sim/x?{name}={high}") == ()
    assert low <= getattr(Dials(), name) <= high


def test_the_canonical_string_is_one_for_all_spellings_and_reads_back() -> None:
    spelled = "sim/x?world=3&taste=a%26b&skill=1&skill.b%3Dc=-0.0&skill.a=2"
    dials = read_dials(spelled)
    canonical = dials.canonical("x")
    assert read_dials(canonical) == dials
    assert read_dials("sim/x?skill.a=2.0&skill.b%3Dc=0&skill=1.00&taste=a%26b&world=03").canonical("x") == canonical


def test_a_world_is_given_only_to_a_model_that_names_none() -> None:
    assert in_world(Model("ada", "sim/ada"), 7) == Model("ada", "sim/ada?world=7")
    assert in_world(Model("sim/ada?skill=1&world=2"), 7) == Model("sim/ada?skill=1&world=2")
    assert read_dials(in_world(Model("sim/ada"), -(2**63)).model).world == -(2**63)
    assert read_dials(in_world(Model("sim/ada?skill=1"), 7).model) == Dials(skill=1, world=7)
