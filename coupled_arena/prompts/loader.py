"""Loading prompt sets from TOML, strictly."""

import hashlib
import json
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NoReturn

from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.prompts.checks import check
from coupled_arena.prompts.documents import read_document
from coupled_arena.prompts.grammar import Grammar
from coupled_arena.prompts.prompt_set import Domain, PromptSet
from coupled_arena.prompts.templates import TEMPLATES
from coupled_arena.records import USUAL_DIFFICULTY

_SHIPPED = files("coupled_arena.prompts")


def prompt_names() -> tuple[str, ...]:
    """Return the names of the shipped prompt sets, sorted.

    >>> prompt_names()
    ('compact', 'de', 'en', 'zh')
    """
    return tuple(sorted(entry.name[:-5] for entry in _SHIPPED.iterdir() if entry.name.endswith(".toml")))


def load_prompts(name_or_path: str | Path) -> PromptSet:
    """Return a prompt set: a shipped one by name (`en`, `zh`, `de`, `compact`), or one of the user's own by file.

    A file has the tables of the shipped ones. With `base = "en"` it says only what differs.

    Args:
        name_or_path: A name, or a path that ends in `.toml`.

    Raises:
        ConfigurationError: There is no such set or file, or it is not what it should be; every problem is named with
            file, template and field.
    """
    name = str(name_or_path)
    if name in prompt_names():
        return _shipped(name)
    path = Path(name)
    if path.suffix != ".toml":
        known = ", ".join(prompt_names())
        _refuse("prompts", name, f"there is no such prompt set; use one of {known} or the path of a .toml file")
    return _build(path.stem, name, _parsed(path, name))


@cache
def _shipped(name: str) -> PromptSet:
    where = f"{name}.toml"
    return _build(name, where, _tables(name))


def _tables(name: str) -> dict[str, Any]:
    """Return the content of a shipped set, on top of its base if it has one."""
    where = f"{name}.toml"
    return _parsed(_SHIPPED.joinpath(where), where)


def _parsed(source: Path | Traversable, where: str) -> dict[str, Any]:
    """Return a file's tables on top of those of its base."""
    own: dict[str, Any] = read_document(source, "TOML", where=where, key="prompts")
    base = own.pop("base", None)
    if base is None:
        return own
    if base not in prompt_names():
        _refuse(where, "base", f"there is no prompt set {base!r}; use one of {', '.join(prompt_names())}")
    return _laid_over(_tables(base), own)


def _laid_over(base: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """Return tables in which what `own` says replaces what `base` says, key by key."""
    merged = dict(base)
    for key, value in own.items():
        below = merged.get(key)
        merged[key] = _laid_over(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged


def _build(name: str, where: str, tables: dict[str, Any]) -> PromptSet:
    problems = [Problem(where, key, message) for key, message in check(tables)]
    if problems:
        raise ConfigurationError(problems)
    grammar = tables["grammar"]
    templates = {template: _template(tables, template) for template in TEMPLATES}
    domains = {
        domain: Domain(
            name=domain,
            title=table["title"],
            command=table["command"],
            example=table["example"].strip(),
            words=table["words"],
            needs_reference=table["needs_reference"],
        )
        for domain, table in tables["domains"].items()
    }
    default = tables["default_domain"]
    return PromptSet(
        name=name,
        language=tables["language"],
        grammar=Grammar(
            actions=grammar["actions"],
            tie=tuple(grammar["tie"]),
            unit=grammar["unit"],
            problems=grammar["problems"],
        ),
        templates=templates,
        domains=domains,
        default_domain=Domain("", "", default["command"], default["example"].strip(), default["words"], False),
        tokens_per_unit=float(grammar["tokens_per_unit"]),
        digest=_digest(tables),
        where=where,
    )


def _digest(tables: dict[str, Any]) -> str:
    """Return the digest of what is said where questions are of the usual difficulty.

    Other difficulties are part of the runs that ask for them: so a set that learns one is still the same to the others.
    """
    examiner = dict(tables["examiner"])
    examiner["request"] = examiner["request"].replace("{difficulty}", tables["difficulty"][USUAL_DIFFICULTY])
    said = {**{key: table for key, table in tables.items() if key != "difficulty"}, "examiner": examiner}
    canonical = json.dumps(said, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.blake2b(canonical.encode(), digest_size=16).hexdigest()


def _template(tables: dict[str, Any], template: str) -> str:
    """Return a template's text without the line break that TOML's closing quotes stand behind."""
    table, _, key = template.partition(".")
    text: str = tables[table][key]
    return text.removesuffix("\n")


def _refuse(where: str, key: str, message: str) -> NoReturn:
    raise ConfigurationError([Problem(where, key, message)])
