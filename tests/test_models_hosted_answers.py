"""What stands in an answer: text, hidden reasoning, and sections that only look like it."""

import pytest

from coupled_arena.models.hosted.backend import HostedBackend
from coupled_arena.models.litellm_loader import PYDANTIC_COMPLAINT
from coupled_arena.testing import behaviours
from tests.hosted_scene import Start, call

pytestmark = pytest.mark.filterwarnings(f"ignore:{PYDANTIC_COMPLAINT}:UserWarning")


async def test_reasoning_is_kept_apart_and_an_unclosed_tag_stays_in_the_text(fake_provider: Start) -> None:
    provider = fake_provider(
        {
            "shows": behaviours.reply("so", reasoning="hm"),
            "cut": behaviours.reply("<think>hm, hm, hm", finish_reason="length"),
        }
    )
    backend = HostedBackend()
    shown = await backend.complete(call(provider.model("shows")))
    cut = await backend.complete(call(provider.model("cut")))
    assert (shown.text, shown.reasoning) == ("so", "hm")
    assert (cut.outcome, cut.text, cut.reasoning) == ("truncated", "<think>hm, hm, hm", "")


async def test_thoughts_in_the_text_are_hidden_unless_the_prompt_asked_for_them(fake_provider: Start) -> None:
    provider = fake_provider({"ada": "<think>plan</think>\n<respond>so</respond>"})
    backend = HostedBackend()
    unasked = await backend.complete(call(provider.model("ada")))
    asked = await backend.complete(call(provider.model("ada"), "write <think>…</think> <respond>…</respond>"))
    assert (unasked.text, unasked.reasoning) == ("\n<respond>so</respond>", "plan")
    assert (asked.text, asked.reasoning) == ("<think>plan</think>\n<respond>so</respond>", "")
