"""How to play a run again: its definition as a file, and what else it takes."""

import json
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any

from coupled_arena.tournaments.definition import CHANGES_NO_RESULT, PYTHON_ONLY, Tournament

_TABLES = ("committee", "battle")
_MODELS = ("models", "judges", "examiner", "reference")


def toml_of(tournament: Tournament, definition: Mapping[str, Any]) -> str | None:
    """Return a run's definition as a file for `coupled-arena run`, without what has its usual value.

    None where a file cannot say it: agents, added roles or a schedule in Python.

    Args:
        tournament: the definition as the store gives it back.
        definition: the same as plain data, which also names the questions.

    >>> print(toml_of(Tournament(models=["sim/ada", "sim/bob"], domains=["math"], vote="majority"), {}))
    models = ["sim/ada", "sim/bob"]
    domains = ["math"]
    <BLANKLINE>
    [committee]
    vote = "majority"
    <BLANKLINE>
    """
    if definition.get("agents") or definition.get("roles") or tournament.schedule.kind == "own":
        return None
    told = tournament.model_dump(mode="json", exclude_defaults=True, exclude={*CHANGES_NO_RESULT, *PYTHON_ONLY})
    for key in _MODELS:
        if key in told:
            told[key] = _models(told[key])
    schedule = {"kind": tournament.schedule.kind, **_known(tournament.schedule.model_dump(mode="json"))}
    told["schedule"] = schedule if len(schedule) > 1 else schedule["kind"]
    if schedule == {"kind": "swiss"}:
        del told["schedule"]
    if definition.get("questions"):
        told["questions"] = definition["questions"]
    if "judges_by_domain" in told.get("committee", {}):
        panels = told["committee"]["judges_by_domain"]
        told["committee"]["judges_by_domain"] = {domain: _models(panel) for domain, panel in panels.items()}
    return "\n".join(_lines(told)) + "\n"


def steps(tournament: Tournament, *, written: bool) -> tuple[str, ...]:
    """Return what to do to play a run again, a sentence each.

    Args:
        tournament: the definition.
        written: whether a file can say it.
    """
    found = [
        f"Install coupled-arena {version('coupled-arena')}, with the versions above where every digit must be the same."
    ]
    if written:
        found.append("Save the definition below as run.toml and play it: coupled-arena run run.toml")
    else:
        found.append("It uses agents, roles or a schedule written in Python: run the script that defined it.")
    if isinstance(tournament.prompts, str) and tournament.prompts.endswith(".toml"):
        found.append(f"Its prompts are those of {tournament.prompts}, which lie beside the definition.")
    kinds = {model.kind for model in (*tournament.models, *tournament.judging_models, *tournament.examiners)}
    if "hosted" in kinds:
        found.append(
            "Hosted models may answer otherwise another time; on the store of this run (--store FILE) every answer "
            "comes from there, and nothing is asked or paid again."
        )
    else:
        found.append("All its models are simulated or local, so they give the same answers again.")
    return tuple(found)


def _models(value: Any) -> Any:
    """Return models as a file may name them: by their string alone where they have no settings of their own."""
    if isinstance(value, list):
        return [_models(own) for own in value]
    if not isinstance(value, dict):
        return value
    own = _known(value)
    if own.get("name") == own["model"].partition("?")[0]:
        del own["name"]
    return own["model"] if len(own) == 1 else own


def _known(value: Any) -> Any:
    """Return plain data without what is missing or empty, which TOML cannot say."""
    if isinstance(value, dict):
        return {key: _known(own) for key, own in value.items() if own is not None and own != {}}
    return [_known(own) for own in value] if isinstance(value, list) else value


def _lines(told: Mapping[str, Any]) -> Iterator[str]:
    known = _known(dict(told))
    yield from (f"{_key(key)} = {_value(value)}" for key, value in known.items() if key not in _TABLES)
    for table in _TABLES:
        if known.get(table):
            yield from ("", f"[{table}]")
            yield from (f"{_key(key)} = {_value(value)}" for key, value in known[table].items())


def _value(value: Any) -> str:
    match value:
        case dict():
            return "{ " + ", ".join(f"{_key(key)} = {_value(own)}" for key, own in value.items()) + " }"
        case list() if any(isinstance(own, dict) for own in value):
            return "[\n" + "".join(f"    {_value(own)},\n" for own in value) + "]"
        case list():
            return "[" + ", ".join(map(_value, value)) + "]"
        case _:
            # TOML escapes as JSON does, and DEL too.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: str) -> str:
    plain = key and all(letter.isascii() and (letter.isalnum() or letter in "_-") for letter in key)
    return key if plain else _value(key)
