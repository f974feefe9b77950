"""The thread and the event loop that a fake provider runs on."""

import asyncio
import errno
import socket
import threading
from concurrent.futures import Future

from aiohttp import web

from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.testing.server import Server

HOST = "127.0.0.1"
"""The only address that is ever listened at."""

BACKLOG = 4096
"""Connections that may wait to be accepted."""

# Turns of the event loop after which a connection that was accepted is known to the server, which can then close it.
_TURNS = 5
# Seconds for handlers to end that were cancelled, which takes no waiting.
_GRACE = 1.0


class Running:
    """A server that runs from its making until `stop`.

    Args:
        server: what answers.
        port: port to listen at; 0 takes a free one.

    Raises:
        ConfigurationError: the port cannot be listened at.
    """

    def __init__(self, server: Server, port: int) -> None:
        self._server = server
        self._listener = _listener(port)
        self.port: int = self._listener.getsockname()[1]
        """The port listened at."""
        self._begun: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        # A provider that nobody stops does not keep the program from ending.
        self._thread = threading.Thread(target=self._run, name="fake provider", daemon=True)
        self._thread.start()
        self._loop, self._stopping = self._begun.result()

    @property
    def fault(self) -> Exception | None:
        """The first exception that a script raised."""
        return self._server.fault

    def stop(self) -> None:
        """Stop listening, end every request in flight, and wait until that is done."""
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            if self._begun.done():
                raise
            self._begun.set_exception(error)

    async def _serve(self) -> None:
        loop, stopping = asyncio.get_running_loop(), asyncio.Event()
        runner = web.ServerRunner(self._server.listener(), shutdown_timeout=_GRACE)
        await runner.setup()
        await web.SockSite(runner, self._listener, backlog=BACKLOG).start()
        self._begun.set_result((loop, stopping))
        await stopping.wait()
        # asyncio never closes a connection whose server was closed between its acceptance and its first turn: so first
        # nothing more is accepted, then what was accepted begins, and then all of it is ended.
        loop.remove_reader(self._listener)
        for _ in range(_TURNS):
            await asyncio.sleep(0)
        self._server.stop()
        await runner.cleanup()


def _listener(port: int) -> socket.socket:
    try:
        return socket.create_server((HOST, port), backlog=BACKLOG)
    except OSError as error:
        why = "is taken by another program" if error.errno == errno.EADDRINUSE else f"cannot be used ({error.strerror})"
        words = f"{port} {why}: choose another one, or 0 for any that is free"
        raise ConfigurationError([Problem("FakeProvider", "port", words)]) from None
