"""The pytest plugin as a user of the installed package has it: found by itself, light, and clean behind itself."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from coupled_arena.testing.plugin import StartProvider
from tests.testing_scene import ask

pytest_plugins = ["pytester"]

HEAVY = ("aiohttp", "asyncio", "litellm", "numpy", "pandas", "pydantic", "sqlalchemy")
GUIDE = Path(__file__).parent.parent / "docs" / "testing.md"


async def test_the_fixture_starts_providers_with_any_options(fake_provider: StartProvider) -> None:
    one = fake_provider({"ada": "hello"}, key="sk-first-key")
    two = fake_provider({"ada": "hello again"}, keep=0)
    assert (await ask(one)).content == "hello"
    assert (await ask(two)).content == "hello again"
    assert (len(one.requests), len(two.requests)) == (1, 0)


def test_the_environment_leads_to_the_provider_and_is_restored(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    pytester.makepyfile(
        """
        import os, socket, threading

        def test_inside(fake_provider):
            provider = fake_provider({"ada": "hello"}, key="sk-some-key")
            assert os.environ["OPENAI_BASE_URL"] == os.environ["OPENAI_API_BASE"] == provider.url
            assert os.environ["OPENAI_API_KEY"] == "sk-some-key"

        def test_after():
            assert os.environ["OPENAI_BASE_URL"] == "http://127.0.0.1:9/v1"
            assert "OPENAI_API_KEY" not in os.environ
            assert "fake provider" not in [thread.name for thread in threading.enumerate()]
        """
    )
    pytester.runpytest_subprocess("-p", "no:asyncio", "-W", "error").assert_outcomes(passed=2)


def test_a_script_that_raises_fails_the_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import urllib.error, urllib.request

        def test_inside(fake_provider):
            provider = fake_provider({"ada": lambda request: 1 / 0})
            content = b'{"model": "ada", "messages": [{"role": "user", "content": "hi"}]}'
            headers = {"Authorization": f"Bearer {provider.key}"}
            try:
                urllib.request.urlopen(urllib.request.Request(f"{provider.url}/chat/completions", content, headers))
            except urllib.error.HTTPError as error:
                assert error.code == 500
        """
    )
    done = pytester.runpytest_subprocess()
    done.assert_outcomes(passed=1, errors=1)
    done.stdout.fnmatch_lines(["*ModelError: a script of the fake provider raised ZeroDivisionError*"])


def test_the_example_of_the_guide_passes(pytester: pytest.Pytester) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    tests = [block for block in blocks if "\ndef test_" in block]
    assert tests
    for number, block in enumerate(tests):
        pytester.makepyfile(**{f"test_{number}": block})
    done = pytester.runpytest_subprocess()
    done.assert_outcomes(passed=sum(block.count("def test_") for block in tests))


def test_the_plugin_is_there_without_being_named_and_once(request: pytest.FixtureRequest) -> None:
    from coupled_arena.testing import plugin

    named = [name for name, found in request.config.pluginmanager.list_name_plugin() if found is plugin]
    assert named == ["coupled_arena"], "refresh the metadata of the package with `make setup`"


def test_loading_the_plugin_imports_nothing_heavy() -> None:
    script = (
        "import sys, pytest; before = set(sys.modules)\n"
        "import coupled_arena.testing.plugin\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert {name.partition(".")[0] for name in loaded} <= {"coupled_arena", "logging"}
    assert not set(HEAVY) & set(loaded)
    assert "coupled_arena.testing.provider" not in loaded
