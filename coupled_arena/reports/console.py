"""Results as text for a terminal: tables by rich, every model's text without escapes."""

import io
from collections.abc import Collection, Iterable, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from coupled_arena.models.calls import Counts
from coupled_arena.records import Battle, Question
from coupled_arena.reports.summary import dice, judge_counts, turn_counts
from coupled_arena.shown import cell, plural, printable
from coupled_arena.tournaments.preflight.estimate import price_words
from coupled_arena.tournaments.results.asked import extreme_lines
from coupled_arena.tournaments.results.leaderboard import LEADERBOARD_COLUMNS, Row
from coupled_arena.tournaments.results.result import Result

_COLUMNS = ["ranks" if column == "rank_low" else column for column in LEADERBOARD_COLUMNS if column != "rank_high"]
"""Both ends of the ranks stand in one column."""

WIDEST = 10_000
"""No line of a table is longer than this."""


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], right: Collection[str] = ()) -> Table:
    """Return a plain table; numbers and the columns named `right` stand right, None is a dash."""
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    rows = [list(row) for row in rows]
    for index, column in enumerate(columns):
        numeric = column in right or all(isinstance(row[index], int | float | None) for row in rows)
        drawn.add_column(column, justify="right" if numeric else "left", no_wrap=True)
    for row in rows:
        drawn.add_row(*(Text(cell(value)) for value in row))
    return drawn


def plain(drawn: Table) -> tuple[str, ...]:
    """Return the lines of a table as text without styles, however wide it is.

    >>> plain(table(("model", "n"), [("ada", 10), ("b", 7)]))
    ('model   n', 'ada    10', 'b       7')
    """
    console = Console(file=io.StringIO(), width=WIDEST, color_system=None)
    with console.capture() as captured:
        console.print(drawn)
    return tuple(line.rstrip() for line in captured.get().splitlines())


def leaderboard(result: Result) -> RenderableType:
    """Return the leaderboard with what must be known about it and whether it is settled."""
    rows, pairs, counted, arms = result.rows, result.neighbours, result.counted(), result.arms
    resolution = result.resolution
    columns = [column for column in _COLUMNS if not _trivial(rows, column)]
    cells = [
        [rank_range(row.rank_low, row.rank_high) if column == "ranks" else getattr(row, column) for column in columns]
        for row in rows
    ]
    lines = [
        f"{plural(len(result.battles), 'battle')}: {counted['decided']:,} decided, {counted['void']:,} void, "
        f"{counted['forfeited']:,} forfeited. Ratings: half-win Bradley-Terry, prior {result.ratings.prior}, "
        "mean 1000, 95 % intervals by question.",
        *(f"note: {note}" for note in (*result.caveats, *result.ratings.notes)),
        *(pair.line for pair in pairs),
        *(f"intervals of neighbours: {pair.settled.multiplicity}" for pair in pairs[:1]),
        *([] if resolution is None else resolution.lines),
        dice(result.shared()),
        *([] if arms is None else [arms.line]),
        *extreme_lines(result.question_standings),
        *(found.line for found in result.advantages if found.relatives),
    ]
    return Group(table(columns, cells), Text(), *(Text(printable(line)) for line in lines))


def rank_range(low: int | None, high: int | None) -> str | None:
    """Return the ranks that battles leave possible as one cell.

    >>> rank_range(2, 4), rank_range(1, 1), rank_range(None, None)
    ('2-4', '1', None)
    """
    if low is None or high is None:
        return None
    return str(low) if low == high else f"{low}-{high}"


def _trivial(rows: Sequence[Row], column: str) -> bool:
    """Return whether a column says nothing: no ranks known, no battle void or forfeited, every turn answered."""
    if column == "ranks":
        return all(row.rank_low is None for row in rows)
    plain = {"void": 0, "forfeited": 0, "availability": 1.0}
    return column in plain and all(getattr(row, column) == plain[column] for row in rows)


def spending(result: Result) -> str:
    """Return what this invocation asked and paid, in a sentence."""
    before = result.spent.usd - result.counts.usd
    return calls(result.counts) + (f", ${result.spent.usd:.4f} in all executions" if before > 0 else "")


def calls(counts: Counts) -> str:
    """Return what was asked and paid."""
    return (
        f"{plural(counts.made, 'call')} made, {counts.memoised} answered from the memo, {counts.failed} failed, "
        f"{plural(counts.retries, 'retry')}; {price_words(counts.usd, sorted(counts.unpriced), digits=4)}"
    )


def conduct(result: Result) -> RenderableType:
    """Return how debaters and judges behaved: turns, missing sections, verdicts and the share of A."""
    turns = turn_counts(result.battles)
    judges = table(
        ("judge", "opinions", "A", "B", "tie", "share of A", "unparsable", "truncated", "refused", "failed"),
        [
            [j.judge, j.opinions, j.a, j.b, j.ties, j.share_a, j.unparsable, j.truncated, j.refused, j.failed]
            for j in judge_counts(result.battles)
        ],
    )
    spoken = (
        f"{plural(turns.turns, 'turn')} with {plural(turns.sections, 'section')}, {turns.missing} missing, "
        f"{plural(turns.cut, 'turn')} cut, {turns.by_section} asked section by section"
    )
    return Group(judges, Text(), Text(spoken))


def transcript(battle: Battle, question: Question) -> RenderableType:
    """Return a battle to read: the question, every turn with its tags, every opinion, the decision."""
    lines = [Text(printable(f"{battle.id}  A = {battle.a}  B = {battle.b}"), style="bold")]
    lines.append(Text(printable(question.text)))
    for turn in battle.turns:
        lines.append(Text(f"\nstep {turn.step} (round {turn.round}) {turn.speaker}: {turn.outcome}", style="bold"))
        lines += [Text(f"<{section.tag}> {printable(section.text)}") for section in turn.sections]
        lines += [Text(printable(turn.detail))] if turn.detail else []
    for opinion in battle.opinions:
        verdict = opinion.verdict or opinion.status
        shown = ", B shown first" if opinion.order == "BA" else ""
        lines.append(Text(f"\n{printable(opinion.judge)}, stage {opinion.stage}{shown}: {verdict}", style="bold"))
        lines.append(Text(printable(opinion.reasons or opinion.detail)))
    decision = battle.decision
    outcome = f"{decision.status}: {decision.verdict}" if decision.verdict else decision.status
    votes = ", ".join(f"{verdict} {n}" for verdict, n in decision.votes.items())
    parts = (outcome, f"votes: {votes}" if votes else "", printable(decision.reason))
    lines.append(Text("\n" + "; ".join(filter(None, parts)), style="bold"))
    return Group(*lines)
