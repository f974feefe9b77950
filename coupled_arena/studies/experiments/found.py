"""What a study of judges comes to: data frames with the factors of the grid in their first columns."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from coupled_arena.shown import Rows, Shown, plural
from coupled_arena.studies.derived.rejudged import Rejudged
from coupled_arena.studies.experiments.grid import Cell, Condition
from coupled_arena.studies.judging.reading import read_opinions
from coupled_arena.studies.judging.report import JudgeReport
from coupled_arena.studies.judging.study import studied
from coupled_arena.tournaments.base import Base
from coupled_arena.tournaments.results.result import Result
from coupled_arena.tournaments.storage.columns import COLUMNS

if TYPE_CHECKING:
    import pandas as pd

FACTORS = ("cell", *Condition._fields, "dice")
"""The columns that say which cell a row belongs to."""

MOST_LINES = 20
"""Cells that `repr` shows."""


class Judged(NamedTuple):
    """One cell, and the run that it came to."""

    cell: Cell
    """The cell."""
    result: Result
    """Its run."""


@dataclass(frozen=True, repr=False)
class JudgeStudyResult(Shown):
    """What the cells of a study came to, in the order of the grid.

    Shown, it is a line for every cell.
    """

    base: Base
    """The run whose debates were judged."""
    judged: tuple[Judged, ...]
    """The cells that were judged to the end."""

    @cached_property
    def opinions(self) -> "pd.DataFrame":
        """Every opinion of every cell: the factors of the grid, then the columns of the frame `opinions`."""
        import pandas as pd

        frames = []
        for cell, result in self.judged:
            frame = result.frame("opinions")
            for place, (name, value) in enumerate(cell.columns.items()):
                frame.insert(place, name, value)
            frames.append(frame)
        return (
            pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=[*FACTORS, *COLUMNS["opinions"]])
        )

    @cached_property
    def cells(self) -> "pd.DataFrame":
        """A line for every cell: its factors, its run, and what was judged, changed and paid.

        Columns are the factors, `run`, the battles that were `judged`, `void` ones among them, `changed` ones (another
        decision than in the run), and the calls `made` in this execution with their cost `usd`.
        """
        import pandas as pd

        rows = [{**one.cell.columns, **self._facts(one.result)} for one in self.judged]
        return pd.DataFrame(rows, columns=[*FACTORS, "run", "judged", "void", "changed", "made", "usd"])

    @cached_property
    def reports(self) -> tuple[tuple[Condition, JudgeReport], ...]:
        """The study of judges (`ca.judges`) of every condition, all draws of its dice together."""
        found = []
        for condition in dict.fromkeys(one.cell.condition for one in self.judged):
            own = [one for one in self.judged if one.cell.condition == condition]
            cells = [one.cell.number for one in own]
            # Every cell is a run of its own, but battles are the same ones in all of them.
            opinions = self.opinions[self.opinions["cell"].isin(cells)].drop(columns="run")
            read = replace(read_opinions(opinions), on_flip=own[0].result.tournament.committee.on_flip)
            found.append((condition, studied(replace(read, source=own[0].cell.words))))
        return tuple(found)

    @cached_property
    def judges(self) -> "pd.DataFrame":
        """A line for every judge in every condition: factors without `cell` and `dice`, then as in `JudgeReport`."""
        return self._conditions("judges")

    @cached_property
    def panels(self) -> "pd.DataFrame":
        """A line for every condition: factors without `cell` and `dice`, then the panel as in `JudgeReport`."""
        return self._conditions("panel")

    def shown(self) -> Iterator[str | Rows]:
        """Yield what a notebook shows: which run was judged, and the cells."""
        yield self._head
        yield Rows(tuple(self.cells.columns), self.cells.astype(object).to_numpy().tolist())

    def __repr__(self) -> str:
        # Cheap, since an event loop that ends asks for it, whether anybody reads it or not.
        lines = [f"{one.cell.words}: {one.result.run}" for one in self.judged[:MOST_LINES]]
        more = len(self.judged) - len(lines)
        return "\n".join((self._head, *lines, *([f"and {more} more"] if more else [])))

    @property
    def _head(self) -> str:
        return f"Judges on the debates of {self.base.run}: {plural(len(self.judged), 'cell')}"

    def _conditions(self, name: str) -> "pd.DataFrame":
        import pandas as pd

        frames = []
        for condition, report in self.reports:
            frame = getattr(report, name).copy()
            for place, (factor, value) in enumerate(condition._asdict().items()):
                frame.insert(place, factor, value)
            frames.append(frame)
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=list(Condition._fields))

    def rejudged(self, cell: int) -> Rejudged:
        """Return how the decisions and the ranking of a cell differ from those of the run; a `KeyError` for no cell."""
        return Rejudged.of(self._result(cell))

    def contrast(self, before: int, after: int) -> Rejudged:
        """Return how the decisions and the ranking of a cell differ from those of another one.

        Decisions are paired by battle, and intervals clustered by question, as in `rejudged`.

        Args:
            before: number of the cell that takes the place of the run; a `KeyError` if there is no such cell.
            after: number of the other cell.

        Example:
            >>> import coupled_arena as ca
            >>> store = ca.Store(":memory:")
            >>> played = ca.Tournament(models=["sim/ada?skill=1", "sim/bob"], judges=["sim/j1", "sim/j2", "sim/j3"],
            ...     domains=["math"], questions_per_domain=4, seed=7).run(store)
            >>> found = ca.JudgeStudy(panels={"first": ["sim/k?position=9"], "fair": ["sim/k"]}).run(store)
            >>> found.contrast(1, 2).changed, found.contrast(2, 2).changed
            (2, 0)
        """
        return Rejudged.of(self._result(after), self._result(before))

    def _result(self, cell: int) -> Result:
        for one in self.judged:
            if one.cell.number == cell:
                return one.result
        raise KeyError(cell)

    def _facts(self, result: Result) -> dict[str, Any]:
        old = {battle.id: battle.decision for battle in self.base.battles if battle.opinions}
        judged = [battle for battle in result.battles if battle.id in old]
        return {
            "run": result.run,
            "judged": len(judged),
            "void": sum(battle.decision.status == "void" for battle in judged),
            "changed": sum(battle.decision.verdict != old[battle.id].verdict for battle in judged),
            "made": result.counts.made,
            "usd": result.counts.usd,
        }
