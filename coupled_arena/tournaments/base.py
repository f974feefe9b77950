"""The finished run that another one of its store is derived from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.models.masking import published
from coupled_arena.records import Battle, Question
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.storage.database import decoded
from coupled_arena.tournaments.storage.reader import RunReader
from coupled_arena.tournaments.stored import battles_of, definition_of

GIVEN_ANEW = frozenset({"domains", "models", "name", "questions", "questions_per_domain", "schedule"})
"""Keys in which a run and what it is derived from may differ."""
DEFINITION = "definition"
"""Where a problem is with a definition that was given for what a store does not keep."""
NOT_STORED = ("agents", "concurrency", "examiner", "judges", "limits", "models", "prompts", "reference", "roles")
"""Keys with something that a store does not keep: prices, secrets, limits, agents, and where a prompt set lies."""


@dataclass(frozen=True, slots=True)
class Base:
    """A finished run, as another one starts from it."""

    run: str
    """Its id."""
    name: str
    """Name of its definition."""
    digest: str
    """Digest of its definition."""
    tournament: Tournament
    """Its definition, as far as the store or the user knows it."""
    questions: tuple[Question, ...]
    """What was asked, with reference answers."""
    battles: tuple[Battle, ...]
    """Every battle."""
    prompts: str
    """Digest of its prompt set."""
    actions: tuple[str, ...]
    """Tags that its added roles said."""
    agents: tuple[str, ...]
    """Names of its agents and added roles that are written in Python and not at hand."""
    openings: bool
    """Whether its judges were shown the two openings only."""
    caveats: tuple[str, ...]
    """What a reader of its leaderboard must know."""
    where: str
    """The store, as messages name it."""


def base_of(run: RunReader, definition: Tournament | None = None) -> Base:
    """Return a stored run as another one starts from it.

    Args:
        run: the run.
        definition: the run's own definition, for what a store does not keep (`NOT_STORED`).

    Raises:
        ConfigurationError: the run is not finished, or is of another definition.
        RunNotFound: the run is a bench.
    """
    tournament, document = definition_of(run), run.definition
    if run.status != "finished":
        message = f"{run.id} is not finished; play it to its end first, or name another run"
        raise ConfigurationError([Problem(run.where, "run", message)])
    if definition is not None:
        tournament = _completed(tournament, document, definition, run.id)
    with decoded(run.where):
        origin, prompts = run.manifest.get("base", {}), run.manifest["prompts"]["digest"]
    agents = [*document["agents"], *document["roles"]]
    return Base(
        run=run.id,
        name=run.name,
        digest=run.digest,
        tournament=tournament,
        questions=run.load_questions(),
        battles=battles_of(run, tournament),
        prompts=prompts,
        actions=tuple(sorted({*origin.get("actions", ()), *(seat["tag"] for seat in document["roles"].values())})),
        agents=tuple(name for name in agents if name not in {*tournament.agents, *tournament.roles}),
        openings=origin.get("judged") == "openings",
        caveats=run.caveats,
        where=run.where,
    )


def _completed(stored: Tournament, document: Mapping[str, Any], given: Tournament, run: str) -> Tournament:
    """Return a stored definition with what only the given one knows."""
    said = published(given.document())
    problems = [
        Problem(DEFINITION, key, f"is not what run {run} was played by; give the definition of that run")
        for key in sorted(document.keys() & said.keys() - GIVEN_ANEW)
        if document[key] != said[key]
    ]
    own = {model["name"]: model for model in said["models"]}
    problems += [
        Problem(DEFINITION, "models", f"{model['name']!r} is another one in run {run}; give the definition of that run")
        for model in document["models"]
        if own.get(model["name"], model) != model
    ]
    if problems:
        raise ConfigurationError(problems)
    models = {model.name: model for model in given.models}
    known = {key: getattr(given, key) for key in NOT_STORED}
    return stored.model_copy(update={**known, "models": tuple(models.get(m.name, m) for m in stored.models)})
