"""A TOML file <-> a tournament."""

from pathlib import Path
from typing import Any

from coupled_arena.arguments import path_of
from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.prompts.documents import read_document
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.rules import CommitteeRules

JUDGING = ("budget", "committee", "judges", "limits", "prompts")
"""Keys of a file by which debates are judged anew."""


def load(path: str | Path) -> Tournament:
    """Read a tournament from a TOML file whose keys are the parameters of `Tournament`.

    Paths in the file (questions, prompts, scores of a schedule) are relative to the file.

    Raises:
        ConfigurationError: the file cannot be read, is not TOML, or defines no tournament; every problem with its key.
    """
    path = path_of(path, "load")
    parameters = read_document(path, "TOML", where=str(path), key="file")
    parameters.setdefault("name", path.stem)
    return Tournament.from_mapping(_anchored(parameters, path.parent), str(path))


def load_judging(path: str | Path) -> dict[str, Any]:
    """Read by whom, by which rules and in which words debates are judged anew, as parameters of `rejudge`.

    The path of a prompt set is relative to the file.

    Raises:
        ConfigurationError: the file cannot be read, is not TOML, or holds other keys than `JUDGING`.
    """
    path = Path(path)
    parameters = read_document(path, "TOML", where=str(path), key="file")
    if unknown := sorted(parameters.keys() - set(JUDGING)):
        raise ConfigurationError([Problem(str(path), key, _unfit_to_judge_by(key)) for key in unknown])
    return _anchored(parameters, path.parent)


def _unfit_to_judge_by(key: str) -> str:
    of_rules = key in CommitteeRules.model_fields
    remedy = "write it under [committee]" if of_rules else f"there are {', '.join(JUDGING)}"
    return f"is no key of a file to judge by; {remedy}"


def _anchored(parameters: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Make the paths in a file relative to the file's folder."""
    anchored = dict(parameters)
    if isinstance(anchored.get("questions"), str):
        anchored["questions"] = folder / anchored["questions"]
    prompts = anchored.get("prompts")
    if isinstance(prompts, str) and prompts.endswith(".toml"):
        anchored["prompts"] = str(folder / prompts)
    schedule = anchored.get("schedule")
    if isinstance(schedule, dict) and isinstance(schedule.get("scores"), str):
        anchored["schedule"] = {**schedule, "scores": folder / schedule["scores"]}
    return anchored
