"""A server from listening to its end."""

import asyncio
import errno
import signal
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from coupled_arena.errors import UNSHOWN, ConfigurationError, Problem
from coupled_arena.models.calls import Backend
from coupled_arena.models.model import Kind, Model
from coupled_arena.models.serving.completions import Completions
from coupled_arena.models.serving.connection import connections
from coupled_arena.models.serving.guard import OPEN, Guard, is_loopback
from coupled_arena.models.serving.hall import Hall, Served
from coupled_arena.models.serving.refusals import Refusal, answered
from coupled_arena.models.serving.settings import ServerSettings

HOST, PORT = "127.0.0.1", 8000
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


class Server:
    """An OpenAI-compatible server, which listens from its making and answers while `run` runs.

    As a context manager it runs on a thread of its own, and stops with the block.

    Args:
        models: what is served: `local/...` and `sim/...`.
        host: address to listen at; any but loopback needs a token.
        port: port to listen at; 0 takes a free one.
        token: bearer token that requests must show; empty for none.
        backends: ways of reaching models instead of the built-in ones.
        settings: what clients are allowed.

    Raises:
        ConfigurationError: a model cannot be served, or the address cannot be listened at.

    Example:
        >>> import json, urllib.request
        >>> with Server([Model("sim/ada")], port=0) as server:
        ...     with urllib.request.urlopen(f"{server.url}/v1/models") as response:
        ...         print([model["id"] for model in json.load(response)["data"]])
        ['sim/ada']
    """

    def __init__(
        self,
        models: Sequence[Model],
        *,
        host: str = HOST,
        port: int = PORT,
        token: str = "",
        backends: Mapping[Kind, Backend] | None = None,
        settings: ServerSettings | None = None,
    ) -> None:
        if problems := list(_guarded(host, token)):
            raise ConfigurationError(problems)
        settings = settings or ServerSettings()
        self._hall = Hall(models, backends)
        self.served = self._hall.served
        """The models by id."""
        self._completions = Completions(self.served, settings)
        self._began = int(time.time())
        self._listener = _listen(host, port)
        self.port: int = self._listener.getsockname()[1]
        """The port listened at."""
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{self.port}"
        """The address without a path; clients want `/v1` after it."""
        config = uvicorn.Config(
            Guard(self._routes(), token),
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

    @property
    def in_work(self) -> int:
        """Requests for completions that are being answered."""
        return self._completions.in_work

    async def run(self) -> None:
        """Answer requests until `stop`; replies in work then have the time of grace to end."""
        try:
            await self._uvicorn.serve(sockets=[self._listener])
        finally:
            await self._hall.aclose()

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

    def _routes(self) -> Starlette:
        routes = [
            Route("/v1/chat/completions", self._completions, methods=["POST"]),
            Route("/v1/models", self._list, methods=["GET"]),
            Route("/v1/models/{id:path}", self._one, methods=["GET"]),
            Route(OPEN, self._health, methods=["GET"]),
        ]
        app = Starlette(routes=routes, exception_handlers={HTTPException: _unknown, Exception: _broken})
        app.router.redirect_slashes = False
        return app

    async def _list(self, request: Request) -> Response:
        return answered({"object": "list", "data": [self._shown(served) for served in self.served.values()]})

    async def _one(self, request: Request) -> Response:
        name = request.path_params["id"]
        served = self.served.get(name)
        if served is None:
            return Refusal(404, f"there is no model {name!r} here", "model_not_found", "model").response
        return answered(self._shown(served))

    async def _health(self, request: Request) -> Response:
        return answered({"status": "ok", "in_work": self.in_work})

    def _shown(self, served: Served) -> dict[str, Any]:
        owned = {"created": self._began, "owned_by": "coupled-arena", "system_fingerprint": served.fingerprint}
        return {"id": served.id, "object": "model", **owned}


async def _unknown(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    words = f"there is no {request.method} {request.url.path} here; POST /v1/chat/completions and GET /v1/models are"
    response = Refusal(status, words, "unknown_url").response
    response.headers.update((isinstance(error, HTTPException) and error.headers) or {})
    return response


async def _broken(request: Request, error: Exception) -> Response:
    words = "the server failed; what happened is in its output on standard error"
    return Refusal(500, words, "internal_error").response


def _guarded(host: str, token: str) -> Iterator[Problem]:
    """Addresses that need a token, and tokens that no client could show."""
    if not host:
        yield Problem("serve", "host", "is empty: give an address, 0.0.0.0 for all of this machine's")
    elif not token and not is_loopback(host):
        yield Problem("serve", "token", f"must be given: {host} can be reached by others than this machine")
    if UNSHOWN.search(token) or token != token.strip():
        yield Problem("serve", "token", "must be a text without line breaks, control characters and spaces around it")


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, OverflowError, UnicodeError) as error:
        number = error.errno if isinstance(error, OSError) else None
        # A name that cannot be looked up has a number of its own, below 0.
        if isinstance(error, UnicodeError) or (number is not None and (number < 0 or number == errno.EADDRNOTAVAIL)):
            words = f"{host} is no address of this machine ({error}): give one that is"
            raise ConfigurationError([Problem("serve", "host", words)]) from None
        why = "is taken by another program" if number == errno.EADDRINUSE else f"cannot be listened at ({error})"
        words = f"{host}:{port} {why}: choose another one, or 0 for any that is free"
        raise ConfigurationError([Problem("serve", "port", words)]) from None
