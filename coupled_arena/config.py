"""A TOML file <-> a tournament."""

from pathlib import Path
from typing import Any

from coupled_arena.prompts.documents import read_document
from coupled_arena.tournaments.definition import Tournament


def load(path: str | Path) -> Tournament:
    """Read a tournament from a TOML file whose keys are the parameters of `Tournament`.

    Paths in the file (questions, prompts, scores of a schedule) are relative to the file.

    Raises:
        ConfigurationError: the file cannot be read, is not TOML, or defines no tournament; every problem with its key.
    """
    path = Path(path)
    parameters = read_document(path, "TOML", where=str(path), key="file")
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
        scores = folder / schedule["scores"]
        read = read_document(scores, "JSON", where=str(scores), key="schedule.scores")
        anchored["schedule"] = {**schedule, "scores": read}
    return anchored
