"""Keeping text within what UTF-8 can hold."""

from typing import Any, TypeVar

from coupled_arena.records import Record

RecordT = TypeVar("RecordT", bound=Record)


def storable(text: str) -> str:
    r"""Return text with lone surrogates written as escapes; the same object where there is nothing to change.

    >>> storable("a\udc80")
    'a\\udc80'
    """
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def storable_record(record: RecordT) -> RecordT:
    """Return a record all of whose text is storable, however deep; the same object where there is nothing to change."""
    fields = vars(record).items()
    changed = {field: clean for field, value in fields if value and (clean := _tree(value)) is not value}
    return record.model_copy(update=changed) if changed else record


def _tree(value: Any) -> Any:
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Record):
        return storable_record(value)
    if isinstance(value, dict):
        cleaned = {_tree(name): _tree(part) for name, part in value.items()}
        same = all(a is b for a, b in zip((*cleaned, *cleaned.values()), (*value, *value.values()), strict=False))
        return value if same and len(cleaned) == len(value) else cleaned
    if isinstance(value, (list, tuple)):
        parts = [_tree(part) for part in value]
        same = all(a is b for a, b in zip(parts, value, strict=True))
        return value if same else type(value)(parts)
    return value
