"""How results show themselves in a notebook: tables and lines as HTML, every text escaped."""

import html
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple


class Rows(NamedTuple):
    """A table to show."""

    columns: tuple[str, ...]
    """Names of the columns."""
    rows: Sequence[Sequence[object]]
    """A value for each column: text, a number, or None for nothing."""


class Shown:
    """Base of what a notebook shows as HTML.

    Example:
        >>> class Answer(Shown):
        ...     __slots__ = ()
        ...     def shown(self):
        ...         return "Who <b>wins</b>?", Rows(("model", "rating"), [("ada", 1234.5)])
        >>> print(Answer()._repr_html_())
        <div>Who &lt;b&gt;wins&lt;/b&gt;?</div>
        <table><thead><tr><th>model</th><th>rating</th></tr></thead><tbody><tr><td>ada</td><td>1234</td></tr></tbody></table>
    """

    __slots__ = ()

    def shown(self) -> "Iterable[str | Rows]":
        """Return what there is to show, from top to bottom: tables and text, which keeps its line breaks."""
        return (repr(self),)

    def _repr_html_(self) -> str:
        return "\n".join(_table(part) if isinstance(part, Rows) else _block(part) for part in self.shown())


def plural(number: int, what: str) -> str:
    """Return a number of things in words.

    >>> plural(1, "judge"), plural(0, "battle"), plural(1200, "more question"), plural(2, "retry"), plural(3, "match")
    ('1 judge', '0 battles', '1,200 more questions', '2 retries', '3 matches')
    """
    if number != 1:
        what = f"{what[:-1]}ies" if what.endswith("ry") else f"{what}es" if what.endswith("ch") else f"{what}s"
    return f"{number:,} {what}"


def printable(text: str) -> str:
    r"""Return text whose control characters are shown, not obeyed; line breaks and tabs stay.

    >>> printable("\x1b[31mred")
    '\\x1b[31mred'
    """
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def cell(value: object) -> str:
    """Return a value as it stands in a table: None is a dash, small numbers have two decimals.

    >>> cell(None), cell(0.123), cell(1234.5), cell(7)
    ('-', '0.12', '1234', '7')
    """
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.0f}" if abs(value) >= 10 else f"{value:.2f}"
    return printable(str(value))


def lined(table: Rows) -> Iterator[str]:
    """Yield a table as lines of text, one below the other.

    >>> list(lined(Rows(("model", "rating"), [("ada", 1234.5), ("benedict", None)])))
    ['model     rating', 'ada         1234', 'benedict       -']
    """
    rows = [[cell(value) for value in row] for row in (table.columns, *table.rows)]
    first, *widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for head, *values in rows:
        yield "  ".join((f"{head:<{first}}", *(f"{v:>{width}}" for v, width in zip(values, widths, strict=True))))


def _text(text: str) -> str:
    return html.escape(printable(text))


def _block(text: str) -> str:
    if "\n" in text:
        return f'<pre style="white-space: pre-wrap">{_text(text)}</pre>'
    return f"<div>{_text(text)}</div>"


def _table(table: Rows) -> str:
    head = "".join(f"<th>{_text(column)}</th>" for column in table.columns)
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell(value))}</td>' for value in row)}</tr>" for row in table.rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
