"""The cells of a study of judges: every combination of who judges, in which words, orders and dice."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Literal, NamedTuple

from coupled_arena.errors import Problem
from coupled_arena.models.model import Model
from coupled_arena.tournaments.base import Base

Orders = Literal["one", "both"]
"""Whether each judge sees a battle once, or also with the debaters' labels exchanged."""

OWN = "own"
"""Name of the panel that judged the run."""


class Condition(NamedTuple):
    """What a cell is but for its dice: cells of one condition are draws of the same thing."""

    panel: str
    """Name of the panel."""
    prompts: str
    """Name of the prompt set, without the folder of a file."""
    orders: Orders
    """Presentation orders."""
    temperature: float | None
    """Sampling temperature of all judges; None is each judge's own."""
    discussion_rounds: int
    """Rounds of discussion."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the grid: a committee that judges every debate of the run once."""

    number: int
    """Its place in the grid, from 1."""
    condition: Condition
    """What it is but for its dice."""
    dice: int
    """Which independent draw of the judges' dice."""
    rules: dict[str, Any]
    """What `rejudge` is given for it."""

    @property
    def columns(self) -> dict[str, Any]:
        """Its columns in every frame."""
        return {"cell": self.number, **self.condition._asdict(), "dice": self.dice}

    @property
    def words(self) -> str:
        """The cell as problems name it."""
        said = ", ".join(f"{name} {value}" for name, value in self.columns.items() if name != "cell")
        return f"cell {self.number} ({said})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """The levels of every factor; None is what the run has."""

    panels: dict[str, tuple[Model, ...] | int | None]
    """Panels, or numbers of best-rated judges, by name."""
    prompts: Sequence[str | None]
    """Names of prompt sets, or paths of TOML files."""
    orders: Sequence[Orders | None]
    """Presentation orders."""
    temperatures: Sequence[float | None]
    """Sampling temperatures of all judges."""
    discussion_rounds: Sequence[int | None]
    """Rounds of discussion."""
    replicates: int
    """Draws of the dice."""

    def cells(self, base: Base) -> Iterator[Cell]:
        """Yield the cells over the debates of a run, dice fastest."""
        levels = self._levels(base).values()
        for number, ((panel, *rest), dice) in enumerate(product(product(*levels), range(self.replicates)), 1):
            (_, judges), (_, prompts), (_, temperature) = panel, rest[0], rest[2]
            condition = Condition(*(label for label, _ in (panel, *rest)))
            committee = {"orders": condition.orders, "discussion_rounds": condition.discussion_rounds}
            if temperature is not None:
                judges = _at(base.tournament.judges if judges is None else judges, temperature)
            yield Cell(
                number, condition, dice, {"judges": judges, "prompts": prompts, "dice": dice, "committee": committee}
            )

    def problems(self, base: Base, where: str) -> Iterator[Problem]:
        """Yield what keeps the grid from being one."""
        for key, levels in self._levels(base).items():
            labels = [label for label, _ in levels]
            if not labels:
                yield Problem(where, key, "is empty; leave it out to keep what the run has")
            if twice := sorted({str(label) for label in labels if labels.count(label) > 1}):
                yield Problem(where, key, f"comes to {', '.join(twice)} twice; give every level once, by its own name")
        for name, panel in self.panels.items():
            judges = base.tournament.judges if panel is None else panel
            if isinstance(judges, int) and any(value is not None for value in self.temperatures):
                message = f"panel {name}: judges that are chosen by rating keep their temperature; list the panel"
                yield Problem(where, "temperatures", message)

    def _levels(self, base: Base) -> dict[str, list[tuple[Any, Any]]]:
        """Return what every level is called and what `rejudge` is given for it, by factor."""
        own = base.tournament
        return {
            "panels": list(self.panels.items()),
            "prompts": [(own.prompt_set if name is None else Path(name).name, name) for name in self.prompts],
            "orders": [(orders or own.committee.orders, orders) for orders in self.orders],
            "temperatures": [(value, value) for value in self.temperatures],
            "discussion_rounds": [
                (own.committee.discussion_rounds if rounds is None else rounds, rounds)
                for rounds in self.discussion_rounds
            ],
        }


def _at(panel: tuple[Model, ...] | int, temperature: float) -> tuple[Model, ...] | int:
    if isinstance(panel, int):
        return panel
    return tuple(judge.model_copy(update={"temperature": temperature}) for judge in panel)
