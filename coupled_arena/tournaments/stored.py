"""What a store already knows of a definition, before the run is opened for writing."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from coupled_arena.arguments import path_of
from coupled_arena.errors import HERE, ConfigurationError, RunNotFound
from coupled_arena.models.calls import Spent
from coupled_arena.prompts import load_prompts
from coupled_arena.records import USUAL_DIFFICULTY, Battle
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.storage.database import damaged, decoded
from coupled_arena.tournaments.storage.reader import RunReader
from coupled_arena.tournaments.storage.store import Store

Keep = Callable[[Battle], Battle]
"""Returns what is kept of a battle."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A run that a store holds of a definition."""

    run: str
    """Its id."""
    finished: bool
    """Whether it was played to its end, so that every call is answered."""
    spent: Spent
    """What it has paid for so far."""


def digest_of(tournament: Tournament) -> str:
    """Return the digest that identifies the runs of a definition: what it says, its prompts and the files it names.

    Raises:
        ConfigurationError: the prompt set cannot be loaded.
        OSError: a file it names cannot be read.
    """
    prompts, files = load_prompts(tournament.prompt_set), []
    if isinstance(tournament.questions, Path):
        files.append(hashlib.blake2b(tournament.questions.read_bytes(), digest_size=16).hexdigest())
    unusual = {tournament.difficulty_in(domain) for domain in tournament.domains} - {USUAL_DIFFICULTY}
    told = [prompts.render(f"difficulty.{difficulty}") for difficulty in sorted(unusual)]
    return tournament.digest(prompts.digest, *files, *told)


def definition_of(run: RunReader) -> Tournament:
    """Return the definition of a stored run, without what a store cannot give back.

    Raises:
        RunNotFound: the run is no tournament but a bench.
    """
    if run.is_bench:
        raise RunNotFound(
            f"{run.where}: run {run.id} is a bench, which has no battles; to see it, bench the same again: every "
            "answer is in the store. `coupled-arena runs` lists the others"
        )
    with decoded(run.where):
        return Tournament.stored(run.definition)


def battles_of(run: RunReader, tournament: Tournament, keep: Keep | None = None) -> tuple[Battle, ...]:
    """Return the battles of a stored run, all of them between its models.

    Args:
        run: the run.
        tournament: its definition.
        keep: what is kept of every battle; with it only a few whole ones are in memory at a time.

    Raises:
        StoreError: they cannot be read, or name a model that does not play.
    """
    names = {model.name for model in tournament.models}
    battles = run.load_battles() if keep is None else tuple(map(keep, run.each_battle()))
    for battle in battles:
        for name in battle.pair:
            if name not in names:
                raise damaged(run.where, f"{run.id}: battle {battle.id}: {name!r} is no model of this run")
    return battles


def begun(tournament: Tournament, store: Store | Path | str | None) -> Begun | None:
    """Return the run that a store holds of a definition, or None where it holds none; makes no store.

    Raises:
        StoreError: the store cannot be read.
    """
    try:
        digest = digest_of(tournament)
    except (ConfigurationError, OSError):
        # What is wrong with a file the checks say; no run was ever played with it as it is.
        return None
    return begun_under(digest, store)


def begun_under(digest: str, store: Store | Path | str | None) -> Begun | None:
    """Return the newest run that a store holds under a digest, or None where it holds none; makes no store.

    Raises:
        StoreError: the store cannot be read.
    """
    if store is None or (not isinstance(store, Store) and not path_of(store, HERE, "store").exists()):
        return None
    if isinstance(store, Store):
        return _begun(store.find(digest))
    try:
        with Store(store, create=False) as opened:
            return _begun(opened.find(digest))
    except RunNotFound:
        # An execution that was killed at once, or found no room, leaves an empty file.
        return None


def _begun(run: RunReader | None) -> Begun | None:
    return None if run is None else Begun(run.id, run.status == "finished", run.spent)
