"""Ratings from single opinions, freed of the judges' biases."""

from collections.abc import Sequence
from typing import get_args

import numpy as np

from coupled_arena.analysis.correction.estimated import Estimated
from coupled_arena.analysis.correction.result import Corrected
from coupled_arena.analysis.correction.votes import TERMS, Per, Term, votes_of
from coupled_arena.analysis.judges.table import Opinions
from coupled_arena.analysis.levels import require_level
from coupled_arena.errors import ConfigurationError, Problem, RatingError
from coupled_arena.ratings import RatingInput, rate
from coupled_arena.ratings.result import Prior, Ratings


def correct(
    opinions: Opinions,
    *,
    terms: Sequence[Term] = TERMS,
    per: Per = "judge",
    stage: int = 0,
    prior: Prior = "weak",
    level: float = 0.95,
) -> Corrected:
    """Estimate the biases of the judges together with the strengths of the models, and rate without them.

    With `s` 1 where side A is shown first and -1 where B is, `l` the binary logarithm of the length of A's text over
    B's, and `f` 1 where A alone is of the judge's family, -1 where B alone is, judge j scores A with the mean

        e_j / 2 + (1 - e_j) / (1 + exp(-(strength_a - strength_b + position_j s + length_j l + family_j f)))

    A tie is half a win for both. An effect that the opinions cannot tell is left out with a reason: of a judge alone
    where nothing bears on it, of all judges where it cannot be told from the strengths (`effects`). Lapses are left out
    where one would have a standard error above `estimated.MOST_ERROR`: they need battles that are nearly one-sided.
    Intervals are clustered by question.

    Args:
        opinions: of any judges; those that were carried over from another stage do not count.
        terms: what to estimate.
        per: `judge`: every judge has effects of its own; `panel`: all share them, which takes fewer questions.
        stage: whose opinions count. After discussion (1 and on) an opinion holds the biases of other judges too.
        prior: as for `rate`.
        level: coverage of the intervals, between 0 and 1.

    Raises:
        ConfigurationError: a term, `per` or the level is out of range.
        RatingError: no effect can be estimated, one has no finite maximum, the battles do not connect the models, or do
            not compare them and there is no prior.
    """
    _check(terms, per, level)
    votes = votes_of(opinions, stage=stage, per=per)
    table = RatingInput(votes.models, votes.a, votes.b, votes.score, np.ones(len(votes)), votes.question)
    raw = rate(table, prior=prior, level=level)
    _require_comparable(raw)
    found = Estimated.of(votes, terms, 1.0 if prior == "weak" else float(prior))
    if not found.effects and not found.lapses:
        reasons = "; ".join(f"{left.term} of {left.judge}: {left.reason}" for left in found.left)
        raise RatingError(f"no bias of the judges can be estimated: {reasons}")
    return Corrected(
        ratings=found.ratings(raw),
        raw=raw,
        biases=found.biases(level),
        unestimated=found.left,
        per=per,
        stage=stage,
        opinions=len(votes),
        notes=found.notes,
    )


def _require_comparable(raw: Ratings) -> None:
    """Raise `RatingError` where the votes alone do not put all models that have one on one scale."""
    idle = {name for name, count in zip(raw.names, raw.counts, strict=True) if not count.battles}
    connected = [group for group in raw.components if not idle.issuperset(group)]
    if len(connected) > 1:
        groups = " | ".join(", ".join(group) for group in connected)
        raise RatingError(f"no battle connects {groups}: correct the opinions on each group by themselves")
    compared = [group for group in raw.comparable if not idle.issuperset(group)]
    if len(compared) > 1 and not raw.prior:
        raise RatingError(
            f"all opinions that connect {' | '.join(', '.join(group) for group in compared)} went one way: "
            "give a prior, or leave one of them out"
        )


def _check(terms: Sequence[Term], per: Per, level: float) -> None:
    require_level("corrected", level)
    wrong = ", ".join(term for term in terms if term not in TERMS) or ("" if terms else "nothing")
    problems = [Problem("corrected", "terms", f"may be {', '.join(TERMS)}, not {wrong}")] if wrong else []
    if per not in get_args(Per):
        problems.append(Problem("corrected", "per", f"must be {' or '.join(get_args(Per))}, not {per!r}"))
    if problems:
        raise ConfigurationError(problems)
