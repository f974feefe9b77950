"""What a provider says when it answers with an error: its words, its code, whom it blames, how long to wait."""

import email.utils
import json
import math
import re
import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

TRACEBACK = "Traceback (most recent call last)"
"""Where the words of LiteLLM end and those of Python begin."""

UNREADABLE = "the answer cannot be read"
"""How the words begin of a fault that is an answer, but none in the form of a chat completion."""

DETAIL_LENGTH = 500
"""Most characters of a provider's words that are kept."""

READ_LENGTH = 8_000
"""Most characters of a provider's words that are read: a page without end must not hold up all other calls."""

# LiteLLM puts names of classes before the words, up to three of them: its own, the mapped one, the provider's.
_CLASSES = re.compile(
    r"(?:litellm\.)?(?:\w*(?:Error|Exception)|Timeout)(?: \w*(?:Error|Exception))?(?::| -)\s+(?:Error_str:\s+)?"
)
_TRANSPORT = ("httpx", "httpcore", "aiohttp")
_HTML = re.compile(r"<(?:!doctype|html|head|body)\b", re.IGNORECASE)
_UNSEEN = re.compile(r"<(script|style|title)\b.*?</\1\s*>|<[^>]*>", re.IGNORECASE | re.DOTALL)
_WAIT = re.compile(
    r"\b(?:retry|again) (?:in|after) (?:(?P<minutes>\d{1,9})m)?(?P<amount>\d{1,9}(?:\.\d+)?)\s?(?P<unit>ms|s)|"
    r"retryDelay\W{1,5}(?P<delay>\d{1,9}(?:\.\d+)?)s",
    re.IGNORECASE,
)


# What LiteLLM and OpenAI's client say of an answer that they cannot read; none of it is the provider's.
_UNREAD = re.compile(
    r"\(char \d+\)|Unable to get json response|Empty or invalid response from LLM endpoint|Invalid response object|"
    "returned a response with no 'choices'|returned 'choices' that is not a list|^Error in response object$"
)
_RECEIVED = re.compile(r"Received: (.*)\. Check the reverse proxy or model server configuration\.$")
_UNCONNECTED = "Connection error."
_STATUS_ONLY = re.compile(r"^Error code: (\d+)$")


class Said(NamedTuple):
    """An error in the provider's own terms."""

    words: str
    """Its words on one line, never empty; may hold secrets until masked."""
    code: str = ""
    """Its code or class, such as `insufficient_quota`; both, with a space between them, where it gives both."""
    parameter: str = ""
    """The parameter it blames."""


def said_by(error: BaseException) -> Said:
    """Return what the provider said, once and without the names of LiteLLM's classes and its traceback."""
    text = " ".join(read_of(error).partition(TRACEBACK)[0].split())
    while found := _CLASSES.match(text):
        text = text[found.end() :]
    body = _error_in(getattr(error, "body", None)) or _error_in(_json_in(text))
    words = _words_in(body) or _readable(text) or type(error).__name__
    if not body and _UNREAD.search(text):
        received = _RECEIVED.search(text)
        words = f"{UNREADABLE}: {_readable(received[1]) if received else words}"
    elif found := _STATUS_ONLY.match(words):
        words = f"status {found[1]} without a word"
    elif words == _UNCONNECTED:
        words = " ".join([words.removesuffix(".") + ":", *_of_connection(error)]).removesuffix(":")
    codes = (body.get("code"), body.get("type"), body.get("status"))
    code = " ".join(dict.fromkeys(str(part) for part in codes if isinstance(part, (str, int))))
    parameter = body.get("param")
    return Said(words, code, parameter if isinstance(parameter, str) else "")


def retry_after(error: BaseException) -> float | None:
    """Return how many seconds the provider asks to wait, or None if it does not say.

    Read from the headers `retry-after-ms` and `Retry-After` (seconds or a date), else from the words ("try again in
    6.5s", Google's `retryDelay`).
    """
    for headers in _headers_of(error):
        milliseconds = _number(headers.get("retry-after-ms") or headers.get("llm_provider-retry-after-ms"))
        if milliseconds is not None:
            return max(0.0, milliseconds / 1000)
        stated = headers.get("retry-after") or headers.get("llm_provider-retry-after")
        seconds = _number(stated)
        if seconds is None and stated:
            seconds = _until(str(stated))
        if seconds is not None:
            return max(0.0, seconds)
    found = _WAIT.search(read_of(error))
    if found is None:
        return None
    if found["delay"]:
        return float(found["delay"])
    amount = float(found["amount"]) / (1000 if found["unit"].lower() == "ms" else 1)
    return 60.0 * int(found["minutes"] or 0) + amount


def read_of(error: BaseException) -> str:
    """Return what an error says, as far as it is read."""
    return str(error)[:READ_LENGTH]


def status_of(error: BaseException) -> int | None:
    """Return the HTTP status that an error came with, None where there was none.

    LiteLLM's class may stand for another one: it takes words like "rate limit" for a 429. So the exceptions behind an
    error are asked too, the deepest first.
    """
    found = [
        status
        for cause in causes_of(error)
        for status in (getattr(cause, "status_code", None), getattr(cause, "provider_status_code", None))
        if isinstance(status, int)
    ]
    return found[-1] if found else None


def is_of_transport(error: BaseException) -> bool:
    """Return whether an exception comes from the connection: the operating system or an HTTP client."""
    return isinstance(error, OSError) or type(error).__module__.startswith(_TRANSPORT)


def causes_of(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and those that led to it."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _of_connection(error: BaseException) -> list[str]:
    """Return what the deepest exception of a connection says, if anything."""
    said = [" ".join(str(cause).split()) for cause in causes_of(error) if is_of_transport(cause)]
    return [words for words in said if words][-1:]


def _headers_of(error: BaseException) -> Iterator[Mapping[str, Any]]:
    for headers in (
        getattr(error, "litellm_response_headers", None),
        getattr(getattr(error, "response", None), "headers", None),
    ):
        if headers:
            yield headers


def _json_in(text: str) -> Any:
    """Return the JSON object or list that a text holds, None if there is none."""
    starts = [place for place in (text.find("{"), text.find("[{")) if place >= 0]
    if not starts:
        return None
    try:
        return json.JSONDecoder().raw_decode(text, min(starts))[0]
    except (ValueError, RecursionError):
        return None


def _error_in(body: Any) -> Mapping[str, Any]:
    """Return the error object of a body: the body itself, what stands under `error`, or the first of a list."""
    for _ in range(3):
        if isinstance(body, list) and body:
            body = body[0]
        elif isinstance(body, Mapping) and isinstance(body.get("error"), (Mapping, str)):
            body = body["error"] if isinstance(body["error"], Mapping) else {"message": body["error"]}
    return body if isinstance(body, Mapping) else {}


def _words_in(body: Mapping[str, Any]) -> str:
    for name in ("message", "detail", "msg", "title"):
        words = body.get(name)
        if isinstance(words, str) and words.strip():
            return _readable(words)
        if isinstance(words, (Mapping, list)) and words:
            return json.dumps(words, ensure_ascii=False)
    return ""


def _readable(text: str) -> str:
    text = " ".join(text[:READ_LENGTH].split())
    if _HTML.search(text):
        seen = " ".join(_UNSEEN.sub(" ", text).split())
        return f"a web page instead of an answer: {seen}" if seen else "a web page instead of an answer"
    return text


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _until(date: str) -> float | None:
    try:
        return email.utils.parsedate_to_datetime(date).timestamp() - time.time()
    except (TypeError, ValueError, OverflowError, OSError):
        return None
