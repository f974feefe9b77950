"""What a client may ask for, and which dice that rolls."""

from typing import Any

import pytest

from coupled_arena.errors import ConfigurationError
from coupled_arena.models.calls import Message
from coupled_arena.models.model import Model
from coupled_arena.models.serving.dice import choice_key, dice_of
from coupled_arena.models.serving.wishes import HARMLESS, NEUTRAL, read_wish
from tests.serving_scene import wish


def problems(body: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(ConfigurationError) as caught:
        read_wish(body)
    return {problem.key: problem.message for problem in caught.value.problems}


def test_a_request_is_read_as_the_protocol_means_it() -> None:
    body = wish(temperature=0.5, top_p=0.9, top_k=4, min_p=0.1, stop=["x", "y"], n=2, logprobs=True, top_logprobs=3)
    asked = read_wish(body | {"max_completion_tokens": 7, "stream": True, "stream_options": {"include_usage": True}})
    first, second = asked.calls(Model("local/tiny"))
    assert first.messages == (Message("user", "abcab"),)
    assert (first.sampling.temperature, first.sampling.top_p, first.sampling.top_k, first.sampling.min_p) == (
        (0.5, 0.9, 4, 0.1)
    )
    assert (first.max_tokens, first.stop, first.logprobs) == (7, ("x", "y"), 3)
    assert (asked.stream, asked.tells_usage) == (True, True)
    assert first.noise != second.noise


def test_a_last_message_of_the_assistants_begins_the_reply() -> None:
    said = [{"role": "developer", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
    asked = read_wish(wish(messages=[*said, {"role": "assistant", "content": "Because "}]))
    assert asked.messages == (Message("system", "Be brief."), Message("user", "Why?"))
    assert asked.prefix == "Because "


def test_parts_of_text_are_one_text() -> None:
    parts = [{"type": "text", "text": "Why"}, {"type": "text", "text": "?"}]
    assert read_wish(wish(messages=[{"role": "user", "content": parts}])).messages == (Message("user", "Why?"),)


@pytest.mark.parametrize("field", sorted(HARMLESS))
def test_what_changes_no_reply_is_accepted(field: str) -> None:
    assert read_wish(wish(seed=7) | {field: "anything"}) == read_wish(wish(seed=7))


@pytest.mark.parametrize("field", sorted(NEUTRAL))
def test_what_cannot_be_done_is_refused_unless_it_asks_for_nothing(field: str) -> None:
    for nothing in (None, *NEUTRAL[field]):
        assert read_wish(wish(seed=7) | {field: nothing}) == read_wish(wish(seed=7))
    assert set(problems(wish() | {field: {"a": 1.5}})) == {field}


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"messages": []}, "model"),
        (wish(messages=[]), "messages"),
        (wish(messages="Why?"), "messages"),
        (wish(messages=[{"role": "tool", "content": "x"}]), "messages.0.role"),
        (wish(messages=[{"role": "user", "content": 3}]), "messages.0.content"),
        (wish(messages=[{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]), "messages.0.content"),
        (wish(messages=[{"role": "assistant", "content": "x"}]), "messages"),
        (wish(messages=[{"role": "user", "content": "x", "tool_calls": [{"id": "1"}]}]), "messages.0.tool_calls"),
        (wish(temperature=-1), "temperature"),
        (wish(temperature="hot"), "temperature"),
        (wish(temperature=float("nan")), "temperature"),
        (wish(top_p=0), "top_p"),
        (wish(top_k=0), "top_k"),
        (wish(max_tokens=0), "max_tokens"),
        (wish(max_tokens=True), "max_tokens"),
        (wish(seed=1.5), "seed"),
        (wish(noise=""), "noise"),
        (wish(n=0), "n"),
        (wish(n=129), "n"),
        (wish(stop=3), "stop"),
        (wish() | {"\ud800": 1}, "body"),
        (wish(messages=[{"role": "user", "content": "x", "\ud800": 1}]), "messages.0"),
        (wish(stream="yes"), "stream"),
        (wish(top_logprobs=2), "top_logprobs"),
        (wish(logprobs=True, top_logprobs=21), "top_logprobs"),
        (wish(choices=[]), "choices"),
        (wish(choices=["a", "a"]), "choices"),
        (wish(choices=["a"], stop="x"), "stop"),
        (wish(choices=["a"], top_p=0.5), "top_p"),
        (wish(choices=["a"], logprobs=True), "logprobs"),
        (wish(guided_regex="a+"), "guided_regex"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bad_field_is_named(body: dict[str, Any], field: str) -> None:
    assert field in problems(body)


def test_of_two_forms_that_a_field_may_have_the_one_that_was_meant_says_what_is_wrong() -> None:
    assert "at most 64 items" in problems(wish(stop=["x"] * 65))["stop"]
    image = [{"type": "image_url", "image_url": {"url": "x"}}]
    found = problems(wish(messages=[{"role": "user", "content": image}]))
    assert found["messages.0.content"].startswith("can hold parts of type 'text' only")


def test_all_problems_are_told_together() -> None:
    assert set(problems(wish(temperature=-1, tools=[{}], n="two"))) == {"temperature", "tools", "n"}


def test_equal_seeds_and_messages_share_dice_whatever_the_model_and_the_settings() -> None:
    one = read_wish(wish(seed=7, temperature=0.3))
    other = read_wish(wish(seed=7, model="local/other", max_tokens=3, top_k=5))
    assert one.noise == other.noise
    assert len({one.noise, read_wish(wish(seed=8)).noise, read_wish(wish("abc", seed=7)).noise}) == 3


def test_messages_are_told_apart_by_where_they_end_and_who_says_them() -> None:
    chats = [
        [Message("user", "ab"), Message("user", "c")],
        [Message("user", "a"), Message("user", "bc")],
        [Message("system", "ab"), Message("user", "c")],
    ]
    assert len({dice_of(None, 7, chat) for chat in chats}) == 3


def test_no_seed_means_other_dice_every_time() -> None:
    assert read_wish(wish()).noise != read_wish(wish()).noise


def test_a_key_is_taken_as_it_is_and_any_other_text_names_one() -> None:
    key = "0123456789abcdefABCDEF0123456789"
    assert dice_of(key, 7, ()) == bytes.fromhex(key)
    named = {dice_of("a", None, ()), dice_of("b", None, ()), dice_of("a", 7, ()), dice_of(key + "0", 7, ())}
    assert len(named) == 4
    assert dice_of("a", None, [Message("user", "x")]) == dice_of("a", None, [Message("user", "y")])


def test_the_first_choice_has_the_key_that_is_told_and_others_have_their_own() -> None:
    assert choice_key(bytes(16), 0) == bytes(16)
    assert len({choice_key(bytes(16), index) for index in range(20)}) == 20
