"""A run as one self-contained page."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from coupled_arena.errors import StoreError
from coupled_arena.records import Battle
from coupled_arena.reports.html.document import battle_document, lines
from coupled_arena.reports.html.overview import overview
from coupled_arena.reports.html.page import packed, page
from coupled_arena.tournaments.result import Result

CHUNK = 50
"""Battles that are packed together and unpacked when one of them is opened."""


def report(result: Result, path: str | os.PathLike[str]) -> Path:
    """Write a run as one page that opens from disk, asks nothing of any network, and return its path.

    It holds the leaderboard and what must be known of it, the models against each other, questions, judges, shared
    dice, every battle to read, and how to reproduce the run. What models wrote is text there and nothing else.

    Raises:
        StoreError: the file cannot be written, or the store cannot be read.

    Example:
        >>> import tempfile
        >>> import coupled_arena as ca
        >>> tournament = ca.Tournament(models=["sim/ada?skill=2", "sim/bob"], judges=["sim/j1", "sim/j2", "sim/j3"],
        ...     examiner="sim/examiner", domains=["math"], questions_per_domain=2, schedule="round_robin")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     report(tournament.run(), f"{folder}/report.html").name
        'report.html'
    """
    target = Path(path)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with unfinished.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(pieces(result))
        unfinished.replace(target)
    except OSError as error:
        raise StoreError(f"{target}: cannot be written ({error}); name a file that can") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return target


def pieces(result: Result) -> Iterator[str]:
    """Yield the page of a run in pieces."""
    source = {"kind": "embedded", "battles": len(result.battles), "chunk": CHUNK}
    return page(result.tournament.name, source, _blocks(result))


def _blocks(result: Result) -> Iterator[tuple[str, bytes]]:
    yield "overview", packed(overview(result).model_dump())
    yield "lines", packed(lines(result.battles).model_dump())
    for number, chunk in enumerate(_chunks(result.battles)):
        yield f"chunk-{number}", packed([battle_document(battle) for battle in chunk])


def _chunks(battles: Sequence[Battle]) -> Iterator[Sequence[Battle]]:
    for start in range(0, len(battles), CHUNK):
        yield battles[start : start + CHUNK]
