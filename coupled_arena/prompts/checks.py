"""What a prompt set's tables must hold."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from coupled_arena.prompts.characters import fold
from coupled_arena.prompts.defang import ACTIONS, ENVELOPES
from coupled_arena.prompts.tags import TAG_RULE, names_tag
from coupled_arena.prompts.templates import FIELD, TEMPLATES, template_problems
from coupled_arena.prompts.verdict import PROBLEMS

Found = tuple[str, str]
"""Dotted key and what is wrong with it."""


class _Rule(NamedTuple):
    """What a value must be."""

    accepts: Callable[[Any], bool]
    """Whether a value is fit."""
    message: str
    """What is said of one that is not."""


_TEXT = _Rule(lambda value: isinstance(value, str) and bool(value.strip()), "must be text that is not empty")
_COUNT = _Rule(lambda value: type(value) is int and 1 <= value <= 100_000, "must be a whole number from 1 to 100000")
_FLAG = _Rule(lambda value: isinstance(value, bool), "must be true or false")
_TABLE = _Rule(lambda value: isinstance(value, dict), "must be a table")
_UNIT = _Rule(lambda value: value in ("words", "characters"), 'must be "words" or "characters"')
_RATE = _Rule(lambda value: type(value) in (int, float) and 1 <= value <= 20, "must be a number from 1 to 20")
_CODE = _Rule(
    lambda value: isinstance(value, str) and re.fullmatch(r"[a-z]{2,3}(-[A-Za-z0-9]+)*", value) is not None,
    "must be a language code such as en or pt-BR",
)
_TIE = _Rule(
    lambda value: (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(word, str) and fold(word) not in ("", "a", "b") for word in value)
        and not any(re.search(r"[\[\]\n]", word) for word in value)
    ),
    "must be a list of words for a tie that are neither A nor B",
)

_DOMAIN = {"title": _TEXT, "command": _TEXT, "example": _TEXT, "words": _COUNT, "needs_reference": _FLAG}
_TABLES: dict[str, dict[str, _Rule]] = {
    "": {
        "language": _CODE,
        "grammar": _TABLE,
        "default_domain": _TABLE,
        "domains": _TABLE,
        **{template.partition(".")[0]: _TABLE for template in TEMPLATES},
    },
    "grammar": {
        "unit": _UNIT,
        "tokens_per_unit": _RATE,
        "tie": _TIE,
        "actions": _TABLE,
        "problems": _TABLE,
    },
    "grammar.problems": dict.fromkeys(PROBLEMS, _TEXT),
    "default_domain": {"command": _TEXT, "example": _TEXT, "words": _COUNT},
}
for _template in TEMPLATES:
    _table, _, _key = _template.partition(".")
    _TABLES.setdefault(_table, {})[_key] = _TEXT


def check(tables: dict[str, Any]) -> Iterator[Found]:
    """Yield everything that is wrong with a prompt set."""
    for path, rules in _TABLES.items():
        table = _at(tables, path)
        if table is not None:
            yield from _compare(path, table, rules)
    yield from _domains(_at(tables, "domains") or {})
    yield from _actions(_at(tables, "grammar.actions"))
    for kind, fields in PROBLEMS.items():
        text = (_at(tables, "grammar.problems") or {}).get(kind)
        allowed = FIELD.findall(fields)
        for field in FIELD.findall(text) if isinstance(text, str) else ():
            if field not in allowed:
                yield f"grammar.problems.{kind}", f"unknown field {{{field}}}"
    command = (_at(tables, "default_domain") or {}).get("command")
    if isinstance(command, str) and FIELD.findall(command) != ["domain"]:
        yield "default_domain.command", "must use the field {domain} once, and no other"
    for template in TEMPLATES:
        path, _, key = template.partition(".")
        text = (_at(tables, path) or {}).get(key)
        if isinstance(text, str):
            for message in template_problems(template, text):
                yield template, message


def _at(tables: dict[str, Any], path: str) -> dict[str, Any] | None:
    """Return the table at a dotted path, if there is one."""
    value: Any = tables
    for key in path.split(".") if path else ():
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else None


def _compare(path: str, table: dict[str, Any], rules: dict[str, _Rule]) -> Iterator[Found]:
    prefix = f"{path}." if path else ""
    for key in table:
        if key not in rules:
            yield f"{prefix}{key}", f"is unknown; there are {', '.join(rules)}"
    for key, rule in rules.items():
        if key not in table:
            yield f"{prefix}{key}", "is missing"
        elif not rule.accepts(table[key]):
            yield f"{prefix}{key}", rule.message


def _domains(domains: dict[str, Any]) -> Iterator[Found]:
    for name, table in domains.items():
        if isinstance(table, dict):
            yield from _compare(f"domains.{name}", table, _DOMAIN)
        else:
            yield f"domains.{name}", "must be a table"


def _actions(actions: dict[str, Any] | None) -> Iterator[Found]:
    if actions is None:
        return
    for action in ACTIONS:
        if action not in actions:
            yield f"grammar.actions.{action}", "is missing"
    seen: dict[str, str] = {}
    for action, tag in actions.items():
        key = f"grammar.actions.{action}"
        if not isinstance(tag, str) or not names_tag(tag):
            yield key, f"must be a tag: {TAG_RULE}"
            continue
        other = seen.setdefault(fold(tag), action)
        if other != action:
            yield key, f"has the tag of {other}"
        if fold(tag) in ENVELOPES:
            yield key, f"{tag} is the name of an envelope; use another"
        if fold(tag) in ACTIONS and fold(tag) != action:
            yield key, f"{tag} is the name of another action; use another"
