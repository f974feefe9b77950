"""What the committee would decide with fewer judges, without one of them, or without discussion."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import comb

import numpy as np

from coupled_arena.analysis.judges.ballots import ballots, decided
from coupled_arena.analysis.judges.company import majority_of
from coupled_arena.analysis.judges.estimate import Estimate, Floats, mean_of
from coupled_arena.analysis.judges.panel import agreement
from coupled_arena.analysis.judges.table import Flags, Opinions, When
from coupled_arena.analysis.labels import Codes
from coupled_arena.ratings.rank_agreement import compare
from coupled_arena.ratings.rate import rate
from coupled_arena.ratings.result import Prior, Ratings
from coupled_arena.ratings.table import RatingInput
from coupled_arena.records import OnFlip

PRIOR: Prior = "weak"
"""The prior of all ratings here, so that a committee less one judge still compares all models."""

UNKNOWN = "the truth is not known"
UNDECIDED = "no battle is decided"


@dataclass(frozen=True, slots=True)
class Size:
    """What committees of one size decide."""

    judges: int
    """How many judges, drawn at random from those that voted."""
    agreement: Estimate
    """Share of battles that they decide as the whole committee does, in [0, 1]."""
    accuracy: Estimate
    """Share of battles that they decide right, in [0, 1], where the truth is known."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What the committee says at one stage."""

    stage: int
    """0 alone, 1.. after so many rounds of discussion."""
    agreement: Estimate
    """Share of pairs of judges that say the same, in [0, 1]."""
    accuracy: Estimate
    """Share of verdicts that are right, in [0, 1], where the truth is known."""
    decision_accuracy: Estimate
    """Share of decisions that are right, in [0, 1]."""
    changed: Estimate
    """Share of decisions that are others than at the stage before, in [0, 1]; nothing for the first."""
    changed_to_truth: Estimate
    """Share of these that came nearer to the truth, in [0, 1]."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What the ratings would be without one judge."""

    judge: str
    """The judge."""
    changed: Estimate
    """Share of decisions that are others without it, in [0, 1]; a void one is one."""
    spearman: float | None
    """Rank correlation of the ratings without it with those of all; None where there are too few models."""
    ratings: Mapping[str, float]
    """Ratings without it, by model."""
    shifts: Mapping[str, float]
    """These less those of all, in points, by model."""


def committee_sizes(
    table: Opinions, *, when: When = "last", on_flip: OnFlip = "tie", level: float = 0.95
) -> tuple[Size, ...]:
    """Return how committees of every size up to the whole one decide, in the mean over all ways to draw them.

    Only battles in which as many judges voted as in any count, so that sizes are compared on the same ones. The mean
    over draws is exact: it depends only on how many voted for what.
    """
    votes, seats = ballots(table, when=when, on_flip=on_flip).counts(table.battles)
    total = votes.sum(axis=1)
    most = int(total.max(initial=0))
    full = np.flatnonzero((total == most) & (seats > 0)) if most else np.zeros(0, dtype=np.intp)
    kinds, at = np.unique(votes[full].astype(np.intp), axis=0, return_inverse=True)
    at, groups = at.reshape(-1), table.question[full]
    whole = majority_of(votes[full])
    truth, found = table.truth[full], []
    for size in range(1, most + 1):
        chances = np.array([_drawn(kind, size) for kind in kinds.tolist()]).reshape(-1, 3)[at]
        rows = np.arange(len(full))
        alike = mean_of(chances[rows, (2 * whole).astype(np.intp)], groups, level=level, none=UNDECIDED)
        if size == most:
            alike = replace(alike, low=None, high=None, reason="the whole committee agrees with itself")
        known = ~np.isnan(truth)
        right = chances[rows[known], (2 * truth[known]).astype(np.intp)]
        found.append(Size(size, alike, mean_of(right, groups[known], level=level, none=UNKNOWN)))
    return tuple(found)


def stages(table: Opinions, *, on_flip: OnFlip = "tie", level: float = 0.95) -> tuple[Stage, ...]:
    """Return what the committee says at every stage: what it would be without the rounds of discussion that follow."""
    found: list[Stage] = []
    before = np.full(table.battles, np.nan)
    truth = table.truth
    for stage in table.stages:
        own = table.at(stage)
        decisions = decided(*ballots(own, on_flip=on_flip).counts(table.battles))
        looks = own.looks
        both = ~np.isnan(decisions) & ~np.isnan(before)
        moved = both & (decisions != before)
        nearer = np.abs(decisions - truth) < np.abs(before - truth)
        found.append(
            Stage(
                stage,
                agreement(own, level=level),
                _right(looks.alone, truth[looks.battle], looks.question, level),
                _right(decisions, truth, table.question, level),
                _share(moved, both, table, level, "there is no stage before" if not found else UNDECIDED),
                _share(nearer, moved & ~np.isnan(truth), table, level, "no decision changed where the truth is known"),
            )
        )
        before = decisions
    return tuple(found)


def ratings_of(table: Opinions, decisions: Floats) -> Ratings:
    """Return the ratings of decisions, one for each battle, NaN where it is void."""
    own = np.flatnonzero(~np.isnan(decisions))
    question = table.question[own].astype(np.intp)
    rated = RatingInput(table.models, table.a[own], table.b[own], decisions[own], np.ones(len(own)), question)
    return rate(rated, prior=PRIOR)


def left_out(
    table: Opinions, *, when: When = "last", on_flip: OnFlip = "tie", level: float = 0.95
) -> tuple[LeftOut, ...]:
    """Return what ratings would be without each judge in turn; the votes of the others stay as they are.

    What the others said after hearing the judge stands: with discussion, its influence on them is not undone.
    """
    votes = ballots(table, when=when, on_flip=on_flip)
    all_decisions = decided(*votes.counts(table.battles))
    if np.isnan(all_decisions).all():
        return ()
    of_all, found = ratings_of(table, all_decisions).known, []
    for code, judge in enumerate(table.judges):
        sat = np.bincount(votes.battle[votes.judge == code], minlength=table.battles) > 0
        decisions = decided(*votes.counts(table.battles, (votes.dice == 0) & (votes.judge != code)))
        differs = (decisions != all_decisions) & sat
        changed = _share(differs, sat & ~np.isnan(all_decisions), table, level, "it sat in no battle that is decided")
        without = {} if np.isnan(decisions).all() else dict(ratings_of(table, decisions).known)
        spearman = compare(without, of_all).spearman.value if without else None
        shifts = {model: value - of_all[model] for model, value in without.items() if model in of_all}
        found.append(LeftOut(judge, changed, spearman, without, shifts))
    return tuple(found)


def _drawn(votes: list[int], size: int) -> list[float]:
    """Return how likely so many judges, drawn at random from these votes for B, tie and A, decide each of the three."""
    b, tie, a = votes
    found, ways = [0.0, 0.0, 0.0], comb(b + tie + a, size)
    for drawn_b in range(max(0, size - tie - a), min(b, size) + 1):
        for drawn_tie in range(max(0, size - drawn_b - a), min(tie, size - drawn_b) + 1):
            drawn = (drawn_b, drawn_tie, size - drawn_b - drawn_tie)
            most = max(drawn)
            verdict = drawn.index(most) if drawn.count(most) == 1 else 1
            found[verdict] += comb(b, drawn[0]) * comb(tie, drawn[1]) * comb(a, drawn[2]) / ways
    return found


def _right(score: Floats, truth: Floats, groups: Codes, level: float) -> Estimate:
    known = ~np.isnan(score) & ~np.isnan(truth)
    hit = (score == truth)[known].astype(np.float64)
    return mean_of(hit, groups[known], level=level, none=UNKNOWN)


def _share(hit: Flags, counts: Flags, table: Opinions, level: float, none: str) -> Estimate:
    return mean_of(hit[counts].astype(np.float64), table.question[counts], level=level, none=none)
