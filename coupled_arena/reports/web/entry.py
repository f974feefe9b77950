"""Who may open a page: browsers of this machine, or those that have shown the token."""

import asyncio
import hashlib
import hmac
from html import escape
from urllib.parse import parse_qs

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from coupled_arena.models.serving.guard import Guard
from coupled_arena.reports.web.answers import Fenced, as_problem

ENTER = "/enter"
"""Where the token is shown."""

MOST_BYTES = 4096
"""Largest body of any request."""

READ_SECONDS = 10.0
"""How long a browser may take to send it."""

_READS = ("GET", "HEAD")

_FORM = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Coupled Arena</title><link rel="icon" href="data:,"></head>
<body><main><h1>Coupled Arena</h1><p>{words}</p>
<form method="post" action="{action}"><label>Token <input name="token" type="password" autocomplete="current-password"
required autofocus></label> <button>Open</button></form></main></body></html>
"""


def entrance(app: ASGIApp, token: str, port: int) -> ASGIApp:
    """Return an application that lets only those through to another one who may open its pages.

    Without a token, `Host` must name this machine, so that a website cannot reach it under a name of its own; with one,
    a browser shows it once and keeps a cookie of this port, and a program sends it as a bearer token. Either way a
    request that changes anything must come from a page of this very server.

    Args:
        app: what answers those who may ask.
        token: what they must show; empty for none.
        port: the port listened at.
    """
    own = _OwnPages(app)
    return Fenced(_Door(own, token, port) if token else Guard(own, ""))


async def body_of(request: Request, *, seconds: float = READ_SECONDS) -> bytes | None:
    """Return the body of a request, or None where it is larger than `MOST_BYTES` or not sent in time."""
    content = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for part in request.stream():
                content += part
                if len(content) > MOST_BYTES:
                    return None
    except (TimeoutError, ClientDisconnect):
        return None
    return bytes(content)


class _OwnPages:
    """Refuses requests that change something and come from another page than the server's own."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        foreign = origin is not None and origin.partition("://")[2] != headers.get("host")
        if foreign and scope["method"] not in _READS:
            await as_problem("this can be asked by pages of this server only", 403)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


class _Door:
    """Lets through who has shown the token."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token = token.encode()
        self._cookie = f"coupled_arena_{port}"
        # What the browser keeps is not the token itself, and stays good when the server starts again.
        self._pass = hmac.new(self._token, b"coupled-arena page", hashlib.sha256).hexdigest()
        self._guard = Guard(app, token)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        if hmac.compare_digest(request.cookies.get(self._cookie, "").encode(), self._pass.encode()):
            await self._app(scope, receive, send)
        elif scope["path"] == ENTER and scope["method"] == "POST":
            await (await self._entered(request))(scope, receive, send)
        elif "authorization" in request.headers or "text/html" not in request.headers.get("accept", ""):
            await self._guard(scope, receive, send)
        else:
            await _form("This page needs the token that its server was started with.")(scope, receive, send)

    async def _entered(self, request: Request) -> Response:
        body = await body_of(request)
        shown = parse_qs((body or b"").decode("utf-8", "replace")).get("token", [""])[0]
        if not hmac.compare_digest(shown.strip().encode("utf-8", "replace"), self._token):
            return _form("That is not the token that the server was started with.")
        response = RedirectResponse("/", 303)
        response.set_cookie(self._cookie, self._pass, httponly=True, samesite="strict")
        return response


def _form(words: str) -> Response:
    return HTMLResponse(_FORM.format(words=escape(words), action=ENTER), 401)
