"""A connection that ends when its client stalls in the middle of a request's headers, or speaks no HTTP."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from coupled_arena.models.serving.refusals import Refusal

_NO_HTTP = Refusal(400, "this is no request in HTTP/1.1", "invalid_http", close=True).response


def connections(seconds: float) -> type[H11Protocol]:
    """Return a protocol for uvicorn whose connections give a client so many seconds for the headers of a request.

    Uvicorn bounds only the time between two requests. What bounds a request's body and the reading of the reply is the
    application, which finds in the request's state how to cut the connection (`cut`).
    """
    return type("Connection", (_Connection,), {"seconds": seconds})


class _Connection(H11Protocol):
    """A connection that gives a client so many seconds for the headers of a request."""

    seconds: float
    """How long it waits for them."""
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.app_state: dict[str, Any] = {**self.app_state, "cut": transport.abort}
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP in the form of the protocol, unless another answer has begun."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            response = h11.Response(status_code=400, headers=_NO_HTTP.raw_headers)
            for event in (response, h11.Data(data=bytes(_NO_HTTP.body)), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event) or b"")
        # What an application says to a request that broke off in its body would be a second answer.
        if self.cycle is not None:
            self.cycle.disconnected = True
        self.transport.close()

    @property
    def _busy(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _watch(self) -> None:
        """Let the time run while no request is in work, from its first byte on."""
        if self._busy:
            self._forget()
        elif self._deadline is None:
            self._deadline = asyncio.get_running_loop().call_later(self.seconds, self._end)

    def _forget(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _end(self) -> None:
        self._deadline = None
        if not self._busy:
            self.transport.abort()
