"""What no provider should send: each ends as an outcome, within moments, and never buys a run more than its budget."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.models.calls import Reply
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.hosted.said import READ_LENGTH, retry_after, said_by
from coupled_arena.models.litellm_loader import ODD_ANSWER
from coupled_arena.testing import FakeProvider, behaviours
from tests.hosted_scene import Waits, call

pytestmark = pytest.mark.filterwarnings(f"ignore:{ODD_ANSWER}:UserWarning")

Start = Callable[..., FakeProvider]
PRICE = {"prompt": 1, "completion": 1}
USAGE = {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6}


def completion(usage: Any = None, **message: Any) -> behaviours.Behaviour:
    """Return a completion with any usage and any fields of the message."""
    said = {"role": "assistant", "content": "hi", **message}
    choice = {"index": 0, "finish_reason": "stop", "message": said}
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    return behaviours.body(json.dumps(body))


async def answer(fake_provider: Start, script: behaviours.Behaviour) -> Reply:
    provider = fake_provider({"m": script})
    async with Gateway(backends={"hosted": Waits().backend()}) as asked:
        return await asked.reply(call(provider.model("m", price=PRICE)))


@pytest.mark.parametrize("count", [-5, 10**30, 2**63, float("nan"), float("inf"), "many", None, [1], 1.5])
async def test_a_count_of_tokens_that_cannot_be_is_not_counted(fake_provider: Start, count: Any) -> None:
    usage = {"prompt_tokens": count, "completion_tokens": count, "total_tokens": count}
    reply = await answer(fake_provider, completion(usage))
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (0, 0)
    assert reply.cost is None or (reply.outcome, reply.cost) == ("failed", 0)


@pytest.mark.parametrize("words", [{"why": "no"}, ["no"]])
async def test_a_refusal_that_is_no_text_is_a_refusal(fake_provider: Start, words: Any) -> None:
    reply = await answer(fake_provider, completion(USAGE, refusal=words))
    assert (reply.outcome, reply.detail) == ("refused", json.dumps(words))


@pytest.mark.parametrize("wait", ["9" * 400 + "m1s", "9" * 5000 + "m1s", "9" * 400 + "s", "1m" + "9" * 5000 + "ms"])
async def test_a_wait_without_end_in_a_providers_words_is_none(fake_provider: Start, wait: str) -> None:
    script = [behaviours.error(429, f"try again in {wait}"), "hi"]
    reply = await answer(fake_provider, script)  # type: ignore[arg-type]
    assert (reply.outcome, reply.retries) == ("ok", 1)


@given(words=st.text(), header=st.text())
@pytest.mark.parametrize("frame", ["{}", "try again in {}s", "retryDelay: {}s", '{{"error": {}}}', "<html>{}"])
def test_nothing_that_an_error_says_raises(frame: str, words: str, header: str) -> None:
    error = Exception(frame.format(words))
    error.litellm_response_headers = {"retry-after": header}  # type: ignore[attr-defined]
    stated = retry_after(error)
    assert stated is None or stated >= 0
    assert said_by(error).words


@pytest.mark.parametrize("date", ["Fri, 31 Dec 9999 23:59:59 -2359", "Mon, 01 Jan 0001 00:00:00 +2359", "0"])
def test_a_date_at_the_end_of_time_is_read_or_left(date: str) -> None:
    error = Exception("slow down")
    error.litellm_response_headers = {"retry-after": date}  # type: ignore[attr-defined]
    stated = retry_after(error)
    assert stated is None or stated >= 0


@pytest.mark.parametrize("piece", ["<script ", "<", "Received: ", "x", "retry in 1", "Error: ", "{", "://"])
def test_a_page_without_end_is_read_in_moments(piece: str) -> None:
    page = "<html>" + piece * 200_000
    began = time.process_time()
    assert len(said_by(Exception(page)).words) <= 2 * READ_LENGTH
    retry_after(Exception(page))
    assert time.process_time() - began < 5
