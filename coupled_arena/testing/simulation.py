"""Simulated models behind the fake provider, so that whole tournaments can be played over HTTP."""

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from coupled_arena.coupling import Sampling, noise_key
from coupled_arena.errors import ConfigurationError
from coupled_arena.models.calls import Call, Reply
from coupled_arena.models.model import Model
from coupled_arena.models.simulated.speech import reply_to
from coupled_arena.prompts import read_numbered
from coupled_arena.testing.behaviours import Completion, Failure
from coupled_arena.testing.request import Request

_MARKER = re.compile(r"\[\[(?P<label>[^\[\]\n]+)\]\]\s*\Z")
_STATUS = re.compile(r"\d{3}")
_EMPTY: Mapping[str, Any] = {"number": 0, "integer": 0, "boolean": False, "array": [], "null": None}

UNLIMITED = 1 << 30
"""Tokens a simulated model may write here: the provider cuts every text by its own count of tokens."""


def answer_of(model: str, request: Request) -> Completion | Failure:
    """Return a simulated model's answer, a function of the request and of how often it was sent.

    The dice follow from the request's `seed`, or from its whole body where it has none. A request for a JSON schema
    gets the same words in that form.

    Settings that no model can be asked with get the answer 400.

    Raises:
        ConfigurationError: the model's dials cannot be read.
    """
    try:
        call = _call(model, request)
    except (ConfigurationError, TypeError, ValueError) as error:
        return Failure(400, f"Invalid value: {error}", "invalid_request_error")
    reply = reply_to(call)
    if reply.outcome == "failed":
        return _failure(reply)
    if reply.outcome == "refused":
        return Completion(None, refusal=reply.detail)
    wanted = request.body.get("response_format")
    if not isinstance(wanted, Mapping) or wanted.get("type") not in ("json_schema", "json_object"):
        return Completion(reply.text)
    form = wanted.get("json_schema")
    schema = form.get("schema") if isinstance(form, Mapping) else None
    value = in_schema(reply.text, schema if isinstance(schema, Mapping) else {})
    return Completion(json.dumps(value, ensure_ascii=False))


def in_schema(text: str, schema: Mapping[str, Any]) -> Any:
    r"""Return a text as a value of a JSON schema, as a model would that is held to it.

    Keys called `reasons`, `verdict` and `questions` get what the text says of them; any other string gets the whole
    text, and every other type its empty value. Without properties the whole text stands under `text`.

    >>> in_schema("B errs.\n[[A]]", {"properties": {"reasons": {"type": "string"}, "verdict": {"type": "string"}}})
    {'reasons': 'B errs.', 'verdict': 'A'}
    """
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return {"text": text}
    known: dict[str, Any] = {}
    if "verdict" in properties:
        known |= _opinion(text)
    if "questions" in properties:
        known["questions"] = list(read_numbered(text))
    return {
        name: known[name] if name in known else _value(text, part)
        for name, part in properties.items()
        if isinstance(part, Mapping)
    }


def _opinion(text: str) -> dict[str, str]:
    """Return reasons and verdict of a text that ends with a marker, nothing for another one."""
    marker = _MARKER.search(text)
    return {"reasons": text[: marker.start()].strip(), "verdict": marker["label"]} if marker else {}


def _value(text: str, schema: Mapping[str, Any]) -> Any:
    if "enum" in schema:
        return next(iter(schema["enum"]), None)
    kind = schema.get("type", "string")
    if kind == "object":
        return in_schema(text, schema) if schema.get("properties") else {}
    return _EMPTY.get(kind, text)


def _call(model: str, request: Request) -> Call:
    body = request.body
    stop = body.get("stop") or ()
    return Call(
        model=_model(model),
        messages=request.messages,
        sampling=Sampling(
            1.0 if body.get("temperature") is None else body["temperature"],
            body.get("top_k"),
            body.get("top_p"),
            body.get("min_p"),
        ),
        max_tokens=UNLIMITED,
        noise=_noise(request),
        # So that a simulated provider's error does not repeat itself for ever.
        attempt=request.attempt - 1,
        stop=(stop,) if isinstance(stop, str) else tuple(stop),
    )


@lru_cache(maxsize=1024)
def _model(name: str) -> Model:
    return Model(name)


def _noise(request: Request) -> bytes:
    seed = request.body.get("seed")
    if seed is None:
        return request.call
    return noise_key(seed=int(seed), scope=("fake provider",), role=("answer",), label=(), part="whole")


def _failure(reply: Reply) -> Failure:
    status = _STATUS.match(reply.detail)
    return Failure(int(status[0]) if status else 500, reply.detail, "server_error")
