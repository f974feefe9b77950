"""What a page is answered with, and the headers that keep anything but the page itself from running in it."""

from collections.abc import Mapping
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from coupled_arena.models.serving.refusals import encoded

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; "
    "form-action 'self'; require-trusted-types-for 'script'"
)
"""Content security policy of pages whose style and scripts are files of the server."""

_HEADERS = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class Fenced:
    """Adds to every answer of an application the headers that a browser needs to keep strangers out.

    An answer that brings one of them keeps its own.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""

        async def fenced(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, fenced)


def as_json(value: Mapping[str, Any] | list[Any], status: int = 200) -> Response:
    """Return plain data as an answer."""
    return Response(encoded(value), status, media_type="application/json")


def as_problem(words: str, status: int) -> Response:
    """Return what was wrong and what to do, for the page to show."""
    return as_json({"problem": words}, status)


def compressed(content: bytes, kind: str = "application/json") -> Response:
    """Return what is compressed already; every browser reads gzip."""
    return Response(content, media_type=kind, headers={"content-encoding": "gzip"})
