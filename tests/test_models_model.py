"""A model: its settings, what its options may not hold, and what of it is shown."""

from typing import Any

import pytest
from pydantic import ValidationError

from coupled_arena import ConfigurationError, Tournament
from coupled_arena.coupling import Sampling
from coupled_arena.models.calls import Call, Message
from coupled_arena.models.hosted.parameters import Habits, parameters
from coupled_arena.models.model import SET_BY_LIBRARY, Model

KEYS = ("model", "temperature", "top_p", "top_k", "min_p", "timeout", "api_base", "api_key_env")


def refused(options: dict[str, Any]) -> str:
    """Return what is said of options that are not accepted."""
    with pytest.raises(ValidationError) as caught:
        Model("openai/m", options=options)
    (problem,) = caught.value.errors()
    assert problem["loc"] == ("options",)
    return problem["msg"].removeprefix("Value error, ")


@pytest.mark.parametrize("name", KEYS)
def test_an_option_that_is_a_key_of_the_model_is_refused_and_the_key_named(name: str) -> None:
    assert refused({name: 1}) == f"{name} is a key of the model itself: set it there, not in options"


@pytest.mark.parametrize("name", sorted(SET_BY_LIBRARY))
def test_an_option_that_the_library_sets_is_refused(name: str) -> None:
    assert refused({name: 1}) == f"{name} is set by the library for every call: leave it out"


@pytest.mark.parametrize("name", ["api_key", "token", "aws_secret_access_key", "vertex_credentials"])
def test_a_secret_is_sent_to_the_environment(name: str) -> None:
    assert "environment variable and name it with api_key_env" in refused({name: "hush"})


@pytest.mark.parametrize("habits", [Habits(), Habits(new_limit=True)])
def test_everything_that_is_sent_beside_the_options_is_refused_among_them(habits: Habits) -> None:
    model = Model("m", "openai/gpt-4o-mini", api_base="http://127.0.0.1/v1", api_key_env="MINE")
    messages = (Message("user", "hello"),)
    tool = {"type": "function", "function": {"name": "look", "parameters": {}}}
    call = Call(
        model,
        messages,
        Sampling(0.7, 5, 0.9, 0.1),
        20,
        bytes(16),
        stop=("#",),
        schema={"type": "object"},
        tools=(tool,),
        tool_choice="auto",
    )
    sent, left_out = parameters(call, habits, takes_seed=True, key="hush-hush")
    assert not left_out
    for name in sent:
        assert name in refused({name: "x"})


def test_all_that_is_wrong_with_options_is_said_at_once_and_no_value_is_quoted() -> None:
    with pytest.raises(ValidationError) as caught:
        Model("openai/m", options={"api_key": "hush-hush", "temperature": 1, "logit_bias": {}})
    said = str(caught.value)
    assert "api_key looks" in said
    assert "temperature is a key" in said
    assert "hush" not in said
    assert "logit_bias" not in said


def test_a_tournament_names_the_model_whose_options_are_refused() -> None:
    models = ["sim/a", {"model": "openai/m", "options": {"seed": 1, "token": "hush-hush"}}]
    with pytest.raises(ConfigurationError) as caught:
        Tournament(models=models)
    (problem,) = caught.value.problems
    assert problem.key == "models.1.options"
    assert "seed is set by the library" in problem.message
    assert "hush" not in problem.message


@pytest.mark.parametrize("show", [repr, str, lambda model: repr([model]), lambda model: f"{model}"])
def test_no_secret_is_shown(show: Any) -> None:
    model = Model(
        "m",
        "openai/m",
        api_base="https://me:hush@host/v1",
        options={"extra_headers": {"X-Api-Key": "hush"}, "user": "me"},
    )
    shown = show(model)
    assert "hush" not in shown
    assert "https://***@host/v1" in shown
    assert "'user': 'me'" in shown
    assert "api_key_env" not in shown


def test_equal_models_are_one_key() -> None:
    def made(**settings: Any) -> Model:
        return Model("m", "openai/m", options={"logit_bias": {"1": 2}}, **settings)

    table = {made(): "plain", made(temperature=0.5): "warm"}
    assert len(table) == 2
    assert table[made()] == "plain"
    assert table[made().model_copy(update={"temperature": 0.5})] == "warm"


@pytest.mark.parametrize(
    "address",
    [
        "http://",
        "ftp://other/v1",
        "other:8000/v1",
        "//other",
        "http://[::1",
        "http://host:99999/v1",
        "ws://host/v1",
        "http://a b",
    ],
)
def test_an_address_that_no_request_can_be_sent_to_is_refused_and_not_quoted(address: str) -> None:
    with pytest.raises(ValidationError, match="must be the http or https address") as refused:
        Model("openai/m", api_base=address)
    assert address not in str(refused.value)


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:8000/v1", "https://me:secret@host", "HTTPS://host/", "http://[::1]:1/v1"]
)
def test_an_address_of_a_provider_is_taken_as_it_is(address: str) -> None:
    assert Model("openai/m", api_base=address).api_base == address
