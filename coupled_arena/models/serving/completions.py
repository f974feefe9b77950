"""Answers chat completions: one request at a time from its body to the last byte of the reply.

A client that disappears ends what is done for it, at whatever point.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import aclosing
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.types import Message as Sent
from starlette.types import Receive, Scope, Send

from coupled_arena.errors import ArenaError, ConfigurationError
from coupled_arena.models.calls import Call, Reply
from coupled_arena.models.serving.forms import DONE, Form, event
from coupled_arena.models.serving.hall import Served
from coupled_arena.models.serving.refusals import Refusal, answered, refusal_of_error, refusal_of_reply
from coupled_arena.models.serving.settings import ServerSettings
from coupled_arena.models.serving.wishes import read_wish

Tell = Callable[[int, str | Reply | ArenaError], Awaitable[None]]
"""Takes what comes of one of the replies: pieces of its text, and its end."""

# Of a body that is too large this many times the limit is read and dropped, so that a client that sends all of it
# before it reads still learns why it was refused.
_DROPPED = 16

_STOPPED = Refusal(
    503, "the server was stopped before this was answered: ask again when it runs", "stopped", close=True
)


class Completions:
    """The application behind `/v1/chat/completions`.

    Args:
        served: the models by id.
        settings: what clients are allowed.
    """

    def __init__(self, served: Mapping[str, Served], settings: ServerSettings) -> None:
        self._served = served
        self._settings = settings
        self.in_work = 0
        """Requests that are being answered."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        sending = _Sending(send, self._settings.write_seconds, scope)
        try:
            asked = await self._asked(Request(scope, receive))
            if isinstance(asked, Refusal):
                await asked.response(scope, receive, sending)
            else:
                await self._work(asked, scope, receive, sending)
        except ClientDisconnect:
            return
        except asyncio.CancelledError:
            # Nothing but the end of the server cancels a request.
            await sending.break_off(receive)

    async def _work(self, form: Form, scope: Scope, receive: Receive, send: Send) -> None:
        self.in_work += 1
        try:
            await _while_present(self._answer(form, scope, receive, send), receive)
        finally:
            self.in_work -= 1

    async def _asked(self, request: Request) -> Form | Refusal:
        body = await self._body(request)
        if isinstance(body, Refusal):
            return body
        try:
            wish = read_wish(body)
        except ConfigurationError as error:
            return refusal_of_error(error)
        served = self._served.get(wish.model)
        if served is None:
            words = f"there is no model {wish.model!r} here; there are {', '.join(self._served)}"
            return Refusal(404, words, "model_not_found", "model")
        if self.in_work >= self._settings.most_requests:
            return Refusal(503, f"{self.in_work} requests are in work: try again later", "overloaded")
        return served.refuse(wish) or Form(wish, served)

    async def _body(self, request: Request) -> dict[str, Any] | Refusal:
        most, content = self._settings.most_bytes, bytearray()
        size = 0
        try:
            async with asyncio.timeout(self._settings.read_seconds):
                async for part in request.stream():
                    size += len(part)
                    if size <= most:
                        content += part
                    elif size > _DROPPED * most:
                        break
        except TimeoutError:
            words = f"the request was not sent within {self._settings.read_seconds} seconds"
            return Refusal(408, words, "request_timeout", close=True)
        if size > most:
            return Refusal(413, f"the body is larger than {most} bytes", "request_too_large", close=True)
        try:
            body = json.loads(content, parse_constant=_no_number)
        except (ValueError, RecursionError):
            return Refusal(400, "the body is no JSON", "invalid_json")
        return body if isinstance(body, dict) else Refusal(400, "the body is no JSON object", "invalid_json")

    async def _answer(self, form: Form, scope: Scope, receive: Receive, send: Send) -> None:
        calls = form.wish.calls(form.served.model)
        if form.wish.stream:
            stream = _Stream(form, scope, receive, send)
            await _answer_all(form.served, calls, stream.tell, pieces=True)
            return
        ends: list[Any] = [None] * len(calls)

        async def keep(index: int, told: str | Reply | ArenaError) -> None:
            ends[index] = told

        await _answer_all(form.served, calls, keep, pieces=False)
        refusal = next((found for end in ends if (found := _refusal(end))), None)
        response = refusal.response if refusal else answered(form.completion(ends), headers=form.headers)
        await response(scope, receive, send)


class _Stream:
    """Sends completions piece by piece; before the first piece it may still be refused with a status."""

    def __init__(self, form: Form, scope: Scope, receive: Receive, send: Send) -> None:
        self._form = form
        self._refuse = (scope, receive, send)
        self._send = send
        self._lock = asyncio.Lock()
        self._replies: dict[int, Reply] = {}
        self._begun = self._over = False

    async def tell(self, index: int, told: str | Reply | ArenaError) -> None:
        """Send what has come of a reply."""
        async with self._lock:
            if self._over:
                return
            refusal = None if isinstance(told, str) else _refusal(told)
            if refusal is not None:
                self._over = True
                if self._begun:
                    await self._write(event(refusal.body), more=False)
                else:
                    await refusal.response(*self._refuse)
                return
            if not self._begun:
                await self._begin()
            if isinstance(told, str):
                await self._write(self._form.piece(index, told))
            elif isinstance(told, Reply):
                self._replies[index] = told
                await self._write(self._form.ending(index, told))
                if len(self._replies) == self._form.wish.count:
                    await self._end()

    async def _begin(self) -> None:
        self._begun = True
        headers = {"content-type": "text/event-stream", "cache-control": "no-store", **self._form.headers}
        pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
        await self._send({"type": "http.response.start", "status": 200, "headers": pairs})
        await self._write(b"".join(self._form.opening(index) for index in range(self._form.wish.count)))

    async def _end(self) -> None:
        self._over = True
        replies = [self._replies[index] for index in sorted(self._replies)]
        total = self._form.total(replies) if self._form.wish.tells_usage else b""
        await self._write(total + DONE, more=False)

    async def _write(self, data: bytes, *, more: bool = True) -> None:
        await self._send({"type": "http.response.body", "body": data, "more_body": more})


async def _answer_all(served: Served, calls: tuple[Call, ...], tell: Tell, *, pieces: bool) -> None:
    async def one(index: int, call: Call) -> None:
        try:
            async with aclosing(served.events(call, pieces=pieces)) as events:
                async for told in events:
                    await tell(index, told)
        except ArenaError as error:
            await tell(index, error)

    async with asyncio.TaskGroup() as group:
        for index, call in enumerate(calls):
            group.create_task(one(index, call))


async def _while_present(work: Coroutine[Any, Any, None], receive: Receive) -> None:
    """Work until it is done or the client has gone, whose last word is that it has."""
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(_left(receive))
    try:
        await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
    finally:
        for part in (task, gone):
            part.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


class _Sending:
    """Sends one response; cuts the connection of a client that does not read it."""

    def __init__(self, send: Send, seconds: float, scope: Scope) -> None:
        self._send, self._seconds, self._scope = send, seconds, scope
        self._begun = self._over = False

    async def __call__(self, message: Sent) -> None:
        self._begun = True
        self._over = message["type"] == "http.response.body" and not message.get("more_body")
        try:
            async with asyncio.timeout(self._seconds):
                await self._send(message)
        except TimeoutError:
            self._scope["state"]["cut"]()

    async def break_off(self, receive: Receive) -> None:
        """Tell a client that waits, or is in the middle of a stream, that no more will come."""
        if not self._begun:
            await _STOPPED.response(self._scope, receive, self)
        elif not self._over:
            await self({"type": "http.response.body", "body": event(_STOPPED.body)})


def _refusal(end: Reply | ArenaError) -> Refusal | None:
    return refusal_of_reply(end) if isinstance(end, Reply) else refusal_of_error(end)


def _no_number(text: str) -> None:
    raise ValueError(text)
