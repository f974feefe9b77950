"""The opinions of a run, a data frame, a file or an exported folder, and what they cannot tell."""

import os
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from coupled_arena.analysis.judges import LACKING, NEEDED, OPTIONAL, Opinions, opinions_of
from coupled_arena.analysis.judges.estimate import Floats
from coupled_arena.arguments import path_of, refuse
from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.records import VERDICT_OF, OnFlip
from coupled_arena.studies.file_rows import ENDINGS, read_rows
from coupled_arena.studies.judging.gathering import Gathered
from coupled_arena.studies.judging.traits import traits_of
from coupled_arena.studies.problems import Problems
from coupled_arena.studies.rating.battle_formats import Wrong, score_of
from coupled_arena.tournaments.results.result import Result, result_in

STEM = "opinions"
"""Name of the exported file of opinions, without its ending."""

ALIASES = {"a": "model_a", "b": "model_b", "verdict": "winner", "question": "question_id"}
"""Other names that columns have in published files of votes."""


@dataclass(frozen=True, slots=True)
class Read:
    """Opinions, and where they come from."""

    source: str
    """The run, file or folder, as messages name it."""
    table: Opinions
    """The opinions."""
    on_flip: OnFlip
    """What two different verdicts of one judge in the two orders count as: the run's rule, else a tie."""
    notes: tuple[str, ...]
    """What the opinions cannot tell, and why."""
    traits: Mapping[str, Floats]
    """What is known of battles beside their models, by name, each of shape (battles,): in which domain, how late."""


def read_opinions(source: Any, *, run: str | None = None, columns: Mapping[str, str] | None = None) -> Read:
    """Return the opinions of a source.

    Args:
        source: a result, a store or the path of one, a data frame, or the path of a file of opinions or of a folder
            that `export` has written.
        run: which run of a store; its newest if left out.
        columns: what columns of a file are called there, by their names in the frame `opinions`.

    Raises:
        ConfigurationError: the file cannot be read, or holds what it cannot.
        StoreError: the store holds no such run, or cannot be read.
    """
    path = path_of(source, "opinions", "source") if isinstance(source, str | os.PathLike) else None
    # `Path.is_dir` raises an error where a name is too long.
    folder = path is not None and os.path.isdir(path)  # noqa: PTH112
    if not isinstance(columns, Mapping | None):
        refuse("opinions", "columns", "names of columns by those of the frame `opinions`", columns)
    file = folder or (path is not None and path.suffix in ENDINGS)
    table = isinstance(source, Mapping) or hasattr(source, "columns")
    if run is not None and (file or table or isinstance(source, Result)):
        raise ConfigurationError([Problem("run", run, "names a run of a store; leave it out, or name the store")])
    if columns and not (file or table):
        message = "is for a file or a data frame; a run has all columns under their own names"
        raise ConfigurationError([Problem("columns", next(iter(columns)), message)])
    if path is not None and file:
        return _of_file(_exported(path) if folder else path, columns or {})
    if table:
        return _told("opinions", _renamed(source, columns or {}))
    with result_in(source, run, "opinions") as result:
        return _of_result(result)


def lacking(table: Opinions) -> tuple[str, ...]:
    """Return the columns that say nothing, because they were not given or are the same throughout."""
    looks = table.looks
    silent = {
        "question": "question" in table.absent,
        "a": "a" in table.absent or "b" in table.absent,
        "stage": not looks.discussed,
        "order": not table.turned.any(),
        "status": "status" in table.absent,
        "length_a": bool(np.isnan(table.length).all()),
        "family": not any(table.judge_family) or not any(table.model_family),
        "truth": bool(np.isnan(table.truth).all()),
        "dice": not table.dice.any(),
        "named": bool(np.isnan(table.named).all()),
    }
    return tuple(name for name, is_silent in silent.items() if is_silent)


def _of_result(result: Result) -> Read:
    with result.source() as run:
        gathered = Gathered(run)
        for battle in run.each_battle():
            gathered.add(battle)
    return read_gathered(gathered, result)


def read_gathered(gathered: Gathered, result: Result) -> Read:
    """Return the opinions of a result, all of whose battles have been gathered.

    Raises:
        ConfigurationError: there is none.
    """
    return _told(f"run {result.run}", gathered.columns, result.tournament.committee.on_flip)


def _told(source: str, columns: Any, on_flip: OnFlip = "tie") -> Read:
    table = opinions_of(columns, where=source)
    if not len(table.judge):
        raise ConfigurationError([Problem(source, "opinions", "there is none; name a run or a file that has some")])
    return Read(source, table, on_flip, tuple(_notes(table)), traits_of(columns, table, source))


def _notes(table: Opinions) -> Iterator[str]:
    for name in lacking(table):
        what = "is the same throughout" if name in ("order", "stage") else "says nothing"
        yield f"`{name}` {'is not given' if name in table.absent else what}: {LACKING[name]}"
    sizes = np.bincount(table.looks.item)
    if sizes.min() != sizes.max():
        yield f"committees differ: {sizes.min()} to {sizes.max()} judges a battle"
    if len(table.judges) == 1:
        yield "one judge only: nothing on agreement"
    if table.questions == 1:
        yield "one question only: no intervals"


def _exported(folder: Path) -> Path:
    """Return the file of opinions in a folder, the one that is read fastest if there are several."""
    for ending in (".parquet", ".jsonl", ".csv"):
        if (path := folder / f"{STEM}{ending}").is_file():
            return path
    message = f"holds no {STEM}.parquet, {STEM}.jsonl or {STEM}.csv; `coupled-arena export` writes them"
    raise ConfigurationError([Problem(str(folder), STEM, message)])


def _of_file(path: Path, columns: Mapping[str, str]) -> Read:
    problems = Problems()
    wanted = {*NEEDED, *OPTIONAL, *ALIASES.values(), *columns.values()}
    rows = [row.fields for row in read_rows(path, wanted, problems)]
    given = dict.fromkeys(chain.from_iterable(rows))
    found = {name: [row.get(name) for row in rows] for name in given if name in wanted}
    if problems.found:
        raise problems.error(path)
    if not rows:
        raise ConfigurationError([Problem(str(path), STEM, "holds no row")])
    return _told(str(path), _as_verdicts(path, _with_battles(_renamed(found, columns))))


def _renamed(source: Any, columns: Mapping[str, str]) -> dict[str, Any]:
    """Return the columns of a source under the names of the frame `opinions`."""
    found = {str(name): source[name] for name in (source.columns if hasattr(source, "columns") else source)}
    known = [*NEEDED, *OPTIONAL]
    for name, given in columns.items():
        if name not in known:
            message = f"is no column of opinions; there are {', '.join(known)}"
            raise ConfigurationError([Problem("columns", name, message)])
        if given not in found:
            raise ConfigurationError(
                [Problem("columns", name, f"{given!r} is not there; there are {', '.join(found)}")]
            )
        found[name] = found[given]
    for name, given in ALIASES.items():
        if name not in found and given in found:
            found[name] = found[given]
    return {name: values for name, values in found.items() if name in known}


def _with_battles(columns: dict[str, Any]) -> dict[str, Any]:
    """Return columns with `battle`: where a file has none, question, models and replicate name it."""
    parts = [columns[name] for name in ("question", "a", "b", "replicate") if name in columns]
    if "battle" in columns or not {"question", "a", "b"} <= columns.keys():
        return columns
    return {**columns, "battle": [" ".join(map(str, row)) for row in zip(*parts, strict=True)]}


def _as_verdicts(path: Path, columns: dict[str, Any]) -> dict[str, Any]:
    """Return columns whose verdicts are A, B, tie or missing, however a file spells them."""
    if "verdict" not in columns:
        return columns
    rows = len(columns["verdict"])
    a, b = (columns.get(name, [None] * rows) for name in ("a", "b"))
    known: dict[Any, str | None] = {}
    found = []
    for number, key in enumerate(zip(columns["verdict"], a, b, strict=True), start=1):
        for name, value in zip(("verdict", "a", "b"), key, strict=True):
            if not isinstance(value, Hashable):
                message = f"must be text or a number, not {value!r}"
                raise ConfigurationError([Problem(f"{path}: row {number}", name, message)])
        if key not in known:
            try:
                score = score_of("verdict", *key)
            except Wrong as wrong:
                raise ConfigurationError([Problem(f"{path}: row {number}", "verdict", wrong.message)]) from None
            known[key] = None if score is None else VERDICT_OF[score]
        found.append(known[key])
    return {**columns, "verdict": found}
