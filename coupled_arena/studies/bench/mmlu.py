"""MMLU (Hendrycks et al., arXiv 2009.03300) from the user's own copy, asked as in arXiv 2502.01754, section 5."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coupled_arena.arguments import path_of
from coupled_arena.models.calls import Message
from coupled_arena.studies.bench.files import SUFFIXES, Collection, as_text, rows_of, text_in
from coupled_arena.studies.bench.scoring import LETTERS, Exact, letter, strict_letter
from coupled_arena.studies.bench.task import Item, Task

COLUMNS = ("question", *LETTERS, "answer")
"""Columns of a CSV file, one file for each subject, without a header."""

MAX_TOKENS = 20
"""Most tokens of a reply."""

_SPLITS = ("_test", "_val", "_dev")
_SYSTEM = (
    "You are asked questions with four options. Reply with one letter only: A, B, C or D. Do not explain your choice."
)


def mmlu(path: str | Path, *, strict: bool = False) -> Task:
    """Return MMLU as a task, from files of one of its public forms.

    In the form of the authors a folder (or its folder `test`) holds a CSV file for each subject, without a header:
    question, four options, letter of the answer. In the form of `cais/mmlu` a JSONL or Parquet file has `question`,
    `subject`, `choices` and `answer` (0 to 3, or a letter).

    Zero-shot, one letter asked for, at most 20 tokens. The letter is found however it is wrapped (`Answer: A`,
    `**A**`); the reference implementation counts such replies as wrong, and so does `strict`.

    Args:
        path: a file, or a folder of files.
        strict: whether a reply must be the letter and nothing else.

    Raises:
        ConfigurationError: with everything wrong in the files, by file and line.
    """
    path = path_of(path, "mmlu")
    found = Collection(distinct=False)
    for file in _files(path):
        for line, row in rows_of(file, found.problems, COLUMNS):
            item, wrong = _item(row, file, line)
            found.add(f"{file}:{line}", item, wrong)
    return Task("mmlu", found.finished(path), Exact(strict_letter if strict else letter), _prompt, MAX_TOKENS)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    folder = path / "test" if (path / "test").is_dir() else path
    return sorted(file for file in folder.iterdir() if file.suffix in SUFFIXES)


def _prompt(item: Item) -> list[Message]:
    return [Message("system", _SYSTEM), Message("user", f"{item.text}\nAnswer:")]


def _item(row: dict[str, Any], file: Path, line: int) -> tuple[Item, list[tuple[str, str]]]:
    subject = text_in(row, "subject") or _subject(file)
    options = row["choices"] if "choices" in row else [row.get(name) for name in LETTERS]
    question, gold = text_in(row, "question"), _gold(row.get("answer"))
    wrong = list(_wrong(question, options, gold))
    listed = () if wrong else (f"{name}. {as_text(option)}" for name, option in zip(LETTERS, options, strict=True))
    return Item(f"{subject}-{line}", "\n".join((question, *listed)), gold, subject), wrong


def _wrong(question: str, options: Any, gold: str) -> Iterator[tuple[str, str]]:
    if not question:
        # Said here, because a text is made of the question and its options.
        yield "text", "the question is missing"
    sound = isinstance(options, list | tuple) and len(options) == len(LETTERS)
    if not sound or not all(map(as_text, options)):
        yield "choices", "needs four options that are not empty"
    if not gold:
        yield "gold", "the answer must be A, B, C or D, or a number from 0 to 3"


def _gold(answer: Any) -> str:
    said = str(answer).strip()
    if len(said) != 1 or isinstance(answer, bool):
        return ""
    return said if said in LETTERS else LETTERS[int(said)] if said in "0123" else ""


def _subject(file: Path) -> str:
    return next((file.stem.removesuffix(split) for split in _SPLITS if file.stem.endswith(split)), file.stem)
