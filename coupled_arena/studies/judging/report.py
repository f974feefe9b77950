"""What a study of judges comes to: data frames, and plain data."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

from coupled_arena.analysis.judges import (
    Estimate,
    GapFlips,
    LeftOut,
    Opinions,
    Outcomes,
    Size,
    Stage,
    WithPeople,
)
from coupled_arena.shown import Rows, Shown, lined, printable
from coupled_arena.studies.judging.measures import JUDGES, PANEL
from coupled_arena.studies.judging.minority import MinorityReport
from coupled_arena.tournaments.results.documents import rounded

if TYPE_CHECKING:
    import pandas as pd

COUNTS = tuple(field.name for field in fields(Outcomes))
"""Columns of what became of a judge's opinions."""


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """What is told of one judge."""

    judge: str
    """Its name."""
    family: str
    """Its family, empty where unknown."""
    outcomes: Outcomes
    """What became of its opinions."""
    estimates: Mapping[str, Estimate]
    """What `measures.JUDGES` lists, by name."""


@dataclass(frozen=True, repr=False)
class JudgeReport(Shown):
    """How the judges of a run or a file judge.

    Example:
        >>> import coupled_arena as ca
        >>> rows = {"battle": [1, 1, 2, 2], "judge": ["ada", "bob"] * 2, "verdict": ["A", "A", "B", "tie"]}
        >>> found = ca.judges(rows)
        >>> found.panel["agreement_before"].tolist(), found.judges["judge"].tolist()
        ([0.5], ['ada', 'bob'])
    """

    source: str
    """The run or file that was studied."""
    table: Opinions
    """The opinions."""
    level: float
    """Coverage of the intervals; each holds by itself."""
    rows: tuple[JudgeRow, ...]
    """What is told of every judge, by name."""
    committee: Mapping[str, Estimate]
    """What `measures.PANEL` lists, by name."""
    stages: tuple[Stage, ...]
    """What the committee says at every stage."""
    sizes: tuple[Size, ...]
    """What smaller committees decide."""
    left_out: tuple[LeftOut, ...]
    """What ratings would be without each judge; nothing where models are unknown."""
    flips: tuple[GapFlips, ...]
    """Flip rates by the gap of ratings; nothing without both orders or models."""
    minority: tuple[MinorityReport, ...]
    """Votes that stood against the decision in the end."""
    people: tuple[WithPeople, ...]
    """Agreement with people's labels; nothing without a file of them."""
    among_people: Estimate | None
    """How far people agree with each other; None without labels."""
    notes: tuple[str, ...]
    """What the opinions cannot tell, and why."""

    @cached_property
    def judges(self) -> "pd.DataFrame":
        """A line for every judge: counts, then every measure with the ends of its interval."""
        return _frame(self._judge(row) for row in self.rows)

    @cached_property
    def panel(self) -> "pd.DataFrame":
        """One line: every measure of the committee with the ends of its interval."""
        return _frame([self._panel])

    def shown(self) -> Iterator[str | Rows]:
        """Yield what a notebook shows: every judge's numbers, the committee's, what cannot be told."""
        yield f"judges of {self.source}"
        names = [measure.name for measure in JUDGES]
        rows = [(row.judge, *(row.estimates[name].value for name in names)) for row in self.rows]
        yield Rows(("judge", *names), rows)
        told = [(name, found.value, found.low, found.high) for name, found in self.committee.items()]
        yield Rows(("committee", "value", "low", "high"), told)
        yield from (f"note: {note}" for note in self.notes)

    def __repr__(self) -> str:
        found = {measure.name: [row.estimates[measure.name].value for row in self.rows] for measure in JUDGES}
        told = [(name, *values) for name, values in found.items() if any(value is not None for value in values)]
        table = Rows(("", *(row.judge for row in self.rows)), told)
        notes = (f"note: {printable(note)}" for note in self.notes)
        return "\n".join((f"judges of {self.source}", *lined(table), *notes))

    def document(self) -> dict[str, Any]:
        """Return everything as plain data; `why` says why a number or an interval is missing."""
        return {
            "source": self.source,
            "level": self.level,
            "judges": [{**self._judge(row), "why": _why(row.estimates)} for row in self.rows],
            "panel": {**self._panel, "why": _why(self.committee)},
            "stages": [_plain(stage) for stage in self.stages],
            "sizes": [_plain(size) for size in self.sizes],
            "left_out": [_plain(one) for one in self.left_out],
            "flips": [_plain(one) for one in self.flips],
            "minority": [_plain(one) for one in self.minority],
            "people": [_plain(one) for one in self.people],
            "among_people": None if self.among_people is None else _plain(self.among_people),
            "notes": list(self.notes),
        }

    def _judge(self, row: JudgeRow) -> dict[str, Any]:
        found: dict[str, Any] = {"judge": row.judge, "family": row.family or None}
        found |= {name: getattr(row.outcomes, name) for name in COUNTS}
        for measure in JUDGES:
            found |= _columns(measure.name, measure.ends, row.estimates[measure.name])
        return {**found, "position_basis": row.estimates["position_effect"].basis or None}

    @property
    def _panel(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "judges": len(self.table.judges),
            "battles": self.table.battles,
            "questions": self.table.questions,
            "opinions": sum(row.outcomes.opinions for row in self.rows),
        }
        for measure in PANEL:
            found |= _columns(measure.name, measure.name, self.committee[measure.name])
        return {**found, "effective_basis": self.committee["effective_judges"].basis or None}


def _columns(name: str, ends: str, found: Estimate) -> dict[str, Any]:
    return {
        name: rounded(found.value),
        f"{ends}_low": rounded(found.low),
        f"{ends}_high": rounded(found.high),
    }


def _why(estimates: Mapping[str, Estimate]) -> dict[str, str]:
    return {name: found.reason for name, found in estimates.items() if found.reason}


def _plain(record: Any) -> dict[str, Any]:
    """Return a record as plain data, its records within it."""
    found: dict[str, Any] = {}
    for field in fields(record):
        value = getattr(record, field.name)
        if isinstance(value, Estimate):
            value = _plain(value)
        elif isinstance(value, Mapping):
            value = {name: rounded(number) for name, number in value.items()}
        found[field.name] = rounded(value)
    return found


def _frame(rows: Iterable[Mapping[str, Any]]) -> "pd.DataFrame":
    import pandas as pd

    found = pd.DataFrame(list(rows))
    texts = ("judge", "family", "position_basis", "effective_basis")
    whole = {*COUNTS, "judges", "battles", "questions"}
    numbers = {name: "float64" for name in found.columns if name not in texts and name not in whole}
    return found.astype(numbers)
