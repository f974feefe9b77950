"""What a provider says with an error: its words once, and how long to wait."""

import pytest

from coupled_arena.models.hosted.said import retry_after, said_by
from coupled_arena.models.litellm_loader import PYDANTIC_COMPLAINT

pytestmark = pytest.mark.filterwarnings(f"ignore:{PYDANTIC_COMPLAINT}:UserWarning")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("litellm.AuthenticationError: AuthenticationError: OpenAIException - Wrong key.", "Wrong key."),
        ("litellm.Timeout: APITimeoutError - Request timed out. Error_str: gone", "Request timed out. Error_str: gone"),
        ("litellm.ContextWindowExceededError: litellm.BadRequestError: XError: YException - too long", "too long"),
        ('litellm.BadRequestError: AnthropicException - {"type":"error","error":{"message":"no"}}', "no"),
        ('AnthropicError - {"error": {"type": "x", "message": "line\\nline"}}', "line line"),
        (
            "litellm.APIError: GeminiException - <html><title>x</title><p>Not here</p></html>",
            "a web page instead of an answer: Not here",
        ),
        ("Traceback (most recent call last): secret", "Exception"),
        ("", "Exception"),
    ],
)
def test_the_providers_words_are_said_once(text: str, words: str) -> None:
    assert said_by(Exception(text)).words == words


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        ("Rate limit reached. Please try again in 6.5s.", 6.5),
        ("Please try again in 20ms.", 0.02),
        ("Please try again in 1m2.5s.", 62.5),
        ("Please retry in 12.25s.", 12.25),
        ('{"retryDelay": "31s"}', 31.0),
        ("Please retry after 40 seconds.", 40.0),
        ("Try again later.", None),
    ],
)
def test_a_wait_is_read_from_the_words_where_no_header_states_it(words: str, seconds: float | None) -> None:
    assert retry_after(Exception(words)) == seconds


@pytest.mark.parametrize(
    ("headers", "low", "high"),
    [
        ({"retry-after": "7"}, 7, 7),
        ({"retry-after": "-3"}, 0, 0),
        ({"retry-after-ms": "1500"}, 1.5, 1.5),
        ({"retry-after": "Fri, 01 Jan 2100 00:00:00 GMT"}, 1e9, 1e10),
        ({"retry-after": "Fri, 01 Jan 1999 00:00:00 GMT"}, 0, 0),
    ],
)
def test_retry_after_is_read_in_every_form(headers: dict[str, str], low: float, high: float) -> None:
    error = Exception()
    error.litellm_response_headers = headers  # type: ignore[attr-defined]
    asked = retry_after(error)
    assert asked is not None
    assert low <= asked <= high


@pytest.mark.parametrize("headers", [{}, {"retry-after": "soon"}, None])
def test_a_provider_that_says_nothing_of_waiting_leaves_it_to_us(headers: dict[str, str] | None) -> None:
    error = Exception()
    error.litellm_response_headers = headers  # type: ignore[attr-defined]
    assert retry_after(error) is None
