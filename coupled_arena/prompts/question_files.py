"""Questions that are not written by an examiner: the shipped set and the user's own files."""

import json
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args

from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.prompts.rows import csv_rows, json_rows, text_of
from coupled_arena.records import Difficulty, Question, name_problem

_FIELDS = ("id", "domain", "language", "text", "question", "reference", "difficulty")
_LEAST = 4
_SHORT = f"is missing or has fewer than {_LEAST} letters or digits"


def bundled_questions(language: str, domain: str) -> tuple[Question, ...]:
    """Return the shipped questions of a language and a domain, always in the same order; none if there are none.

    >>> bundled_questions("en", "math")[0].author
    'bundled'
    """
    return tuple(question for question in _bundled(language) if question.domain == domain)


def load_questions(path: str | Path, *, language: str = "en", domain: str = "general") -> tuple[Question, ...]:
    """Return the questions of a JSONL or CSV file in UTF-8, in its order.

    Each line (row) has `text` or `question`, and may have `id`, `domain`, `language`, `reference` and `difficulty`
    (`easy`, `medium` or `hard`).

    Args:
        path: A file that ends in `.jsonl`, `.ndjson` or `.csv`.
        language: Of questions that do not say it.
        domain: Of questions that do not say it.

    Raises:
        ConfigurationError: The file cannot be read, or something in it is wrong: an unknown field, no text or hardly
            any, an id or a text twice. Every problem is named with file and line.
    """
    path = Path(path)
    problems: list[Problem] = []
    questions: list[Question] = []
    ids: dict[str, int] = {}
    texts: dict[str, int] = {}
    for line, row in _rows(path, problems):
        where = f"{path}:{line}"
        found = [Problem(where, key, message) for key, message in _wrong(row)]
        if not found:
            text = _text(row)
            defaults = {"id": f"{path.stem}-{line}", "domain": domain, "language": language, "reference": ""}
            values = {key: str(row.get(key) or "").strip() or default for key, default in defaults.items()}
            if values["id"] in ids:
                found.append(Problem(where, "id", f"{values['id']!r} is the id of line {ids[values['id']]} already"))
            if text in texts:
                found.append(Problem(where, "text", f"is the text of line {texts[text]} already"))
            ids.setdefault(values["id"], line)
            texts.setdefault(text, line)
            question = Question(
                id=values["id"],
                domain=values["domain"],
                language=values["language"],
                text=text,
                author=path.name,
                reference=values["reference"] or None,
                difficulty=row.get("difficulty") or None,
            )
            found += [Problem(where, key, message) for key, message in unfit(question)]
            questions.append(question)
        problems.extend(found)
    if not problems and not questions:
        problems.append(Problem(str(path), "questions", "holds no questions"))
    if problems:
        raise ConfigurationError(problems)
    return tuple(questions)


def unfit(question: Question) -> Iterator[tuple[str, str]]:
    """Yield field and message for everything for which a question cannot be asked, wherever it comes from.

    >>> list(unfit(Question(id="q", domain="math", language="en", text="?", author="me")))
    [('text', 'is missing or has fewer than 4 letters or digits')]
    """
    for key in ("id", "domain", "language"):
        if problem := name_problem(getattr(question, key)):
            yield key, problem
    if sum(map(str.isalnum, question.text)) < _LEAST:
        yield "text", _SHORT
    for key in ("text", "author", "reference"):
        if any("\ud800" <= character <= "\udfff" for character in getattr(question, key) or ""):
            yield key, "holds half a character (a lone surrogate), which no file can store; write the whole character"


@cache
def _bundled(language: str) -> tuple[Question, ...]:
    names = {entry.name: entry for entry in files("coupled_arena.prompts").joinpath("questions").iterdir()}
    entry = names.get(f"{language}.jsonl")
    if entry is None:
        return ()
    lines = entry.read_text("utf-8").splitlines()
    return tuple(Question(**json.loads(line), author="bundled") for line in lines)


def _rows(path: Path, problems: list[Problem]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number and fields of every question; what cannot be read is a problem."""
    content = text_of(path, "questions", problems)
    if content is None:
        return
    if path.suffix in (".jsonl", ".ndjson"):
        yield from json_rows(path, content, "questions", problems)
    elif path.suffix == ".csv":
        yield from csv_rows(path, content, "questions", problems, known=_FIELDS)
    else:
        problems.append(Problem(str(path), "questions", "is neither .jsonl nor .csv"))


def _wrong(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield field and message for everything that is wrong with a question's fields."""
    for key, value in row.items():
        if key not in _FIELDS:
            yield key, f"is unknown; there are {', '.join(_FIELDS)}"
        elif key == "id" and (isinstance(value, bool) or not isinstance(value, str | int | None)):
            yield key, "must be text or a whole number"
        elif key != "id" and not isinstance(value, str | None):
            yield key, "must be text"
    if (row.get("difficulty") or None) not in (None, *get_args(Difficulty)):
        yield "difficulty", f"must be one of {', '.join(get_args(Difficulty))}"
    if row.get("text") and row.get("question"):
        yield "question", "is given beside text; use one of them"
    elif not isinstance(_text(row), str) or sum(map(str.isalnum, _text(row))) < _LEAST:
        yield "text", _SHORT


def _text(row: dict[str, Any]) -> str:
    value = row.get("text") or row.get("question") or ""
    return value.strip() if isinstance(value, str) else ""
