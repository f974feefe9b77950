"""What a study of judges comes to: data frames with the factors of the grid in their first columns."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from coupled_arena.studies.experiments.grid import Cell, Condition
from coupled_arena.studies.rejudged import Rejudged
from coupled_arena.tournaments.base import Base
from coupled_arena.tournaments.result import Result

if TYPE_CHECKING:
    import pandas as pd

FACTORS = ("cell", *Condition._fields, "dice")
"""The columns that say which cell a row belongs to."""


class Judged(NamedTuple):
    """One cell, and the run that it came to."""

    cell: Cell
    """The cell."""
    result: Result
    """Its run."""


@dataclass(frozen=True)
class JudgeStudyResult:
    """What the cells of a study came to, in the order of the grid."""

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
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=list(FACTORS))

    @cached_property
    def cells(self) -> "pd.DataFrame":
        """A line for every cell: its factors, its run, and what was judged, changed and paid.

        Columns are the factors, `run`, the battles that were `judged`, `void` ones among them, `changed` ones (another
        decision than in the run), and the calls `made` in this execution with their cost `usd`.
        """
        import pandas as pd

        rows = [{**one.cell.columns, **self._facts(one.result)} for one in self.judged]
        return pd.DataFrame(rows, columns=None if rows else list(FACTORS))

    def rejudged(self, cell: int) -> Rejudged:
        """Return how the decisions and the ranking of a cell differ from those of the run; a `KeyError` for no cell."""
        for one in self.judged:
            if one.cell.number == cell:
                return Rejudged.of(one.result)
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
