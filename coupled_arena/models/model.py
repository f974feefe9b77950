"""What is rated: a unique name bound to a LiteLLM model string and its settings."""

from collections.abc import Container, Iterator
from typing import Any, Literal
from urllib.parse import parse_qsl

from pydantic import ConfigDict, Field, field_validator

from coupled_arena.models.masking import names_secret, without_secrets
from coupled_arena.records import Record

Kind = Literal["hosted", "sim", "local"]

SET_BY_LIBRARY = frozenset(
    {"max_retries", "max_tokens", "messages", "num_retries", "response_format", "seed", "stop", "stream"}
)
"""LiteLLM parameters that the library sets for every call, so that `options` may not hold them."""


class Model(Record):
    """A model under a name of the user's own.

    The name defaults to the model string up to `?`, so `Model("sim/ada?skill=1.2")` is named `sim/ada`.
    Names are never shortened: `org1/x` and `org2/x` are two models.

    Example:
        >>> Model("gpt", "openai/gpt-4o-mini", family="gpt")
        Model('gpt', 'openai/gpt-4o-mini', family='gpt')
        >>> Model("sim/ada?skill=1.2").name
        'sim/ada'
    """

    # What pydantic says of a mistake would otherwise quote the options, with a key that was put there.
    model_config = ConfigDict(hide_input_in_errors=True)

    name: str = Field(min_length=1)
    """Unique name within a tournament."""
    model: str = Field(min_length=1)
    """LiteLLM model string: `openai/gpt-4o`, `sim/ada?skill=1.2`, `local/smollm2-135m:q8_0`."""
    family: str | None = None
    """Models too close to judge each other; None looks the string up (`families.family_of`)."""
    temperature: float | None = Field(default=None, ge=0, le=10)
    """Sampling temperature; None takes the default of the role."""
    top_k: int | None = Field(default=None, ge=1)
    """Keep the k likeliest tokens; None keeps all."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    """Keep the smallest set of likeliest tokens with this much probability; None keeps all."""
    min_p: float | None = Field(default=None, gt=0, le=1)
    """Keep tokens at least this likely relative to the likeliest; None keeps all."""
    timeout: float = Field(default=120.0, gt=0)
    """Seconds after which a call is given up."""
    api_base: str | None = None
    """Address of the provider, where it is not LiteLLM's default."""
    api_key_env: str | None = None
    """Name of the environment variable that holds the key, where it is not LiteLLM's default."""
    options: dict[str, Any] = {}
    """Further parameters passed to LiteLLM as they are: none that a key of `Model` or the library sets, no secret."""

    def __init__(self, name: str, model: str | None = None, **settings: Any) -> None:
        own = {"name": name.split("?", 1)[0] if model is None else name, "model": model or name}
        super().__init__(**own, **settings)

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        """Yield what `repr` and `str` show: the name, the model and the settings that differ, with secrets masked."""
        for key, value in self:
            if key in ("name", "model"):
                yield None, without_secrets(value)
            elif value != self.default(key):
                yield key, without_secrets(value)

    def __hash__(self) -> int:
        """Hash by name and model string: equal models agree in them, and options need not be hashable."""
        return hash((self.name, self.model))

    @field_validator("options")
    @classmethod
    def _free(cls, options: dict[str, Any]) -> dict[str, Any]:
        """Refuse options that would be overwritten, and secrets."""
        if problems := [problem for name in options if (problem := _problem(name, cls.model_fields))]:
            raise ValueError("; ".join(problems))
        return options

    @classmethod
    def default(cls, field: str) -> Any:
        """Return the default value of a field."""
        return cls.model_fields[field].get_default()

    @property
    def kind(self) -> Kind:
        """Whether the model is simulated, runs here, or is reached through LiteLLM."""
        prefix = self.model.split("/", 1)[0]
        return "sim" if prefix == "sim" else "local" if prefix == "local" else "hosted"

    @property
    def path(self) -> str:
        """The model string without its provider and its parameters."""
        return self.model.partition("?")[0].partition("/")[2]

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters after `?` of a simulated model."""
        return dict(parse_qsl(self.model.partition("?")[2], keep_blank_values=True))


def _problem(option: str, keys: Container[str]) -> str:
    """Return why an option is refused, or nothing."""
    if option in keys:
        return f"{option} is a key of the model itself: set it there, not in options"
    if option in SET_BY_LIBRARY:
        return f"{option} is set by the library for every call: leave it out"
    if names_secret(option):
        return f"{option} looks like a secret: put the key into an environment variable and name it with api_key_env"
    return ""
