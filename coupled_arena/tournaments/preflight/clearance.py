"""Whether a tournament can be played: what is wrong here and at its providers, all of it at once."""

from pathlib import Path
from typing import TYPE_CHECKING

from coupled_arena.errors import HERE, ConfigurationError, Problem
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.model import Model
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.preflight.casting import hosted_models, role_under
from coupled_arena.tournaments.preflight.checks import placed, problems_in
from coupled_arena.tournaments.storage.store import Store
from coupled_arena.tournaments.stored import begun

if TYPE_CHECKING:
    from coupled_arena.tournaments.preflight.probes import Seen


async def cleared(
    tournament: Tournament,
    gateway: Gateway,
    store: Store | Path | str | None,
    *,
    probing: bool,
    retry_failed: bool,
    where: str,
) -> None:
    """Make sure that a run can begin; a finished one needs no key, but then no model without one can be asked.

    Raises:
        ConfigurationError: with every problem found.
        StoreError: the store cannot be read.
    """
    known = begun(tournament, store)
    finished = known is not None and known.finished and not retry_failed
    await examined(tournament, gateway, finished=finished, probing=probing, where=where)
    if finished:
        for model in hosted_models(tournament, gateway):
            if problems := gateway.problems(model):
                gateway.unreachable[model.name] = "; ".join(problems)


async def examined(
    tournament: Tournament, gateway: Gateway, *, finished: bool, probing: bool, where: str, keyless: bool = False
) -> "dict[Model, Seen]":
    """Check a definition and probe its hosted models; return what the probes showed.

    Args:
        tournament: the definition.
        gateway: the way to its models.
        finished: whether every call is answered already, so that nobody is asked.
        probing: whether to ask.
        where: the file of the definition.
        keyless: whether keys may be missing, because nobody will be asked now.

    Raises:
        ConfigurationError: with the problems of both.
    """
    problems = problems_in(tournament, gateway, answered=finished, keys=not keyless)
    seen: dict[Model, Seen] = {}
    first = hosted_models(tournament, gateway) if probing and not finished else {}
    if first:
        from coupled_arena.tournaments.preflight.probes import probe

        seen = await probe(gateway, [(m, role_under(key)) for m, key in first.items() if not gateway.problems(m)])
        found = [(first[model], what.finding.problem) for model, what in seen.items()]
        problems += [Problem(HERE, key, message) for key, message in found if message]
    if problems:
        raise ConfigurationError(placed(problems, where))
    return seen
