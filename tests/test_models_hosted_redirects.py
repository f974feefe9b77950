"""Redirects of a model's endpoint: within its origin they are followed, to another one nothing is sent."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from coupled_arena.models.hosted.backend import HostedBackend
from coupled_arena.models.litellm_loader import ODD_ANSWER, load_litellm
from coupled_arena.models.model import Model
from tests.hosted_scene import SECRET, call

pytestmark = pytest.mark.filterwarnings(f"ignore:{ODD_ANSWER}:UserWarning")

COMPLETION = {
    "id": "x",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "hi"}}],
}


class Endpoint(ThreadingHTTPServer):
    """A server that notes what it is sent, redirects where it is told to and else answers."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str] = []
        self.to = ""
        self.status = 307

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append(self.path)
        body = json.dumps(COMPLETION).encode()
        if self.server.to and not self.path.endswith("/moved"):
            self.send_response(self.server.status)
            self.send_header("Location", self.server.to)
            body = b""
        else:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def endpoints() -> Iterator[tuple[Endpoint, Endpoint]]:
    pair = Endpoint(), Endpoint()
    threads = [threading.Thread(target=server.serve_forever, args=(0.01,)) for server in pair]
    for thread in threads:
        thread.start()
    yield pair
    for server, thread in zip(pair, threads, strict=True):
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("status", [307, 308])
@pytest.mark.parametrize(
    "provider",
    # The last two do not take the clients that LiteLLM keeps: a client of OpenAI's own, and one that blocks a thread.
    ["openai", "anthropic", "gemini", "hosted_vllm", "text-completion-openai", "oobabooga"],
)
async def test_neither_prompt_nor_key_follows_a_redirect_to_another_origin(
    endpoints: tuple[Endpoint, Endpoint], monkeypatch: pytest.MonkeyPatch, provider: str, status: int
) -> None:
    monkeypatch.setenv("SOME_KEY", SECRET)
    home, away = endpoints
    home.to, home.status = f"{away.url}/moved", status
    backend = HostedBackend()
    try:
        reply = await backend.complete(call(Model(f"{provider}/m", api_base=home.url, api_key_env="SOME_KEY")))
    finally:
        await backend.aclose()
    assert (away.asked, len(home.asked)) == ([], 1)
    assert (reply.outcome, reply.fault, reply.retries) == ("failed", "request", 0)
    assert f"{home.url} redirects to {away.url}" in reply.detail
    assert "set its api_base" in reply.detail


async def test_a_redirect_within_the_origin_is_followed(
    endpoints: tuple[Endpoint, Endpoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_KEY", SECRET)
    home, _ = endpoints
    home.to = "/moved"
    backend = HostedBackend()
    try:
        reply = await backend.complete(call(Model("openai/m", api_base=home.url, api_key_env="SOME_KEY")))
    finally:
        await backend.aclose()
    assert (reply.outcome, reply.text) == ("ok", "hi")
    assert home.asked == ["/chat/completions", "/moved"]


async def test_calls_of_the_user_to_litellm_are_theirs(
    endpoints: tuple[Endpoint, Endpoint], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    home, away = endpoints
    home.to = f"{away.url}/moved"
    asked = {"model": "openai/m", "api_base": home.url, "messages": [{"role": "user", "content": "hi"}]}
    backend, litellm = HostedBackend(), load_litellm()
    try:
        # The user's call goes through the client that the backend was refused with.
        refused = await backend.complete(call(Model("openai/m", api_base=home.url)))
        answer = await litellm.acompletion(**asked)
    finally:
        await backend.aclose()
    assert (refused.outcome, away.asked) == ("failed", ["/moved"])
    assert answer.choices[0].message.content == "hi"
