"""The server of models: which of them, and at which addresses."""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from coupled_arena.models.calls import Backend
from coupled_arena.models.model import Kind, Model
from coupled_arena.models.serving.completions import Completions
from coupled_arena.models.serving.guard import OPEN, Guard
from coupled_arena.models.serving.hall import Hall, Served
from coupled_arena.models.serving.listening import HOST, Listener
from coupled_arena.models.serving.refusals import Refusal, answered
from coupled_arena.models.serving.settings import ServerSettings

PORT = 8000
"""Port of a server unless it is told otherwise."""


class Server(Listener):
    """An OpenAI-compatible server, which listens from its making and answers while `run` runs.

    As a context manager it runs on a thread of its own, and stops with the block. Clients want `/v1` after its `url`.

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
        settings = settings or ServerSettings()
        self._hall = Hall(models, backends)
        self.served = self._hall.served
        """The models by id."""
        self._completions = Completions(self.served, settings)
        self._began = int(time.time())
        super().__init__("serve", host=host, port=port, token=token, settings=settings)

    @property
    def in_work(self) -> int:
        """Requests for completions that are being answered."""
        return self._completions.in_work

    async def aclose(self) -> None:
        """Abandon what is in work and unload every model."""
        await self._hall.aclose()

    def application(self, token: str) -> Guard:
        """Return what answers clients that show the token."""
        routes = [
            Route("/v1/chat/completions", self._completions, methods=["POST"]),
            Route("/v1/models", self._list, methods=["GET"]),
            Route("/v1/models/{id:path}", self._one, methods=["GET"]),
            Route(OPEN, self._health, methods=["GET"]),
        ]
        app = Starlette(routes=routes, exception_handlers={HTTPException: _unknown, Exception: _broken})
        app.router.redirect_slashes = False
        return Guard(app, token)

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
