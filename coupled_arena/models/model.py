"""What is rated: a unique name bound to a LiteLLM model string and its settings."""

import json
import re
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, urlsplit

from pydantic import BeforeValidator, ConfigDict, Field, field_validator

from coupled_arena.models.masking import names_secret, without_secrets
from coupled_arena.records import Name, Record, Usage

Kind = Literal["hosted", "sim", "local", "agent"]

_KINDS: dict[str, Kind] = {"sim": "sim", "local": "local", "agent": "agent"}

SET_BY_LIBRARY = frozenset(
    {"max_completion_tokens", "max_retries", "max_tokens", "messages", "num_retries", "response_format", "seed", "stop"}
    | {"stream", "tool_choice", "tools"}
)
"""LiteLLM parameters that the library sets for every call, so that `options` may not hold them."""


CHANGES_NO_REPLY = frozenset({"context", "price"})
"""Settings of a model that no reply depends on, so that they are no part of what identifies a run."""


class Price(Record):
    """What a model's tokens cost, in US dollars per million.

    Example:
        >>> Price(prompt=0.15, completion=0.6).of(Usage(prompt_tokens=2_000_000, completion_tokens=1_000_000))
        0.9
    """

    prompt: float = Field(ge=0, le=1_000_000)
    """US dollars for a million tokens read."""
    completion: float = Field(ge=0, le=1_000_000)
    """US dollars for a million tokens written, hidden reasoning included."""

    def of(self, usage: Usage) -> float:
        """Return what these tokens cost in US dollars."""
        return (self.prompt * usage.prompt_tokens + self.completion * usage.completion_tokens) / 1e6


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

    name: Name
    """Unique name within a tournament."""
    model: Name
    """LiteLLM model string: `openai/gpt-4o`, `sim/ada?skill=1.2`, `local/smollm2-135m:q8_0`."""
    family: Name | None = None
    """Models too close to judge each other; None looks the string up (`families.family_of`)."""
    temperature: float | None = Field(default=None, ge=0, le=10)
    """Sampling temperature; None takes the default of the role."""
    top_k: int | None = Field(default=None, ge=1, le=1_000_000)
    """Keep the k likeliest tokens; None keeps all."""
    top_p: float | None = Field(default=None, gt=0, le=1)
    """Keep the smallest set of likeliest tokens with this much probability; None keeps all."""
    min_p: float | None = Field(default=None, gt=0, le=1)
    """Keep tokens at least this likely relative to the likeliest; None keeps all."""
    timeout: float = Field(default=120.0, gt=0, le=86_400)
    """Seconds after which a call is given up."""
    api_base: Name | None = None
    """Address of the provider, where it is not LiteLLM's default."""
    api_key_env: Name | None = None
    """Name of the environment variable that holds the key, where it is not LiteLLM's default."""
    price: Price | None = None
    """What its tokens cost; None takes LiteLLM's table, and a model that is in neither is unpriced, never free."""
    context: int | None = Field(default=None, ge=1, le=1_000_000_000)
    """Tokens it can hold, question and answer together; None takes LiteLLM's table or the weights."""
    thinking_tokens: int = Field(default=0, ge=0, le=1_000_000)
    """Tokens a hosted model may spend on hidden reasoning, beside what its answer may have."""
    options: dict[str, Any] = {}
    """Further parameters passed to LiteLLM as they are: none that a key of `Model` or the library sets, no secret."""

    # Any word may be a key of a table in a file, `self` too: it is refused there as unknown, by name.
    def __init__(self, /, name: str, model: str | None = None, **settings: Any) -> None:
        short = model is None and isinstance(name, str)
        own = {"name": name.split("?", 1)[0] if short else name, "model": name if model is None else model}
        super().__init__(**own, **settings)

    def __str__(self) -> str:
        return repr(self)

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
        """Refuse options that would be overwritten, secrets, and what no request can carry."""
        if problems := [problem for name in options if (problem := _problem(name, cls.model_fields))]:
            raise ValueError("; ".join(problems))
        try:
            json.dumps(options, allow_nan=False, ensure_ascii=False).encode()
        except (TypeError, ValueError, RecursionError):
            raise ValueError("holds what JSON cannot: use text, finite numbers, true, false, lists, tables") from None
        return options

    @field_validator("api_key_env")
    @classmethod
    def _variable(cls, name: str | None) -> str | None:
        """Refuse what names no variable, without quoting it: it may be the key itself."""
        if name is not None and not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
            raise ValueError("must be the name of an environment variable, such as MY_KEY, and never the key itself")
        return name

    @field_validator("api_base")
    @classmethod
    def _address(cls, address: str | None) -> str | None:
        """Refuse what no request can be sent to, without quoting it: it may hold a password."""
        if address is not None and not _is_address(address):
            raise ValueError("must be the http or https address of a provider's API, such as https://host:8000/v1")
        return address

    @classmethod
    def default(cls, field: str) -> Any:
        """Return the default value of a field."""
        return cls.model_fields[field].get_default()

    @property
    def kind(self) -> Kind:
        """Whether the model is simulated, runs here, is an agent of the user's, or is reached through LiteLLM."""
        prefix = self.model.split("/", 1)[0]
        return _KINDS.get(prefix, "hosted")

    @property
    def path(self) -> str:
        """The model string without its provider and its parameters."""
        return self.model.partition("?")[0].partition("/")[2]

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters after `?` of a simulated model."""
        return dict(parse_qsl(self.model.partition("?")[2], keep_blank_values=True))


def as_model(value: Any) -> Any:
    """Return what a model string or a table of a file stands for.

    Raises:
        ValueError: it is neither, or a table without a model string.
    """
    if isinstance(value, Model):
        return value
    if isinstance(value, str):
        return Model(value)
    if not isinstance(value, Mapping):
        raise ValueError('write a model string such as "openai/gpt-4o", or a table with one: {model = "..."}')
    if not isinstance(value.get("model"), str):
        raise ValueError('needs a model string: model = "openai/gpt-4o"')
    table = {str(key): part for key, part in value.items()}
    return {"name": table["model"].split("?", 1)[0], **table}


def names_a_file(model: str) -> bool:
    """Return whether a model string is that of a GGUF file, with its `local/` left out.

    >>> names_a_file("mine.gguf"), names_a_file("openai/mine.gguf")
    (True, False)
    """
    return model.endswith(".gguf") and ("/" not in model or Path(model).is_file())


AnyModel = Annotated[Model, BeforeValidator(as_model)]
"""A model, a model string, or a table with the settings of a model."""


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0 and " " not in text
    except ValueError:
        # A port out of range, or half of an IPv6 address.
        return False


def _problem(option: str, keys: Container[str]) -> str:
    """Return why an option is refused, or nothing."""
    if option in keys:
        return f"{option} is a key of the model itself: set it there, not in options"
    if option in SET_BY_LIBRARY:
        return f"{option} is set by the library for every call: leave it out"
    if names_secret(option):
        return f"{option} looks like a secret: put the key into an environment variable and name it with api_key_env"
    return ""
