"""A server of pages for people."""

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from coupled_arena.errors import ArenaError, ConfigurationError, RunNotFound
from coupled_arena.models.serving.listening import Listener
from coupled_arena.models.serving.settings import ServerSettings
from coupled_arena.reports.web.answers import as_problem
from coupled_arena.reports.web.entry import entrance

GRACE_SECONDS = 2
"""How long answers in work may take when a server is told to stop: a page can be opened again."""


class PageServer(Listener):
    """Serves pages at an address; what these are, a subclass says.

    Args:
        command: what problems name as their place.
        routes: the addresses.
        host: address to listen at; any but loopback needs a token.
        port: port to listen at; 0 takes a free one.
        token: what browsers must show; empty for none.

    Raises:
        ConfigurationError: the address cannot be listened at, or needs a token.
    """

    def __init__(self, command: str, routes: Sequence[Route], *, host: str, port: int, token: str) -> None:
        self._routes = routes
        settings = ServerSettings(grace_seconds=GRACE_SECONDS)
        super().__init__(command, host=host, port=port, token=token, settings=settings)

    def application(self, token: str) -> ASGIApp:
        """Return what answers browsers that have shown the token."""
        handlers = {HTTPException: _unknown, ArenaError: _refused, Exception: _broken}
        app = Starlette(routes=list(self._routes), exception_handlers=handlers)
        app.router.redirect_slashes = False
        return entrance(app, token, self.port)

    async def aclose(self) -> None:
        """Let go of what answers."""


async def _unknown(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    return as_problem(f"there is no {request.method} {request.url.path} here; start again at /", status)


async def _refused(request: Request, error: Exception) -> Response:
    if isinstance(error, ConfigurationError):
        return as_problem("; ".join(f"{problem.key}: {problem.message}" for problem in error.problems), 400)
    return as_problem(str(error), 404 if isinstance(error, RunNotFound) else 503)


async def _broken(request: Request, error: Exception) -> Response:
    return as_problem("the server failed; what happened is in its output on standard error", 500)
