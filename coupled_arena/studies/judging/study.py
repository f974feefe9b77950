"""The study of judges: everything it measures, of whatever holds opinions."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from coupled_arena.analysis import judges as study
from coupled_arena.analysis.judges import Opinions
from coupled_arena.analysis.levels import require_level
from coupled_arena.studies.judging.labels import Labels, read_labels
from coupled_arena.studies.judging.measures import JUDGES, PANEL
from coupled_arena.studies.judging.minority import MOST, minority_reports
from coupled_arena.studies.judging.reading import Read, lacking, read_opinions
from coupled_arena.studies.judging.report import JudgeReport, JudgeRow

if TYPE_CHECKING:
    import pandas as pd

    from coupled_arena.tournaments.results.result import Result
    from coupled_arena.tournaments.storage.store import Store


def judges(
    source: "Result | Store | pd.DataFrame | Mapping[str, Any] | str | os.PathLike[str]",
    *,
    run: str | None = None,
    labels: str | os.PathLike[str] | None = None,
    columns: Mapping[str, str] | None = None,
    level: float = 0.95,
) -> JudgeReport:
    """Return how judges judge: biases, agreement, discussion, repeatability, and what the committee makes of it.

    Intervals are clustered by question: a delete-one-question jackknife with Student's quantile, Wilson's for shares.
    What the opinions cannot tell is said in `notes`, and in `why` of `document()` for every single number.

    Args:
        source: a result; a store, or the path of one; a data frame of opinions, columns by name; the path of a file of
            opinions (CSV, JSON, JSONL, Parquet), or of a folder that was exported.
        run: which run of a store; its newest if left out.
        labels: a file of people's verdicts, with the columns `battle` and `verdict`.
        columns: what columns are called in a file that is not ours, by their names in the frame `opinions`:
            `{"judge": "annotator"}`.
        level: coverage of the intervals, between 0 and 1.

    Raises:
        ConfigurationError: the file cannot be read, or rows of it are wrong; or the level is out of range.
        StoreError: the store holds no such run, or cannot be read.

    Example:
        >>> import coupled_arena as ca
        >>> played = ca.Tournament(models=["sim/ada?skill=1", "sim/bob"], judges=["sim/j1?position=1", "sim/j2"],
        ...     domains=["math"], questions_per_domain=8, orders="both", seed=7).run()
        >>> found = ca.judges(played).judges.set_index("judge")
        >>> bool(found.loc["sim/j1", "position_effect"] > found.loc["sim/j2", "position_effect"])
        True
    """
    require_level("judges", level)
    return studied(read_opinions(source, run=run, columns=columns), labels=labels, level=level)


def studied(read: Read, *, labels: str | os.PathLike[str] | None = None, level: float = 0.95) -> JudgeReport:
    """Return the study of opinions that were read; the rest is as for `judges`."""
    table, notes = read.table, list(read.notes)
    people = None if labels is None else read_labels(labels, table)
    if people is not None:
        notes += people.notes
    counts = study.outcomes(table, on_flip=read.on_flip)
    estimates = {measure.name: measure.of(table, level) for measure in JUDGES}
    reports = tuple(minority_reports(table, read.on_flip))
    if len(reports) == MOST:
        notes.append(f"only the first {MOST} minority reports are listed")
    return JudgeReport(
        source=read.source,
        table=table,
        level=level,
        rows=tuple(
            JudgeRow(judge, family, counts[judge], {name: found[judge] for name, found in estimates.items()})
            for judge, family in zip(table.judges, table.judge_family, strict=True)
        ),
        committee={measure.name: measure.of(table, level) for measure in PANEL},
        stages=study.stages(table, on_flip=read.on_flip, level=level),
        sizes=study.committee_sizes(table, on_flip=read.on_flip, level=level),
        **_by_models(table, read, level),
        minority=reports,
        **_with_labels(table, people, read, level),
        notes=tuple(notes),
    )


def _by_models(table: Opinions, read: Read, level: float) -> dict[str, Any]:
    """Return what needs ratings of the models."""
    silent = lacking(table)
    decisions = study.decided(*study.ballots(table, when="last", on_flip=read.on_flip).counts(table.battles))
    if "a" in silent or np.isnan(decisions).all():
        return {"left_out": (), "flips": ()}
    ratings = study.ratings_of(table, decisions).known
    flips = () if "order" in silent else study.flips_by_gap(table, ratings, level=level)
    alone = len(table.judges) == 1
    return {"left_out": () if alone else study.left_out(table, on_flip=read.on_flip, level=level), "flips": flips}


def _with_labels(table: Opinions, labels: Labels | None, read: Read, level: float) -> dict[str, Any]:
    if labels is None:
        return {"people": (), "among_people": None}
    given = (table, labels.battle, labels.score)
    return {
        "people": study.with_people(*given, on_flip=read.on_flip, level=level),
        "among_people": study.among_people(*given, level=level),
    }
