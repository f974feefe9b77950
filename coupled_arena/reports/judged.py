"""The study of judges as text for a terminal."""

from collections.abc import Iterator, Mapping

from rich.console import Group, RenderableType
from rich.text import Text

from coupled_arena.analysis.judges import Estimate
from coupled_arena.reports.console import table
from coupled_arena.shown import plural, printable
from coupled_arena.studies.judging.measures import JUDGES, PANEL
from coupled_arena.studies.judging.report import JudgeReport

_COUNTS = ("opinions", "abstained", "refused", "unparsable", "truncated", "failed")

_PER_TABLE = 6
"""Measures beside each other: their intervals have to fit into a line."""


def judged(found: JudgeReport) -> RenderableType:
    """Return what was found of every judge and of the committee, and what could not be told."""
    parts: list[RenderableType] = [table(("judge", *_COUNTS), [
        (row.judge, *(getattr(row.outcomes, name) for name in _COUNTS)) for row in found.rows
    ])]  # fmt: skip
    shown = [m.name for m in JUDGES if any(row.estimates[m.name].value is not None for row in found.rows)]
    for start in range(0, len(shown), _PER_TABLE):
        names = shown[start : start + _PER_TABLE]
        rows = [(row.judge, *(_cell(row.estimates[name]) for name in names)) for row in found.rows]
        parts += [Text(), table(("judge", *names), rows, right=names)]
    committee = [(m.name, _cell(found.committee[m.name]), m.meaning) for m in PANEL if _known(found.committee, m.name)]
    if committee:
        parts += [Text(), table(("committee", "value", "what it is"), committee, right=("value",))]
    if found.people:
        rows = [(one.rater, _cell(one.agreement), _cell(one.kappa)) for one in found.people]
        parts += [Text(), table(("with people's labels", "agreement", "kappa"), rows, right=("agreement", "kappa"))]
    return Group(*parts, Text(), *(Text(printable(line)) for line in _lines(found)))


def _lines(found: JudgeReport) -> Iterator[str]:
    size = found.table
    yield (
        f"{found.source}: {plural(len(size.judges), 'judge')}, {plural(size.battles, 'battle')}, "
        f"{plural(size.questions, 'question')}; "
        f"{found.level * 100:g} % intervals, clustered by question, each by itself."
    )
    effective = found.committee["effective_judges"]
    if effective.value is not None:
        yield f"effective judges: errors are told from the {effective.basis}"
    bases = {row.estimates["position_effect"].basis for row in found.rows} - {"", "both orders"}
    if bases:
        yield f"position effects of some judges rest on {' and '.join(sorted(bases))}: they hold the lead of a side too"
    missing = [m.name for m in JUDGES if all(row.estimates[m.name].value is None for row in found.rows)]
    if missing:
        yield f"nothing can be said of: {', '.join(missing)} (--json says why)"
    yield from (f"note: {note}" for note in found.notes)


def _known(estimates: Mapping[str, Estimate], name: str) -> bool:
    return estimates[name].value is not None


def _cell(found: Estimate) -> str | None:
    if found.value is None:
        return None
    ends = "" if found.low is None or found.high is None else f" [{_number(found.low)}, {_number(found.high)}]"
    return f"{_number(found.value)}{ends}"


def _number(value: float) -> str:
    # Adding 0 turns -0 into 0.
    return f"{round(value, 2) + 0.0:.2f}"
