"""Secrets: known by their names, their values and their looks."""

import pytest

from coupled_arena.models.masking import masked, names_secret, without_secrets


@pytest.mark.parametrize(
    "name", ["api_key", "API-KEY", "token", "hf_token", "client_secret", "Authorization", "x-api-key", "password"]
)
def test_names_of_secrets(name: str) -> None:
    assert names_secret(name)
    assert without_secrets({"deep": [{name: "hush"}]}) == {"deep": [{name: "***"}]}


@pytest.mark.parametrize(
    "name", ["api_key_env", "max_tokens", "section_tokens", "keyboard", "monkey", "tokenizer", "seed", "keys"]
)
def test_names_that_only_look_like_secrets(name: str) -> None:
    assert not names_secret(name)
    assert without_secrets({name: "open"}) == {name: "open"}


def test_settings_are_copied_and_other_values_kept() -> None:
    settings = {"a": (1, None, True), "token": 5, "url": "https://me:hush@host/v1"}
    assert without_secrets(settings) == {"a": [1, None, True], "token": 5, "url": "https://***@host/v1"}
    assert settings["url"] == "https://me:hush@host/v1"


def test_values_of_key_variables_are_masked_wherever_they_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "abcdefgh")
    monkeypatch.setenv("LONGER_API_KEY", "abcdefgh-longer")
    monkeypatch.setenv("MINE", "private-value")
    monkeypatch.setenv("SHORT_API_KEY", "x")
    assert masked("abcdefgh-longer, (abcdefgh) xx") == "***, (***) xx"
    assert masked("private-value") == "private-value"
    assert masked("private-value", variable="MINE") == "***"
    assert (
        masked("in options: hush-hush", options={"headers": {"Authorization": "Bearer hush-hush"}}) == "in options: ***"
    )


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        ("Authorization: Bearer abc.def-123", "Authorization: Bearer ***"),
        ("Incorrect API key provided: sk-proj-12345678.", "Incorrect API key provided: ***."),
        ("cannot reach https://me:hush@host/v1", "cannot reach https://***@host/v1"),
        ("a task-oriented bearer of news", "a task-oriented bearer of news"),
    ],
)
def test_what_looks_like_a_secret_is_masked(words: str, seen: str) -> None:
    assert masked(words) == seen


def test_secrets_in_options_are_masked_however_deep_they_lie() -> None:
    options = {"headers": [{"x-api-key": "deep-in-a-list"}, {"more": {"token": "deeper-still"}}]}
    assert masked("deep-in-a-list and deeper-still", options=options) == "*** and ***"
