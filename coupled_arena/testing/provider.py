"""A fake provider: an OpenAI-compatible server on loopback, on a thread and an event loop of its own."""

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from coupled_arena.errors import ConfigurationError, ModelError, Problem
from coupled_arena.models.model import Model
from coupled_arena.testing.faults import Faults
from coupled_arena.testing.ledger import Ledger
from coupled_arena.testing.request import Request
from coupled_arena.testing.script import Actor, Script

if TYPE_CHECKING:
    from coupled_arena.testing.running import Running

LARGEST_BODY = 32 * 1024**2
"""Bytes of the largest request that is read, unless another limit is given."""


class FakeProvider:
    """An OpenAI-compatible provider whose models do what their scripts say.

    It runs on a thread of its own between `start` and `stop`, or inside `with`, also within an event loop's code, and
    only ever listens on loopback. While it runs, the environment variable `key_env` holds its key, so that the models
    of `model` need nothing else. Equal requests get equal answers, whenever and after whatever they come, but for
    scripts that are sequences and for what follows the attempt: faults, and the errors of simulated models.

    Args:
        models: what each model does, by name: a text, a behaviour, a sequence of them (one per request, the last one
            repeats), a function from `Request`, which is called on the provider's thread, or a simulated model's
            string (`sim/ada?skill=1.2`).
        key: the key that requests have to come with.
        contexts: tokens (one for every four characters begun) that a model can read, where it has a limit.
        faults: what disturbs a share of the calls before they reach their script.
        port: port to listen at; 0 takes a free one, which stays the same when the provider is started again.
        keep: most requests to keep in `requests`.
        most_bytes: size of the largest request that is read.
        sleep: waits where a behaviour says so, on the provider's event loop.

    Raises:
        ConfigurationError: a script, a context or the key cannot be used; every problem is listed.

    Example:
        >>> with FakeProvider({"ada": ["Hello.", "Hello again."]}) as provider:
        ...     provider.model("ada", temperature=0.5).name
        'ada'
    """

    def __init__(
        self,
        models: Mapping[str, Script],
        *,
        key: str = "fake-key",
        contexts: Mapping[str, int] | None = None,
        faults: Faults | None = None,
        port: int = 0,
        keep: int = 1000,
        most_bytes: int = LARGEST_BODY,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        ranges = {"port": (port, 0, 65535), "keep": (keep, 0, sys.maxsize), "most_bytes": (most_bytes, 1, sys.maxsize)}
        self._actors = _cast(models, key, contexts or {}, ranges)
        self.key = key
        """The key that requests have to come with."""
        self.port = port
        """The port it listens at; 0 before it was first started, unless one was chosen."""
        self._contexts = dict(contexts or {})
        self._faults = faults
        self._most_bytes = most_bytes
        self._sleep = sleep
        self._ledger = Ledger(keep)
        self._born = time.monotonic()
        self._running: Running | None = None

    def __repr__(self) -> str:
        return f"FakeProvider({', '.join(sorted(self._actors))}; {self.url if self.port else 'not started'})"

    @property
    def url(self) -> str:
        """The base address of its API, `http://127.0.0.1:PORT/v1`.

        Raises:
            ModelError: it has no port before it is started.
        """
        if not self.port:
            raise ModelError("the fake provider has no address before it is started: use it in a `with` statement")
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def key_env(self) -> str:
        """The environment variable that holds the key while the provider runs."""
        return f"FAKE_PROVIDER_{self.port}_API_KEY"

    @property
    def environment(self) -> Mapping[str, str]:
        """What to set so that `openai/NAME` of LiteLLM, and OpenAI's own client, reach this provider by themselves."""
        return {"OPENAI_API_KEY": self.key, "OPENAI_BASE_URL": self.url, "OPENAI_API_BASE": self.url}

    def model(self, name: str, /, **settings: Any) -> Model:
        """Return one of its models for a tournament, named as it is here.

        Args:
            name: name of the model; one that the provider does not serve may be asked for too, and is not found.
            settings: further settings of `Model`, another name too; `api_base=None` and `api_key_env=None` leave the
                address and the key to the environment, so that a stored run does not depend on the port.
        """
        reached = {"api_base": self.url, "api_key_env": self.key_env}
        return Model(settings.pop("name", name), f"openai/{name}", **(reached | settings))

    def play(self, name: str, script: Script) -> None:
        """Give a model another script, from its next request on.

        Raises:
            ConfigurationError: the script cannot be played.
        """
        self._actors[name] = Actor(name, script)

    @property
    def requests(self) -> tuple[Request, ...]:
        """The last requests for completions, at most `keep`, in the order of their arrival; refused ones too."""
        return self._ledger.requests

    @property
    def received(self) -> int:
        """How many requests for completions have come, whether they were kept or not."""
        return self._ledger.received

    @property
    def counts(self) -> Mapping[tuple[str, int], int]:
        """How many answers were given, by model and HTTP status.

        Status 0 stands for no answer at all, and the model is empty where it is none of the provider's.
        """
        return self._ledger.counts

    @property
    def most_in_flight(self) -> int:
        """Most requests for completions that were in flight at once."""
        return self._ledger.most_in_flight

    def clear(self) -> None:
        """Forget the requests, their attempts and every count."""
        self._ledger.clear()

    def start(self) -> Self:
        """Start to listen; a provider that runs is left alone.

        Raises:
            ConfigurationError: the port cannot be listened at.
        """
        if self._running is not None:
            return self
        # The package is imported to be named, too, and aiohttp takes long.
        from coupled_arena.testing.running import Running
        from coupled_arena.testing.server import Server

        server = Server(
            actors=self._actors,
            key=self.key,
            contexts=self._contexts,
            faults=self._faults,
            most_bytes=self._most_bytes,
            sleep=self._sleep,
            clock=lambda: time.monotonic() - self._born,
            ledger=self._ledger,
        )
        self._running = Running(server, self.port)
        self.port = self._running.port
        os.environ[self.key_env] = self.key
        return self

    def stop(self) -> None:
        """Stop listening, end every request in flight at once and wait until that is done.

        Raises:
            ModelError: a script raised while it was played; the first exception is chained.
        """
        running, self._running = self._running, None
        if running is None:
            return
        os.environ.pop(self.key_env, None)
        running.stop()
        fault = running.fault
        if fault is not None:
            raise ModelError(f"a script of the fake provider raised {type(fault).__name__}: {fault}") from fault

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            self.stop()
        except ModelError:
            # What went wrong inside the `with` statement is most often its consequence, and must not be hidden by it.
            if error is None:
                raise


def _cast(
    models: Mapping[str, Script], key: str, contexts: Mapping[str, int], ranges: Mapping[str, tuple[int, int, int]]
) -> dict[str, Actor]:
    """Return the scripts ready to be played.

    Args:
        models: the scripts.
        key: the key.
        contexts: the contexts.
        ranges: other settings with the lowest and the highest value that each may have.

    Raises:
        ConfigurationError: with every problem of all of these.
    """
    actors: dict[str, Actor] = {}
    problems: list[Problem] = []
    for name, script in models.items():
        try:
            actors[name] = Actor(name, script)
        except ConfigurationError as error:
            problems.extend(error.problems)
    if not models:
        problems.append(Problem("FakeProvider", "models", "name at least one model with its script"))
    if not key or not key.isprintable() or not key.isascii() or " " in key:
        problems.append(Problem("FakeProvider", "key", "must be ASCII text without spaces, which a header can carry"))
    for name, context in contexts.items():
        if name not in models:
            problems.append(Problem("FakeProvider", "contexts", f"{name} is none of the models; name one of them"))
        elif context < 1:
            problems.append(Problem("FakeProvider", "contexts", f"{name} must have at least 1 token, not {context}"))
    problems += [
        Problem("FakeProvider", name, f"must be a whole number of at least {low} and at most {high}, not {value!r}")
        for name, (value, low, high) in ranges.items()
        if type(value) is not int or not low <= value <= high
    ]
    if problems:
        raise ConfigurationError(problems)
    return actors
