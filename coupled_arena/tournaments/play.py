"""One execution of a definition on a store, from the checks to the result."""

import hashlib
import platform
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from coupled_arena.models.calls import Backend, Call, Reply
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.model import Kind
from coupled_arena.prompts import PromptSet, load_prompts
from coupled_arena.protocols import Observer
from coupled_arena.tournaments.checks import HERE, check
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.estimate import battles_of
from coupled_arena.tournaments.events import CallAnswered, Listener, RunOpened
from coupled_arena.tournaments.questions import gather
from coupled_arena.tournaments.reader import RunReader
from coupled_arena.tournaments.result import Result, Source
from coupled_arena.tournaments.runner import Runner
from coupled_arena.tournaments.seating import Seating
from coupled_arena.tournaments.store import Store

PACKAGES = ("autogen-agentchat", "coupled-arena", "litellm", "networkx", "numpy", "pydantic", "xllamacpp")
"""Packages whose versions a manifest names."""


async def play(
    tournament: Tournament,
    store: Store | Path | str | None = None,
    *,
    listeners: Sequence[Listener] = (),
    observers: Sequence[Observer] = (),
    retry_failed: bool = False,
    where: str = HERE,
    backends: Mapping[Kind, Backend] | None = None,
) -> Result:
    """Play a tournament, or go on with it: everything a store already holds an answer to is not asked again.

    Args:
        tournament: the definition.
        store: where the run lives; None keeps it in memory.
        listeners: told of every event.
        observers: told of every utterance on the bus.
        retry_failed: ask again what was answered without text.
        where: the file of the definition, named in every problem.
        backends: ways of reaching a kind of model instead of the built-in ones.

    Raises:
        ConfigurationError: the definition cannot be played; raised before the first call.
        StoreError: the store cannot be used.
        ModelError: a local model failed, or nobody supplied a question.
    """
    async with Gateway(backends=backends, retry_failed=retry_failed) as gateway:
        check(tournament, gateway, where)
        prompts = load_prompts(tournament.prompt_set).with_actions(*role_tags(tournament))
        with opened(store) as (shelf, source_of):
            digest = tournament.digest(prompts.digest, *file_digests(tournament))
            with shelf.open_run(digest, tournament.name, tournament.document(), manifest(tournament, prompts)) as run:
                gateway.memo = run
                gateway.on_reply = _reporter(listeners)
                battles, _ = battles_of(tournament)
                for listener in listeners:
                    listener(RunOpened(run.id, battles))
                seating = Seating(tournament, gateway, prompts)
                asked = await gather(tournament, seating, prompts)
                for question in asked.questions:
                    run.save_question(question)
                runner = Runner(tournament, seating, prompts, asked.questions, listeners, observers, keeper=run)
                played = await runner.play()
                run.drop_unsaved()
                known = (*asked.caveats, *caveats(tournament))
                run.finish("finished", known)
                return Result(
                    run=run.id,
                    tournament=tournament,
                    questions=asked.questions,
                    battles=played.battles,
                    ratings=played.ratings,
                    counts=gateway.counts,
                    caveats=known,
                    source=source_of(run.id),
                )


def role_tags(tournament: Tournament) -> list[str]:
    """Return the tags that added roles say, so that every seat reads and defangs them."""
    return sorted({seat.agent.tag for seat in tournament.roles.values() if seat.agent is not None})


def caveats(tournament: Tournament) -> tuple[str, ...]:
    """Return what a reader of the leaderboard must know about the panel."""
    if tournament.is_panel and len(tournament.judging_models) < 3:
        return (f"the panel has {len(tournament.judging_models)} judges; three or more are advisable",)
    return ()


@contextmanager
def opened(store: Store | Path | str | None) -> Iterator[tuple[Store, Callable[[str], Source]]]:
    """Yield a store and what opens a run of it later.

    A store that was given as a path is closed afterwards and opened again for reading; one in memory lives as long as
    whatever was made to read it.
    """
    if isinstance(store, Store):
        yield store, lambda run: lambda: nullcontext(store.run(run))
    elif store is None:
        kept = Store(":memory:")
        try:
            yield kept, lambda run: _kept(kept, run)
        except BaseException:
            kept.close()
            raise
    else:
        with Store(store) as own:
            yield own, lambda run: lambda: _reading(store, run)


def _kept(store: Store, run: str) -> Source:
    def source() -> AbstractContextManager[RunReader]:
        return nullcontext(store.run(run))

    weakref.finalize(source, store.close)
    return source


@contextmanager
def _reading(path: Path | str, run: str) -> Iterator[RunReader]:
    with Store(path, create=False) as store:
        yield store.run(run)


def file_digests(tournament: Tournament) -> list[str]:
    """Return digests of the files a definition names: another content is another run."""
    if not isinstance(tournament.questions, Path):
        return []
    return [hashlib.blake2b(tournament.questions.read_bytes(), digest_size=16).hexdigest()]


def manifest(tournament: Tournament, prompts: PromptSet) -> dict[str, Any]:
    """Return what else a reader needs to repeat a run: versions, prompts and their digest, the seed."""
    versions = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {
        "versions": versions,
        "prompts": {"name": prompts.name, "digest": prompts.digest, "templates": dict(prompts.templates)},
        "seed": tournament.seed,
    }


def _reporter(listeners: Sequence[Listener]) -> Callable[[Call, Reply, bool], None] | None:
    if not listeners:
        return None

    def report(call: Call, reply: Reply, memoised: bool) -> None:
        for listener in listeners:
            listener(CallAnswered(call, reply, memoised))

    return report
