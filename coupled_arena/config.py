"""A TOML file <-> a tournament."""

import json
import tomllib
from pathlib import Path
from typing import Any

from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.tournaments.definition import Tournament


def load(path: str | Path) -> Tournament:
    """Read a tournament from a TOML file whose keys are the parameters of `Tournament`.

    Paths in the file (questions, prompts, scores of a schedule) are relative to the file.

    Raises:
        ConfigurationError: the file cannot be read, is not TOML, or defines no tournament; every problem with its key.
    """
    path = Path(path)
    try:
        parameters = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigurationError([Problem(str(path), "file", f"cannot be read: {reason}")]) from None
    except UnicodeDecodeError:
        raise ConfigurationError([Problem(str(path), "file", "is not UTF-8; save it as UTF-8")]) from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError([Problem(str(path), "file", f"is not TOML: {error}")]) from None
    parameters.setdefault("name", path.stem)
    return Tournament.from_mapping(_anchored(parameters, path.parent), str(path))


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
        anchored["schedule"] = {**schedule, "scores": _scores(folder / schedule["scores"])}
    return anchored


def _scores(path: Path) -> Any:
    """Read the scores that seed a Swiss tournament: a JSON object of numbers by model name."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        message = f"is no JSON object of scores by model name: {error}"
        raise ConfigurationError([Problem(str(path), "schedule.scores", message)]) from None
