"""Who may open pages, and what keeps strangers out of them."""

import asyncio
import http.client
import socket
from urllib.parse import urlencode

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from coupled_arena.errors import ConfigurationError
from coupled_arena.reports.web.entry import body_of
from coupled_arena.reports.web.server import PageServer

TOKEN = "tokén of the house"
PAGE = {"Accept": "text/html"}


async def page(request: Request) -> Response:
    return Response(f"<h1>{request.method}</h1>", media_type="text/html")


async def broken(request: Request) -> Response:
    raise RuntimeError("a secret of the inside")


class Pages(PageServer):
    """Serves one page that may be asked in two ways, and one that fails."""

    def __init__(self, token: str = "", host: str = "127.0.0.1") -> None:
        routes = [Route("/", page, methods=["GET", "POST"]), Route("/broken", broken)]
        super().__init__("view", routes, host=host, port=0, token=token)


def ask(
    server: Pages, path: str = "/", method: str = "GET", body: str = "", **headers: str
) -> tuple[int, dict[str, str], str]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, named)
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        return response.status, found, response.read().decode()
    finally:
        connection.close()


def test_a_name_that_only_leads_to_this_machine_is_refused() -> None:
    with Pages() as server:
        assert ask(server)[0] == 200
        assert ask(server, Host="localhost:1")[0] == 200
        assert ask(server, Host="rebound.example")[0] == 403


def test_only_a_page_of_this_server_may_change_anything() -> None:
    with Pages() as server:
        own = f"http://127.0.0.1:{server.port}"
        assert ask(server, method="POST", Origin=own)[0] == 200
        assert ask(server, method="POST")[0] == 200
        # Another program of this machine may show pages too, and is not this one.
        for origin in ("http://127.0.0.1:1", "http://localhost:3000"):
            assert ask(server, method="POST", Origin=origin)[0] == 403
        for origin in ("null", "http://evil.example", "http://[x"):
            assert ask(server, method="POST", Origin=origin)[0] == 403
            assert ask(server, Origin=origin)[0] == 403


def test_every_answer_forbids_foreign_scripts_and_frames_refusals_too() -> None:
    with Pages() as server:
        for found in (
            ask(server),
            ask(server, "/nowhere"),
            ask(server, Host="rebound.example"),
            ask(server, "/broken"),
        ):
            assert "default-src 'none'" in found[1]["content-security-policy"]
            assert "unsafe" not in found[1]["content-security-policy"]
            assert (found[1]["x-frame-options"], found[1]["x-content-type-options"]) == ("DENY", "nosniff")
        assert "secret" not in ask(server, "/broken")[2]


def test_a_browser_shows_the_token_once_and_a_program_every_time() -> None:
    with Pages(TOKEN) as server:
        status, _, form = ask(server, **PAGE)
        assert status == 401 and "<form" in form
        assert ask(server)[0] == 401
        wrong = urlencode({"token": "wrong"})
        assert ask(server, "/enter", "POST", wrong, **PAGE)[0] == 401
        status, headers, _ = ask(server, "/enter", "POST", urlencode({"token": TOKEN}))
        cookie = headers["set-cookie"]
        assert (status, headers["location"]) == (303, "/")
        assert "HttpOnly" in cookie and "samesite=strict" in cookie.lower() and TOKEN not in cookie
        assert ask(server, Cookie=cookie.partition(";")[0], Host="any.example")[0] == 200
        assert ask(server, Cookie=f"{cookie.partition('=')[0]}=0")[0] == 401
        bearer = f"Bearer {TOKEN}".encode().decode("latin-1")
        assert ask(server, Authorization=bearer)[0] == 200
        assert ask(server, Authorization="Bearer wrong", **PAGE)[0] == 401
        assert ask(server, "/enter", "POST", "token=" + "x" * 10_000)[0] == 401


def test_a_cookie_is_good_after_a_restart_with_the_same_token_only() -> None:
    with Pages(TOKEN) as first:
        cookie = ask(first, "/enter", "POST", urlencode({"token": TOKEN}))[1]["set-cookie"].partition(";")[0]
        value = cookie.partition("=")[2]
    for token, status in ((TOKEN, 200), ("another", 401)):
        with Pages(token) as again:
            assert ask(again, Cookie=f"coupled_arena_{again.port}={value}")[0] == status


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_an_address_that_others_can_reach_needs_a_token(host: str) -> None:
    with pytest.raises(ConfigurationError, match="view: token: must be given"):
        Pages(host=host)


def test_a_request_that_breaks_off_in_its_body_has_one_answer_and_no_trace(
    caplog: pytest.LogCaptureFixture,
) -> None:
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    with Pages() as server:
        for _ in range(5):
            with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
                client.sendall(head + b"zz\r\n")
                answer = b"".join(iter(lambda: client.recv(4096), b""))
                assert answer.count(b"HTTP/1.1 ") == 1
        assert ask(server)[0] == 200
    assert caplog.records == []


@pytest.mark.parametrize("sent", [b"", b"token=", b"x" * 10_000])
async def test_a_body_that_does_not_come_or_is_too_large_is_none(sent: bytes) -> None:
    parts = [sent] if sent else []

    async def receive() -> dict[str, object]:
        if parts:
            return {"type": "http.request", "body": parts.pop(), "more_body": True}
        return await asyncio.Future()

    scope = {"type": "http", "method": "POST", "path": "/", "headers": []}
    assert await body_of(Request(scope, receive), seconds=0.01) is None
