"""What a client is told that gets no completion, in the form of OpenAI's protocol."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from coupled_arena.errors import ArenaError, ConfigurationError, ModelUnavailable
from coupled_arena.models.calls import Reply


def encoded(value: Mapping[str, Any] | list[Any]) -> bytes:
    r"""Return a JSON object or list as UTF-8; half characters become the escapes that JSON has for them.

    >>> encoded({"a": "é\ud800"}).decode()
    '{"a":"é\\ud800"}'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")


def answered(value: Mapping[str, Any], status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a response that is a JSON object."""
    return Response(encoded(value), status, headers, media_type="application/json")


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error of the protocol.

    Example:
        >>> Refusal(404, "no such model", code="model_not_found", param="model").body["error"]["type"]
        'invalid_request_error'
    """

    status: int
    """HTTP status."""
    message: str
    """What is wrong and what to do."""
    code: str | None = None
    """What programs tell it by, where the protocol has a word."""
    param: str | None = None
    """The field that is wrong."""
    close: bool = False
    """Whether the connection ends with it."""

    @property
    def body(self) -> dict[str, Any]:
        """The object that tells it."""
        kind = "server_error" if self.status >= 500 else "invalid_request_error"
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}

    @property
    def response(self) -> Response:
        """The response that tells it."""
        headers = {"connection": "close"} if self.close else {}
        if self.status == 401:
            headers["www-authenticate"] = "Bearer"
        if self.status == 503:
            headers["retry-after"] = "1"
        return answered(self.body, self.status, headers)


def refusal_of_error(error: ArenaError) -> Refusal:
    """Return what a client is told of an error: a mistake of its own, or a fault of this machine."""
    if isinstance(error, ConfigurationError):
        words = "; ".join(f"{problem.key}: {problem.message}" for problem in error.problems)
        return Refusal(400, words, "invalid_value", error.problems[0].key)
    if isinstance(error, ModelUnavailable):
        return Refusal(503, str(error), "model_unavailable", "model")
    return Refusal(500, str(error), "engine_fault")


def refusal_of_reply(reply: Reply) -> Refusal | None:
    """Return what a client is told of a reply that is none, or None for one that is a completion.

    A model that refuses, is filtered or writes nothing has answered.

    Example:
        >>> refusal_of_reply(Reply(outcome="failed", fault="request", detail="too long")).code
        'context_length_exceeded'
        >>> refusal_of_reply(Reply(outcome="empty")) is None
        True
    """
    if reply.outcome == "failed" and reply.fault == "request":
        return Refusal(400, reply.detail, "context_length_exceeded", "messages")
    if reply.outcome == "failed":
        return Refusal(500, reply.detail, "model_failed")
    if reply.outcome == "timeout":
        return Refusal(504, reply.detail, "model_timeout")
    return None
