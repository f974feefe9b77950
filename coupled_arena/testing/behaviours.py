"""What a model of the fake provider can be told to do with a request: pure data, and a function for each behaviour.

Wherever a behaviour is expected a text may stand as well: a string that begins with `sim/` is a simulated model, any
other one the reply. Behaviours that wrap another one (`delayed`, `drip`, `half_body`, `refuses_parameter`,
`thinks_by_default`) so go with simulated models too.

    >>> delayed(0.2, "sim/ada?skill=1.2")
    Delayed(seconds=0.2, then='sim/ada?skill=1.2')
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any, Literal

from coupled_arena.errors import ConfigurationError, Problem

Break = Literal["reset", "close", "hang"]
"""Ways of giving no answer at all."""


class Behaviour:
    """What is common to everything a model can be told to do: the classes below, and no others."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that a reply asks for."""

    name: str
    """Name of the function."""
    arguments: str = "{}"
    """Its arguments as JSON text, sent as it is."""
    id: str = "call_1"
    """Id of the call, unique within the reply."""


@dataclass(frozen=True, slots=True)
class Completion(Behaviour):
    """An answer with status 200."""

    text: str | None
    """Content of the message; cut where the request's token limit is reached."""
    finish_reason: str = "stop"
    """Why the reply ends; `length` where it was cut."""
    usage: bool = True
    """Whether the tokens are counted in the answer."""
    reasoning: str = ""
    """Reasoning shown beside the content, as `reasoning_content`."""
    reasoning_tokens: int | None = None
    """Tokens of reasoning in the usage; None counts those of `reasoning`."""
    refusal: str = ""
    """The message's `refusal`."""
    tool_calls: tuple[ToolCall, ...] = ()
    """Tools to be called."""
    choices: bool = True
    """Whether the answer holds a choice at all."""


@dataclass(frozen=True, slots=True)
class Failure(Behaviour):
    """An answer with another status and an error in OpenAI's form."""

    status: int
    """HTTP status."""
    message: str
    """The provider's words."""
    type: str
    """OpenAI's class of the error, `invalid_request_error`."""
    code: str | None = None
    """OpenAI's code of the error, `rate_limit_exceeded`."""
    param: str | None = None
    """Name of the parameter that is to blame."""
    headers: tuple[tuple[str, str], ...] = ()
    """Headers of the answer, such as `Retry-After`."""
    echo_key: bool = False
    """Whether the words end with the key that the request was sent with, as a careless provider's would."""


@dataclass(frozen=True, slots=True)
class Body(Behaviour):
    """An answer whose body is sent as it is."""

    content: bytes
    """The body."""
    content_type: str = "application/json"
    """What it claims to be."""
    status: int = 200
    """HTTP status."""


@dataclass(frozen=True, slots=True)
class Broken(Behaviour):
    """No answer."""

    how: Break
    """The connection is reset, closed, or left open until the client leaves or the server stops."""


@dataclass(frozen=True, slots=True)
class Delayed(Behaviour):
    """A behaviour after a while."""

    seconds: float
    """How long to wait first."""
    then: Behaviour | str
    """What comes after that."""


@dataclass(frozen=True, slots=True)
class Half(Behaviour):
    """The first part of an answer, after which the connection is closed; the headers promise all of it."""

    share: float
    """How much of the body is sent, from 0 up to but not including 1."""
    then: Behaviour | str
    """Whose answer it is."""


@dataclass(frozen=True, slots=True)
class Drip(Behaviour):
    """An answer in several pieces with a pause before each but the first."""

    pieces: int
    """Into how many pieces the body is cut, at least 1."""
    pause: float
    """Seconds between two of them."""
    then: Behaviour | str
    """Whose answer it is."""


@dataclass(frozen=True, slots=True)
class RefusesParameter(Behaviour):
    """Status 400 while the request holds a parameter."""

    parameter: str
    """Name of the parameter."""
    then: Behaviour | str
    """What comes without it."""


@dataclass(frozen=True, slots=True)
class Thinks(Behaviour):
    """Hidden reasoning that spends tokens of the request's limit before any text."""

    tokens: int | None
    """How many it needs; None takes whatever the limit allows."""
    then: Behaviour | str
    """What is said after that, within what is left of the limit."""


@dataclass(frozen=True, slots=True)
class Simulated(Behaviour):
    """The reply of one of the project's simulated models; its dice follow from the request's `seed`, else from it."""

    model: str
    """Model string, `sim/ada?skill=1.2`."""


_ERRORS: Mapping[int, tuple[str, str, str | None]] = {
    400: ("The request is not valid.", "invalid_request_error", None),
    401: ("Incorrect API key provided.", "invalid_request_error", "invalid_api_key"),
    403: ("This key may not use the model.", "permission_error", "permission_denied"),
    404: ("The model does not exist, or this key has no access to it.", "invalid_request_error", "model_not_found"),
    408: ("The request took too long.", "timeout", "request_timeout"),
    413: ("The request is too large.", "invalid_request_error", "request_too_large"),
    422: ("The request cannot be processed.", "invalid_request_error", None),
    429: ("Rate limit reached. Please try again later.", "rate_limit_error", "rate_limit_exceeded"),
    500: ("The server had an error while processing the request.", "server_error", None),
    502: ("Bad gateway.", "server_error", None),
    503: ("The server is overloaded or not ready yet.", "server_error", "service_unavailable"),
    504: ("The gateway timed out.", "server_error", "gateway_timeout"),
    529: ("The provider is overloaded.", "overloaded_error", "overloaded"),
}
_HTML = "<!doctype html><html><head><title>{0}</title></head><body><h1>{0}</h1></body></html>"


def reply(
    text: str | None = "ok",
    *,
    delay: float = 0.0,
    finish_reason: str = "stop",
    usage: bool = True,
    reasoning: str = "",
    reasoning_tokens: int | None = None,
    tool_calls: Sequence[ToolCall] = (),
) -> Completion | Delayed:
    """Return the behaviour that answers with a text.

    Args:
        text: content of the message; None where a tool is called instead.
        delay: seconds before the answer.
        finish_reason: why the reply ends.
        usage: whether tokens are counted in the answer.
        reasoning: reasoning shown as `reasoning_content`.
        reasoning_tokens: tokens of hidden reasoning in the usage; None counts those of `reasoning`.
        tool_calls: tools to be called; the reason of the end is then `tool_calls` unless another one is given.

    Raises:
        ConfigurationError: one of the tool calls is no `ToolCall`.
    """
    given: Sequence[object] = tool_calls
    strangers = [call for call in given if not isinstance(call, ToolCall)]
    if strangers:
        wanted = """must be a behaviours.ToolCall("name", '{"argument": 1}')"""
        raise ConfigurationError([Problem("reply", "tool_calls", f"{wanted}, not {call!r}") for call in strangers])
    if tool_calls and finish_reason == "stop":
        finish_reason = "tool_calls"
    said = Completion(text, finish_reason, usage, reasoning, reasoning_tokens, tool_calls=tuple(tool_calls))
    return Delayed(delay, said) if delay else said


def null() -> Completion:
    """Return the behaviour whose message has no content (`null`), with an ordinary ending."""
    return Completion(None)


def refusal(words: str = "I cannot help with that.") -> Completion:
    """Return the behaviour that refuses: no content, the words in the message's `refusal`."""
    return Completion(None, refusal=words)


def filtered(text: str | None = None) -> Completion:
    """Return the behaviour that a content filter stopped, after this text if there is any."""
    return Completion(text, "content_filter")


def length(text: str | None = None) -> Completion:
    """Return the behaviour that ends for its length, whatever limit the request states."""
    return Completion(text, "length")


def hidden_thinking() -> Thinks:
    """Return the behaviour whose hidden reasoning eats the whole limit: no content, ended for its length."""
    return Thinks(None, "")


def thinks_by_default(tokens: int = 256, then: Behaviour | str = "ok") -> Thinks:
    """Return the behaviour that spends tokens on hidden reasoning before any text.

    A request with a limit of no more than `tokens` gets no content and ends for its length. A request with
    `reasoning_effort` of `none` switches the reasoning off.
    """
    return Thinks(tokens, then)


def error(
    status: int,
    message: str | None = None,
    *,
    code: str | None = None,
    type: str | None = None,  # noqa: A002 (OpenAI's word)
    param: str | None = None,
    retry_after: float | datetime | str | None = None,
    retry_after_ms: float | None = None,
    echo_key: bool = False,
) -> Failure:
    """Return the behaviour that answers with an error.

    Args:
        status: HTTP status; what is not given below is what providers say with it.
        message: the provider's words.
        code: OpenAI's code.
        type: OpenAI's class.
        param: the parameter to blame.
        retry_after: the header `Retry-After`: seconds, a moment (sent as an HTTP date), or text that is sent as it is.
        retry_after_ms: the header `retry-after-ms`.
        echo_key: whether the words end with the request's key.
    """
    usual = _ERRORS.get(status, (f"The provider answered with status {status}.", "api_error", None))
    headers: list[tuple[str, str]] = []
    if retry_after is not None:
        headers.append(("Retry-After", _header(retry_after)))
    if retry_after_ms is not None:
        headers.append(("retry-after-ms", f"{retry_after_ms:g}"))
    return Failure(
        status,
        usual[0] if message is None else message,
        type or usual[1],
        code or usual[2],
        param,
        tuple(headers),
        echo_key,
    )


def no_money() -> Failure:
    """Return the behaviour of an account without money: 429 with `insufficient_quota`, which no waiting mends."""
    words = "You exceeded your current quota, please check your plan and billing details."
    return error(429, words, code="insufficient_quota", type="insufficient_quota")


def refuses_parameter(parameter: str, then: Behaviour | str = "ok") -> RefusesParameter:
    """Return the behaviour that answers 400 while the request holds a parameter.

    For `max_tokens` the words ask for `max_completion_tokens` instead.
    """
    return RefusesParameter(parameter, then)


def reset() -> Broken:
    """Return the behaviour that resets the connection (TCP RST)."""
    return Broken("reset")


def close() -> Broken:
    """Return the behaviour that closes the connection without an answer."""
    return Broken("close")


def hang() -> Broken:
    """Return the behaviour that never answers: until the client leaves or the server stops."""
    return Broken("hang")


def half_body(then: Behaviour | str = "ok", *, share: float = 0.5) -> Half:
    """Return the behaviour that sends a share of an answer, whose headers promise all of it, and closes."""
    return Half(share, then)


def drip(then: Behaviour | str = "ok", *, pieces: int = 8, pause: float = 0.1) -> Drip:
    """Return the behaviour that sends an answer in pieces with pauses of so many seconds between them."""
    return Drip(pieces, pause, then)


def delayed(seconds: float, then: Behaviour | str) -> Delayed:
    """Return the behaviour that does something after so many seconds."""
    return Delayed(seconds, then)


def simulated(model: str) -> Simulated:
    """Return the behaviour that lets a simulated model answer, `sim/ada?skill=1.2`."""
    return Simulated(model)


def wrong_json() -> Body:
    """Return the behaviour whose answer claims to be JSON and is cut off in the middle of an object."""
    return Body(b'{"id": "fake", "object": "chat.completion", "choices": [{"index": 0, "mess')


def html(status: int = 502) -> Body:
    """Return the behaviour that answers with the HTML page of a gateway."""
    return Body(_HTML.format(f"{status} error").encode(), "text/html", status)


def empty_body() -> Body:
    """Return the behaviour that answers 200 with an empty body."""
    return Body(b"")


def no_choices() -> Completion:
    """Return the behaviour that answers with an empty list of choices."""
    return Completion(None, choices=False)


def body(
    content: bytes | str | Mapping[str, Any], *, content_type: str = "application/json", status: int = 200
) -> Behaviour:
    """Return the behaviour that answers with this body as it is; a mapping is written as JSON."""
    if isinstance(content, Mapping):
        content = json.dumps(content)
    return Body(content.encode() if isinstance(content, str) else content, content_type, status)


def _header(moment: float | datetime | str) -> str:
    if isinstance(moment, datetime):
        return format_datetime(moment.astimezone(UTC), usegmt=True)
    return moment if isinstance(moment, str) else f"{moment:g}"
