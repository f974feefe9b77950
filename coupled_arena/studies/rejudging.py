"""Another committee on the debates of a finished run: judge tokens only."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from coupled_arena.errors import HERE
from coupled_arena.models.model import Model
from coupled_arena.studies.deriving import Bounds, bounds_of, derived
from coupled_arena.studies.rejudged import Rejudged
from coupled_arena.tournaments.base import Base
from coupled_arena.tournaments.definition import Tournament, refuse_event_loop
from coupled_arena.tournaments.derived import JudgedAnew, committee_of
from coupled_arena.tournaments.events import Listener
from coupled_arena.tournaments.rules import CommitteeRules

if TYPE_CHECKING:
    from coupled_arena.tournaments.store import Store

Judges = Sequence[Model | str] | int
"""A panel, or how many of the best-rated models judge."""


def rejudge(
    store: "Store | Path | str",
    run: str | None = None,
    *,
    judges: Judges | None = None,
    committee: CommitteeRules | Mapping[str, Any] | None = None,
    prompts: str | None = None,
    openings_only: bool = False,
    definition: Tournament | None = None,
    listeners: Sequence[Listener] = (),
    retry_failed: bool = False,
    preflight: bool = True,
    **bounds: Unpack[Bounds],
) -> Rejudged:
    """Have the debates of a finished run judged anew, and say how decisions and ranks shift.

    What the debaters said is copied, and only judges are asked. Their dice are those of the run, so a judge that is
    asked the same gives the answer it gave, and costs nothing. Battles that were given away, or broken off before any
    judge was asked, stay as they were. The outcome is a run of its own in the same store, and calling this again
    answers from it.

    Args:
        store: where the run lives.
        run: its id; None is the newest that was played rather than judged anew.
        judges: the new panel; None keeps the judges.
        committee: rules in place of the run's own; keys that are left out keep their values.
        prompts: name of a prompt set or path of a TOML file; None keeps the prompts.
        openings_only: show the judges the two openings only, as if there had been no debate.
        definition: the run's own definition, for what a store does not keep: limits, prices, secrets, agents.
        listeners: told of every event.
        retry_failed: ask again what was answered without text.
        preflight: ask every hosted judge once before the first call.
        bounds: `budget`, `limits` and `concurrency` of the new run.

    Raises:
        ConfigurationError: the run is not finished, or it cannot be judged so; raised before the first call.
        BudgetReached: the budget is spent; `Rejudged.of(error.result)` is what was judged.
        RunInterrupted: stopped by Ctrl-C; the same call goes on.
        StoreError: the store holds no such run, or cannot be used.
        RuntimeError: called inside a running event loop; use `await arejudge(...)` there.

    Example:
        >>> from coupled_arena.tournaments.store import Store
        >>> store = Store(":memory:")
        >>> played = Tournament(models=["sim/ada?skill=1", "sim/bob"], judges=["sim/j1", "sim/j2", "sim/j3"],
        ...     domains=["math"], questions_per_domain=4, seed=7).run(store)
        >>> rejudge(store).changed
        0
    """
    refuse_event_loop("ca.arejudge(...)")
    anew = judged_anew(
        store, run, judges=judges, committee=committee, prompts=prompts, openings=openings_only, definition=definition,
        **bounds,
    )  # fmt: skip
    options = {"listeners": listeners, "retry_failed": retry_failed, "preflight": preflight}
    return Rejudged.of(anew.run(store, **options))


async def arejudge(
    store: "Store | Path | str",
    run: str | None = None,
    *,
    judges: Judges | None = None,
    committee: CommitteeRules | Mapping[str, Any] | None = None,
    prompts: str | None = None,
    openings_only: bool = False,
    definition: Tournament | None = None,
    listeners: Sequence[Listener] = (),
    retry_failed: bool = False,
    preflight: bool = True,
    **bounds: Unpack[Bounds],
) -> Rejudged:
    """Do what `rejudge` does inside an event loop, as in a notebook."""
    anew = judged_anew(
        store, run, judges=judges, committee=committee, prompts=prompts, openings=openings_only, definition=definition,
        **bounds,
    )  # fmt: skip
    options = {"listeners": listeners, "retry_failed": retry_failed, "preflight": preflight}
    return Rejudged.of(await anew.arun(store, **options))


def judged_anew(
    store: "Store | Path | str",
    run: str | None = None,
    *,
    judges: Judges | None = None,
    committee: CommitteeRules | Mapping[str, Any] | None = None,
    prompts: str | None = None,
    openings: bool = False,
    definition: Tournament | None = None,
    where: str = HERE,
    **bounds: Unpack[Bounds],
) -> JudgedAnew:
    """Return the definition of a run that judges the debates of another one.

    Args:
        store: where the run lives.
        run: its id; None is the newest that was played rather than judged anew.
        judges: as for `rejudge`, like everything that is not named here.
        committee: as for `rejudge`.
        prompts: as for `rejudge`.
        openings: as `openings_only` of `rejudge`.
        definition: as for `rejudge`.
        where: what problems name as their place.
        bounds: `budget`, `limits` and `concurrency` of the new run.

    Raises:
        ConfigurationError: with every problem found.
        StoreError: the store holds no such run, or cannot be read.
    """

    def make(base: Base) -> JudgedAnew:
        changes = {"judges": judges, "prompts": prompts, **bounds_of(bounds, where)}
        given = {key: value for key, value in changes.items() if value is not None}
        rules = committee_of(base, committee, judges=judges is not None)
        return JudgedAnew.judging(base, where, openings=openings, committee=rules, **given)

    return derived(store, run, make, definition=definition)
