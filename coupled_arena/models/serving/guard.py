"""Who may ask: a bearer token, or without one, programs of this machine that are no web page of others."""

import hmac
import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from coupled_arena.models.serving.refusals import Refusal

OPEN = "/health"
"""The one address that needs no token."""

_NO_TOKEN = Refusal(401, "this server needs a token: Authorization: Bearer TOKEN", "invalid_api_key")
_WRONG_TOKEN = Refusal(401, "the token is wrong: take the one the server was started with", "invalid_api_key")
_FOREIGN = Refusal(403, "a server without a token answers programs of this machine only, by a loopback name", "foreign")


def is_loopback(host: str) -> bool:
    """Return whether a name or an address is this machine's own and reached from nowhere else.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0"), is_loopback("example.org")
    (True, True, False, False)
    """
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Guard:
    """Lets requests through to an application.

    A page of any website can have a browser send requests to loopback, under a name of its own that leads there too:
    so where there is no token, `Host` and `Origin` must name this machine.

    Args:
        app: what answers those who may ask.
        token: what they must show; empty for none.
    """

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or have it answered."""
        scope = _in_origin_form(scope)
        refusal = self._refuse(scope)
        await (refusal.response if refusal else self._app)(scope, receive, send)

    def _refuse(self, scope: Scope) -> Refusal | None:
        headers = Headers(scope=scope)
        if not self._token:
            names = [f"//{headers.get('host', '')}", headers.get("origin", "//localhost")]
            return None if all(map(_names_loopback, names)) else _FOREIGN
        if scope["path"] == OPEN:
            return None
        kind, _, shown = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer":
            return _NO_TOKEN
        # Headers were decoded as Latin-1, which undoes to the bytes that were sent.
        return None if hmac.compare_digest(shown.strip(" \t").encode("latin-1"), self._token) else _WRONG_TOKEN


def _in_origin_form(scope: Scope) -> Scope:
    """Return a request for a whole address as one for its path, the host being that address's (RFC 9112, 3.2.2)."""
    scheme, absolute, rest = scope["path"].partition("://")
    if not absolute or scheme.lower() not in ("http", "https"):
        return scope
    host, _, path = rest.partition("/")
    headers = [(name, value) for name, value in scope["headers"] if name != b"host"]
    return {**scope, "path": f"/{path}", "headers": [*headers, (b"host", host.encode())]}


def _names_loopback(address: str) -> bool:
    try:
        return is_loopback(urlsplit(address).hostname or "")
    except ValueError:
        return False
