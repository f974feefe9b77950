"""What a client asks for: the body of a chat completion, read strictly.

A field that would change the reply and cannot be honoured is refused, never ignored.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from coupled_arena.coupling import Sampling
from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.models.calls import Call, Message
from coupled_arena.models.model import Model
from coupled_arena.models.serving.dice import choice_key, dice_of

DEFAULT_MAX_TOKENS = 512
"""Most tokens to write where the client states no limit."""

DEFAULT_TEMPERATURE = 1.0
"""Temperature where the client states none, as in OpenAI's protocol."""

HARMLESS = frozenset(
    {"metadata", "parallel_tool_calls", "prompt_cache_key", "safety_identifier", "service_tier", "store", "user"}
)
"""Fields that no reply depends on: accepted, and without effect."""

NEUTRAL: Mapping[str, tuple[Any, ...]] = {
    "frequency_penalty": (0,),
    "function_call": ("none",),
    "functions": ([],),
    "logit_bias": ({},),
    "modalities": (["text"],),
    "presence_penalty": (0,),
    "repetition_penalty": (1,),
    "response_format": ({"type": "text"},),
    "tool_choice": ("none",),
    "tools": ([],),
}
"""Fields that no served model can honour, with the values that ask for nothing; null asks for nothing everywhere."""

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
_PLAIN = {
    "literal_error": "can hold parts of type 'text' only: leave images, sounds and files out",
    "missing": "is missing",
}
"""Plainer words for what pydantic finds."""
_UNSEEN = frozenset({"name", "type"})
_WHERE = "request"

_Text = Annotated[str, Field(min_length=1, max_length=10_000)]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")
    type: Literal["text"]
    text: str


class _Said(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")
    role: str
    content: str | list[_Part] | None = None


class _StreamOptions(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")
    include_usage: bool | None = None


class _Body(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")
    model: _Text
    messages: Annotated[list[_Said], Field(min_length=1)]
    seed: int | None = None
    noise: _Text | None = None
    temperature: Annotated[float, Field(ge=0, le=10)] | None = None
    top_k: Annotated[int, Field(ge=1)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    min_p: Annotated[float, Field(ge=0, le=1)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    stop: str | Annotated[list[str], Field(max_length=64)] | None = None
    choices: Annotated[list[_Text], Field(min_length=1, max_length=1000)] | None = None
    n: Annotated[int, Field(ge=1, le=128)] | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    stream: bool | None = None
    stream_options: _StreamOptions | None = None


@dataclass(frozen=True, slots=True)
class Wish:
    """What a client asks for."""

    model: str
    """Id of the model it asks."""
    messages: tuple[Message, ...]
    """The chat, without the beginning of the reply."""
    prefix: str
    """The beginning of the reply: the last message, where the assistant speaks it."""
    sampling: Sampling
    """Temperature and candidate filters."""
    max_tokens: int
    """Most tokens to write."""
    stop: tuple[str, ...]
    """Strings that end the reply."""
    choices: tuple[str, ...]
    """Where given, the reply is one of these."""
    count: int
    """Independent replies."""
    noise: bytes
    """Noise key of the first of them."""
    logprobs: int | None
    """Alternatives told of every token; None tells nothing."""
    stream: bool
    """Whether the reply is sent piece by piece."""
    tells_usage: bool
    """Whether a stream ends with the tokens read and written."""

    def calls(self, model: Model) -> tuple[Call, ...]:
        """Return one call for each reply."""
        return tuple(
            Call(
                model,
                self.messages,
                self.sampling,
                self.max_tokens,
                choice_key(self.noise, index),
                prefix=self.prefix,
                stop=self.stop,
                choices=self.choices,
                logprobs=self.logprobs,
            )
            for index in range(self.count)
        )


def read_wish(body: Mapping[str, Any]) -> Wish:
    """Return what the body of a chat completion asks for.

    Raises:
        ConfigurationError: with every problem found, the field as its key.

    Example:
        >>> wish = read_wish({"model": "sim/ada", "messages": [{"role": "user", "content": "Why?"}], "seed": 7})
        >>> wish.sampling.temperature, wish.max_tokens, wish.noise.hex()
        (1.0, 512, '62051c48f29390e93bc36d423c60d1a5')
    """
    try:
        given = _Body.model_validate(body)
    except ValidationError as error:
        extra = {name: value for name, value in body.items() if name not in _Body.model_fields}
        raise ConfigurationError([*_problems(error), *_refused(extra)]) from None
    problems = [*_refused(given.model_extra or {}), *_contradictions(given)]
    chat = [_message(index, said, problems) for index, said in enumerate(given.messages)]
    begun = chat[-1].role == "assistant"
    if begun and len(chat) == 1:
        problems.append(Problem(_WHERE, "messages", "need one that is not the assistant's"))
    if problems:
        raise ConfigurationError(problems)
    return Wish(
        model=given.model,
        messages=tuple(chat[:-1] if begun else chat),
        prefix=chat[-1].content if begun else "",
        sampling=Sampling(
            DEFAULT_TEMPERATURE if given.temperature is None else given.temperature,
            given.top_k,
            given.top_p,
            given.min_p or None,
        ),
        max_tokens=given.max_completion_tokens or given.max_tokens or DEFAULT_MAX_TOKENS,
        stop=(given.stop,) if isinstance(given.stop, str) else tuple(given.stop or ()),
        choices=tuple(given.choices or ()),
        count=given.n or 1,
        noise=dice_of(given.noise, given.seed, chat),
        logprobs=(given.top_logprobs or 0) if given.logprobs else None,
        stream=bool(given.stream),
        tells_usage=bool(given.stream_options and given.stream_options.include_usage),
    )


def _problems(error: ValidationError) -> list[Problem]:
    """Return one problem for every field that is wrong, named without the alternatives a field may have.

    Of two alternatives the one counts whose type was met: of a list of 65 that may be a text or 64 texts, the length.
    """
    found: dict[str, tuple[bool, Problem]] = {}
    for part in error.errors(include_url=False, include_input=False, include_context=False):
        places = part["loc"]
        # Without a place it is a name of a field, and one that is no text.
        name = ".".join(map(str, places[:3] if places[:1] == ("messages",) else places[:1])) or "body"
        met = not part["type"].endswith("_type")
        if name not in found or (met and not found[name][0]):
            found[name] = met, Problem(_WHERE, name, _PLAIN.get(part["type"], part["msg"]))
    return [problem for _, problem in found.values()]


def _refused(extra: Mapping[str, Any]) -> list[Problem]:
    """Return what is wrong with the fields that no completion depends on here."""
    problems = []
    for name, value in sorted(extra.items()):
        if value is None or name in HARMLESS or any(value == nothing for nothing in NEUTRAL.get(name, ())):
            continue
        known = name in NEUTRAL
        words = "is more than a model served here can do: leave it out" if known else "is no field known here"
        problems.append(Problem(_WHERE, name, words))
    return problems


def _contradictions(given: _Body) -> list[Problem]:
    problems = []
    if given.top_logprobs is not None and not given.logprobs:
        problems.append(Problem(_WHERE, "top_logprobs", "needs logprobs to be true"))
    if given.choices is None:
        return problems
    if len(set(given.choices)) != len(given.choices):
        problems.append(Problem(_WHERE, "choices", "must differ from each other"))
    beside = {
        "logprobs": given.logprobs,
        "stop": given.stop,
        "top_k": given.top_k,
        "top_p": given.top_p not in (None, 1),
        "min_p": given.min_p,
    }
    problems += [Problem(_WHERE, name, "means nothing beside choices") for name, wanted in beside.items() if wanted]
    return problems


def _message(index: int, said: _Said, problems: list[Problem]) -> Message:
    """Return a message; what is wrong with it is added to the problems."""
    where = f"messages.{index}"
    if said.role not in _ROLES:
        words = f"must be one of {', '.join(_ROLES)}, not {said.role!r}"
        problems.append(Problem(_WHERE, f"{where}.role", words))
    for name, value in sorted((said.model_extra or {}).items()):
        # Some clients send empty lists where no tool was called.
        if name not in _UNSEEN and value not in (None, []):
            problems.append(Problem(_WHERE, f"{where}.{name}", "is nothing a model served here can read"))
    content = said.content or ""
    text = content if isinstance(content, str) else "".join(part.text for part in content)
    return Message(_ROLES.get(said.role, "user"), text)
