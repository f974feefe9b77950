"""Completions in the form of OpenAI's protocol."""

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coupled_arena.models.calls import Reply, TokenLogprob
from coupled_arena.models.serving.hall import Served
from coupled_arena.models.serving.refusals import encoded
from coupled_arena.models.serving.wishes import Wish

LEAST_LOGPROB = -9999.0
"""What the protocol has for the log probability of the impossible, since JSON has no infinity."""

DONE = b"data: [DONE]\n\n"
"""The last event of a stream."""

_ENDINGS = {"truncated": "length", "filtered": "content_filter"}


@dataclass(frozen=True, slots=True)
class Form:
    """What all parts of one answer say."""

    wish: Wish
    """What was asked for."""
    served: Served
    """Who answers."""
    id: str = field(default_factory=lambda: f"chatcmpl-{uuid.uuid4().hex}")
    """Names the answer."""
    created: int = field(default_factory=lambda: int(time.time()))
    """When it was begun, in seconds since 1970."""

    @property
    def headers(self) -> dict[str, str]:
        """The headers that tell which dice were rolled."""
        return {"x-coupled-noise": self.wish.noise.hex()}

    def completion(self, replies: Sequence[Reply]) -> dict[str, Any]:
        """Return a whole completion, one choice for each reply."""
        choices = [
            {"index": index, "message": {"role": "assistant", **_content(reply)}, **_told(reply, self.wish)}
            for index, reply in enumerate(replies)
        ]
        return {**self._head("chat.completion"), "choices": choices, "usage": usage(replies)}

    def opening(self, index: int) -> bytes:
        """Return the first event of a choice."""
        return self._chunk(index, {"role": "assistant", "content": ""})

    def piece(self, index: int, text: str) -> bytes:
        """Return the event that holds a piece of a choice's text."""
        return self._chunk(index, {"content": text})

    def ending(self, index: int, reply: Reply) -> bytes:
        """Return the last event of a choice; it holds the log probabilities of all its tokens."""
        refused = {"refusal": reply.detail or "refused"} if reply.outcome == "refused" else {}
        return self._chunk(index, refused, _told(reply, self.wish))

    def total(self, replies: Sequence[Reply]) -> bytes:
        """Return the event that holds the tokens read and written."""
        return event({**self._head("chat.completion.chunk"), "choices": [], "usage": usage(replies)})

    def _chunk(self, index: int, delta: Mapping[str, Any], told: Mapping[str, Any] | None = None) -> bytes:
        choice = {"index": index, "delta": delta, **(told or {"logprobs": None, "finish_reason": None})}
        nothing = {"usage": None} if self.wish.tells_usage else {}
        return event({**self._head("chat.completion.chunk"), "choices": [choice], **nothing})

    def _head(self, kind: str) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": kind,
            "created": self.created,
            "model": self.served.id,
            "system_fingerprint": self.served.fingerprint,
            "noise": self.wish.noise.hex(),
        }


def event(value: Mapping[str, Any]) -> bytes:
    r"""Return a server-sent event.

    >>> event({"a": 1})
    b'data: {"a":1}\n\n'
    """
    return b"data: " + encoded(value) + b"\n\n"


def usage(replies: Sequence[Reply]) -> dict[str, int]:
    """Return the tokens of some replies to one prompt, which is counted once.

    >>> from coupled_arena.records import Usage
    >>> usage([Reply(outcome="ok", usage=Usage(prompt_tokens=5, completion_tokens=2))] * 2)
    {'prompt_tokens': 5, 'completion_tokens': 4, 'total_tokens': 9}
    """
    read = max((reply.usage.prompt_tokens for reply in replies), default=0)
    written = sum(reply.usage.completion_tokens for reply in replies)
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _content(reply: Reply) -> dict[str, Any]:
    if reply.outcome in ("refused", "filtered"):
        return {"content": None, "refusal": reply.detail or reply.outcome}
    return {"content": reply.text, "refusal": None}


def _told(reply: Reply, wish: Wish) -> dict[str, Any]:
    """Return what a choice says beside its text."""
    logprobs = None
    if wish.logprobs is not None:
        content = [
            {**_token(token), "top_logprobs": [_token(other) for other in token.top]} for token in reply.logprobs
        ]
        logprobs = {"content": content, "refusal": None}
    told: dict[str, Any] = {"logprobs": logprobs, "finish_reason": _ENDINGS.get(reply.outcome, "stop")}
    if wish.choices:
        told["probabilities"] = reply.probabilities
    return told


def _token(told: TokenLogprob) -> dict[str, Any]:
    return {"token": told.token, "bytes": list(told.data), "logprob": max(told.logprob, LEAST_LOGPROB)}
