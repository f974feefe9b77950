"""A newcomer in a finished run: only its own battles are played."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from coupled_arena.errors import HERE
from coupled_arena.models.model import Model
from coupled_arena.studies.derived.added import Addition
from coupled_arena.studies.derived.base_run import Bounds, Playing, bounds_of, derived, playing_of
from coupled_arena.studies.model_given import model_given
from coupled_arena.tournaments.base import Base
from coupled_arena.tournaments.definition import Tournament, refuse_event_loop
from coupled_arena.tournaments.derived import WithNewcomer

if TYPE_CHECKING:
    from coupled_arena.tournaments.storage.store import Store

Scores = Mapping[str, float] | Path | str
"""How good models are by some other measure, by name, or a file of it."""


class Adding(Bounds, Playing, total=False):
    """How a newcomer is added."""

    scores: Scores | None
    """Scores by which the first opponent is chosen; without them it is the median model."""
    definition: Tournament | None
    """The run's own definition, for what a store does not keep: limits, prices, secrets, agents."""


def add(model: Model | str, store: "Store | Path | str", run: str | None = None, **rules: Unpack[Adding]) -> Addition:
    """Insert a newcomer into a finished run without replaying it, and say where it stands and how far others move.

    The newcomer meets ceil(log2(models)) of the others on the run's questions, the median one first and then, refitted
    after every match, whoever is closest (`Insertion`). Committees, references and dice are those of the run, so
    openings that its models have given are not asked for again. The outcome is a run of its own in the same store, with
    a copy of the battles it builds on: calling this again answers from it, and another newcomer can be added to it.

    Args:
        model: the newcomer, or its model string.
        store: where the run lives.
        run: its id; None is the newest that was played rather than judged anew.
        rules: the keys of `Adding`, each with a default: `scores` of models by name, or a file of them; `definition`;
            `budget`, `limits` and `concurrency` of the new run; `listeners`, `retry_failed`, `preflight`.

    Raises:
        ConfigurationError: the run is not finished, or the newcomer cannot play in it; raised before the first call.
        BudgetReached: the budget is spent; `Addition.of(error.result)` is what was played.
        RunInterrupted: stopped by Ctrl-C; the same call goes on.
        StoreError: the store holds no such run, or cannot be used.
        RuntimeError: called inside a running event loop; use `await aadd(...)` there.

    Example:
        >>> from coupled_arena.tournaments.storage.store import Store
        >>> store = Store(":memory:")
        >>> models = ["sim/ada?skill=3", "sim/bob", "sim/cleo?skill=-3"]
        >>> played = Tournament(models=models, judges=["sim/j1", "sim/j2", "sim/j3"], domains=["math"],
        ...     questions_per_domain=4, seed=7).run(store)
        >>> found = add("sim/eve?skill=9", store)
        >>> found.newcomer.rank, [met.opponent for met in found.met]
        (1, ['sim/bob', 'sim/ada'])
    """
    refuse_event_loop("ca.aadd(...)")
    how, changes = playing_of(rules)
    return Addition.of(with_newcomer(model, store, run, **changes).run(store, **how))


async def aadd(
    model: Model | str, store: "Store | Path | str", run: str | None = None, **rules: Unpack[Adding]
) -> Addition:
    """Do what `add` does inside an event loop, as in a notebook."""
    how, changes = playing_of(rules)
    return Addition.of(await with_newcomer(model, store, run, **changes).arun(store, **how))


def with_newcomer(
    model: Model | str,
    store: "Store | Path | str",
    run: str | None = None,
    *,
    scores: Scores | None = None,
    definition: Tournament | None = None,
    where: str = HERE,
    **bounds: Unpack[Bounds],
) -> WithNewcomer:
    """Return the definition of a finished run with one model more.

    Args:
        model: the newcomer, or its model string.
        store: where the run lives.
        run: its id; None is the newest that was played, or the one that it was made from by this very call.
        scores: as for `add`.
        definition: as for `add`.
        where: what problems name as their place.
        bounds: as for `add`.

    Raises:
        ConfigurationError: with every problem found.
        StoreError: the store holds no such run, or cannot be read.
    """
    newcomer = model_given(model, where)

    def make(base: Base) -> WithNewcomer:
        return WithNewcomer.adding(base, newcomer, scores, where, **bounds_of(bounds, where))

    return derived(store, run, make, definition=definition)
