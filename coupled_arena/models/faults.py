"""What LiteLLM's exceptions mean: which outcome, whether asking again can help, and when."""

import email.utils
import time
from collections.abc import Iterator
from typing import Any

from coupled_arena.models.litellm_loader import load_litellm
from coupled_arena.records import Outcome

DETAIL_LENGTH = 500
"""Most characters of a provider's words that are kept."""

_TRACEBACK = "Traceback (most recent call last)"
_NO_MONEY = ("insufficient_quota", "exceeded your current quota")
_FILTER_CODES = ("content_filter", "content_policy_violation")
_TRANSPORT = ("httpx", "httpcore", "aiohttp")


def outcome_of(error: Exception) -> Outcome:
    """Return how a call ended that raised this."""
    known = load_litellm().exceptions
    if isinstance(error, (TimeoutError, known.Timeout)):
        return "timeout"
    if isinstance(error, known.ContentPolicyViolationError) or getattr(error, "code", None) in _FILTER_CODES:
        return "filtered"
    return "failed"


def passes(error: BaseException) -> bool:
    """Return whether the same request may succeed later: rate limits, time-outs, servers and connections in trouble.

    LiteLLM also reports bugs as connection errors, with a traceback in the message; those count as connection errors
    only if one caused them. An exhausted quota comes as a rate limit but no waiting helps.
    """
    known = load_litellm().exceptions
    if isinstance(error, known.RateLimitError):
        return not any(words in str(error).lower() for words in _NO_MONEY)
    if isinstance(error, known.APIConnectionError) and _TRACEBACK in str(error):
        return any(
            isinstance(cause, OSError) or type(cause).__module__.startswith(_TRANSPORT) for cause in _causes(error)
        )
    passing = (
        known.Timeout,
        known.ServiceUnavailableError,
        known.InternalServerError,
        known.BadGatewayError,
        known.APIConnectionError,
    )
    return isinstance(error, (TimeoutError, *passing))


def retry_after(error: BaseException) -> float | None:
    """Return how many seconds the provider asks to wait, or None if it does not say."""
    for headers in (
        getattr(error, "litellm_response_headers", None),
        getattr(getattr(error, "response", None), "headers", None),
    ):
        if not headers:
            continue
        milliseconds = _number(headers.get("retry-after-ms") or headers.get("llm_provider-retry-after-ms"))
        if milliseconds is not None:
            return milliseconds / 1000
        stated = headers.get("retry-after") or headers.get("llm_provider-retry-after")
        seconds = _number(stated)
        if seconds is None and stated:
            seconds = _until(str(stated))
        if seconds is not None:
            return max(0.0, seconds)
    return None


def words_of(error: BaseException) -> str:
    """Return the provider's words on one line, without LiteLLM's traceback; may hold secrets until masked."""
    words = " ".join(str(error).partition(_TRACEBACK)[0].split())
    return words or type(error).__name__


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _until(date: str) -> float | None:
    try:
        return email.utils.parsedate_to_datetime(date).timestamp() - time.time()
    except (TypeError, ValueError):
        return None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
