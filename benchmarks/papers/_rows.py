"""What the recomputations of published tables have in common: the row, and how rows are shown.

A script of this folder reads the public files of a paper, recomputes what follows from them, and puts each number
beside the one that was printed.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

PAIR = ("dataset", "family", "a", "b", "saved", "saved_low", "saved_high", "saved_two_run", "reference_rule")
"""The fields that only a row about a pair of models has."""

MARKS = {True: "=", False: "differs", None: ""}
NOT_THERE = "no data"
"""The mark of a printed number that does not follow from the files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One number of a paper, recomputed."""

    table: str
    """The table, figure or section of the paper."""
    what: str
    """The number: its statistic, and of whom."""
    n: int | None
    """On how many models, battles, questions or items it rests; None if it rests on nothing that was published."""
    recomputed: float | None
    """The number as it follows from the files, in the published unit; None if it does not follow from them."""
    low: float | None = None
    """Lower end of its 95 % interval; None without one."""
    high: float | None = None
    """Upper end of its 95 % interval; None without one."""
    published: float | None = None
    """The number as it was printed; None if the paper printed none."""
    match: bool | None = None
    """Whether the two agree in all printed digits that the files can tell; None without both numbers."""
    note: str = ""
    """Why they differ, or what to know about the number."""
    dataset: str | None = None
    """Of a pair: the data set."""
    family: str | None = None
    """Of a pair: the family of the two models."""
    a: str | None = None
    """Of a pair: the first model."""
    b: str | None = None
    """Of a pair: the second model."""
    saved: float | None = None
    """Of a pair: share of samples that coupling saves, from the coupled run alone."""
    saved_low: float | None = None
    """Lower end of its 95 % interval."""
    saved_high: float | None = None
    """Upper end of its 95 % interval."""
    saved_two_run: float | None = None
    """Of a pair: the same share, from a coupled and an independent run."""
    reference_rule: float | None = None
    """Of a pair: the same share by the resampling rule of the paper's code."""


def agree(recomputed: float | None, published: float | None, digits: int) -> bool | None:
    """Return whether two numbers are one when printed with so many digits; None without both numbers.

    The printed number may have been rounded or cut: both count as agreement.
    """
    if recomputed is None or published is None:
        return None
    return abs(recomputed - published) < 10.0**-digits * (1 - 1e-9)


def show(rows: Sequence[Row], as_json: bool) -> None:
    """Print the rows: as one JSON object `{"rows": [...]}`, or as a table with a line for each."""
    if as_json:
        print(json.dumps({"rows": [_plain(row) for row in rows]}, allow_nan=False, ensure_ascii=False, indent=1))
        return
    what = max((len(row.what) for row in rows), default=0)
    table = ""
    for row in rows:
        if row.table != table:
            table = row.table
            print(f"\n{table}\n  {'':{what}}  {'n':>6}  {'recomputed':>24}  {'published':>9}")
        interval = "" if row.low is None or row.high is None else f" [{_short(row.low)}, {_short(row.high)}]"
        count = "" if row.n is None else str(row.n)
        values = f"{count:>6}  {_short(row.recomputed) + interval:>24}  {_short(row.published):>9}"
        mark = NOT_THERE if row.recomputed is None else MARKS[row.match]
        print(f"  {row.what:{what}}  {values}  {mark:7}  {row.note}".rstrip())


def _plain(row: Row) -> dict[str, object]:
    values = asdict(row)
    return values if row.a is not None else {name: values[name] for name in values if name not in PAIR}


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
