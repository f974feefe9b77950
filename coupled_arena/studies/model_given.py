"""The model that a function or a command is given."""

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from coupled_arena.arguments import refuse
from coupled_arena.errors import ConfigurationError
from coupled_arena.models.model import AnyModel, Model
from coupled_arena.tournaments.definition import problems_of

_MODEL: TypeAdapter[Model] = TypeAdapter(AnyModel)


def model_given(given: Any, where: str) -> Model:
    """Return a model that is given as it is, as its string or as its fields.

    Raises:
        ConfigurationError: it cannot be a model; problems name `where` as their place.

    Example:
        >>> model_given("sim/ada?skill=1", "add").name, model_given({"name": "ada", "model": "sim/ada"}, "add").name
        ('sim/ada', 'ada')
    """
    if not isinstance(given, Model | str | Mapping):
        refuse(where, "model", "a Model or a model string", given)
    try:
        return _MODEL.validate_python(given)
    except ValidationError as error:
        raise ConfigurationError(problems_of(error, where)) from None
