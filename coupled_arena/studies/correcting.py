"""Ratings from the opinions of a run or a file: freed of the judges' biases, or calibrated to labels."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from coupled_arena.analysis.calibration import Calibrated, calibrate
from coupled_arena.analysis.correction import TERMS, Corrected, Per, Term, correct
from coupled_arena.errors import RatingError
from coupled_arena.ratings.result import Prior
from coupled_arena.studies.judging.labels import read_labels
from coupled_arena.studies.judging.reading import Read, read_opinions

if TYPE_CHECKING:
    import pandas as pd

    from coupled_arena.tournaments.results.result import Result
    from coupled_arena.tournaments.storage.store import Store


def corrected(
    source: "Result | Store | pd.DataFrame | Mapping[str, Any] | str | os.PathLike[str]",
    *,
    run: str | None = None,
    columns: Mapping[str, str] | None = None,
    terms: Sequence[Term] = TERMS,
    per: Per = "judge",
    stage: int = 0,
    prior: Prior = "weak",
    level: float = 0.95,
) -> Corrected:
    """Return ratings freed of the judges' biases, beside the raw ones of the same opinions.

    How it is done, and what it takes for granted, is said in docs/correction.md.

    Args:
        source: as for `judges`.
        run: which run of a store; its newest if left out.
        columns: as for `judges`.
        terms: biases to estimate: `position`, `length`, `family`, `lapse`.
        per: `judge`: every judge has effects of its own; `panel`: all share them, which takes fewer questions.
        stage: whose opinions count: 0 alone, 1.. after so many rounds of discussion.
        prior: as for `rate`.
        level: coverage of the intervals, between 0 and 1.

    Raises:
        ConfigurationError: the file cannot be read, or an argument is out of range.
        RatingError: no bias can be estimated, one has no finite size, or the battles do not connect the models.
        StoreError: the store holds no such run, or cannot be read.

    Example:
        >>> import coupled_arena as ca
        >>> played = ca.Tournament(models=["sim/ada", "sim/bob"], judges=["sim/j1?position=1", "sim/j2?position=0"],
        ...     examiner="sim/examiner", domains=["math"], questions_per_domain=16, orders="both", seed=1).run()
        >>> found = ca.corrected(played, terms=("position",))
        >>> found.bias("sim/j1", "position").value > found.bias("sim/j2", "position").value
        True
    """
    read = read_opinions(source, run=run, columns=columns)
    return correct(read.table, terms=terms, per=per, stage=stage, prior=prior, level=level)


def calibrated(
    source: "Result | Store | pd.DataFrame | Mapping[str, Any] | str | os.PathLike[str]",
    labels: "str | os.PathLike[str] | pd.DataFrame | Mapping[str, str | None]",
    *,
    run: str | None = None,
    columns: Mapping[str, str] | None = None,
    level: float = 0.95,
) -> Calibrated:
    """Return the ratings that labels of all battles would give, from labels of some and the judges' scores of all.

    Labels are verdicts of people or of a strong judge on battles drawn at random. Several of one battle count as
    their majority, evenly split ones as a tie. How it is done is said in docs/correction.md.

    Args:
        source: as for `judges`.
        labels: a file or a data frame with the columns `battle` and `verdict`, or verdicts by the id of the battle.
        run: which run of a store; its newest if left out.
        columns: as for `judges`.
        level: coverage of the intervals, between 0 and 1.

    Raises:
        ConfigurationError: a file cannot be read, or an argument is out of range.
        RatingError: the labels do not support it: too few questions, models that no label connects, or battles that
            are no random part of all; the message says what to do.
        StoreError: the store holds no such run, or cannot be read.

    Example:
        >>> import coupled_arena as ca
        >>> played = ca.Tournament(models=["sim/ada?skill=1", "sim/bob"], judges=["sim/j1", "sim/j2"],
        ...     examiner="sim/examiner", domains=["math"], questions_per_domain=22, seed=1).run()
        >>> labels = {battle.id: battle.decision.verdict for battle in played.battles[::2]}
        >>> ca.calibrated(played, labels).labels
        11
    """
    return calibrated_to(labels, read_opinions(source, run=run, columns=columns), level=level)


def calibrated_to(labels: Any, read: Read, *, level: float = 0.95) -> Calibrated:
    """Return opinions that were read, calibrated to labels; the rest is as for `calibrated`."""
    given = read_labels(labels, read.table)
    said = ~np.isnan(given.score)
    votes, size = given.battle[said], read.table.battles
    number = np.bincount(votes, minlength=size)
    lead = np.bincount(votes, 2 * given.score[said] - 1, size)
    label = np.where(number > 0, (np.sign(lead) + 1) / 2, np.nan)
    if not number.any() and given.strangers:
        raise RatingError(
            f"{given.source}: none of its battles is among these ({read.source}); label battles of this run"
        )
    found = calibrate(read.table, label, traits=read.traits, level=level)
    return replace(found, notes=(*found.notes, *given.notes))
