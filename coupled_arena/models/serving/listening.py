"""An address that is listened at, from its making to the end of what is answered there."""

import asyncio
import errno
import signal
import socket
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

import uvicorn
from starlette.types import ASGIApp

from coupled_arena.errors import UNSHOWN, ConfigurationError, Problem
from coupled_arena.models.serving.connection import connections
from coupled_arena.models.serving.guard import is_loopback
from coupled_arena.models.serving.settings import ServerSettings

HOST = "127.0.0.1"
"""Where a server listens unless it is told otherwise."""

BACKLOG = 2048
"""Connections that may wait to be accepted."""

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""What ends a server politely; a second one ends it at once."""


class _Uvicorn(uvicorn.Server):
    """Uvicorn without signal handlers: who runs the loop decides what a signal means."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class Listener(ABC):
    """A server, which listens from its making and answers while `run` runs.

    As a context manager it runs on a thread of its own, and stops with the block.

    Args:
        command: what problems name as their place.
        host: address to listen at; any but loopback needs a token.
        port: port to listen at; 0 takes a free one.
        token: what clients must show; empty for nothing.
        settings: what clients are allowed.

    Raises:
        ConfigurationError: the address cannot be listened at, or needs a token.
    """

    def __init__(
        self, command: str, *, host: str, port: int, token: str, settings: ServerSettings | None = None
    ) -> None:
        settings = settings or ServerSettings()
        if problems := [Problem(command, key, words) for key, words in _unguarded(host, token)]:
            raise ConfigurationError(problems)
        self._listener = _listen(command, host, port)
        self.port: int = self._listener.getsockname()[1]
        """The port listened at."""
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{self.port}"
        """The address without a path."""
        config = uvicorn.Config(
            self.application(token),
            http=connections(settings.read_seconds),
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=settings.grace_seconds,
        )
        self._uvicorn = _Uvicorn(config)
        self._thread: threading.Thread | None = None

    @abstractmethod
    def application(self, token: str) -> ASGIApp:
        """Return what answers; it keeps out who does not show the token, or with an empty one, other machines."""

    @property
    def stopping(self) -> bool:
        """Whether it has been told to stop."""
        return self._uvicorn.should_exit

    async def run(self) -> None:
        """Answer requests until `stop`; what is in work then has the time of grace to end."""
        try:
            await self._uvicorn.serve(sockets=[self._listener])
        finally:
            await self.aclose()

    async def run_until_signal(self) -> None:
        """Answer requests until `SIGINT` or `SIGTERM`; to be called in the main thread."""
        loop = asyncio.get_running_loop()
        for number in SIGNALS:
            loop.add_signal_handler(number, self.stop)
        try:
            await self.run()
        finally:
            for number in SIGNALS:
                loop.remove_signal_handler(number)

    def stop(self) -> None:
        """Have the server end; asked twice, it waits for no reply."""
        self._uvicorn.force_exit = self._uvicorn.should_exit
        self._uvicorn.should_exit = True

    @abstractmethod
    async def aclose(self) -> None:
        """Let go of what answers; called when nothing more will be asked."""

    def __enter__(self) -> Self:
        # A server that nobody stops does not keep the program from ending.
        self._thread = threading.Thread(target=lambda: asyncio.run(self.run()), name="serve", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._uvicorn.should_exit:
            self.stop()
        if self._thread is not None:
            self._thread.join()


def _unguarded(host: str, token: str) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with addresses that need a token, and with tokens that no client could show."""
    if not host:
        yield "host", "is empty: give an address, 0.0.0.0 for all of this machine's"
    elif not token and not is_loopback(host):
        yield "token", f"must be given: {host} can be reached by others than this machine"
    if UNSHOWN.search(token) or token != token.strip():
        yield "token", "must be a text without line breaks, control characters and spaces around it"


def _listen(command: str, host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError, UnicodeError) as error:
        number = error.errno if isinstance(error, OSError) else None
        # A name that cannot be looked up has a number of its own, below 0.
        if isinstance(error, UnicodeError) or (number is not None and (number < 0 or number == errno.EADDRNOTAVAIL)):
            words = f"{host} is no address of this machine ({error}): give one that is"
            raise ConfigurationError([Problem(command, "host", words)]) from None
        why = "is taken by another program" if number == errno.EADDRINUSE else f"cannot be listened at ({error})"
        words = f"{host}:{port} {why}: choose another one, or 0 for any that is free"
        raise ConfigurationError([Problem(command, "port", words)]) from None
