"""GSM8K (Cobbe et al., arXiv 2110.14168) from the user's own copy, asked as in arXiv 2502.01754, appendix."""

from pathlib import Path

from coupled_arena.arguments import path_of
from coupled_arena.models.calls import Message
from coupled_arena.studies.bench.files import Collection, rows_of, text_in
from coupled_arena.studies.bench.scoring import Exact, last_number
from coupled_arena.studies.bench.task import Item, Task

MARK = "####"
"""Stands before the final number of an answer."""

MAX_TOKENS = 250
"""Most tokens of a reply."""

_SYSTEM = "You are given a mathematical problem. Your reply is one number, the answer, and nothing else."


def gsm8k(path: str | Path) -> Task:
    """Return GSM8K as a task, from a JSONL or Parquet file of its public form: `question`, and `answer` in `#### n`.

    Zero-shot, one number asked for, at most 250 tokens; the last number of a reply counts.

    Args:
        path: the file.

    Raises:
        ConfigurationError: with everything wrong in the file, by line.
    """
    path = path_of(path, "gsm8k")
    found = Collection(distinct=False)
    for line, row in rows_of(path, found.problems):
        question, answer = text_in(row, "question"), text_in(row, "answer")
        gold = last_number(answer.rpartition(MARK)[2]) if MARK in answer else None
        wrong = [] if question else [("text", "the question is missing")]
        if gold is None:
            wrong.append(("gold", f"the answer must end in {MARK} and a number"))
        found.add(f"{path}:{line}", Item(f"{path.stem}-{line}", question, gold or ""), wrong)
    return Task("gsm8k", found.finished(path), Exact(last_number), _prompt, MAX_TOKENS)


def _prompt(item: Item) -> list[Message]:
    return [Message("system", _SYSTEM), Message("user", f"{item.text}\nThe answer is")]
