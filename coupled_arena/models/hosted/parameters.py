"""What is sent to a provider for a call, and which of it may be left out where a model does not take it."""

import hashlib
import json
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from coupled_arena.models.calls import ANY_OBJECT, Call, Message
from coupled_arena.models.hosted.exceptions import class_of
from coupled_arena.models.hosted.said import read_of, said_by, status_of

OPTIONAL = ("temperature", "top_p", "top_k", "min_p", "seed", "stop", "response_format", "tool_choice")
"""Settings that are left out for a model that does not take them."""

OLD_LIMIT, NEW_LIMIT = "max_tokens", "max_completion_tokens"
"""Two names of the token limit; a provider may insist on the second."""

_REFUSING = frozenset({"BadRequestError", "UnprocessableEntityError", "UnsupportedParamsError", "APIError"})
_REFUSAL_CODES = frozenset({"unknown_parameter", "unsupported_parameter", "unsupported_value"})
_REFUSAL = re.compile(
    r"unsupported|not supported?\b|n['o]t support|unrecogni[sz]ed|unknown|unexpected|deprecated|incompatible|"
    r"not (?:be )?(?:permitted|allowed|accepted)|n['o]t accept|extra[ _](?:inputs?|forbidden|fields?)|"
    r"can(?:not|'t) (?:both )?be (?:specified|used|set|combined)",
    re.IGNORECASE,
)
# Ordinary words name a setting only where the text marks them as one.
_PLAIN = frozenset({"temperature", "seed", "stop"})
_MARKED = (
    r"(?:['\"`]{0}['\"`]|\b{0}=|[.:(]\s?{0}\b|"
    r"\b(?:parameters?|arguments?|fields?|settings?|propert(?:y|ies))\W{{1,3}}{0}\b)"
)


@dataclass(slots=True)
class Habits:
    """What one model at one address has been found not to take."""

    left_out: set[str] = field(default_factory=set)
    """Optional settings that it refused."""
    new_limit: bool = False
    """Whether it wants the token limit under its new name."""


def parameters(call: Call, habits: Habits, *, takes_seed: bool, key: str | None) -> tuple[dict[str, Any], list[str]]:
    """Return LiteLLM's parameters for a call, and which settings it would also have, were they not left out.

    Args:
        call: the call.
        habits: what the model does not take.
        takes_seed: whether LiteLLM knows how to send a seed to the model.
        key: the provider's key, None for the one that LiteLLM finds.
    """
    model, sampling = call.model, call.sampling
    optional: dict[str, Any] = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.top_k,
        "min_p": sampling.min_p,
        "seed": seed_of(call) if takes_seed else None,
        "stop": list(call.stop) or None,
        "response_format": _form(call.schema),
        "tool_choice": _choice(call) if call.tools else None,
    }
    wanted = {name: value for name, value in optional.items() if value is not None}
    more = {"api_base": model.api_base, "api_key": key, "tools": list(call.tools) or None}
    sent = {
        **model.options,
        **{name: value for name, value in wanted.items() if name not in habits.left_out},
        **{name: value for name, value in more.items() if value is not None},
        "model": model.model,
        "messages": [_message(message) for message in call.messages],
        NEW_LIMIT if habits.new_limit else OLD_LIMIT: token_limit(call),
        "timeout": model.timeout,
        "stream": False,
        "num_retries": 0,
        "max_retries": 0,
    }
    return sent, [name for name in wanted if name in habits.left_out]


def refused_setting(error: BaseException, sent: Collection[str]) -> str | None:
    """Return which of the settings sent to blame for a provider's refusal (status 400 or 422), None if it is none.

    The provider names it (OpenAI's `param`) or its words do: the first one named, or the last one of several that do
    not go together. The token limit is one only where the words ask for its new name. A value out of range is no reason
    to leave a setting out: then the user has to choose another one.
    """
    kind = class_of(error)
    if kind not in _REFUSING or (kind != "UnsupportedParamsError" and status_of(error) not in (400, 422)):
        return None
    said = said_by(error)
    if OLD_LIMIT in sent and re.search(rf"\b{NEW_LIMIT}\b", said.words):
        return OLD_LIMIT
    if _REFUSAL_CODES.isdisjoint(said.code.split()) and not _REFUSAL.search(said.words):
        return None
    if said.parameter in OPTIONAL:
        return said.parameter if said.parameter in sent else None
    # Some servers name it beside their words (`"loc": ["body", "top_k"]`).
    for text in (said.words, read_of(error)):
        named = sorted((place, name) for name in OPTIONAL if name in sent and (place := _place(name, text)) >= 0)
        if named:
            return named[-1 if re.search(r"\bboth\b", text) else 0][1]
    return None


def seed_of(call: Call) -> int:
    """Return the seed sent to a provider that takes one: 31 bits of the noise key and the sample."""
    digest = hashlib.blake2b(call.noise + call.sample.to_bytes(8, "big"), digest_size=4).digest()
    return int.from_bytes(digest, "big") & 0x7FFFFFFF


def token_limit(call: Call) -> int:
    """Return the token limit that is sent: what the answer may have, and what may be thought before it."""
    return call.max_tokens + call.model.thinking_tokens


def estimated_tokens(call: Call) -> int:
    """Return how many tokens a request is taken to need before it is sent: about what providers reserve for it.

    A token for every four bytes of the messages and of the schema and the tools, eight for each message, and the whole
    token limit. It is corrected by what was used once the answer is there.
    """
    texts = [message.content + message.extra for message in call.messages]
    texts += [json.dumps(part) for part in (call.schema, *call.tools) if part]
    return sum(-(-len(text.encode("utf-8", "replace")) // 4) + 8 for text in texts) + token_limit(call)


def _message(message: Message) -> dict[str, Any]:
    extra = json.loads(message.extra) if message.extra else {}
    content = None if not message.content and extra.get("tool_calls") else message.content
    return {"role": message.role, "content": content, **extra}


def _form(schema: dict[str, Any] | None) -> dict[str, Any] | None:
    if schema is None or schema == ANY_OBJECT:
        return None if schema is None else {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema, "strict": True}}


def _choice(call: Call) -> str | dict[str, Any] | None:
    if call.tool_choice in ("", "auto", "none", "required"):
        return call.tool_choice or None
    return {"type": "function", "function": {"name": call.tool_choice}}


def _place(name: str, words: str) -> int:
    """Return where a text names a setting, -1 where it does not."""
    found = re.search(_MARKED.format(name) if name in _PLAIN else rf"\b{name}\b", words)
    return found.start() if found else -1
