"""A run as one self-contained page."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from coupled_arena.arguments import path_of
from coupled_arena.errors import StoreError
from coupled_arena.records import Battle
from coupled_arena.reports.html.document import battle_document, lines
from coupled_arena.reports.html.overview import overview
from coupled_arena.reports.html.page import packed, page
from coupled_arena.tournaments.results.result import Result, result_in
from coupled_arena.tournaments.storage.store import Store
from coupled_arena.tournaments.storage.whole_files import replacing

CHUNK = 50
"""Battles that are packed together and unpacked when one of them is opened."""

_START = b"<!doctype html>"


def report(
    source: Result | Store | str | os.PathLike[str], path: str | os.PathLike[str], *, run: str | None = None
) -> Path:
    """Write a run as one page that opens from disk, asks nothing of any network, and return its path.

    It holds the leaderboard and what must be known of it, the models against each other, questions, judges, shared
    dice, every battle to read, and how to reproduce the run. What models wrote is text there and nothing else.

    Args:
        source: a result; a store, or the path of one.
        path: the file; a page that is there is replaced, whole or not at all, and anything else stays.
        run: which run of a store; its newest if left out.

    Raises:
        ConfigurationError: the source is no such thing.
        StoreError: the file cannot be written or is no page, the store holds no such run, or it cannot be read.

    Example:
        >>> import tempfile
        >>> import coupled_arena as ca
        >>> tournament = ca.Tournament(models=["sim/ada?skill=2", "sim/bob"], judges=["sim/j1", "sim/j2", "sim/j3"],
        ...     examiner="sim/examiner", domains=["math"], questions_per_domain=2, schedule="round_robin")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     report(tournament.run(), f"{folder}/report.html").name
        'report.html'
    """
    target = path_of(path, "report")
    with result_in(source, run, "report") as result:
        try:
            _require_page(target)
            with replacing(target) as unfinished, unfinished.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(pieces(result))
        except OSError as error:
            raise StoreError(f"{target}: cannot be written ({error}); name a file that can") from error
    return target


def _require_page(path: Path) -> None:
    """Refuse to replace what is no page: a slip of the pen may name a store, or no file at all."""
    if path.is_file():
        with path.open("rb") as file:
            known = file.read(len(_START)) in (b"", _START)
    else:
        known = path.is_dir() or not path.exists()
    if not known:
        raise StoreError(f"{path}: is there, and no page of a run; name another file")


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
