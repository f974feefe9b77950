"""The drawings of runs: kept while they hold, made anew when the runs have gone on, and told to who looks at them."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from coupled_arena.errors import RunNotFound, StoreError
from coupled_arena.reports.viewer.drawing import Drawing
from coupled_arena.reports.viewer.shelf import Shelf
from coupled_arena.tournaments.storage.store import Seen
from coupled_arena.tournaments.storage.watching import Watch

LOOK_SECONDS = 1.0
"""How often the store is looked at while somebody looks on."""

REST = 4.0
"""A run that is played is not drawn again before this many times the processor time of its last drawing has passed."""

FAULT_SECONDS = 15.0
"""A run that could not be drawn is tried again after this time, unless its page is asked for."""

MOST_KEPT = 16
"""Drawings kept, a few hundred kilobytes each for a run of 10,000 battles."""

Draw = Callable[[Path, str], Awaitable[Drawing]]
"""Draws a run of a store."""


@dataclass(slots=True)
class _Hung:
    """A run whose drawing is kept."""

    drawing: Drawing | None = None
    """The drawing; None until there is one."""
    of: Seen | None = None
    """What the run had come to when it was drawn."""
    ended: float = 0.0
    """When it ended, by the clock."""
    fault: StoreError | None = None
    """Why it could not be drawn the last time."""
    work: "asyncio.Task[None] | None" = field(default=None, repr=False)
    """Drawing that is going on."""


class Gallery:
    """Keeps drawings of the runs of a store, and watches it while somebody looks on.

    Args:
        path: the store.
        draw: draws a run.
        shelf: keeps drawings of finished runs for the next time; None keeps none.
        clock: seconds, for how long drawing takes.
        look_seconds: how often the store is looked at.
    """

    def __init__(
        self,
        path: Path,
        draw: Draw,
        *,
        shelf: Shelf | None = None,
        clock: Callable[[], float] = time.monotonic,
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        self._path, self._draw, self._shelf = path, draw, shelf
        self._clock, self._look_seconds = clock, look_seconds
        self._watch = Watch(path)
        self._hung: dict[str, _Hung] = {}
        self._seen: dict[str, Seen] = {}
        self._problem = ""
        self._changed = asyncio.Condition()
        self._lookers = 0
        self._looking: asyncio.Task[None] | None = None
        # One after the other: each takes a core and the memory of a whole run.
        self._one = asyncio.Lock()
        self._eye = asyncio.Lock()

    async def runs(self) -> list[Seen]:
        """Return what the runs have come to, the one opened last first, and after each what was derived from it.

        Raises:
            StoreError: the store cannot be read.
        """
        await self._look()
        if self._problem:
            raise StoreError(self._problem)
        return _with_derived(self._seen)

    async def begin(self) -> None:
        """Draw the run opened last, which is the one that most people want to see."""
        with suppress(StoreError):
            newest = next((seen.id for seen in await self.runs() if not seen.bench), None)
            if newest is not None:
                await self.drawing(newest)

    async def drawing(self, run: str) -> tuple[Drawing, str]:
        """Return the drawing of a run and the state it shows; a run that has gone on since is drawn anew meanwhile.

        Raises:
            RunNotFound: there is no such run, or it is a bench.
            StoreError: the store cannot be read.
        """
        await self.runs()
        seen = self._seen.get(run)
        if seen is None:
            raise RunNotFound(f"{self._path}: holds no run {run!r}; / lists those it holds")
        hung = self._hung.setdefault(run, _Hung())
        self._begin_when_due(run, after_fault=0.0)
        if hung.drawing is None and hung.work is not None:
            await asyncio.shield(hung.work)
        if hung.drawing is None:
            raise hung.fault or StoreError(f"{self._path}: run {run} is not drawn yet; load the page again")
        self._keep(run)
        return hung.drawing, self._state(run)

    async def changes(
        self, run: str | None, known: str | None, stopping: Callable[[], bool]
    ) -> AsyncGenerator[str, None]:
        """Yield the state of a run, or of all runs, now and whenever a page shows something else than it could.

        Args:
            run: the run; None is the list of runs.
            known: the state a page has shown already.
            stopping: asked at every look whether to end.
        """
        self._lookers += 1
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look_on())
        try:
            while not stopping():
                state = self._state(run)
                if state != known:
                    known = state
                    yield state
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._look_seconds), self._changed:
                        await self._changed.wait()
                if run is not None and run in self._seen and run in self._hung:
                    self._begin_when_due(run, after_fault=FAULT_SECONDS)
        finally:
            self._lookers -= 1

    async def aclose(self) -> None:
        """End what goes on."""
        tasks = [hung.work for hung in self._hung.values() if hung.work is not None]
        tasks += [self._looking] if self._looking is not None else []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._watch.close()

    def _state(self, run: str | None) -> str:
        if run is None:
            return "|".join(f"{s.id} {s.status} {s.opened} {s.round} {s.battles}" for s in self._seen.values())
        hung = self._hung.get(run)
        of = None if hung is None else hung.of
        return "" if of is None else f"{of.status} {of.opened} {of.round} {of.battles}"

    async def _look_on(self) -> None:
        while self._lookers:
            await self._look()
            await asyncio.sleep(self._look_seconds)

    async def _look(self) -> None:
        async with self._eye:
            try:
                found, problem = await asyncio.to_thread(self._watch.look), ""
            except StoreError as error:
                found, problem = (), str(error)
        if problem:
            # What was drawn stays on the wall; a file may be back at the next look.
            self._problem = problem
            return
        seen = {one.id: one for one in found}
        self._problem = ""
        if seen != self._seen:
            self._seen = seen
            await self._tell()

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    def _begin_when_due(self, run: str, *, after_fault: float) -> None:
        hung = self._hung[run]
        rest = after_fault if hung.fault else 0.0 if hung.drawing is None else REST * hung.drawing.seconds
        due = self._clock() - hung.ended >= rest or (not hung.fault and self._seen[run].status != "running")
        if hung.of != self._seen[run] and due and (hung.work is None or hung.work.done()):
            hung.work = asyncio.create_task(self._work(run, hung))

    async def _work(self, run: str, hung: _Hung) -> None:
        async with self._one:
            seen = self._seen.get(run)
            if seen is None or seen == hung.of:
                return
            try:
                hung.drawing, hung.of, hung.fault = await self._drawn(seen), seen, None
            except StoreError as error:
                hung.fault = error
            except OSError as error:
                hung.fault = StoreError(f"{self._path}: run {run} could not be drawn ({error}); load the page again")
            hung.ended = self._clock()
        await self._tell()

    async def _drawn(self, seen: Seen) -> Drawing:
        """Return the drawing of a run from the shelf, or a new one."""
        if self._shelf is None:
            return await self._draw(self._path, seen.id)
        if (kept := await asyncio.to_thread(self._shelf.find, seen)) is not None:
            return kept
        drawing = await self._draw(self._path, seen.id)
        await self._look()
        if self._seen.get(seen.id) == seen:
            await asyncio.to_thread(self._shelf.keep, seen, drawing)
        return drawing

    def _keep(self, run: str) -> None:
        """Put a run last, and take down what was not looked at for longest."""
        self._hung[run] = self._hung.pop(run)
        while len(self._hung) > MOST_KEPT:
            self._hung.pop(next(iter(self._hung)))


def _with_derived(seen: Mapping[str, Seen]) -> list[Seen]:
    """Return runs with those derived from each right after it: a study of judges hides no run behind its cells."""
    derived: dict[str | None, list[Seen]] = {}
    for one in seen.values():
        derived.setdefault(one.base, []).append(one)
    found: dict[str, Seen] = {}
    for one in seen.values():
        if one.id in found:
            continue
        line = [one]
        while (base := seen.get(line[-1].base or "")) is not None and base not in line:
            line.append(base)
        waiting = line[-1:]
        while waiting:
            following = waiting.pop()
            if following.id not in found:
                found[following.id] = following
                waiting += reversed(derived.get(following.id, ()))
    return list(found.values())
