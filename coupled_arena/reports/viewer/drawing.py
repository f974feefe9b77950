"""What a page needs of a whole run, drawn by a process of its own.

Going through a run takes memory and time in proportion to it. The server answers meanwhile, and a process that has
grown ends with the work and gives the memory back.
"""

import asyncio
import gc
import json
import os
import resource
import select
import sys
import time
import zlib
from contextlib import suppress
from functools import cache, lru_cache
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

from coupled_arena.errors import ArenaError, StoreError
from coupled_arena.records import (
    Battle,
    Decision,
    DecisionStatus,
    Opinion,
    OpinionStatus,
    Order,
    Outcome,
    Record,
    Side,
    Turn,
    Usage,
    Verdict,
)
from coupled_arena.reports.html.document import lines
from coupled_arena.reports.html.overview import overview
from coupled_arena.reports.html.page import packed
from coupled_arena.studies.judging.gathering import Gathered
from coupled_arena.tournaments.results.result import Result
from coupled_arena.tournaments.storage.reader import RunReader
from coupled_arena.tournaments.storage.store import Store

RecordT = TypeVar("RecordT", bound=Record)

NICENESS = 5
"""How far the work stands back behind others, above all behind a tournament that is being played."""

IDLE_SECONDS = 60
"""How long the process waits for more work."""

MOST_MEGABYTES = 350
"""A process that has held more than this ends when its work is done."""

THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
"""Where libraries of linear algebra read how many threads to take; on a busy machine more than one wait in vain."""


class Drawing(NamedTuple):
    """A run as a page draws it, compressed."""

    overview: bytes
    """Everything but its battles (`html.document.Overview`)."""
    lines: bytes
    """A line for every battle (`html.document.Lines`)."""
    seconds: float
    """Processor time that going through the run took; on a busy machine it takes longer by the clock."""

    def written(self) -> bytes:
        """Return it as bytes: a line of JSON, the sizes of its parts and their checksum, and then the parts."""
        parts = self.overview + self.lines
        head = {"overview": len(self.overview), "lines": len(self.lines), "sum": zlib.crc32(parts)}
        return b"".join((json.dumps({**head, "seconds": self.seconds}).encode(), b"\n", parts))

    @classmethod
    def read(cls, content: bytes) -> "Drawing":
        """Return what was written; anything else, less of it, or what a disk has spoilt is a `ValueError`."""
        head, _, parts = content.partition(b"\n")
        try:
            whole, each, checksum, seconds = itemgetter("overview", "lines", "sum", "seconds")(json.loads(head))
            found = cls(parts[:whole], parts[whole:], float(seconds))
            complete = (len(found.overview), len(found.lines), zlib.crc32(parts)) == (whole, each, checksum)
        except (TypeError, KeyError) as error:
            raise ValueError("no drawing") from error
        if not complete:
            raise ValueError("no whole drawing")
        return found


def draw(path: Path, run: str) -> Drawing:
    """Go through a run, as far as it was played.

    Raises:
        StoreError: the store cannot be read, or the run is a bench.
    """
    began = time.process_time()
    with Store(path, reading=True) as store:
        result, gathered = gone_through(store.run(run))
        parts = packed(overview(result, gathered).model_dump()), packed(lines(result.battles).model_dump())
    return Drawing(*parts, time.process_time() - began)


def gone_through(run: RunReader) -> tuple[Result, Gathered]:
    """Return what a run comes to, its battles lean, and the opinions on them: every text is read once."""
    gathered = Gathered(run)

    def keep(battle: Battle) -> Battle:
        gathered.add(battle)
        return lean(battle)

    return Result.of(run, keep=keep), gathered


def lean(battle: Battle) -> Battle:
    """Return a battle of which so much is left as is drawn of a whole run; what is alike in many is one object.

    First turns that shared dice have their texts, and every first turn has the tokens of all turns of its debater. A
    single battle is loaded when its page is opened.
    """
    used: dict[tuple[str, str], Usage] = {}
    for turn in battle.turns:
        who = turn.speaker, turn.model
        used[who] = used[who] + turn.usage if who in used else turn.usage
    with_texts = battle.sharing == "shared"
    turns = []
    for turn in battle.turns:
        if (tokens := used.pop((turn.speaker, turn.model), None)) is None:
            turns.append(_later(turn.step, turn.speaker, turn.model, turn.outcome, turn.missing, turn.cut))
        else:
            turns.append(_slim(turn, sections=turn.sections if with_texts else (), usage=tokens, detail=""))
    opinions = (
        _opinion(found.judge, found.stage, found.order, found.verdict, found.status) for found in battle.opinions
    )
    decision = battle.decision
    votes = tuple(decision.votes.items())
    decided = _decision(decision.status, decision.verdict, votes, decision.forfeited)
    return _slim(battle, turns=tuple(turns), opinions=tuple(opinions), decision=decided)


def _slim(record: RecordT, **changes: Any) -> RecordT:
    """Return a copy that shares with others the set of its fields' names, which is most of what a record takes."""
    kind = type(record)
    return cast(RecordT, kind.model_construct(_fields(kind), **{**record.__dict__, **changes}))


@cache
def _fields(kind: type[Record]) -> set[str]:
    return set(kind.model_fields)


@lru_cache(10_000)
def _later(step: int, speaker: str, model: str, outcome: Outcome, missing: tuple[str, ...], cut: bool) -> Turn:
    return Turn(step=step, round=1, speaker=speaker, model=model, outcome=outcome, missing=missing, cut=cut)


@lru_cache(10_000)
def _opinion(judge: str, stage: int, order: Order, verdict: Verdict | None, status: OpinionStatus) -> Opinion:
    return Opinion(judge=judge, stage=stage, order=order, verdict=verdict, status=status)


@lru_cache(10_000)
def _decision(
    status: DecisionStatus, verdict: Verdict | None, votes: tuple[tuple[str, int], ...], forfeited: tuple[Side, ...]
) -> Decision:
    return Decision(status=status, verdict=verdict, votes=dict(votes), forfeited=forfeited)


class Drawer:
    """Has runs drawn by another process, which is started when it is needed; one run at a time."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None

    async def __call__(self, path: Path, run: str) -> Drawing:
        """Return the drawing of a run.

        Raises:
            StoreError: it could not be drawn.
        """
        order = json.dumps([str(path), run]).encode() + b"\n"
        # A process that was there may have ended just now, for want of work.
        for _ in range(2):
            if self._process is None:
                self._process = await self._start()
            try:
                if (found := await self._ask(self._process, order)) is not None:
                    return found
            except asyncio.CancelledError:
                await self.aclose()
                raise
            await self.aclose()
        raise StoreError(f"{path}: run {run} could not be drawn: its process ended; load the page again")

    async def aclose(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    @staticmethod
    async def _start() -> asyncio.subprocess.Process:
        pipe, one_core = asyncio.subprocess.PIPE, dict.fromkeys(THREADS, "1")
        # In a session of its own, Ctrl-C in a terminal ends the server only, and that ends it.
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", __name__, stdin=pipe, stdout=pipe, start_new_session=True, env=os.environ | one_core
        )

    async def _ask(self, process: asyncio.subprocess.Process, order: bytes) -> Drawing | None:
        """Return the drawing, or None where the process has ended."""
        stdin, stdout = process.stdin, process.stdout
        if stdin is None or stdout is None:
            return None
        try:
            stdin.write(order)
            await stdin.drain()
            head = json.loads(await stdout.readline() or b"null")
            if head is None:
                return None
            if "problem" in head:
                raise StoreError(head["problem"])
            parts = await stdout.readexactly(head["overview"]), await stdout.readexactly(head["lines"])
            return Drawing(*parts, head["seconds"])
        except (OSError, asyncio.IncompleteReadError):
            return None


def main() -> None:
    """Draw the runs that standard input names, a line each: `[store, run]`.

    Each answer is a drawing as it is written, or a line of JSON that tells the problem.
    """
    os.nice(NICENESS)
    # Records refer to each other in no circles, and looking for some takes a fifth of the time.
    gc.disable()
    while select.select([sys.stdin], [], [], IDLE_SECONDS)[0] and (order := sys.stdin.readline()):
        path, run = json.loads(order)
        try:
            answer = draw(Path(path), run).written()
        except ArenaError as error:
            answer = json.dumps({"problem": str(error)}).encode() + b"\n"
        try:
            sys.stdout.buffer.write(answer)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            # Whoever asked is gone. What is still buffered would be tried once more at the exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            break
        gc.collect()
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 1024 * MOST_MEGABYTES:
            break


if __name__ == "__main__":
    main()
