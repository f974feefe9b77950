"""Answers calls to local models."""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from coupled_arena.coupling import Sampler, Vocabulary, choose
from coupled_arena.errors import EngineFault, ModelUnavailable
from coupled_arena.models.calls import Abilities, Call, Reply
from coupled_arena.models.local.cache import ModelCache
from coupled_arena.models.local.canonical import CUT, Evaluator, last_cut
from coupled_arena.models.local.capi import PINNED
from coupled_arena.models.local.choices import score
from coupled_arena.models.local.compute import QUEUE, ComputeQueue
from coupled_arena.models.local.engine import Engine
from coupled_arena.models.local.generate import generate
from coupled_arena.models.local.prefixes import PrefixCache, as_tokens
from coupled_arena.models.local.settings import MEBIBYTE, LocalSettings
from coupled_arena.models.local.shelf import Loaded, Shelf
from coupled_arena.models.local.threads import ThreadChoice
from coupled_arena.models.local.weights import Header, read_header
from coupled_arena.models.model import Model
from coupled_arena.records import Outcome, Sharing, Usage

EVALUATION = 1
"""Raised whenever the same call to the same weights may be answered otherwise: part of every identity."""

_UNLOADED = -1.0
"""Rank of a call whose model is not loaded: after all others."""

OpenEngine = Callable[[Path, int, ThreadChoice], Engine]
"""Loads a file with a context of so many tokens."""


def open_llama(path: Path, context: int, threads: ThreadChoice) -> Engine:
    """Load a file with llama.cpp."""
    from coupled_arena.models.local.llama import LlamaEngine

    return LlamaEngine(path, context, threads)


@dataclass(slots=True, eq=False)
class _Request:
    """A call on its way through the queue."""

    call: Call
    path: Path
    withdrawn: threading.Event = field(default_factory=threading.Event)
    prompt: list[int] = field(default_factory=list)

    def pause(self) -> None:
        """Abandon the work if nobody waits for it any more."""
        if self.withdrawn.is_set():
            raise ModelUnavailable(f"{self.path}: the call was given up before it was answered")


class LocalBackend:
    """Local models behind the `Backend` contract.

    A reply depends on the weights and the call alone: not on what ran before, on what waits, on the number of threads
    or on what is in a cache. Models are loaded when they are first asked and unloaded when memory is needed. A fault
    of this machine (no weights, no engine, a failed evaluation) is raised, since it says nothing about the model; a
    prompt that does not fit is an outcome.

    Args:
        settings: threads and memory; None reads them from the environment.
        cache: where model files are; None takes the user's own.
        queue: where calls wait for the processor; None takes the one of this process.
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
        self._shelf = Shelf(self.settings.memory_bytes, self._charge, self._load)
        self._paths: dict[str, Path] = {}
        self._headers: dict[Path, Header] = {}
        self._requests: set[_Request] = set()

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
            return [str(error)]
        return []

    async def complete(self, call: Call) -> Reply:
        """Answer a call.

        Raises:
            ModelUnavailable: the model cannot be loaded, or the backend was closed meanwhile.
            EngineFault: it failed in the middle of its work.
        """
        began = time.monotonic()
        request = _Request(call, self._path(call.model))
        future = self._queue.submit(partial(self._answer, request), partial(self._rank, request))
        self._requests.add(request)
        try:
            reply = await asyncio.wrap_future(future)
        finally:
            request.withdrawn.set()
            self._requests.discard(request)
        return reply.model_copy(update={"latency": time.monotonic() - began})

    async def aclose(self) -> None:
        """Abandon what is being computed and unload every model."""
        for request in self._requests:
            request.withdrawn.set()
        closing: Future[None] = self._queue.submit(self._shelf.clear, lambda: float("inf"))
        await asyncio.wrap_future(closing)

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

    def _charge(self, path: Path) -> int:
        header = self._header(path)
        return header.weight_bytes + header.kv_bytes * self._context(path) + self.settings.cache_mb * MEBIBYTE

    def _load(self, path: Path, charge: int) -> Loaded:
        engine = self._open(path, self._context(path), ThreadChoice(self.settings.threads))
        self.loaded += (path.name,)
        prefixes = PrefixCache(self.settings.cache_mb * MEBIBYTE, CUT)
        return Loaded(Evaluator(engine, prefixes), Sampler(Vocabulary(engine.names, engine.end_tokens)), charge)

    def _rank(self, request: _Request) -> float:
        loaded = self._shelf.peek(request.path)
        if loaded is None or request.withdrawn.is_set():
            return _UNLOADED
        prompt = self._prompt(request, loaded)
        return float(loaded.evaluator.prefixes.shared(as_tokens(prompt[: last_cut(len(prompt))])))

    def _prompt(self, request: _Request, loaded: Loaded) -> list[int]:
        if not request.prompt:
            request.prompt = loaded.evaluator.engine.render(request.call.messages, request.call.prefix)
        return request.prompt

    def _answer(self, request: _Request) -> Reply:
        request.pause()
        if not request.call.messages and not request.call.prefix:
            return Reply(outcome="failed", detail="the prompt is empty: there is nothing to answer or to continue")
        loaded = self._shelf.get(request.path)
        prompt = self._prompt(request, loaded)
        call, engine = request.call, loaded.evaluator.engine
        room = max((len(engine.tokenize(choice)) for choice in call.choices), default=call.max_tokens)
        if len(prompt) + room > engine.context:
            detail = f"the prompt has {len(prompt)} tokens and the reply up to {room}; the context is {engine.context}"
            return Reply(outcome="failed", detail=detail)
        try:
            return self._choose(request, loaded) if call.choices else self._generate(request, loaded)
        except EngineFault:
            # What is left of it may be damaged; the next call starts from the file again.
            self._shelf.drop(request.path)
            raise

    def _generate(self, request: _Request, loaded: Loaded) -> Reply:
        call = request.call
        written = generate(
            loaded.evaluator,
            loaded.sampler,
            request.prompt,
            sampling=call.sampling,
            key=call.noise,
            max_tokens=call.max_tokens,
            stop=call.stop,
            pause=request.pause,
        )
        usage = Usage(prompt_tokens=len(request.prompt), completion_tokens=written.tokens)
        if not written.text.strip():
            return Reply(outcome="empty", usage=usage, sharing=_sharing(call), detail="the model wrote nothing")
        outcome: Outcome = "ok" if written.finished else "truncated"
        return Reply(text=written.text, outcome=outcome, usage=usage, sharing=_sharing(call))

    def _choose(self, request: _Request, loaded: Loaded) -> Reply:
        call = request.call
        logprobs = score(loaded.evaluator, request.prompt, call.choices, request.pause)
        temperature = call.sampling.temperature
        chosen = call.choices[choose(call.choices, logprobs, call.noise, temperature=temperature)]
        completion = len(loaded.evaluator.engine.tokenize(chosen))
        return Reply(
            text=chosen,
            outcome="ok",
            usage=Usage(prompt_tokens=len(request.prompt), completion_tokens=completion),
            probabilities=_law(call.choices, logprobs, temperature, chosen),
            sharing=_sharing(call),
        )


def _law(choices: Sequence[str], logprobs: Sequence[float], temperature: float, chosen: str) -> dict[str, float]:
    """Return the probabilities with which the choice was drawn."""
    if temperature == 0:
        return {choice: float(choice == chosen) for choice in choices}
    scores = np.asarray(logprobs, dtype=np.float64)
    with np.errstate(over="ignore"):
        weights = np.exp((scores - scores.max()) / temperature)
    return dict(zip(choices, (weights / weights.sum()).tolist(), strict=True))


def _sharing(call: Call) -> Sharing:
    return "deterministic" if call.sampling.temperature == 0 else "shared"
