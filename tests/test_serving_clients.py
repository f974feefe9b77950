"""Clients that disappear, hang, stall, or come in crowds."""

import asyncio
import json
import socket
import threading
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("gguf", reason="needs the extra `local`")

from coupled_arena.models.calls import Call, Reply
from coupled_arena.models.model import Model
from coupled_arena.models.serving.server import Server
from coupled_arena.models.serving.settings import ServerSettings
from coupled_arena.models.simulated.backend import SimulatedBackend
from tests.serving_scene import PATIENCE, StreamingBackend, TinyBackend, ask, get, raw, wait_for_work, wish

TINY, SIM = Model("local/tiny"), Model("sim/ada")


def connected(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)


def closed_by_server(client: socket.socket) -> bytes:
    """Return what the server sends until it closes the connection."""
    received = b""
    try:
        while part := client.recv(1 << 16):
            received += part
    except ConnectionResetError:
        pass
    return received


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_disappears_frees_its_slot(tmp_path: Path, stream: bool) -> None:
    backend = TinyBackend(tmp_path)
    backend.endless = True
    with Server([TINY], port=0, backends={"local": backend}) as server:
        backend.gate.clear()
        with connected(server) as client:
            client.sendall(raw(wish(max_tokens=300, stream=stream)))
            assert backend.entered.wait(PATIENCE)
            wait_for_work(server, 1)
        wait_for_work(server, 0)
        backend.gate.set()
        assert ask(server, wish(max_tokens=3)).status == 200
        (engine,) = backend.engines
        assert len(engine.portions) < 50


def test_a_stream_that_nobody_reads_any_more_ends_what_makes_it() -> None:
    backend = StreamingBackend(["x" * 1000] * 100_000, Reply(outcome="ok", text="x"))
    with Server([SIM], port=0, backends={"sim": backend}) as server:
        with connected(server) as client:
            client.sendall(raw(wish(model="sim/ada", stream=True)))
            assert client.recv(100).startswith(b"HTTP/1.1 200")
        wait_for_work(server, 0)
    assert backend.cancelled == 1


def test_a_client_that_does_not_read_blocks_nobody_and_is_cut() -> None:
    backend = StreamingBackend(["x" * 100_000] * 1000, Reply(outcome="ok", text="x"))
    settings = ServerSettings(write_seconds=1)
    with Server([SIM], port=0, backends={"sim": backend}, settings=settings) as server, connected(server) as client:
        client.sendall(raw(wish(model="sim/ada", stream=True)))
        assert client.recv(100).startswith(b"HTTP/1.1 200")
        backend.pieces = ["short"]
        assert ask(server, wish(model="sim/ada", stream=True)).joined() == "short"
        wait_for_work(server, 0)
    assert backend.cancelled == 1


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"", b""),
        (b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ", b""),
        (b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{", b"HTTP/1.1 408"),
    ],
    ids=["nothing", "half the headers", "half the body"],
)
def test_a_client_that_stalls_while_it_sends_is_cut(sent: bytes, status: bytes) -> None:
    with Server([SIM], port=0, settings=ServerSettings(read_seconds=1)) as server, connected(server) as client:
        client.sendall(sent)
        assert closed_by_server(client)[:12] == status


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 hello\r\n\r\n",
        b"GET /health HTTP/1.1\r\n\r\n",
        b"GET /" + b"x" * 100_000,
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: x\r\n\r\n",
        b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
    ],
    ids=["another protocol", "no host", "no end", "no length", "no chunk"],
)
def test_what_is_no_http_is_refused_in_the_protocols_form_and_harms_nobody(sent: bytes) -> None:
    with Server([SIM], port=0) as server:
        with connected(server) as client:
            client.sendall(sent)
            head, _, body = closed_by_server(client).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400")
        assert json.loads(body)["error"]["code"] == "invalid_http"
        assert get(server, "/health").status == 200


def test_what_is_no_http_behind_an_answer_ends_the_connection_without_a_complaint(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with Server([SIM], port=0) as server, connected(server) as client:
        client.sendall(b"POST /nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n")
        answer = b""
        while not answer.endswith(b'"unknown_url"}}') and (part := client.recv(1 << 16)):
            answer += part
        assert answer.startswith(b"HTTP/1.1 404")
        client.sendall(b"zz\r\n\r\n")
        assert closed_by_server(client) == b""
    assert not caplog.records


@pytest.mark.parametrize(
    "body",
    [b"", b"no json", b"[1]", b'{"model": NaN}', b"\xff\xfe", b"[" * 5000 + b"]" * 5000, b'{"a": 1' + b"0" * 5000],
)
def test_a_body_that_is_no_json_object_is_refused(body: bytes) -> None:
    with Server([SIM], port=0) as server:
        refused = ask(server, body)
        assert (refused.status, refused.error["code"]) == (400, "invalid_json")


def test_a_body_that_is_too_large_is_refused_declared_or_not() -> None:
    with Server([SIM], port=0, settings=ServerSettings(most_bytes=1000)) as server:
        large = json.dumps(wish("x" * 1000, model="sim/ada")).encode()
        assert ask(server, large).status == 413
        with connected(server) as client:
            head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
            client.sendall(head + b"".join(b"800\r\n" + b"x" * 2048 + b"\r\n" for _ in range(100)))
            assert closed_by_server(client).startswith(b"HTTP/1.1 413")
        assert ask(server, wish(model="sim/ada")).status == 200


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("POST", "/v1/completions", 404), ("GET", "/v1/chat/completions", 405), ("GET", "/v1/models/x", 404)],
)
def test_another_address_is_refused_in_the_protocols_form(method: str, path: str, status: int) -> None:
    with Server([SIM], port=0) as server:
        refused = ask(server, None, path, method=method)
        assert (refused.status, refused.error["type"]) == (status, "invalid_request_error")
        assert refused.headers.get("allow") == ("POST" if status == 405 else None)


def test_a_model_that_is_not_served_is_named() -> None:
    with Server([SIM], port=0) as server:
        for model, status in (("sim/bob", 404), ("sim/\ud800", 400)):
            refused = ask(server, wish(model=model))
            assert (refused.status, refused.error["param"]) == (status, "model")


@pytest.mark.parametrize("kind", ["sim", "local"])
def test_two_hundred_requests_at_once_are_all_answered_as_alone(kind: str, tmp_path: Path) -> None:
    with Server([TINY, SIM], port=0, backends={"local": TinyBackend(tmp_path)}) as server:
        bodies = [
            wish(model=f"{kind}/{'ada' if kind == 'sim' else 'tiny'}", seed=seed, max_tokens=5) for seed in range(200)
        ]
        with ThreadPoolExecutor(200) as pool:
            together = list(pool.map(lambda body: ask(server, body), bodies))
        assert {got.status for got in together} == {200}
        for seed in range(0, 200, 20):
            assert ask(server, bodies[seed]).text == together[seed].text
        wait_for_work(server, 0)


class Waiting(SimulatedBackend):
    """Answers when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.entered, self.let = threading.Event(), asyncio.Event()
        self.loop: asyncio.AbstractEventLoop | None = None

    async def complete(self, call: Call) -> Reply:
        self.loop = asyncio.get_running_loop()
        self.entered.set()
        await self.let.wait()
        return await super().complete(call)

    def release(self) -> None:
        assert self.loop is not None
        self.loop.call_soon_threadsafe(self.let.set)


def test_more_requests_than_are_allowed_are_told_to_come_later() -> None:
    backend = Waiting()
    settings = ServerSettings(most_requests=1)
    with Server([SIM], port=0, backends={"sim": backend}, settings=settings) as server, ThreadPoolExecutor(1) as pool:
        first = pool.submit(ask, server, wish(model="sim/ada"))
        assert backend.entered.wait(PATIENCE)
        refused = ask(server, wish(model="sim/ada"))
        assert (refused.status, refused.headers["retry-after"], refused.error["code"]) == (503, "1", "overloaded")
        backend.release()
        assert first.result().status == 200


def test_a_reply_in_work_ends_before_the_server_does() -> None:
    backend = Waiting()
    with ThreadPoolExecutor(1) as pool:
        with Server([SIM], port=0, backends={"sim": backend}) as server:
            reply = pool.submit(ask, server, wish(model="sim/ada"))
            assert backend.entered.wait(PATIENCE)
            server.stop()
            backend.release()
        assert reply.result().status == 200
        with pytest.raises(ConnectionRefusedError):
            get(server, "/health")


class WaitingAmid(Waiting):
    """Has told a piece of its answer before it waits."""

    async def stream(self, call: Call) -> AsyncGenerator[str | Reply, None]:
        yield "so far"
        yield await self.complete(call)


@pytest.mark.parametrize("begun", [False, True])
def test_a_reply_that_takes_longer_than_the_grace_is_given_up_in_the_protocols_form(
    begun: bool, caplog: pytest.LogCaptureFixture
) -> None:
    backend = WaitingAmid() if begun else Waiting()
    settings = ServerSettings(grace_seconds=1)
    with Server([SIM], port=0, backends={"sim": backend}, settings=settings) as server, connected(server) as client:
        client.sendall(raw(wish(model="sim/ada", stream=begun)))
        assert backend.entered.wait(PATIENCE)
        server.stop()
        got = closed_by_server(client)
    assert got.startswith(b"HTTP/1.1 200" if begun else b"HTTP/1.1 503")
    assert b'"code":"stopped"' in got and b"[DONE]" not in got
    assert got.count(b"so far") == begun
    assert not [record for record in caplog.records if record.exc_info]
