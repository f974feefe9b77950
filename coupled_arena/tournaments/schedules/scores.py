"""Scores of models by some other measure, such as MMLU, which say who is about as good as whom before any battle."""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator

from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.prompts.rows import csv_rows, json_rows, json_table, text_of

KEY = "schedule.scores"
"""What problems call a file of scores."""
_COLUMNS = ("name", "score")


def load_scores(path: str | Path) -> dict[str, float]:
    """Return scores by the name of a model.

    Args:
        path: a file in UTF-8: `.csv` with the columns `name` and `score`, `.jsonl` with these two fields in each line,
            or `.json` with one object of scores by name.

    Raises:
        ConfigurationError: the file cannot be read, or something in it is wrong: a field missing or unknown, a score
            that is no finite number, a name twice. Every problem is named with its line, as far as there are lines.
    """
    path = Path(path)
    problems: list[Problem] = []
    scores: dict[str, float] = {}
    for where, row in _rows(path, problems):
        found = [Problem(where, key, "is unknown; there are name, score") for key in row if key not in _COLUMNS]
        name, score = row.get("name"), _number(row.get("score"))
        if not isinstance(name, str) or not name.strip():
            found.append(Problem(where, "name", "is missing"))
        elif name in scores:
            found.append(Problem(where, "name", f"{name!r} has a score already"))
        elif score is None:
            found.append(Problem(where, "score", f"of {name!r} is no finite number: {row.get('score')!r}"))
        else:
            scores[name] = score
        problems += found
    if not problems and not scores:
        problems.append(Problem(str(path), KEY, "holds no scores"))
    if problems:
        raise ConfigurationError(problems)
    return scores


def _rows(path: Path, problems: list[Problem]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield place and fields of every score; what cannot be read is a problem."""
    content = text_of(path, KEY, problems)
    if content is None:
        return
    if path.suffix == ".json":
        for name, score in (json_table(path, content, KEY, problems) or {}).items():
            yield str(path), {"name": name, "score": score}
    elif path.suffix in (".jsonl", ".ndjson", ".csv"):
        if path.suffix == ".csv":
            rows = csv_rows(path, content, KEY, problems, known=_COLUMNS)
        else:
            rows = json_rows(path, content, KEY, problems)
        for line, row in rows:
            yield f"{path}:{line}", row
    else:
        problems.append(Problem(str(path), KEY, "is neither .csv nor .jsonl nor .json"))


def _number(value: Any) -> float | None:
    """Return a finite number, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _read(value: Any) -> Any:
    if isinstance(value, Mapping):
        for name, score in value.items():
            if isinstance(score, bool):
                raise ValueError(f"of {name!r} is no finite number: {score!r}")
    return load_scores(value) if isinstance(value, str | Path) else value


Scores = Annotated[dict[str, float] | None, BeforeValidator(_read)]
"""Scores by model name, or a file of them."""
