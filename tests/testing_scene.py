"""A bare HTTP client for the tests of the fake provider: what it answers is looked at as it comes."""

import json
from dataclasses import dataclass
from typing import Any

import aiohttp

from coupled_arena.testing import FakeProvider


@dataclass
class Answered:
    """An answer as a client has it."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def body(self) -> Any:
        return json.loads(self.text)

    @property
    def choice(self) -> Any:
        return self.body["choices"][0]

    @property
    def content(self) -> Any:
        return self.choice["message"]["content"]

    @property
    def ending(self) -> Any:
        return self.choice["finish_reason"]

    @property
    def error(self) -> Any:
        return self.body["error"]

    @property
    def written(self) -> tuple[int, int]:
        """Tokens of the whole reply, and of its hidden reasoning."""
        usage = self.body["usage"]
        return usage["completion_tokens"], usage["completion_tokens_details"]["reasoning_tokens"]

    @property
    def chunks(self) -> list[Any]:
        """The events of a stream but the last."""
        *events, last = [line.removeprefix("data: ") for line in self.text.split("\n\n") if line]
        assert last == "[DONE]"
        return [json.loads(event) for event in events]


async def ask(
    provider: FakeProvider,
    model: str = "ada",
    text: str = "hello",
    *,
    key: str | None = None,
    **fields: Any,
) -> Answered:
    """Ask a model; further fields are sent in the body."""
    body = {"model": model, "messages": [{"role": "user", "content": text}], **fields}
    return await post(provider, json.dumps(body).encode(), key=key or provider.key)


async def post(provider: FakeProvider, content: bytes, *, key: str | None) -> Answered:
    """Send a body as it is."""
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(f"{provider.url}/chat/completions", data=content) as response,
    ):
        return Answered(response.status, dict(response.headers), await response.text())


async def get(provider: FakeProvider, path: str, *, key: str | None = None) -> Answered:
    """Fetch a page below the root of the server."""
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    root = provider.url.removesuffix("/v1")
    async with aiohttp.ClientSession(headers=headers) as session, session.get(f"{root}{path}") as response:
        return Answered(response.status, dict(response.headers), await response.text())
