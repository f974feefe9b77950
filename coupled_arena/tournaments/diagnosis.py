"""What a model's answer to a probe means, in words that say what to do next."""

import re
from dataclasses import dataclass

from coupled_arena.models.calls import Reply
from coupled_arena.models.hosted import LEFT_OUT
from coupled_arena.models.masking import without_secrets
from coupled_arena.models.model import Model

LONGEST_WORDS = 160
"""Most characters of a provider's words that are quoted."""
ADVISED_THINKING = 2048
"""Tokens for hidden reasoning that are advised where none are set aside."""
UNSEEN_TOKENS = 4
"""Tokens without text that any reply may have: what begins and ends it."""

_CLASS = re.compile(r"litellm\.(\w+)")
_PREFIXES = re.compile(r"^(?:(?:litellm\.)?\w*(?:Error|Exception|Timeout)\s*[:-]\s*)+")
_MESSAGE = re.compile(r'"message"\s*:\s*"((?:[^"\\]|\\.)+)"')
_NO_MONEY = re.compile("quota|billing|credit|balance|payment", re.IGNORECASE)
_UNREACHED = re.compile(
    "connection error|cannot connect|connect call failed|name or service|unreachable", re.IGNORECASE
)
_NO_PROVIDER = "LLM Provider NOT provided"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a probe showed of a model."""

    problem: str = ""
    """What keeps the model from being used, and what to do next; empty where nothing does."""
    note: str = ""
    """What else is worth knowing."""
    thinks: bool | None = None
    """Whether it reasoned before it answered; None where it gave no answer."""


def diagnosed(reply: Reply, model: Model) -> Finding:
    """Return what a reply to a probe means.

    >>> refused = Reply(outcome="failed", detail="litellm.NotFoundError: OpenAIException - No such model.")
    >>> diagnosed(refused, Model("gpt", "openai/gpt-9")).problem
    'gpt: the provider knows no model openai/gpt-9 for this key (No such model); check the model string and api_base'
    """
    if reply.outcome in ("failed", "timeout") and not _thinks(reply):
        return _fault(reply, model)
    name, thinks = model.name, _thinks(reply)
    if thinks and not model.thinking_tokens:
        return Finding(
            f"{name}: thinks before it answers, which would use up the tokens of its answers; set aside room for it "
            f"(thinking_tokens = {ADVISED_THINKING}), or switch it off in `options` as its provider says "
            '(for OpenAI { reasoning_effort = "minimal" })',
            thinks=True,
        )
    if thinks and not reply.answered:
        return Finding(
            f"{name}: thinks, and {model.thinking_tokens} tokens were not enough for one word after it; set a larger "
            "thinking_tokens, or let it think less in `options`",
            thinks=True,
        )
    if thinks:
        note = f"{name}: thinks before it answers; every call may write {model.thinking_tokens} tokens more"
    elif not reply.answered:
        note = f"{name}: answered the probe with nothing ({reply.outcome}{_quoted(reply.detail, ': ')})"
    else:
        note = f"{name}: {LEFT_OUT}" if reply.detail == LEFT_OUT else ""
    return Finding(note=note, thinks=thinks)


def _thinks(reply: Reply) -> bool:
    """Return whether a model wrote what is not in its answer: a token of text is at least a byte of it."""
    unseen = reply.usage.completion_tokens > len(reply.text.encode()) + UNSEEN_TOKENS
    return bool(reply.reasoning) or unseen or reply.text.lstrip().startswith("<think")


def _fault(reply: Reply, model: Model) -> Finding:
    """Return why a model could not be reached or refuses to answer."""
    name, string = model.name, without_secrets(model.model)
    named = _CLASS.match(reply.detail)
    kind, said = named[1] if named else "", _quoted(reply.detail)
    key = f"the environment variable {model.api_key_env}" if model.api_key_env else "its key in the environment"
    at = f"api_base ({without_secrets(model.api_base)})" if model.api_base else "the network"
    if _NO_PROVIDER in reply.detail:
        return Finding(f"{name}: LiteLLM knows no provider for {string}; write it in front, such as openai/NAME")
    match kind:
        case "AuthenticationError" | "PermissionDeniedError":
            return Finding(f"{name}: the provider refuses its key{said}; check {key}")
        case "NotFoundError":
            return Finding(
                f"{name}: the provider knows no model {string} for this key{said}; check the model string and api_base"
            )
        case "RateLimitError" if _NO_MONEY.search(reply.detail):
            return Finding(f"{name}: the account of its key has no money left{said}; add credit, or use another key")
        case "RateLimitError":
            return Finding(note=f"{name}: its provider limits the rate at present{said}; `limits` holds requests back")
        case _ if reply.outcome == "timeout":
            return Finding(f"{name}: gave {reply.detail or 'no answer in time'}; check {at}, or try again later")
        case _ if _UNREACHED.search(reply.detail):
            return Finding(f"{name}: its provider cannot be reached{said}; check {at}")
        case "InternalServerError" | "ServiceUnavailableError" | "BadGatewayError" | "APIConnectionError":
            return Finding(f"{name}: its provider is in trouble{said}; try again later")
    return Finding(f"{name}: the provider refuses the request{said}; check its key and its settings")


def _quoted(detail: str, before: str = " (", after: str = ")") -> str:
    words = _words(detail)
    if not words:
        return ""
    return f"{before}{words}{after if before == ' (' else ''}"


def _words(detail: str) -> str:
    """Return a provider's own words, once and short."""
    message = _MESSAGE.search(detail)
    words = " ".join((message[1] if message else _PREFIXES.sub("", detail)).split()).rstrip(".")
    return words if len(words) <= LONGEST_WORDS else f"{words[:LONGEST_WORDS]}…"
