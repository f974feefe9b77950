"""A bench in words and tables: the same on the command line and in Python."""

from collections.abc import Iterator, Sequence

from coupled_arena.reports.console import plain, table
from coupled_arena.shown import plural
from coupled_arena.studies.bench.plan import Plan
from coupled_arena.studies.bench.rows import ModelRow, PairRow
from coupled_arena.studies.comparing.wording import percent

_COUNTED = ("missing", "silent", "unreadable")
_NAMES = {"model", "a", "b", "dice"}


def shown(plan: Plan, models: Sequence[ModelRow], pairs: Sequence[PairRow], caveats: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a bench: both tables, what is settled, what must be known."""
    yield (
        f"{plan.task.name}: {plural(len(plan.items), 'item')} x {plural(plan.repeats, 'repeat')}, "
        f"scored by {plan.task.scorer}, {plan.coupling}, aligned by {plan.alignment}, seed {plan.seed}"
    )
    yield ""
    yield from _models(models)
    if pairs:
        yield ""
        yield from _pairs(pairs)
        yield ""
        yield from map(sentence, pairs)
        if len(pairs) > 1:
            yield "intervals of pairs: each holds by itself, not all of them together"
    yield from (f"note: {caveat}" for caveat in caveats)


def _models(rows: Sequence[ModelRow]) -> Iterator[str]:
    # A column that counts nothing, or keeps all, says nothing.
    counted = [name for name in _COUNTED if any(getattr(row, name) for row in rows)]
    header = ("model", "T", *_kept(rows), "accuracy", "95 % interval", "answers", *counted, "dice")
    lines = [
        (
            row.model,
            f"{row.temperature:g}",
            *(_number(row.top_p, "g") for _ in _kept(rows)),
            _number(row.accuracy),
            _interval(row.low, row.high),
            str(row.answers),
            *(_number(getattr(row, name), "d") for name in counted),
            row.sharing,
        )
        for row in rows
    ]
    yield from _table(header, lines)


def _pairs(rows: Sequence[PairRow]) -> Iterator[str]:
    header = (
        "a", "b", "T", *_kept(rows), "a - b", "95 % interval", "se coupled", "se independent", "covariance",
        "saved", "95 % interval", "within", "identical", "dice",
    )  # fmt: skip
    lines = [
        (
            row.a,
            row.b,
            _number(row.temperature, "g"),
            *(_number(row.top_p, "g") for _ in _kept(rows)),
            _number(row.difference, "+.4f"),
            _interval(row.low, row.high, "+.4f"),
            _number(row.se_coupled),
            _number(row.se_independent),
            _number(row.covariance),
            _number(row.saved, ".1%"),
            _interval(row.saved_low, row.saved_high, ".1%"),
            _number(row.saved_within, ".1%"),
            _number(row.identical, ".1%"),
            row.sharing,
        )
        for row in rows
    ]
    yield from _table(header, lines)


def _table(header: Sequence[str], rows: Sequence[Sequence[str | None]]) -> Iterator[str]:
    yield from plain(table(header, rows, right=set(header) - _NAMES))


def _kept(rows: Sequence[ModelRow] | Sequence[PairRow]) -> tuple[str, ...]:
    return ("top-p",) if any(row.top_p is not None for row in rows) else ()


def sentence(row: PairRow) -> str:
    """Return which of two models is better, whether it is settled, and what shared dice saved."""
    at = "" if row.temperature is None else f" at T {row.temperature:g}"
    at += "" if row.top_p is None else f", top-p {row.top_p:g}"
    if row.difference is None:
        return f"nothing can be said of {row.a} and {row.b}{at}: there is no item that both answered"
    ahead, behind = (row.a, row.b) if row.difference >= 0 else (row.b, row.a)
    if row.difference == 0:
        what = f"{row.a} and {row.b} are level{at}"
    else:
        lead = f"{100 * abs(row.difference):.1f} points"
        what = f"{ahead} {'is better than' if row.resolved else 'leads'} {behind} by {lead}{at}"
    return f"{what}: {_state(row)}; {_saving(row)}"


def _state(row: PairRow) -> str:
    if row.resolved:
        return "resolved"
    if row.low is None:
        return "not resolved: too few items, or no two of them differ"
    if row.more_items is None:
        return "not resolved"
    return f"not resolved: about {plural(row.more_items, 'more item')}"


def _saving(row: PairRow) -> str:
    if row.sharing != "shared":
        return "no shared dice" if row.sharing != "deterministic" else "no dice"
    if row.saved is None:
        return "what shared dice saved cannot be told"
    if row.saved_low is None or row.saved_high is None:
        return "what shared dice saved is uncertain"
    if row.saved < 0:
        ends = f"{percent(-row.saved_high)} to {percent(-row.saved_low)} %"
        return f"shared dice cost {percent(-row.saved)} % more samples ({ends})"
    ends = f"{percent(row.saved_low)} to {percent(row.saved_high)} %"
    return f"shared dice saved {percent(row.saved)} % of the samples ({ends})"


def _number(value: float | None, form: str = ".4f") -> str | None:
    return None if value is None else format(value, form)


def _interval(low: float | None, high: float | None, form: str = ".4f") -> str | None:
    return None if low is None or high is None else f"{low:{form}} to {high:{form}}"
