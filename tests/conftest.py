"""What holds for every test: no network but loopback, no keys, no weights but those that are there."""

import os
import re
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.guard import sitecustomize as guard

_SECRET = re.compile(r".*_(API_KEY|TOKEN|ACCESS_KEY|ACCESS_KEY_ID|SECRET|SECRET_KEY|CREDENTIALS)", re.IGNORECASE)

settings.register_profile("default", deadline=None, max_examples=60)
settings.register_profile("ci", deadline=None, max_examples=60, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


class NetworkGuard:
    """Fails a test that reached for another machine, whatever became of the refusal."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Generator[None, object, object]:
        return (yield from _watched())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None, object, object]:
        return (yield from _watched())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self) -> Generator[None, object, object]:
        return (yield from _watched())


def _watched() -> Generator[None, object, object]:
    try:
        result = yield
    finally:
        attempts = guard.drain()
    if attempts:
        pytest.fail("reached for another machine: " + "; ".join(attempts), pytrace=False)
    return result


def pytest_configure(config: pytest.Config) -> None:
    """Prepare the environment of the tests and of the programs they start."""
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        # The workers it hands the tests to prepare their own, and would have two guards with this one's.
        return
    for name in [name for name in os.environ if _SECRET.fullmatch(name)]:
        del os.environ[name]
    # LiteLLM otherwise fetches its price table when it is imported.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ.setdefault("COUPLED_ARENA_THREADS", "1")
    folders = [str(Path(__file__).parent / "guard"), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, folders))
    folder = tempfile.TemporaryDirectory()
    config.add_cleanup(folder.cleanup)
    os.environ[guard.LOG] = str(Path(folder.name, "refused"))
    sys.addaudithook(guard.refuse)
    config.pluginmanager.register(NetworkGuard(), "network-guard")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test of real local models where their weights, or the engine, are not to be had."""
    if item.get_closest_marker("weights") is None:
        return
    pytest.importorskip("xllamacpp", reason="needs the extra `local`", exc_type=ImportError)
    from coupled_arena.errors import ModelUnavailable
    from coupled_arena.models.local.cache import ModelCache

    try:
        ModelCache().resolve("smollm2-135m")
    except ModelUnavailable as error:
        pytest.skip(str(error))
