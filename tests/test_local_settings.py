import pytest

from coupled_arena.errors import ConfigurationError
from coupled_arena.models.local.settings import MEBIBYTE, LocalSettings


def test_the_environment_sets_threads_context_and_memory() -> None:
    environment = {
        "COUPLED_ARENA_THREADS": "2",
        "COUPLED_ARENA_CONTEXT": "1024",
        "COUPLED_ARENA_CACHE_MB": "0",
        "COUPLED_ARENA_MEMORY_MB": " 900 ",
    }
    settings = LocalSettings.from_environment(environment)
    assert settings == LocalSettings(threads=2, context=1024, cache_mb=0, memory_mb=900)
    assert settings.memory_bytes == 900 * MEBIBYTE


def test_an_empty_environment_leaves_the_defaults() -> None:
    assert LocalSettings.from_environment({"COUPLED_ARENA_THREADS": ""}) == LocalSettings()
    assert LocalSettings().memory_bytes > 0


def test_every_bad_value_is_named_at_once() -> None:
    with pytest.raises(ConfigurationError) as caught:
        LocalSettings.from_environment({"COUPLED_ARENA_THREADS": "two", "COUPLED_ARENA_CONTEXT": "-1"})
    assert [problem.key for problem in caught.value.problems] == ["COUPLED_ARENA_THREADS", "COUPLED_ARENA_CONTEXT"]
    with pytest.raises(ConfigurationError) as caught:
        LocalSettings(threads=0, context=1, cache_mb=-1, memory_mb=0)
    assert [problem.key for problem in caught.value.problems] == ["threads", "context", "cache_mb", "memory_mb"]
