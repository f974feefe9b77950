"""The HTTP side of the fake provider: who may ask, what is asked, and which script answers."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import StreamReader, web
from aiohttp.abc import AbstractStreamWriter
from aiohttp.http import RawRequestMessage

from coupled_arena.models.masking import MASK, names_secret
from coupled_arena.testing import behaviours
from coupled_arena.testing.answers import Answer, failed, listed, prompt_tokens, written
from coupled_arena.testing.behaviours import Broken, Failure
from coupled_arena.testing.delivery import deliver, withhold
from coupled_arena.testing.faults import Faults
from coupled_arena.testing.ledger import Ledger
from coupled_arena.testing.request import Request, digest_of, messages_of
from coupled_arena.testing.script import Actor, Plan, plan

NO_STATUS = 0
"""Stands for the status of a request that was given no answer."""

COMPLETIONS, MODELS, HEALTH = "/v1/chat/completions", "/v1/models", "/health"
"""The addresses that are served."""

_UNREADABLE = "We could not parse the JSON body of your request: it is no JSON object."
_LIMITS = ("max_tokens", "max_completion_tokens")


@dataclass(slots=True)
class Server:
    """Answers the requests of one provider; everything but the ledger belongs to the event loop that runs it."""

    actors: dict[str, Actor]
    """The models and their scripts."""
    key: str
    """The key that every request must come with."""
    contexts: Mapping[str, int]
    """Tokens that a model can read, where it has a limit."""
    faults: Faults | None
    """What disturbs a share of the calls."""
    most_bytes: int
    """Largest body that is read."""
    sleep: Callable[[float], Awaitable[None]]
    """What waits."""
    clock: Callable[[], float]
    """Seconds since the provider was made."""
    ledger: Ledger
    """What is remembered."""
    fault: Exception | None = None
    """The first exception that a script raised."""
    _busy: set[asyncio.Task[Any] | None] = field(default_factory=set)
    """What is at work on a request."""

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request to any address."""
        task = asyncio.current_task()
        self._busy.add(task)
        try:
            return await self._routed(request)
        finally:
            self._busy.discard(task)

    def listener(self) -> web.Server:
        """Return what answers connections; a client that leaves ends what was being done for it."""
        return web.Server(
            self.handle, request_factory=self._request, handler_cancellation=True, access_log=None, lingering_time=0
        )

    def stop(self) -> None:
        """End every request that is still in flight."""
        for task in tuple(self._busy):
            if task is not None:
                task.cancel()

    def _request(
        self,
        message: RawRequestMessage,
        payload: StreamReader,
        protocol: web.RequestHandler,
        writer: AbstractStreamWriter,
        task: "asyncio.Task[None]",
    ) -> web.BaseRequest:
        loop = asyncio.get_running_loop()
        return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=self.most_bytes)

    async def _routed(self, request: web.BaseRequest) -> web.StreamResponse:
        match request.method, request.path.rstrip("/"):
            case "POST", path if path == COMPLETIONS:
                return await self._completion(request)
            case "GET", path if path == MODELS:
                authorised = self._key_of(request) == self.key
                return _response(listed(sorted(self.actors)) if authorised else _wrong_key())
            case "GET", path if path == HEALTH:
                return web.json_response({"status": "ok"})
            case method, path:
                words = f"Unknown request URL: {method} {path}."
                return _response(failed(Failure(404, words, "invalid_request_error", "unknown_url")))

    async def _completion(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            body = _object(await request.read())
            wrong = None if body is not None else _invalid(_UNREADABLE)
        except web.HTTPRequestEntityTooLarge:
            body, wrong = None, behaviours.error(413)
        number, attempt = self.ledger.arrive(call := digest_of(body or {}))
        try:
            asked = Request(
                number=number,
                model=str((body or {}).get("model") or ""),
                messages=messages_of(body or {}),
                body=body or {},
                headers=self._shown(request),
                call=call,
                attempt=attempt,
                at=self.clock(),
            )
            self.ledger.keep(asked)
            return await self._answered(request, asked, wrong)
        finally:
            self.ledger.leave()

    async def _answered(self, request: web.BaseRequest, asked: Request, wrong: Failure | None) -> web.StreamResponse:
        key = self._key_of(request)
        try:
            planned = self._planned(asked, key, wrong)
        except Exception as error:  # noqa: BLE001 (whatever a script raises is told to whoever stops the provider)
            self.fault = self.fault or error
            words = f"The script of {asked.model} raised {type(error).__name__}: {error}"
            planned = Plan(Failure(500, words, "server_error", "script_failed"))
        if planned.wait:
            await self.sleep(planned.wait)
        known = asked.model if asked.model in self.actors else ""
        if isinstance(planned.answer, Broken):
            self.ledger.count(known, NO_STATUS)
            return await withhold(request, planned.answer.how)
        answer = written(planned.answer, asked, key)
        self.ledger.count(known, answer.status)
        return await deliver(request, answer, planned, self.sleep)

    def _planned(self, asked: Request, key: str, wrong: Failure | None) -> Plan:
        """Return what is done with a request: what any provider would refuse, then a fault, then the script."""
        if key != self.key:
            return Plan(behaviours.error(401))
        if refused := wrong or self._refused(asked):
            return Plan(refused)
        fault = self.faults.fault(asked.call, asked.attempt) if self.faults else None
        return plan(fault or self.actors[asked.model].next(asked), asked)

    def _refused(self, asked: Request) -> Failure | None:
        if asked.model not in self.actors:
            words = f"The model `{asked.model}` does not exist or you do not have access to it."
            return Failure(404, words, "invalid_request_error", "model_not_found", "model")
        if not asked.messages:
            words = "Invalid value for 'messages': it must be a list of messages, each with a role and text as content."
            return _invalid(words, "messages")
        for name in _LIMITS:
            limit = asked.body.get(name)
            if limit is not None and not (type(limit) is int and limit >= 1):
                return _invalid(f"Invalid value for '{name}': it must be a whole number of at least 1.", name)
        if asked.body.get("n") not in (None, 1):
            return _invalid("Invalid value for 'n': this provider gives one choice.", "n")
        context, read = self.contexts.get(asked.model), prompt_tokens(asked)
        if context is not None and read > context:
            words = (
                f"This model's maximum context length is {context} tokens. However, your messages resulted in {read} "
                "tokens. Please reduce the length of the messages."
            )
            return Failure(400, words, "invalid_request_error", "context_length_exceeded", "messages")
        return None

    def _key_of(self, request: web.BaseRequest) -> str:
        return request.headers.get("Authorization", "").removeprefix("Bearer ")

    def _shown(self, request: web.BaseRequest) -> dict[str, str]:
        """Return the headers with every secret masked."""
        key = self._key_of(request)
        return {
            name.lower(): MASK if names_secret(name) else value.replace(key, MASK) if key else value
            for name, value in request.headers.items()
        }


def _object(content: bytes) -> dict[str, Any] | None:
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _response(answer: Answer) -> web.StreamResponse:
    (body,) = answer.pieces
    return web.Response(body=body, status=answer.status, content_type=answer.content_type)


def _wrong_key() -> Answer:
    return failed(behaviours.error(401))


def _invalid(words: str, param: str | None = None) -> Failure:
    return Failure(400, words, "invalid_request_error", param=param)
