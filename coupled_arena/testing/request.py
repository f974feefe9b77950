"""One request as the fake provider received it."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coupled_arena.models.calls import Message


@dataclass(frozen=True, slots=True)
class Request:
    """A request for a completion."""

    number: int
    """How many requests had come before it, from 0."""
    model: str
    """The model it asks for; empty where it names none."""
    messages: tuple[Message, ...]
    """Roles and texts of the chat; empty where it cannot be read."""
    body: Mapping[str, Any]
    """Everything in it; empty where it is no JSON object."""
    headers: Mapping[str, str]
    """Its headers by lower-case name, with the key masked."""
    call: bytes
    """Digest of the body, 16 bytes: equal bodies are one call."""
    attempt: int
    """How many requests with an equal body have come, this one included."""
    at: float
    """Seconds since the provider was made."""

    @property
    def prompt(self) -> str:
        """The text of the last message, empty where there is none."""
        return self.messages[-1].content if self.messages else ""

    @property
    def max_tokens(self) -> int | None:
        """Most tokens to write, None where the request states no limit."""
        limit = self.body.get("max_completion_tokens")
        return self.body.get("max_tokens") if limit is None else limit


def digest_of(body: Mapping[str, Any]) -> bytes:
    """Return the 16-byte digest of a body; the order of its keys does not matter.

    >>> digest_of({"a": 1, "b": 2}) == digest_of({"b": 2, "a": 1})
    True
    """
    text = json.dumps(body, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def messages_of(body: Mapping[str, Any]) -> tuple[Message, ...]:
    """Return the chat of a body, empty where it is none of text; null content reads as empty, text parts are joined.

    >>> messages_of({"messages": [{"role": "user", "content": [{"type": "text", "text": "Why?"}]}]})[0].content
    'Why?'
    """
    messages = body.get("messages")
    read = tuple(map(_message, messages)) if isinstance(messages, list) else ()
    return tuple(message for message in read if message is not None) if None not in read else ()


def _message(message: Any) -> Message | None:
    if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
        return None
    content = message.get("content")
    if content is None or isinstance(content, str):
        return Message(message["role"], content or "")
    if not isinstance(content, list) or not all(map(_is_text, content)):
        return None
    return Message(message["role"], "".join(part["text"] for part in content))


def _is_text(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "text" and isinstance(part.get("text"), str)
