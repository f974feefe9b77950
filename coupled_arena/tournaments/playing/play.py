"""One execution of a definition on a store, from the checks to the result."""

import asyncio
import platform
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from coupled_arena.arguments import path_of
from coupled_arena.errors import HERE, BudgetReached, ListenerFailed
from coupled_arena.models.calls import Backend
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.model import Kind
from coupled_arena.prompts import PromptSet, load_prompts
from coupled_arena.protocols import Observer
from coupled_arena.shown import plural
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.derived import JudgedAnew
from coupled_arena.tournaments.playing.events import CallAnswered, CallWaits, Event, Listener, RunOpened
from coupled_arena.tournaments.playing.questions import questions_of
from coupled_arena.tournaments.playing.rejudger import Rejudger
from coupled_arena.tournaments.playing.runner import Runner
from coupled_arena.tournaments.playing.seating import Seating
from coupled_arena.tournaments.preflight.clearance import cleared
from coupled_arena.tournaments.preflight.extent import battles_of
from coupled_arena.tournaments.results.caveats import caveats
from coupled_arena.tournaments.results.result import Result
from coupled_arena.tournaments.storage.database import MEMORY, is_memory
from coupled_arena.tournaments.storage.reader import RunReader
from coupled_arena.tournaments.storage.run_store import RunStore
from coupled_arena.tournaments.storage.store import Store
from coupled_arena.tournaments.stored import digest_of

PACKAGES = ("autogen-agentchat", "coupled-arena", "litellm", "networkx", "numpy", "pydantic", "xllamacpp")
"""Packages whose versions a manifest names."""


async def play(
    tournament: Tournament,
    store: Store | Path | str | None = None,
    *,
    listeners: Sequence[Listener] = (),
    observers: Sequence[Observer] = (),
    retry_failed: bool = False,
    preflight: bool = True,
    where: str = HERE,
    backends: Mapping[Kind, Backend] | None = None,
) -> Result:
    """Play a tournament, or go on with it: everything a store already holds an answer to is not asked again.

    Args:
        tournament: the definition.
        store: where the run lives; None or `:memory:` keeps it in memory.
        listeners: told of every event.
        observers: told of every utterance on the bus.
        retry_failed: ask again what was answered without text.
        preflight: ask every hosted model once before the first call of the run, unless the store holds the run to its
            end; models behind a backend of `backends` are not asked.
        where: the file of the definition, named in every problem.
        backends: ways of reaching a kind of model instead of the built-in ones.

    Raises:
        ConfigurationError: the definition cannot be played; raised before the first call.
        BudgetReached: the run stopped because its budget is spent; holds the `Result` of what was played.
        StoreError: the store cannot be used.
        ListenerFailed: a listener or observer raised.
        ModelError: a local model failed, or nobody supplied a question.
    """
    async with Gateway(
        backends=backends,
        budget=tournament.budget,
        limits=tournament.limits,
        alignment=tournament.alignment,
        retry_failed=retry_failed,
    ) as gateway:
        tell = telling(listeners, gateway)
        probing = preflight and "hosted" not in (backends or {})
        await cleared(tournament, gateway, store, probing=probing, retry_failed=retry_failed, where=where)
        prompts = load_prompts(tournament.prompt_set).with_actions(*tournament.own_actions)
        with opened(store) as (written, read):
            digest = digest_of(tournament)
            with written.open_run(digest, tournament.name, tournament.document(), manifest(tournament, prompts)) as run:
                gateway.memo, gateway.spent_before = run, run.reader.spent
                source = StoredRun(read, run.id)
                if is_memory(store):
                    # A store in memory lives as long as whatever reads it.
                    weakref.finalize(source, written.close)
                apart = frozenset[frozenset[str]]()
                if "local" not in (backends or {}):
                    apart = await asyncio.to_thread(_strangers, tournament)
                try:
                    return await _played(tournament, gateway, prompts, run, source, tell, observers, apart)
                except BudgetReached as stop:
                    await gateway.drain()
                    stop.result = _stopped(tournament, gateway, run, source)
                    raise


async def _played(
    tournament: Tournament,
    gateway: Gateway,
    prompts: PromptSet,
    run: RunStore,
    source: "StoredRun",
    tell: Listener,
    observers: Sequence[Observer],
    apart: frozenset[frozenset[str]],
) -> Result:
    """Play from the questions to the last round, and say what it came to."""
    battles, _ = battles_of(tournament)
    tell(RunOpened(run.id, battles))
    seating = Seating(tournament, gateway, prompts)
    asked = await questions_of(tournament, seating, prompts)
    for question in asked.questions:
        run.save_question(question)
    run.save_rejected(asked.rejected)
    runner = (Rejudger if isinstance(tournament, JudgedAnew) else Runner)(
        tournament, seating, prompts, asked.shown, [tell], observers, keeper=run, strangers=apart
    )
    if tournament.carried:
        run.copy_battles(tournament.origin["run"], [battle.id for battle in tournament.carried])
        runner.earlier = tournament.carried
    played = await runner.play()
    run.drop_unsaved()
    known = (*asked.caveats, *caveats(tournament, seating.author_of, played.battles, apart))
    run.finish("finished", known)
    return Result(
        run=run.id,
        tournament=tournament,
        questions=asked.questions,
        battles=played.battles,
        ratings=played.ratings,
        counts=gateway.counts,
        spent=gateway.spent,
        caveats=known,
        source=source,
    )


def _strangers(tournament: Tournament) -> frozenset[frozenset[str]]:
    """Return the pairs of models that have no token in common."""
    # What reads model files is imported where there are any.
    if not tournament.asks("models") or sum(model.kind == "local" for model in tournament.models) < 2:
        return frozenset()
    from coupled_arena.models.local.common import strangers

    pairs = strangers(tournament.models)
    return frozenset(frozenset(tournament.models[place].name for place in pair) for pair in pairs)


def _stopped(tournament: Tournament, gateway: Gateway, run: RunStore, source: "StoredRun") -> Result:
    """Say what a run came to that stopped at its budget, and what is missing."""
    kept = Result.of(run.reader, source=source)
    most, _ = battles_of(tournament)
    played = len(kept.battles) - len(tournament.carried)
    missing = f"{played} of at most {plural(most, 'battle')} were played when budget.{gateway.stopped}"
    run.finish("interrupted", [missing])
    return replace(kept, tournament=tournament, counts=gateway.counts, spent=gateway.spent, caveats=(missing,))


@dataclass(frozen=True, slots=True, weakref_slot=True)
class StoredRun:
    """Opens what a store holds of a run, again and again."""

    store: Store | Path
    """The store, or its file, which is opened anew each time."""
    run: str
    """Id of the run."""

    @contextmanager
    def __call__(self) -> Iterator[RunReader]:
        """Open the run for reading."""
        if isinstance(self.store, Store):
            yield self.store.run(self.run)
            return
        with Store(self.store, create=False) as opened:
            yield opened.run(self.run)


@contextmanager
def opened(store: Store | Path | str | None) -> Iterator[tuple[Store, Store | Path]]:
    """Yield a store to write, and the store or file to read it from later."""
    if isinstance(store, Store):
        yield store, store
    elif not is_memory(store):
        # Absolute, because whoever reads it later may have changed the working folder.
        path = path_of(store, HERE, "store").absolute()
        with Store(path) as own:
            yield own, path
    else:
        kept = Store(MEMORY)
        try:
            yield kept, kept
        except BudgetReached:
            raise
        except BaseException:
            kept.close()
            raise


def manifest(tournament: Tournament, prompts: PromptSet) -> dict[str, Any]:
    """Return what else a reader needs to repeat a run: its base if it has one, versions, prompts, the seed."""
    return {
        **({"base": tournament.origin} if tournament.origin else {}),
        "versions": versions(),
        "prompts": {"name": prompts.name, "digest": prompts.digest, "templates": dict(prompts.templates)},
        "seed": tournament.seed,
    }


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that a run depends on, those that are not there left out."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def telling(listeners: Sequence[Listener], gateway: Gateway) -> Listener:
    """Return what tells all listeners, who hear of the gateway's calls from now on.

    An exception of theirs ends the run instead of making a battle void.
    """

    def tell(event: Event) -> None:
        try:
            for listener in listeners:
                listener(event)
        except Exception as error:
            raise ListenerFailed(f"a listener raised {type(error).__name__}: {error}") from error

    if listeners:
        gateway.on_reply = lambda call, reply, memoised: tell(CallAnswered(call, reply, memoised))
        gateway.on_wait = lambda model, seconds, reason: tell(CallWaits(model, seconds, reason))
    return tell
