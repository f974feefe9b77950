"""How two models did against each other: the mean score of one of them, with an interval that holds in small samples.

Wald intervals, such as those of a fitted strength, fail where they are needed most: near a clean sweep they are far too
narrow, and at one they do not exist. Wilson's score interval has neither fault. It is carried over to battles that
may end in ties and share questions by the effective number of questions: as many questions as it would take, each
simply won or lost, to know the mean score as well (Korn and Graubard 1998, Survey Methodology 24).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from coupled_arena.errors import RatingError
from coupled_arena.ratings.counting import more_questions
from coupled_arena.ratings.sequences import mean_interval, more_scores
from coupled_arena.ratings.student import t_reach
from coupled_arena.ratings.table import RatingInput
from coupled_arena.ratings.tally import added
from coupled_arena.ratings.wilson import wilson

FEWEST = 3
"""Questions from which on there is an interval: one more than there are models."""

MOST_ALIKE = 4
"""Battles on a question from which on more of them do not tell how much questions differ: a few questions that are all
won may hide a rare one that is all lost."""

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Score:
    """How one model did against another; a tie is half a win."""

    a: str
    """The model whose score it is."""
    b: str
    """The other model."""
    wins: int
    """Battles that a won, forfeits of b included."""
    losses: int
    """Battles that a lost, own forfeits included."""
    ties: int
    """Battles tied."""
    questions: int
    """Questions with a rated battle."""
    share: float | None
    """Mean score of a, in [0, 1]: its wins and half of its ties, by weight; None without a rated battle."""
    low: float | None
    """Lower end of the interval, in [0, 1]; None with fewer questions than `FEWEST`, unless it is for every look."""
    high: float | None
    """Upper end of the interval, in [0, 1]; None as `low`."""
    settled: bool
    """Whether the interval excludes one half."""
    more_questions: int | None
    """About how many more questions would settle it if the score stays as it is: 0 if it is settled; None where the
    models are level, where there is no interval, or beyond `counting.MOST`."""

    @property
    def battles(self) -> int:
        """Rated battles, each counted once whatever its weight."""
        return self.wins + self.losses + self.ties

    def turned(self) -> "Score":
        """Return the same battles as the score of the other model."""
        share, low, high = (None if value is None else 1 - value for value in (self.share, self.high, self.low))
        return replace(self, a=self.b, b=self.a, wins=self.losses, losses=self.wins, share=share, low=low, high=high)


def score_of(table: RatingInput, a: str, b: str, *, level: float = 0.95, every_look: bool = False) -> Score:
    """Return how one model did against another in their own battles.

    With p the mean score, n the effective number of questions and t the quantile of Student's distribution with one
    degree of freedom less than there are questions, the interval holds every mean m with
    `(p - m)^2 <= t^2 m (1 - m) / n` (Wilson 1927, Journal of the American Statistical Association 22). The spread that
    n is estimated from counts one battle won and one lost on top, so that a sweep or nothing but ties is no proof of
    having no spread; of more than `MOST_ALIKE` battles on a question they count as one of so many. Where every
    question is simply won or lost, n is their number.

    Args:
        table: the battles; those of one cluster (question) may depend on each other in any way.
        a: the model whose score it is.
        b: the other model.
        level: coverage of the interval, between 0 and 1.
        every_look: whether the interval is to hold after every question at once, so that one may stop at any because of
            it; it is wider then, comes from the mean scores of questions (`sequences.mean_interval`), and exists from
            the first question on.

    Raises:
        RatingError: the table has no model of this name.

    Example:
        >>> rows = [("ada", "bob", result, 1, question) for question, result in enumerate([1, 1, 0.5, 0, 1, 1, 1, 1])]
        >>> score = score_of(RatingInput.from_rows(rows), "ada", "bob")
        >>> f"{score.share:.2f} [{score.low:.2f}, {score.high:.2f}]", score.settled, score.more_questions
        ('0.81 [0.43, 0.96]', False, 4)
    """
    for name in (a, b):
        if name not in table.names:
            raise RatingError(f"no model named {name!r} was rated; there are {', '.join(table.names)}")
    return scores_of(table, [(a, b)], level=level, every_look=every_look)[0]


def scores_of(
    table: RatingInput, pairs: Sequence[tuple[str, str]], *, level: float = 0.95, every_look: bool = False
) -> tuple[Score, ...]:
    """Return the score of each of these pairs of models of the table, as `score_of` does, in one pass."""
    size, place = len(table.names), {name: index for index, name in enumerate(table.names)}
    wanted = np.full((size, size), -1, dtype=np.intp)
    for index, (a, b) in enumerate(pairs):
        wanted[place[a], place[b]] = wanted[place[b], place[a]] = index
    if not pairs:
        return ()
    found = wanted.ravel()[table.a * size + table.b]
    rows = np.flatnonzero(found >= 0)
    rows = rows[np.argsort(found[rows], kind="stable")]
    edges = np.searchsorted(found[rows], np.arange(len(pairs) + 1))
    return tuple(
        _score(table, rows[low:high], a, b, place[a], level, every_look)
        for (a, b), low, high in zip(pairs, edges, edges[1:], strict=False)
    )


def _score(
    table: RatingInput, rows: NDArray[np.intp], a: str, b: str, first: int, level: float, every_look: bool
) -> Score:
    result = np.where(table.a[rows] == first, table.score[rows], 1 - table.score[rows])
    wins, losses, ties = (int(np.count_nonzero(result == value)) for value in (1.0, 0.0, 0.5))
    if not len(result):
        return Score(a, b, 0, 0, 0, 0, None, None, None, settled=False, more_questions=None)
    weight, mean = _by_question(table, rows, result)
    share, questions = float(weight @ mean / weight.sum()), len(mean)
    low = high = more = None
    if every_look:
        share = float(mean.mean())
        (low, high), more = mean_interval(mean, level), more_scores(mean, level)
    elif questions >= FEWEST:
        extra = 1 / min(len(result) / questions, MOST_ALIKE)
        effective = _effective(weight * questions / weight.sum(), mean, extra)
        low, high = wilson(share, effective, t_reach(level, questions - 1))
        lead = abs(2 * share - 1) * math.sqrt(effective / questions)
        more = None if abs(share - 0.5) < _ROUNDING else more_questions(lead, questions, level)
    return Score(a, b, wins, losses, ties, questions, share, low, high, settled=more == 0, more_questions=more)


def _by_question(
    table: RatingInput, rows: NDArray[np.intp], result: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weight and the mean score of every question, each of shape (questions,)."""
    cluster, weights = np.unique(table.cluster[rows], return_inverse=True)[1], table.weight[rows]
    weight = added(cluster, weights)
    total = added(cluster, weights * result)
    return weight, total / weight


def _effective(weight: NDArray[np.float64], mean: NDArray[np.float64], extra: float) -> float:
    """Return the effective number of questions.

    Args:
        weight: of every question, of mean 1, shape (questions,).
        mean: score of every question, shape (questions,).
        extra: questions won on top, and as many lost; may be a part of one.
    """
    questions = len(mean)
    counted = questions + 2 * extra
    centre = float(weight @ mean + extra) / counted
    squares = float(weight**2 @ (mean - centre) ** 2) + extra * (centre**2 + (1 - centre) ** 2)
    return questions * centre * (1 - centre) * counted / squares
