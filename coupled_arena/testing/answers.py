"""The bodies of the fake provider's answers, in OpenAI's form."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from coupled_arena.testing import tokens
from coupled_arena.testing.behaviours import Body, Completion, Failure, ToolCall
from coupled_arena.testing.request import Request

STREAMED = 16
"""Characters of text in one piece of a stream."""


class Answer(NamedTuple):
    """An answer as bytes."""

    status: int
    """HTTP status."""
    content_type: str
    """Type of the body."""
    pieces: Sequence[bytes]
    """The body: the events of a stream, else one piece."""
    headers: Mapping[str, str] = {}
    """Further headers."""
    streamed: bool = False
    """Whether the body is a stream of events, whose length is not stated."""


def written(answer: Completion | Failure | Body, request: Request, key: str) -> Answer:
    """Return an answer to a request as bytes; `key` is the key it came with, for errors that echo it."""
    match answer:
        case Completion():
            return _streamed(answer, request) if request.body.get("stream") else _completed(answer, request)
        case Failure():
            return failed(answer, key)
        case Body(content, content_type, status):
            return Answer(status, content_type, (content,))


def failed(failure: Failure, key: str = "") -> Answer:
    """Return an error as bytes."""
    words = f"{failure.message} (key: {key})" if failure.echo_key else failure.message
    error = {"message": words, "type": failure.type, "param": failure.param, "code": failure.code}
    return Answer(failure.status, "application/json", (_json({"error": error}),), dict(failure.headers))


def listed(names: Sequence[str]) -> Answer:
    """Return the list of models as bytes."""
    models = [{"id": name, "object": "model", "created": 0, "owned_by": "fake"} for name in names]
    return Answer(200, "application/json", (_json({"object": "list", "data": models}),))


def prompt_tokens(request: Request) -> int:
    """Return the tokens of a request's messages."""
    return tokens.count(*(message.content for message in request.messages))


class _Cut(NamedTuple):
    """A completion within the limit of its request."""

    text: str | None
    """What is left of the text."""
    reasoning: str
    """What is left of the reasoning that is shown."""
    reasoning_tokens: int
    """Tokens of reasoning, hidden or shown."""
    finish_reason: str
    """Why the reply ends."""


def _cut(answer: Completion, limit: int | None) -> _Cut:
    """Let the limit end first the reasoning, then the text, as providers do."""
    text, reasoning, ending = answer.text, answer.reasoning, answer.finish_reason
    thought = tokens.count(reasoning) if answer.reasoning_tokens is None else answer.reasoning_tokens
    if limit is None or thought + tokens.count(text or "") <= limit:
        return _Cut(text, reasoning, thought, ending)
    thought = min(thought, limit)
    return _Cut(
        None if text is None else tokens.cut(text, limit - thought), tokens.cut(reasoning, thought), thought, "length"
    )


def _usage(cut: _Cut, request: Request) -> dict[str, Any]:
    read = prompt_tokens(request)
    wrote = tokens.count(cut.text or "") + cut.reasoning_tokens
    return {
        "prompt_tokens": read,
        "completion_tokens": wrote,
        "total_tokens": read + wrote,
        "completion_tokens_details": {"reasoning_tokens": cut.reasoning_tokens},
    }


def _completed(answer: Completion, request: Request) -> Answer:
    cut = _cut(answer, request.max_tokens)
    message: dict[str, Any] = {"role": "assistant", "content": cut.text}
    if cut.reasoning:
        message["reasoning_content"] = cut.reasoning
    if answer.refusal:
        message["refusal"] = answer.refusal
    if answer.tool_calls:
        message["tool_calls"] = [_tool(call) for call in answer.tool_calls]
    choice = {"index": 0, "finish_reason": cut.finish_reason, "logprobs": None, "message": message}
    body = _head(request, "chat.completion") | {"choices": [choice] if answer.choices else []}
    if answer.usage:
        body["usage"] = _usage(cut, request)
    return Answer(200, "application/json", (_json(body),))


def _streamed(answer: Completion, request: Request) -> Answer:
    events = [b"data: %s\n\n" % _json(chunk) for chunk in _chunks(answer, request)]
    return Answer(200, "text/event-stream", (*events, b"data: [DONE]\n\n"), streamed=True)


def _chunks(answer: Completion, request: Request) -> Iterator[dict[str, Any]]:
    cut = _cut(answer, request.max_tokens)
    options = request.body.get("stream_options")
    counted = answer.usage and isinstance(options, Mapping) and bool(options.get("include_usage"))
    head = _head(request, "chat.completion.chunk") | ({"usage": None} if counted else {})
    if answer.choices:
        for delta in _deltas(answer, cut):
            yield head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        yield head | {"choices": [{"index": 0, "delta": {}, "finish_reason": cut.finish_reason}]}
    if counted:
        yield head | {"choices": [], "usage": _usage(cut, request)}


def _deltas(answer: Completion, cut: _Cut) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": None if cut.text is None else ""}
    for name, text in (
        ("reasoning_content", cut.reasoning),
        ("content", cut.text or ""),
        ("refusal", answer.refusal),
    ):
        for start in range(0, len(text), STREAMED):
            yield {name: text[start : start + STREAMED]}
    for index, call in enumerate(answer.tool_calls):
        yield {"tool_calls": [{"index": index, **_tool(call)}]}


def _head(request: Request, kind: str) -> dict[str, Any]:
    # Nothing here depends on the time or on what came before: equal requests get equal answers.
    return {"id": f"chatcmpl-{request.call.hex()}", "object": kind, "created": 0, "model": request.model}


def _tool(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()
