"""Sending an answer: at once, in drops, in half, or not at all."""

import asyncio
import contextlib
import itertools
import socket
import struct
from collections.abc import Awaitable, Callable, Iterator, Sequence

from aiohttp import web

from coupled_arena.testing.answers import Answer
from coupled_arena.testing.behaviours import Break
from coupled_arena.testing.script import Plan

# Lingering on for 0 seconds: closing such a socket resets the connection.
_RESETS = struct.pack("ii", 1, 0)


async def deliver(
    request: web.BaseRequest, answer: Answer, plan: Plan, sleep: Callable[[float], Awaitable[None]]
) -> web.StreamResponse:
    """Send an answer in the way its plan says."""
    if plan.share == 1.0 and plan.pieces == 1 and not answer.streamed:
        (body,) = answer.pieces
        return web.Response(
            body=body, status=answer.status, content_type=answer.content_type, headers=dict(answer.headers)
        )
    response = web.StreamResponse(status=answer.status, headers=dict(answer.headers))
    response.content_type = answer.content_type
    whole = b"".join(answer.pieces)
    if not answer.streamed:
        response.content_length = len(whole)
    await response.prepare(request)
    sent = int(len(whole) * plan.share)
    if plan.share < 1.0 or plan.pieces > 1:
        pieces: Sequence[bytes] = list(_parts(whole[:sent], plan.pieces))
    else:
        pieces = answer.pieces
    for number, piece in enumerate(pieces):
        if number and plan.pause:
            await sleep(plan.pause)
        await response.write(piece)
    if plan.share < 1.0:
        _close(request)
    else:
        await response.write_eof()
    return response


async def withhold(request: web.BaseRequest, how: Break) -> web.StreamResponse:
    """Send nothing, and leave the connection as the behaviour says."""
    if how == "hang":
        # Ends when the client leaves or the server stops: both cancel what handles the request.
        await asyncio.get_running_loop().create_future()
    if how == "reset":
        _reset(request)
    _close(request)
    return web.Response()


def _parts(body: bytes, count: int) -> Iterator[bytes]:
    """Yield a body in parts as equal as possible, none of them empty."""
    count = max(1, min(count, len(body)))
    edges = [len(body) * number // count for number in range(count + 1)]
    yield from (body[start:end] for start, end in itertools.pairwise(edges) if end > start)


def _reset(request: web.BaseRequest) -> None:
    transport = request.transport
    if transport is None:
        return
    # A client that has left already has closed the socket, which then cannot be set any more.
    with contextlib.suppress(OSError):
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESETS)
    transport.abort()


def _close(request: web.BaseRequest) -> None:
    if request.transport is not None:
        request.transport.close()
