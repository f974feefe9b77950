"""How far judges and their committee agree with people, and people with each other."""

from dataclasses import dataclass

import numpy as np

from coupled_arena.analysis.judges.ballots import ballots, decided
from coupled_arena.analysis.judges.company import counted_by, kappa_of
from coupled_arena.analysis.judges.estimate import Estimate, Floats, by_question, mean_of, ratio_of
from coupled_arena.analysis.judges.table import Opinions, When
from coupled_arena.analysis.labels import Codes
from coupled_arena.records import OnFlip

NO_LABEL = "no battle that it voted on has a label"


@dataclass(frozen=True, slots=True)
class WithPeople:
    """How far somebody agrees with people's labels."""

    rater: str
    """A judge, or `committee`."""
    agreement: Estimate
    """Share of pairs of a vote and a label that are the same, in [0, 1]."""
    kappa: Estimate
    """Cohen's kappa of these pairs, at most 1."""


def with_people(
    table: Opinions, battle: Codes, score: Floats, *, when: When = "last", on_flip: OnFlip = "tie", level: float = 0.95
) -> tuple[WithPeople, ...]:
    """Return how far every judge's votes, and the committee's decisions, agree with labels.

    Every label is compared with every vote on its battle; with several labels of one battle, all of them count.

    Args:
        table: the opinions.
        battle: code of the battle of every label, shape (labels,).
        score: score of A that every label means, shape (labels,).
        when: which votes are meant.
        on_flip: as for `ballots`.
        level: coverage of the intervals, between 0 and 1.
    """
    votes = ballots(table, when=when, on_flip=on_flip)
    said = {"committee": decided(*votes.counts(table.battles))}
    for code, judge in enumerate(table.judges):
        own = np.flatnonzero((votes.judge == code) & (votes.dice == 0))
        said[judge] = np.full(table.battles, np.nan)
        said[judge][votes.battle[own]] = votes.score[own]
    found = []
    for rater, scores in said.items():
        vote = scores[battle]
        known = ~np.isnan(vote) & ~np.isnan(score)
        groups = table.question[battle[known]]
        hit = (vote == score)[known].astype(np.float64)
        alike = mean_of(hit, groups, level=level, none=NO_LABEL)
        found.append(WithPeople(rater, alike, kappa_of(vote[known], score[known], groups, level=level, none=NO_LABEL)))
    return tuple(found)


def among_people(table: Opinions, battle: Codes, score: Floats, *, level: float = 0.95) -> Estimate:
    """Return the share of pairs of labels of one battle that are the same: as well as people agree with each other."""
    known = ~np.isnan(score)
    counts = counted_by(battle[known], score[known], table.battles)
    labels = counts.sum(axis=1)
    paired = labels >= 2
    alike = (counts * (counts - 1)).sum(axis=1)[paired]
    sums, _ = by_question(table.question[paired], alike, (labels * (labels - 1))[paired])
    pairs = int(labels @ np.maximum(labels - 1, 0)) // 2
    return ratio_of(sums, level=level, trials=pairs, none="no battle has two labels")
