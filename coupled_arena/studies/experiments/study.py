"""A study of judges as code: a grid of committees over the debates of one run, each cell a rejudging of its own."""

import asyncio
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from pydantic import BeforeValidator, Field, ValidationError

from coupled_arena.errors import BudgetReached, ConfigurationError, Problem, RunInterrupted
from coupled_arena.models.budget import Budget
from coupled_arena.models.calls import Spent
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.limits.limit import Limit
from coupled_arena.models.model import Model
from coupled_arena.records import Given, Name
from coupled_arena.studies.derived.base_run import Playing, started_from
from coupled_arena.studies.derived.rejudging import judging
from coupled_arena.studies.experiments.found import Judged, JudgeStudyResult
from coupled_arena.studies.experiments.grid import OWN, Cell, Grid, Orders
from coupled_arena.tournaments.base import Base
from coupled_arena.tournaments.definition import Tournament, problems_of, refuse_event_loop
from coupled_arena.tournaments.derived import JudgedAnew
from coupled_arena.tournaments.given import as_judges
from coupled_arena.tournaments.preflight.clearance import cleared
from coupled_arena.tournaments.roles import AgentFactory
from coupled_arena.tournaments.stored import begun

if TYPE_CHECKING:
    from coupled_arena.tournaments.storage.store import Store

WHERE = "JudgeStudy"
"""What problems name as their place."""

MOST_CELLS = 10_000
"""More cells than this are taken for a slip of the pen."""

FACTORS = {"orders": "orders", "discussion_rounds": "discussion_rounds", "judges_by_domain": "panels"}
"""Rules of a committee that are factors of the grid, and under which key."""

Levels = BeforeValidator(lambda value: value if isinstance(value, list | tuple) else (value,))
"""One level stands for a list of one."""


def _as_panels(value: Any) -> Any:
    """Return panels by name; one panel is named `judges`."""
    if isinstance(value, Mapping):
        return {name: None if panel is None else as_judges(panel) for name, panel in value.items()}
    return {"judges": as_judges(value)}


class JudgeStudy(Given):
    """Judges over the same debates, in every combination of panel, words, orders, temperature, discussion and dice.

    Nothing is debated anew. Every cell of the grid is a run that `rejudge` would make, in the store of the debates, so
    cells share every call they have in common, and a study that was stopped goes on where it was.

    Raises:
        ConfigurationError: with every problem found.

    Example:
        >>> from coupled_arena.tournaments.storage.store import Store
        >>> store = Store(":memory:")
        >>> played = Tournament(models=["sim/ada?skill=1", "sim/bob"], judges=["sim/j1", "sim/j2", "sim/j3"],
        ...     domains=["math"], questions_per_domain=4, seed=7).run(store)
        >>> study = JudgeStudy(panels={"own": None, "keen": ["sim/k1?acuity=9", "sim/k2?acuity=9"]}, replicates=2)
        >>> found = study.run(store)
        >>> found.cells[["panel", "dice", "judged"]].to_numpy().tolist()
        [['own', 0, 4], ['own', 1, 4], ['keen', 0, 4], ['keen', 1, 4]]
    """

    panels: Annotated[dict[Name, tuple[Model, ...] | int | None], BeforeValidator(_as_panels)] = {OWN: None}
    """Who judges: lists of models, or numbers of best-rated ones, by a name for each; None is the run's own panel, and
    one list alone is one panel. To see judges one by one, give each a panel of its own."""
    prompts: Annotated[tuple[str | None, ...], Levels] = (None,)
    """Prompt sets by name, or TOML files; None is the run's own."""
    orders: Annotated[tuple[Orders | None, ...], Levels] = (None,)
    """`one`, `both`, or both of them; None is as in the run."""
    temperatures: Annotated[tuple[Annotated[float, Field(ge=0, le=10)] | None, ...], Levels] = (None,)
    """Sampling temperatures of all judges; None is each judge's own."""
    discussion_rounds: Annotated[tuple[Annotated[int, Field(ge=0, le=3)] | None, ...], Levels] = (None,)
    """Rounds of discussion; None is as in the run."""
    replicates: int = Field(default=1, ge=1, le=1_000)
    """How often every judge is asked the same, each time with new dice; the first dice are those of the run."""
    committee: dict[str, Any] = {}
    """Other rules of all committees in place of the run's own, such as `recuse` or `vote`."""
    agents: dict[Name, AgentFactory] = {}
    """Judges of your own, by the name in their model string `agent/NAME`."""
    definition: Tournament | None = None
    """The run's own definition, for what a store does not keep: limits, prices, secrets, agents."""
    budget: Budget = Budget()
    """What the whole study may spend before it stops."""
    limits: dict[Name, Limit] = {}
    """What hosted judges may send; left out, those of `definition`."""
    concurrency: int | None = Field(default=None, ge=1, le=100_000)
    """Battles in flight; None is as in the run."""

    def __init__(self, /, **parameters: Any) -> None:
        try:
            super().__init__(**parameters)
        except ValidationError as error:
            raise ConfigurationError(problems_of(error, WHERE, type(self))) from None

    def run(self, store: "Store | Path | str", run: str | None = None, **how: Unpack[Playing]) -> JudgeStudyResult:
        """Judge the debates of a finished run in every cell, or go on where a study was stopped.

        Args:
            store: where the run lives, and the cells will.
            run: its id; None is the newest that was played rather than judged anew.
            how: the keys of `Playing`: `listeners`, `retry_failed`, `preflight`.

        Raises:
            ConfigurationError: the run is not finished, or a cell cannot be judged; raised before the first call.
            BudgetReached: the budget is spent; `error.result` is the study as far as whole cells were judged.
            RunInterrupted: stopped by Ctrl-C; the same call goes on.
            StoreError: the store holds no such run, or cannot be used.
            RuntimeError: called inside a running event loop; use `await study.arun(...)` there.
        """
        refuse_event_loop("study.arun(...)")
        try:
            return asyncio.run(self.arun(store, run, **how))
        except KeyboardInterrupt:
            message = f"the study was interrupted; all answers are kept in {store}; run it again to go on"
            raise RunInterrupted(message) from None

    async def arun(
        self, store: "Store | Path | str", run: str | None = None, **how: Unpack[Playing]
    ) -> JudgeStudyResult:
        """Do what `run` does inside an event loop, as in a notebook."""
        base = started_from(store, run, self.definition)
        cells = self.cells(base)
        retrying = how.get("retry_failed", False)
        for cell, anew in cells:
            async with Gateway(limits=anew.limits) as gateway:
                await cleared(anew, gateway, store, probing=False, retry_failed=retrying, where=cell.words)
        before = {cell.number: begun(anew, store) for cell, anew in cells}
        spent = {number: known.spent for number, known in before.items() if known is not None}
        judged: list[Judged] = []
        reached: set[Model] = set()
        start = time.monotonic()
        for cell, anew in cells:
            elsewhere = [paid for number, paid in spent.items() if number != cell.number]
            left = self.budget.less(
                Spent(*map(sum, zip(*elsewhere, strict=True))), minutes=(time.monotonic() - start) / 60
            )
            # A judge that answered in one cell need not be asked whether it is there in another.
            probing = how.get("preflight", True) and not reached.issuperset(anew.judging_models)
            options = {**how, "preflight": probing, "where": cell.words}
            try:
                result = await anew.model_copy(update={"budget": left}).arun(store, **options)
            except BudgetReached as stop:
                stop.result = JudgeStudyResult(base, tuple(judged))
                raise
            known = before[cell.number]
            if known is None or not known.finished:
                reached.update(anew.judging_models)
            spent[cell.number] = result.spent
            judged.append(Judged(cell, result))
        return JudgeStudyResult(base, tuple(judged))

    def cells(self, base: Base) -> list[tuple[Cell, JudgedAnew]]:
        """Return the cells of the grid over the debates of a run, each with the definition of its own run.

        Raises:
            ConfigurationError: with every problem found.
        """
        grid = Grid(
            panels=self.panels,
            prompts=self.prompts,
            orders=self.orders,
            temperatures=self.temperatures,
            discussion_rounds=self.discussion_rounds,
            replicates=self.replicates,
        )
        problems = [
            Problem(WHERE, f"committee.{key}", f"is a factor of the grid; give it as {FACTORS[key]}")
            for key in sorted(self.committee.keys() & FACTORS.keys())
        ]
        if problems := [*problems, *grid.problems(base, WHERE)]:
            raise ConfigurationError(problems)
        cells = list(grid.cells(base))
        if len(cells) > MOST_CELLS:
            raise ConfigurationError(
                [Problem(WHERE, "replicates", f"makes {len(cells)} cells; the most are {MOST_CELLS}")]
            )
        made: list[tuple[Cell, JudgedAnew]] = []
        for cell in cells:
            try:
                made.append((cell, self._anew(base, cell)))
            except ConfigurationError as error:
                problems += error.problems
        if problems:
            raise ConfigurationError(problems)
        return made

    def _anew(self, base: Base, cell: Cell) -> JudgedAnew:
        bounds: dict[str, Any] = {"limits": self.limits or None, "concurrency": self.concurrency}
        committee = {**self.committee, **cell.rules["committee"]}
        return judging(base, cell.words, **{**cell.rules, "committee": committee}, agents=self.agents, **bounds)
