"""Another committee on the debates of a finished run: judge tokens only."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from coupled_arena.errors import HERE
from coupled_arena.models.model import Model
from coupled_arena.studies.derived.base_run import Bounds, Playing, bounds_of, derived, playing_of
from coupled_arena.studies.derived.rejudged import Rejudged
from coupled_arena.tournaments.base import Base
from coupled_arena.tournaments.definition import Tournament, refuse_event_loop
from coupled_arena.tournaments.derived import JudgedAnew, committee_of
from coupled_arena.tournaments.roles import AgentFactory
from coupled_arena.tournaments.rules import CommitteeRules

if TYPE_CHECKING:
    from coupled_arena.tournaments.storage.store import Store

Judges = Sequence[Model | str] | int
"""A panel, or how many of the best-rated models judge."""


class Judging(Bounds, total=False):
    """How debates are judged anew; what is left out stays as it was in the run."""

    judges: Judges | None
    """The new panel."""
    committee: CommitteeRules | Mapping[str, Any] | None
    """Rules in place of the run's own; keys that are left out keep their values."""
    prompts: str | None
    """Name of a prompt set or path of a TOML file."""
    openings_only: bool
    """Show the judges the two openings only, as if there had been no debate."""
    dice: int
    """Which independent draw of the judges' dice: 0, the default, is the run's own, and every other number another."""
    agents: Mapping[str, AgentFactory]
    """Judges of your own, by the name in their model string `agent/NAME`, beside those of the run."""
    definition: Tournament | None
    """The run's own definition, for what a store does not keep: limits, prices, secrets, agents."""


class Rejudging(Judging, Playing, total=False):
    """What `rejudge` takes beside the store and the run."""


def rejudge(store: "Store | Path | str", run: str | None = None, **rules: Unpack[Rejudging]) -> Rejudged:
    """Have the debates of a finished run judged anew, and say how decisions and ranks shift.

    What the debaters said is copied, and only judges are asked. Their dice are those of the run, unless `dice` says
    otherwise, so a judge that is asked the same gives the answer it gave, and costs nothing. Battles that were given
    away, or broken off before any judge was asked, stay as they were. The outcome is a run of its own in the same
    store, and calling this again answers from it.

    Args:
        store: where the run lives.
        run: its id; None is the newest that was played rather than judged anew.
        rules: the keys of `Rejudging`, each with a default: `judges`, `committee`, `prompts`, `openings_only`, `dice`,
            `agents`, `definition`; `budget`, `limits` and `concurrency` of the new run; `listeners`, `retry_failed`,
            `preflight`.

    Raises:
        ConfigurationError: the run is not finished, or it cannot be judged so; raised before the first call.
        BudgetReached: the budget is spent; `Rejudged.of(error.result)` is what was judged.
        RunInterrupted: stopped by Ctrl-C; the same call goes on.
        StoreError: the store holds no such run, or cannot be used.
        RuntimeError: called inside a running event loop; use `await arejudge(...)` there.

    Example:
        >>> from coupled_arena.tournaments.storage.store import Store
        >>> store = Store(":memory:")
        >>> played = Tournament(models=["sim/ada?skill=1", "sim/bob"], judges=["sim/j1", "sim/j2", "sim/j3"],
        ...     domains=["math"], questions_per_domain=4, seed=7).run(store)
        >>> rejudge(store).changed
        0
    """
    refuse_event_loop("ca.arejudge(...)")
    how, changes = playing_of(rules)
    return Rejudged.of(judged_anew(store, run, **changes).run(store, **how))


async def arejudge(store: "Store | Path | str", run: str | None = None, **rules: Unpack[Rejudging]) -> Rejudged:
    """Do what `rejudge` does inside an event loop, as in a notebook."""
    how, changes = playing_of(rules)
    return Rejudged.of(await judged_anew(store, run, **changes).arun(store, **how))


def judged_anew(
    store: "Store | Path | str",
    run: str | None = None,
    *,
    definition: Tournament | None = None,
    where: str = HERE,
    **rules: Any,
) -> JudgedAnew:
    """Return the definition of a run that judges the debates of another one.

    Args:
        store: where the run lives.
        run: its id; None is the newest that was played rather than judged anew.
        definition: as for `rejudge`.
        where: what problems name as their place.
        rules: the other keys of `Judging`.

    Raises:
        ConfigurationError: with every problem found.
        StoreError: the store holds no such run, or cannot be read.
    """
    return derived(store, run, partial(judging, where=where, **rules), definition=definition)


def judging(
    base: Base,
    where: str,
    *,
    judges: Judges | None = None,
    committee: CommitteeRules | Mapping[str, Any] | None = None,
    prompts: str | None = None,
    openings_only: bool = False,
    dice: int = 0,
    agents: Mapping[str, AgentFactory] | None = None,
    **bounds: Any,
) -> JudgedAnew:
    """Return the definition of a run that judges the debates of a base; the parameters are the keys of `Judging`.

    Raises:
        ConfigurationError: with every problem found, `where` as their place.
    """
    own = {**base.tournament.agents, **agents} if agents else None
    changes = {"judges": judges, "prompts": prompts, "agents": own, **bounds_of(bounds, where)}
    given = {key: value for key, value in changes.items() if value is not None}
    rules = committee_of(base, committee, judges=judges is not None)
    return JudgedAnew.judging(base, where, openings=openings_only, dice=dice, committee=rules, **given)
