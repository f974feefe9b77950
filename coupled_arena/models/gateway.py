"""The one way to a model: from a call to its reply, each paid for once."""

import asyncio
import dataclasses
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from coupled_arena.coupling.alignment import Alignment
from coupled_arena.errors import BudgetReached, ModelError, ModelUnavailable
from coupled_arena.models.budget import Budget
from coupled_arena.models.calls import Abilities, Backend, Call, Counts, Memo, Reply, Spent
from coupled_arena.models.encoding import storable_record
from coupled_arena.models.limits.limit import Limit
from coupled_arena.models.memo import MemoryMemo
from coupled_arena.models.model import Kind, Model
from coupled_arena.models.patience import Patience, answering

ReplyListener = Callable[[Call, Reply, bool], None]
"""Told of every reply: the call, the reply, and whether it came from the memo or was joined."""

WaitListener = Callable[[Model, float, str], None]
"""Told when a call has to wait: the model, for how many seconds at least, and why."""


class Speaker(Protocol):
    """Answers a call in place of a backend: an agent of the user's, in its seat."""

    @property
    def whole(self) -> bool:
        """Whether its answer is a call of its own, to be kept and counted, or made of other calls of this gateway.

        What is likely before it speaks, what it has done so far while it does, and what it was afterwards.
        """
        ...

    async def complete(self, call: Call) -> Reply:
        """Answer the call."""
        ...


@dataclass(frozen=True, slots=True)
class _Route:
    backend: Backend
    identity: str


@dataclass(slots=True)
class _Flight:
    task: asyncio.Task[Reply]
    speaker: Speaker | None
    patience: Patience
    waiters: int = 0

    @property
    def whole(self) -> bool:
        return self.speaker is None or self.speaker.whole


class Gateway:
    """Turns calls into replies for one run: memo first, then equal calls in flight, then the backend.

    An answer is in the memo before anybody sees it, so a killed run loses only the calls in flight. A provider's fault
    is a reply with an outcome; an exception out of `reply` is a fault of this machine or a bug. One gateway belongs to
    one event loop.

    Args:
        memo: where answers are kept; None keeps them in this process only.
        backends: ways of reaching a kind of model instead of the built-in ones, which are made when first needed.
        budget: bounds on what may be spent; once one is reached no further call is made.
        limits: what hosted models may send, by pattern of their model strings.
        alignment: what places a token of a local model's reply in the noise.
        retry_failed: ask again every call whose stored answer has no text, as its next attempt, once in this
            gateway's life; without it the newest stored answer is replayed, whatever its outcome.
        clock: seconds, for the latency of replies whose backend reports none.
        on_reply: told of every reply, in the order in which they arrive.

    Example:
        >>> from coupled_arena.coupling import Sampling
        >>> from coupled_arena.models.calls import Message
        >>> class Echo:
        ...     def abilities(self, model): return Abilities()
        ...     def identity(self, model): return model.model
        ...     def problems(self, model): return ()
        ...     async def complete(self, call): return Reply(text=call.messages[-1].content, outcome="ok")
        ...     async def aclose(self): pass
        >>> async def ask():
        ...     async with Gateway(backends={"hosted": Echo()}) as gateway:
        ...         call = Call(Model("openai/m"), (Message("user", "hello"),), Sampling(), 10, bytes(16))
        ...         return (await gateway.reply(call)).text
        >>> asyncio.run(ask())
        'hello'
    """

    def __init__(
        self,
        memo: Memo | None = None,
        *,
        backends: Mapping[Kind, Backend] | None = None,
        budget: Budget | None = None,
        limits: Mapping[str, Limit] | None = None,
        alignment: Alignment = "step",
        retry_failed: bool = False,
        clock: Callable[[], float] = time.monotonic,
        on_reply: ReplyListener | None = None,
    ) -> None:
        self.memo: Memo = MemoryMemo() if memo is None else memo
        """Where answers are kept."""
        self.counts = Counts()
        """Calls of this invocation."""
        self.retry_failed = retry_failed
        """Whether stored answers without text are asked for again."""
        self.on_reply = on_reply
        """Told of every reply."""
        self.on_wait: WaitListener | None = None
        """Told when a call has to wait before its next request."""
        self.alignment: Alignment = alignment
        """What places a token of a local model's reply in the noise."""
        self.budget = Budget() if budget is None else budget
        """Bounds on what may be spent."""
        self.spent_before = Spent()
        """What earlier executions of the run have paid for."""
        self.unreachable: dict[str, str] = {}
        """Why models cannot be asked, by name; known to matter only for a call that is not in the memo."""
        self.stopped = ""
        """Which bound of the budget was reached, once one is."""
        self._limits = dict(limits or {})
        self._began = None if self.budget.minutes is None else clock()
        self._backends: dict[Kind, Backend] = dict(backends or {})
        self._clock = clock
        self._routes: dict[Model, _Route] = {}
        self._flights: dict[bytes, _Flight] = {}
        self._tasks: set[asyncio.Task[Reply]] = set()
        self._turns: dict[asyncio.Task[Reply], Speaker] = {}
        self._retried: dict[bytes, bytes] = {}

    async def reply(self, call: Call, speaker: Speaker | None = None) -> Reply:
        """Return the answer to a call, from the memo or from its model, or from whoever speaks in its place.

        Equal calls in flight share one request, and cancelling one waiter leaves the others their answer; the request
        itself is cancelled when nobody waits any more. What the backend raises, every waiter gets.

        Raises:
            BudgetReached: the call is not in the memo, and nothing more may be spent.
            ModelUnavailable: the model's weights, engine or package is not to be had here.
            EngineFault: the local engine failed in the middle of its work.
            StoreError: the memo cannot be read or written.
        """
        route = self._route(call.model)
        key = call.key(route.identity)
        while (flight := self._flights.get(key)) is not None:
            reply = await self._land(key, flight)
            if flight.whole:
                self._note(call, reply, memoised=True)
                return reply
        call, asked, stored = self._recall(call, key, route)
        if stored is not None:
            self._note(call, stored, memoised=True)
            return stored
        return await self._land(key, self._take_off(call, key, asked, route, speaker))

    def abilities(self, model: Model) -> Abilities:
        """Return what a model can be asked for beyond a plain chat; loads no weights."""
        return self._route(model).backend.abilities(model)

    def problems(self, model: Model) -> Sequence[str]:
        """Return what keeps a model from being used here, one sentence each.

        Asks no provider, but may work on this machine's files for seconds (see `Backend.problems`).
        """
        return self._backend(model.kind).problems(model)

    def use(self, kind: Kind, backend: Backend) -> None:
        """Reach a kind of model by this backend from now on."""
        self._backends[kind] = backend

    def identity(self, model: Model) -> str:
        """Return what a model string stands for (weights, world, address); loads no weights."""
        return self._route(model).identity

    @property
    def spent(self) -> Spent:
        """What the run has paid for, in all its executions."""
        before, now = self.spent_before, self.counts.spent
        return Spent(before.usd + now.usd, before.tokens + now.tokens, before.calls + now.calls)

    async def probe(self, call: Call) -> Reply:
        """Ask past the memo, the counts and the budget: the answer is no part of a run."""
        return await self._route(call.model).backend.complete(call)

    async def drain(self) -> None:
        """Wait for the requests in flight, so that what they cost is not lost; their answers are in the memo then.

        Calls that wait to be sent, or to be sent again, are given up.
        """
        for flight in self._flights.values():
            if flight.patience.idle:
                flight.task.cancel()
        while flying := self._tasks | self._turns.keys():
            await asyncio.wait(flying)

    async def aclose(self) -> None:
        """Cancel what is in flight and let go of connections and weights."""
        flying = self._tasks | self._turns.keys()
        for task in flying:
            task.cancel()
        await asyncio.gather(*flying, return_exceptions=True)
        for backend in self._backends.values():
            await backend.aclose()
        self._routes.clear()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def _route(self, model: Model) -> _Route:
        route = self._routes.get(model)
        if route is None:
            backend = self._backend(model.kind)
            route = self._routes[model] = _Route(backend, backend.identity(model))
        return route

    def _backend(self, kind: Kind) -> Backend:
        backend = self._backends.get(kind)
        if backend is None:
            backend = self._backends[kind] = default_backend(kind, self._limits, self._waiting)
        return backend

    def _waiting(self, model: Model, seconds: float, reason: str) -> None:
        if self.on_wait is not None:
            self.on_wait(model, seconds, reason)

    def _recall(self, call: Call, key: bytes, route: _Route) -> tuple[Call, bytes, Reply | None]:
        """Find the stored answer to a call, or the call to make (perhaps a further attempt) and its memo key."""
        stored = self.memo.recall(key)
        if stored is None or stored.answered:
            return call, key, stored
        settled = self._retried.get(key)
        newest, attempt, asked = stored, call, key
        while True:
            attempt = dataclasses.replace(attempt, attempt=attempt.attempt + 1)
            further = attempt.key(route.identity)
            stored = self.memo.recall(further)
            if stored is None:
                break
            call, asked, newest = attempt, further, stored
            if stored.answered:
                break
        if newest.answered or not self.retry_failed or asked == settled:
            return call, asked, newest
        return attempt, further, None

    def _take_off(self, call: Call, key: bytes, asked: bytes, route: _Route, speaker: Speaker | None) -> _Flight:
        if speaker is None or speaker.whole:
            self._afford()
        if why := self.unreachable.get(call.model.name):
            raise ModelUnavailable(f"{call.model.name}: {why}, and this call is not in the memo")
        patience = Patience(self._go_on)
        with answering(patience):
            task = asyncio.get_running_loop().create_task(self._ask(call, key, asked, route.backend, speaker))
        flight = self._flights[key] = _Flight(task, speaker, patience)
        if speaker is None:
            self._tasks.add(task)
        else:
            self._turns[task] = speaker
        task.add_done_callback(self._landed)
        return flight

    def _afford(self) -> None:
        """Refuse a call once a bound is reached; calls in flight count as made."""
        spent = self.spent
        # A turn that is made of calls is no call: these are counted themselves.
        turns = sum(speaker.whole for speaker in self._turns.values())
        self._hold_to(spent._replace(calls=spent.calls + len(self._tasks) + turns))

    def _go_on(self) -> None:
        """Refuse a further request of a call in flight once a bound is reached."""
        self._hold_to(self.spent)

    def _hold_to(self, spent: Spent) -> None:
        minutes = 0.0 if self._began is None else (self._clock() - self._began) / 60
        self.stopped = self.stopped or self.budget.reached(spent, minutes=minutes)
        if self.stopped:
            raise BudgetReached(f"stopped at budget.{self.stopped}; set a larger one and run it again to go on")

    def _landed(self, task: asyncio.Task[Reply]) -> None:
        self._tasks.discard(task)
        self._turns.pop(task, None)
        if task.done() and not task.cancelled():
            # Where every waiter was cancelled nobody else retrieves it, and asyncio would complain at collection.
            task.exception()

    async def _ask(self, call: Call, key: bytes, asked: bytes, backend: Backend, speaker: Speaker | None) -> Reply:
        flight = self._flights[key]
        try:
            began = self._clock()
            # What is stored must be what the run saw, or a resumed run would send other prompts than the first one did.
            reply = storable_record(await (speaker or backend).complete(call))
            if not flight.whole:
                return reply
            if not reply.latency:
                reply = reply.model_copy(update={"latency": self._clock() - began})
            self.memo.remember(asked, call, reply)
        finally:
            if self._flights.get(key) is flight:
                del self._flights[key]
        if not reply.answered:
            self._retried[key] = asked
        # From here on it counts as made, and must not count as in flight as well.
        self._landed(flight.task)
        self._note(call, reply, memoised=False)
        return reply

    async def _land(self, key: bytes, flight: _Flight) -> Reply:
        flight.waiters += 1
        try:
            return await asyncio.shield(flight.task)
        except asyncio.CancelledError:
            # A run that stops at its budget has paid for the calls in flight, and waits for them (`drain`).
            if flight.waiters == 1 and not (self.stopped and flight.whole) and flight.task.cancel():
                # At once: a call that arrives before the task has noticed must not join it.
                self._flights.pop(key, None)
            raise
        finally:
            flight.waiters -= 1

    def _note(self, call: Call, reply: Reply, *, memoised: bool) -> None:
        counts = self.counts
        if memoised:
            counts.memoised += 1
        else:
            counts.made += 1
            counts.retries += reply.retries
            counts.usage += reply.usage
            if not reply.answered:
                counts.failed += 1
            if reply.cost is None:
                counts.unpriced.add(call.model.name)
            else:
                counts.usd += reply.cost
        if self.on_reply is not None:
            self.on_reply(call, reply, memoised)


def default_backend(
    kind: Kind, limits: Mapping[str, Limit] | None = None, on_wait: WaitListener | None = None
) -> Backend:
    """Return a new built-in way of reaching a kind of model."""
    if kind == "sim":
        from coupled_arena.models.simulated.backend import SimulatedBackend

        return SimulatedBackend()
    if kind == "local":
        from coupled_arena.models.local.backend import LocalBackend

        return LocalBackend()
    if kind == "agent":
        raise ModelError("an agent plays in the tournament that names it in `agents`, and cannot be asked without one")
    from coupled_arena.models.hosted.backend import HostedBackend

    return HostedBackend(limits=limits, on_wait=on_wait)
