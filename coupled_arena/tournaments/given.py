"""What a definition may be given for a key, made into what the key holds; anything else is refused with what to write.

Each function decides between the members of a union itself: pydantic would report a finding for every member, under
keys that no file has.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from pydantic import TypeAdapter

from coupled_arena.models.model import AnyModel, Model
from coupled_arena.protocols.script import SCRIPTS
from coupled_arena.records import Difficulty, Name, Question

MOST_JUDGES = 1_000

_MODEL: TypeAdapter[Model] = TypeAdapter(AnyModel)
_MODELS: TypeAdapter[tuple[Model, ...]] = TypeAdapter(tuple[AnyModel, ...])
_QUESTIONS: TypeAdapter[tuple[Question, ...]] = TypeAdapter(tuple[Question, ...])
_DIFFICULTIES: TypeAdapter[dict[str, Difficulty]] = TypeAdapter(dict[Name, Difficulty])


def as_list(value: Any) -> Any:
    """Return what is listed."""
    if not isinstance(value, list | tuple):
        raise ValueError("write a list, such as [...]")
    return value


def as_panel(value: Any) -> Any:
    """Return the models that are listed."""
    return _MODELS.validate_python(as_list(value))


def as_judges(value: Any) -> Any:
    """Return a panel, or a number of judges."""
    if isinstance(value, list | tuple):
        return as_panel(value)
    if not isinstance(value, int) or isinstance(value, bool) or value > MOST_JUDGES:
        raise ValueError(f"write a number of judges up to {MOST_JUDGES}, or a list of models")
    return value


def as_examiner(value: Any) -> Any:
    """Return one examiner, several, or None."""
    if not isinstance(value, list | tuple):
        return None if value is None else _MODEL.validate_python(value)
    models = as_panel(value)
    # One examiner is the same in a list or alone, and so is none.
    return models if len(models) > 1 else next(iter(models), None)


def as_difficulty(value: Any) -> Any:
    """Return a difficulty, or one for each domain."""
    if isinstance(value, Mapping):
        return _DIFFICULTIES.validate_python(value)
    if value not in get_args(Difficulty):
        raise ValueError(f"write {', '.join(map(repr, get_args(Difficulty)))}, or a table with one for each domain")
    return value


def as_questions(value: Any) -> Any:
    """Return questions, or the file that holds them."""
    if isinstance(value, str):
        return Path(value)
    if isinstance(value, list | tuple) and all(isinstance(part, Question | Mapping) for part in value):
        return _QUESTIONS.validate_python(value)
    if value is not None and not isinstance(value, Path):
        raise ValueError("write the path of a JSONL or CSV file, or a list of tables with the fields of a question")
    return value


def as_script(value: Any) -> Any:
    """Return a script: one of ours by its name."""
    if not isinstance(value, str):
        return value
    if value not in SCRIPTS:
        raise ValueError(f"no script named {value!r}; there is {', '.join(sorted(SCRIPTS))}, or give steps")
    return SCRIPTS[value]
