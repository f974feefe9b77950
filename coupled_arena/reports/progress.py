"""What a running tournament shows: a live bar on a terminal, one changing line in a notebook, plain lines elsewhere."""

import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.text import Text

from coupled_arena.records import Battle
from coupled_arena.shown import plural, printable
from coupled_arena.tournaments.playing.events import (
    BattleEnded,
    BenchOpened,
    CallAnswered,
    CallWaits,
    Event,
    RoundOpened,
    RunOpened,
)

SECONDS_BETWEEN_LINES = 5.0
SECONDS_BETWEEN_CHANGES = 0.5
LONGEST_REMARK = 300
ENOUGH = 3
"""Battles that have to end before anything is said of the time that is left."""


class Progress:
    """A listener that shows battles, calls, cost, retries and time left, and every fault when it first happens.

    Args:
        console: where to write; None is standard error. A bar if it is a terminal and the listener was entered as a
            context; in a notebook a line that changes; else a line every few seconds and one per round.
        clock: seconds.

    Example:
        >>> import coupled_arena as ca
        >>> tournament = ca.Tournament(models=["sim/ada", "sim/bob"], judges=["sim/j"], questions_per_domain=1)
        >>> result = tournament.run(listeners=[ca.Progress()])  # in a notebook: await tournament.arun(listeners=...)
    """

    unit = "battle"
    """What is counted."""

    def __init__(self, console: Console | None = None, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.console = Console(stderr=True) if console is None else console
        self.clock = clock
        self.total = self.done = self.made = self.memoised = self.retries = 0
        self.usd = 0.0
        self.unpriced: set[str] = set()
        self.spent = 0
        """Calls that the battles took which have ended."""
        self.start = (clock(), 0, 0)
        """When the first round began, and the calls made and memoised before."""
        self.spoken = clock()
        self.quiet: dict[str, float] = {}
        self.said: set[str] = set()
        self.bar: Bar | None = None
        self.task: TaskID | None = None
        self.place: Any = None

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self.bar = Bar(
                TextColumn(f"{self.unit}s"),
                BarColumn(bar_width=16),
                MofNCompleteColumn(),
                TextColumn("{task.description}"),
                TimeElapsedColumn(),
                TextColumn("{task.fields[left]}"),
                console=self.console,
                transient=True,
            )
            self.task = self.bar.add_task("", total=None, left="")
            self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()

    def __call__(self, event: Event) -> None:
        """Take note of an event."""
        match event:
            case RunOpened(run, total) | BenchOpened(run, total):
                self.total = total
                self._say(f"run {run}: at most {plural(total, self.unit)}")
            case RoundOpened(number, pairings):
                if not self.done:
                    self.start = (self.clock(), self.made, self.memoised)
                byes = [pairing.a for pairing in pairings if pairing.b is None]
                bye = f", {byes[0]} has a bye" if byes else ""
                matches = len(pairings) - len(byes)
                self._say(f"round {number}: {plural(matches, 'match')}{bye}")
            case BattleEnded(battle):
                self.done += 1
                self.spent += calls_of(battle)
                for remark in remarks(battle):
                    # What a provider does not answer it will not answer a hundred times over.
                    if remark not in self.said:
                        self.said.add(remark)
                        self._say(f"{battle.id}: {remark}")
                self._step()
            case CallAnswered(call, reply, memoised):
                self._count(call.model.name, reply.cost, reply.retries, memoised=memoised)
                self._step()
            case CallWaits(model, seconds, reason):
                self._wait(model.name, seconds, reason)

    def _wait(self, model: str, seconds: float, reason: str) -> None:
        # Many calls of one model wait for the same thing: it is said once for as long as it lasts.
        now = self.clock()
        if now >= self.quiet.get(model, now):
            self.quiet[model] = now + max(seconds, SECONDS_BETWEEN_LINES)
            self._say(f"{model}: waits {seconds:.0f} s: {reason}")

    def _count(self, model: str, cost: float | None, retries: int, *, memoised: bool) -> None:
        if memoised:
            self.memoised += 1
            return
        self.made += 1
        self.retries += retries
        if cost is None:
            self.unpriced.add(model)
        else:
            self.usd += cost

    @property
    def line(self) -> str:
        """The state in one line."""
        least = "at least " if self.unpriced else ""
        retried = f", {plural(self.retries, 'retry')}" if self.retries else ""
        return f"{plural(self.made, 'call')}, {self.memoised} from the memo{retried}, {least}${self.usd:.2f}"

    def _step(self) -> None:
        if self.bar is not None and self.task is not None:
            left = self._left(self.clock()).removeprefix(", ")
            self.bar.update(self.task, completed=self.done, total=self.total, description=self.line, left=left)
            return
        now = self.clock()
        in_notebook = self.console.is_jupyter
        ended = in_notebook and self.done == self.total
        if ended or now - self.spoken >= (SECONDS_BETWEEN_CHANGES if in_notebook else SECONDS_BETWEEN_LINES):
            self.spoken = now
            self._state(f"{self.done} of {plural(self.total, self.unit)}, {self.line}{self._left(now)}")

    def seconds_left(self, now: float) -> float | None:
        """Return about how many seconds are left, or None before enough battles have ended to say.

        Work is counted in calls, because dozens of battles may be under way before the first one ends, and time by the
        calls that were made, because what the memo answers takes none.
        """
        began, made, memoised = self.start
        made, answered = self.made - made, self.made - made + self.memoised - memoised
        if self.done < min(ENOUGH, self.total) or not made:
            return None
        left = max(self.spent / self.done * self.total - answered, self.total - self.done)
        return left * (now - began) / made

    def _left(self, now: float) -> str:
        seconds = self.seconds_left(now)
        if seconds is None:
            return ""
        return f", about {seconds / 60:.0f} min left" if seconds >= 90 else f", about {seconds:.0f} s left"

    def _state(self, line: str) -> None:
        if not self.console.is_jupyter:
            self._say(line)
            return
        from IPython.display import display

        shown = {"text/plain": printable(line)}
        if self.place is None:
            self.place = display(shown, raw=True, display_id=True)
        else:
            self.place.update(shown, raw=True)

    def _say(self, line: str) -> None:
        self.console.print(Text(printable(line)), soft_wrap=True)


class AnswerProgress(Progress):
    """A listener that shows the answers of a bench instead of battles."""

    unit = "answer"

    def __call__(self, event: Event) -> None:
        """Take note of an event."""
        if isinstance(event, CallAnswered):
            self.done += 1
            self.spent += 1
            remark = f"{event.call.model.name}: {event.reply.outcome}: {event.reply.detail}"[:LONGEST_REMARK]
            if not event.reply.answered and remark not in self.said:
                self.said.add(remark)
                self._say(remark)
        super().__call__(event)


def calls_of(battle: Battle) -> int:
    """Return how many calls a battle took, those included that it shared with others."""
    turns = sum(turn.requests + (max(1, len(turn.sections)) if turn.by_section else 1) for turn in battle.turns)
    asked = [opinion for opinion in battle.opinions if opinion.status != "not asked"]
    # A judge that can choose is asked for its reasons and then for its choice.
    return turns + sum(2 if opinion.probabilities else 1 + opinion.repairs for opinion in asked)


def remarks(battle: Battle) -> list[str]:
    """Return what went wrong in a battle, one line each, with the provider's words but not the battle's id."""
    lines = []
    if battle.decision.status != "decided":
        lines.append(f"{battle.decision.status}: {battle.decision.reason}")
    lines += [
        f"{turn.speaker}, step {turn.step}: {turn.outcome}: {turn.detail}"
        for turn in battle.turns
        if turn.speaker not in ("A", "B") and not turn.answered
    ]
    lines += [
        f"judge {opinion.judge}, stage {opinion.stage}: {opinion.status}: {opinion.detail}"
        for opinion in battle.opinions
        if opinion.status not in ("valid", "not asked")
    ]
    return [line if len(line) <= LONGEST_REMARK else f"{line[:LONGEST_REMARK]}…" for line in lines]
