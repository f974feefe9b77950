"""Answers calls to local models."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

from coupled_arena.errors import ModelUnavailable
from coupled_arena.models.calls import Abilities, Call, Reply
from coupled_arena.models.local.answers import Answer
from coupled_arena.models.local.cache import ModelCache
from coupled_arena.models.local.canonical import CUT
from coupled_arena.models.local.capi import PINNED
from coupled_arena.models.local.compute import QUEUE, ComputeQueue
from coupled_arena.models.local.engine import Engine
from coupled_arena.models.local.prefixes import PrefixCache
from coupled_arena.models.local.requests import Request
from coupled_arena.models.local.room import Room
from coupled_arena.models.local.scheduler import Scheduler
from coupled_arena.models.local.settings import MEBIBYTE, LocalSettings
from coupled_arena.models.local.shapes import capacity_for
from coupled_arena.models.local.shelf import Shelf
from coupled_arena.models.local.spelling import Emit
from coupled_arena.models.local.threads import ThreadChoice
from coupled_arena.models.local.weights import Header, read_header
from coupled_arena.models.model import Model

EVALUATION = 2
"""Raised whenever the same call to the same weights may be answered otherwise: part of every identity."""

OpenEngine = Callable[[Path, int, ThreadChoice], Engine]
"""Loads a file for sequences of at most so many tokens."""


def open_llama(path: Path, context: int, threads: ThreadChoice) -> Engine:
    """Load a file with llama.cpp."""
    from coupled_arena.models.local.llama import LlamaEngine

    return LlamaEngine(path, context, threads)


class LocalBackend:
    """Local models behind the `Backend` contract.

    A reply depends on the weights and the call alone: not on what ran before or runs beside it, on what waits, on the
    number of threads or on what is in a cache. Models are loaded when they are first asked and unloaded when memory is
    needed. A fault of this machine (no weights, no engine, a failed evaluation) is raised, since it says nothing about
    the model; a prompt that does not fit is an outcome.

    Args:
        settings: threads and memory; None reads them from the environment.
        cache: where model files are; None takes the user's own.
        queue: where work waits for the processor; None takes the one of this process.
        open_engine: loads a file.
    """

    def __init__(
        self,
        settings: LocalSettings | None = None,
        cache: ModelCache | None = None,
        *,
        queue: ComputeQueue | None = None,
        open_engine: OpenEngine = open_llama,
    ) -> None:
        self.settings = settings or LocalSettings.from_environment()
        """Threads and memory."""
        self.cache = cache or ModelCache()
        """Where model files are."""
        self.loaded: tuple[str, ...] = ()
        """Names of the files loaded so far, in order; one that was unloaded and loaded again is there twice."""
        self._queue = queue or QUEUE
        self._open = open_engine
        self._scheduler = Scheduler(Shelf(self.settings.memory_bytes, self._charge, self._load), self._queue)
        self._paths: dict[str, Path] = {}
        self._headers: dict[Path, Header] = {}
        self._requests: set[Request] = set()

    def prepare(self, models: Sequence[Model]) -> None:
        """Make sure that models can be asked: find their files, derive their variants, read their headers.

        Loads nothing, but deriving and digesting may take seconds a model; afterwards `abilities` and `identity` are
        immediate.

        Raises:
            ModelUnavailable: a model's file is not to be had.
        """
        for model in models:
            self.abilities(model)
            self.identity(model)

    def abilities(self, model: Model) -> Abilities:
        """Return what the model can be asked for.

        Raises:
            ModelUnavailable: its file is not to be had.
        """
        return Abilities(continues=True, chooses=True, context=self._context(self._path(model)))

    def identity(self, model: Model) -> str:
        """Return the digest of the model's file, which holds its chat template, and how it is evaluated.

        Raises:
            ModelUnavailable: its file is not to be had.
        """
        path = self._path(model)
        digest, context = self.cache.digest(path), self._context(path)
        return f"local sha256={digest} engine=xllamacpp-{PINNED} evaluation={EVALUATION} context={context}"

    def problems(self, model: Model) -> Sequence[str]:
        """Return why the model's file is not to be had; deriving a variant may take seconds."""
        try:
            self.prepare([model])
        except ModelUnavailable as error:
            # Whoever lists problems begins with the model's name, which often is this string.
            return [str(error).removeprefix(f"{model.name}: ")]
        return []

    async def complete(self, call: Call) -> Reply:
        """Answer a call.

        Raises:
            ModelUnavailable: the model cannot be loaded, or the backend was closed meanwhile.
            EngineFault: it failed in the middle of its work.
        """
        began = time.monotonic()
        with self._asked(call) as request:
            reply = await asyncio.wrap_future(request.future)
        return reply.model_copy(update={"latency": time.monotonic() - began})

    async def stream(self, call: Call) -> AsyncGenerator[str | Reply, None]:
        """Answer a call piece by piece: first the text, in pieces of whole characters, then the reply.

        The pieces together are the text of the reply. Whoever stops listening withdraws the call.

        Raises:
            ModelUnavailable: the model cannot be loaded, or the backend was closed meanwhile.
            EngineFault: it failed in the middle of its work.
        """
        began = time.monotonic()
        loop = asyncio.get_running_loop()
        pieces: asyncio.Queue[str | None] = asyncio.Queue()

        def emit(piece: str) -> None:
            loop.call_soon_threadsafe(pieces.put_nowait, piece)

        with self._asked(call, emit) as request:
            done = asyncio.wrap_future(request.future)
            done.add_done_callback(lambda _: pieces.put_nowait(None))
            try:
                while (piece := await pieces.get()) is not None:
                    yield piece
                reply = await done
            finally:
                done.cancel()
        yield reply.model_copy(update={"latency": time.monotonic() - began})

    async def aclose(self) -> None:
        """Abandon what is being computed and unload every model."""
        for request in self._requests:
            request.withdrawn.set()
        closing: Future[None] = self._queue.submit(self._scheduler.clear)
        await asyncio.wrap_future(closing)

    @contextmanager
    def _asked(self, call: Call, emit: Emit | None = None) -> Iterator[Request]:
        """Have a call answered while the block waits for it."""
        request = Request(self._path(call.model), Answer(call, emit))
        self._requests.add(request)
        try:
            self._scheduler.submit(request)
            yield request
        finally:
            request.withdrawn.set()
            self._requests.discard(request)

    def _path(self, model: Model) -> Path:
        path = self._paths.get(model.path)
        if path is None:
            path = self._paths[model.path] = self.cache.resolve(model.path)
        return path

    def _header(self, path: Path) -> Header:
        header = self._headers.get(path)
        if header is None:
            header = self._headers[path] = read_header(path)
        return header

    def _context(self, path: Path) -> int:
        trained = self._header(path).context
        return min(trained, self.settings.context) if trained else self.settings.context

    def _fixed(self, path: Path) -> int:
        """Return the bytes a model takes beside its sequences."""
        return self._header(path).weight_bytes + self.settings.cache_mb * MEBIBYTE

    def _capacity(self, path: Path) -> int:
        room = (self.settings.memory_bytes - self._fixed(path)) // 2
        return capacity_for(room, self._header(path).kv_bytes, self._context(path))

    def _charge(self, path: Path) -> int:
        return self._fixed(path) + self._header(path).kv_bytes * self._capacity(path)

    def _load(self, path: Path, charge: int) -> Room:
        engine = self._open(path, self._context(path), ThreadChoice(self.settings.threads))
        self.loaded += (path.name,)
        prefixes = PrefixCache(self.settings.cache_mb * MEBIBYTE, CUT)
        return Room(engine, prefixes, capacity=self._capacity(path), charge=charge, joint=self._header(path).joint)
