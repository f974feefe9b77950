"""Models as commands take them: a model string, or NAME=MODEL."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coupled_arena.models.model import Model

# A simulated model's dials have equals signs too, but after a question mark.
_NAMED = re.compile(r"([^/?=]+)=(.+)")


def split_name(text: str) -> str | dict[str, str]:
    """Return NAME=MODEL as the fields of a model, and any other text, a model string, as it is.

    >>> split_name("ada=sim/ada?skill=1"), split_name("sim/ada?skill=1")
    ({'name': 'ada', 'model': 'sim/ada?skill=1'}, 'sim/ada?skill=1')
    """
    named = _NAMED.fullmatch(text)
    return {"name": named[1], "model": named[2]} if named else text


def model_of(text: str, where: str) -> "Model":
    """Return what an argument of a command stands for.

    Raises:
        ConfigurationError: it cannot be a model; problems name `where` as their place.

    Example:
        >>> model_of("sim/ada?skill=1", "serve").name, model_of("ada=sim/ada?skill=1", "serve").name
        ('sim/ada', 'ada')
    """
    from coupled_arena.studies.model_given import model_given

    return model_given(split_name(text), where)
