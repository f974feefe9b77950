"""The pytest plugin: the fixture `fake_provider`, in every environment where the project is installed.

It is loaded in every test run there, so nothing is imported before the fixture is asked for.
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from coupled_arena.testing.provider import FakeProvider
    from coupled_arena.testing.script import Script


class StartProvider(Protocol):
    """What the fixture gives to a test."""

    def __call__(self, models: "Mapping[str, Script]", **options: Any) -> "FakeProvider":
        """Start a provider with these models; the options are those of `FakeProvider`."""
        ...


@pytest.fixture
def fake_provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[StartProvider]:
    """What starts fake providers, all of which stop with the test.

    A test calls it with its models, `provider = fake_provider({"ada": "Hello."})`, as often as it likes. Until the test
    ends the environment leads to the provider started last (`FakeProvider.environment`), so that `openai/ada` of
    LiteLLM reaches it by itself.
    """
    from coupled_arena.testing.provider import FakeProvider

    with ExitStack() as running:

        def start(models: "Mapping[str, Script]", **options: Any) -> FakeProvider:
            provider = running.enter_context(FakeProvider(models, **options))
            for name, value in provider.environment.items():
                monkeypatch.setenv(name, value)
            return provider

        yield start
