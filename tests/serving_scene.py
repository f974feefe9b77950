"""Servers with tiny engines, and clients that speak plain HTTP."""

import asyncio
import http.client
import json
import threading
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coupled_arena.models.calls import Abilities, Call, Reply
from coupled_arena.models.local.backend import LocalBackend
from coupled_arena.models.local.cache import ModelCache
from coupled_arena.models.local.compute import ComputeQueue
from coupled_arena.models.local.engine import Logits
from coupled_arena.models.local.settings import LocalSettings
from coupled_arena.models.local.threads import ThreadChoice
from coupled_arena.models.model import Model
from coupled_arena.models.serving.server import Server
from tests.local_fixtures import FakeEngine, write_model

COMPLETIONS = "/v1/chat/completions"
PATIENCE = 20.0
"""Seconds after which a test gives up."""


class GatedEngine(FakeEngine):
    """A tiny engine that evaluates nothing while its gate is shut."""

    def __init__(self, context: int, gate: threading.Event, entered: threading.Event) -> None:
        super().__init__(context=context)
        self._gate, self._entered = gate, entered

    def _evaluate(self, sequence: int, tokens: Sequence[int], start: int) -> Logits:
        self._entered.set()
        if not self._gate.wait(PATIENCE):
            raise TimeoutError
        return super()._evaluate(sequence, tokens, start)


class TinyBackend(LocalBackend):
    """Local models `tiny` and `other` on engines without weights; the gate is open until a test shuts it."""

    def __init__(self, folder: Path) -> None:
        for name, fill in (("tiny", 1.0), ("other", 2.0)):
            write_model(folder / f"{name}.gguf", context=512, fill=fill)
        self.gate, self.entered = threading.Event(), threading.Event()
        self.gate.set()
        self.engines: list[GatedEngine] = []
        self.endless = False
        settings = LocalSettings(threads=1, context=400, cache_mb=1, memory_mb=100)
        super().__init__(settings, ModelCache(folder), queue=ComputeQueue(), open_engine=self._made)

    def _made(self, path: Path, context: int, threads: ThreadChoice) -> GatedEngine:
        self.engines.append(GatedEngine(context, self.gate, self.entered))
        self.engines[-1].endless = self.endless
        return self.engines[-1]


@dataclass
class StreamingBackend:
    """Streams pieces, after each of which it lets others run, and then says what `end` is."""

    pieces: Sequence[str]
    end: Reply | Exception
    cancelled: int = 0
    able: Abilities = field(default_factory=Abilities)

    def abilities(self, model: Model) -> Abilities:
        return self.able

    def identity(self, model: Model) -> str:
        return model.model

    def problems(self, model: Model) -> Sequence[str]:
        return ()

    async def complete(self, call: Call) -> Reply:
        return [event async for event in self.stream(call)][-1]  # type: ignore[return-value]

    async def stream(self, call: Call) -> AsyncGenerator[str | Reply, None]:
        try:
            for piece in self.pieces:
                await asyncio.sleep(0)
                yield piece
        except (GeneratorExit, asyncio.CancelledError):
            self.cancelled += 1
            raise
        if isinstance(self.end, Exception):
            raise self.end
        yield self.end

    async def aclose(self) -> None:
        pass


@dataclass(frozen=True)
class Got:
    """What a client got."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, Any]:
        error: dict[str, Any] = self.json["error"]
        assert set(error) == {"message", "type", "param", "code"}
        return error

    @property
    def text(self) -> str:
        text: str = self.json["choices"][0]["message"]["content"]
        return text

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events of a stream, which must end as the protocol says."""
        *events, done, rest = self.body.decode().split("\n\n")
        assert (done, rest) == ("data: [DONE]", "")
        return [json.loads(event.removeprefix("data: ")) for event in events]

    def joined(self, index: int = 0) -> str:
        """Return the text of a choice of a stream."""
        choices = [choice for event in self.events for choice in event["choices"] if choice["index"] == index]
        return "".join(choice["delta"].get("content", "") for choice in choices)


def wish(content: str = "abcab", **fields: Any) -> dict[str, Any]:
    """Return the body of a request."""
    return {"model": "local/tiny", "messages": [{"role": "user", "content": content}], "max_tokens": 24, **fields}


def ask(
    server: Server,
    body: dict[str, Any] | bytes | None = None,
    path: str = COMPLETIONS,
    *,
    method: str = "POST",
    headers: dict[str, str] | None = None,
) -> Got:
    """Send one request on a connection of its own and read what comes."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    try:
        content = json.dumps(body).encode() if isinstance(body, dict) else body
        connection.request(method, path, content, headers or {})
        response = connection.getresponse()
        return Got(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())
    finally:
        connection.close()


def get(server: Server, path: str, **headers: str) -> Got:
    """Fetch an address."""
    return ask(server, None, path, method="GET", headers=headers)


def raw(body: dict[str, Any]) -> bytes:
    """Return a request for a completion as it goes over the wire."""
    content = json.dumps(body).encode()
    return (
        f"POST {COMPLETIONS} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content
    )


def wait_for_work(server: Server, count: int) -> None:
    """Ask the server, which is at work meanwhile, until it answers so many requests for completions."""
    until = time.monotonic() + PATIENCE
    while (found := get(server, "/health").json["in_work"]) != count:
        assert time.monotonic() < until, f"{found} requests are in work, not {count}"
