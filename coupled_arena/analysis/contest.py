"""Who beats whom by score, with shared dice and without, from one coupled run of k models.

A model beats another on a replicate if its score is higher. Shared dice leave the difference of two models' win rates
as it is, for right and wrong answers, and turn wins into ties. The average win rate over several rivals may change its
order, since close rivals tie more often (arXiv 2502.01754, section 4): the paper's case for saying which dice a ranking
was played with.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from coupled_arena.analysis.levels import level_problems
from coupled_arena.analysis.moments import Floats
from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.ratings.student import t_quantile


@dataclass(frozen=True, slots=True)
class WinTable:
    """Win rates of k models with one kind of dice."""

    wins: Floats
    """Share of replicates on which the row's model scores higher than the column's, mean over questions, (k, k)."""
    ties: Floats
    """Share of replicates on which both score the same, shape (k, k); 1 on the diagonal."""
    averages: Floats
    """Mean of a model's win rates against the others, shape (k,), in [0, 1]."""
    low: Floats
    """Lower ends of their question-clustered intervals, each at the level, shape (k,)."""
    high: Floats
    """Upper ends, shape (k,)."""
    ranks: tuple[tuple[int, int], ...]
    """Best and worst rank by average that each model may have, all of them together at the level (Bonferroni)."""


@dataclass(frozen=True, slots=True)
class Change:
    """How the order of two models changes with the dice."""

    a: str
    """The first model."""
    b: str
    """The second model."""
    coupled: float
    """Average win rate of a minus that of b with shared dice."""
    independent: float
    """The same with dice of each model's own."""
    low: float
    """Lower end of the interval of `coupled - independent`, all pairs together at the level."""
    high: float
    """Upper end of the interval."""
    resolved: bool
    """Whether both orders are beyond chance and opposite: each mode's own interval excludes 0, on different sides."""

    @property
    def turned(self) -> bool:
        """Whether the two modes order the two models differently."""
        return self.coupled * self.independent < 0


@dataclass(frozen=True, slots=True)
class Contest:
    """Win rates, ties and ranks of k models with shared and with own dice."""

    names: tuple[str, ...]
    """The models, in the order of all arrays."""
    coupled: WinTable
    """With shared dice: replicate r beside replicate r."""
    independent: WinTable
    """With own dice: replicate r beside every other replicate of the same question."""
    changes: tuple[Change, ...]
    """Every pair of models, in the order of the names."""
    questions: int
    """Questions on which every pair of models can be compared in both modes."""
    dropped: int
    """Questions left out, because scores are missing."""
    level: float
    """Coverage of the intervals."""

    @property
    def differ(self) -> bool:
        """Whether the two modes rank the models differently beyond chance.

        A pair counts only if each mode alone resolves its order, so the chance of a false answer is at most
        `1 - level` whichever of the two orders is the same in truth.
        """
        return any(change.resolved for change in self.changes)


def contest(scores: Mapping[str, ArrayLike], *, level: float = 0.95) -> Contest:
    """Let k models that shared their dice meet on every question, with these dice and with dice of their own.

    Args:
        scores: by model, shape (questions, replicates), right and wrong or graded; equal places are equal noise keys;
            NaN for none. At least two models and two replicates.
        level: coverage of the intervals, between 0 and 1.

    Raises:
        ConfigurationError: fewer than two models, replicates or questions with scores, shapes that do not fit, or the
            level is out of range.

    Example:
        >>> dice = (np.arange(100) + 0.5) / 100
        >>> chances = {"m1": (0.4, 1.0), "m2": (0.48, 0.9), "m3": (0.5, 0.89)}
        >>> found = contest({name: [dice < chance for chance in pair] for name, pair in chances.items()})
        >>> found.coupled.averages.round(4).tolist(), found.independent.averages.round(4).tolist()
        ([0.0525, 0.0225, 0.03], [0.1555, 0.1581, 0.1636])
    """
    names = tuple(scores)
    tables = [np.asarray(scores[name], dtype=np.float64) for name in names]
    _check(tables, level)
    k, questions = len(names), len(tables[0])
    won, tied = _met(tables)
    kept = ~np.isnan(won).any(axis=(0, 2, 3))
    number = int(kept.sum())
    if number < 2:
        message = f"need two questions on which all models have scores, not {number} of {questions}"
        raise ConfigurationError([Problem("contest", "scores", message)])
    won, tied = won[:, kept], tied[:, kept]
    averages = won.sum(axis=3) / (k - 1)
    one, all_pairs = (t_quantile(1 - (1 - level) / 2 / share, number - 1) for share in (1, k * (k - 1) / 2))
    shared, own = (_table(won[mode], tied[mode], averages[mode], one, all_pairs) for mode in range(2))
    changes = tuple(
        _change(names[first], names[second], averages[:, :, first] - averages[:, :, second], all_pairs)
        for first, second in combinations(range(k), 2)
    )
    return Contest(names, shared, own, changes, number, questions - number, level)


def _check(tables: list[Floats], level: float) -> None:
    problems = []
    if len(tables) < 2 or any(table.ndim != 2 or table.shape != tables[0].shape for table in tables):
        shapes = ", ".join(str(table.shape) for table in tables) or "none"
        message = f"need at least two models of one shape (questions, replicates), not {shapes}"
        problems.append(Problem("contest", "scores", message))
    elif tables[0].shape[1] < 2:
        problems.append(Problem("contest", "scores", "own dice are other replicates: needs two of each question"))
    problems += level_problems("contest", level)
    if problems:
        raise ConfigurationError(problems)


def _met(tables: list[Floats]) -> tuple[Floats, Floats]:
    """Return shares of wins and of ties of every question, with shared and with own dice.

    Each is of shape (2, questions, k, k), NaN where a pair has no replicates to compare.
    """
    k, questions = len(tables), len(tables[0])
    won, tied = np.zeros((2, questions, k, k)), np.ones((2, questions, k, k))
    same = np.eye(tables[0].shape[1], dtype=np.bool_)
    for first, second in combinations(range(k), 2):
        a, b = tables[first][:, :, None], tables[second][:, None, :]
        present = ~(np.isnan(a) | np.isnan(b))
        for mode, taken in enumerate((present & same, present & ~same)):
            number = taken.sum(axis=(1, 2))
            counts = [(relation & taken).sum(axis=(1, 2)) for relation in (a > b, a < b, a == b)]
            above, below, equal = (
                np.divide(count, number, out=np.full(questions, np.nan), where=number > 0) for count in counts
            )
            won[mode, :, first, second], won[mode, :, second, first] = above, below
            tied[mode, :, first, second] = tied[mode, :, second, first] = equal
    return won, tied


def _table(won: Floats, tied: Floats, averages: Floats, one: float, all_pairs: float) -> WinTable:
    mean, reach = _mean_and_reach(averages, one)
    apart, far = _mean_and_reach(averages[:, :, None] - averages[:, None, :], all_pairs)
    better = apart > far
    np.fill_diagonal(better, False)
    ranks = tuple(
        (1 + int(above), len(mean) - int(below))
        for above, below in zip(better.sum(axis=0), better.sum(axis=1), strict=True)
    )
    return WinTable(won.mean(axis=0), tied.mean(axis=0), mean, mean - reach, mean + reach, ranks)


def _change(a: str, b: str, apart: Floats, quantile: float) -> Change:
    """Compare the two modes by the differences of every question, shape (modes, questions)."""
    (coupled, independent), (one, other) = (side.tolist() for side in _mean_and_reach(apart.T, quantile))
    change, reach = (float(side) for side in _mean_and_reach(apart[0] - apart[1], quantile))
    resolved = abs(coupled) > one and abs(independent) > other and coupled * independent < 0
    return Change(a, b, coupled, independent, change - reach, change + reach, resolved)


def _mean_and_reach(values: Floats, quantile: float) -> tuple[Floats, Floats]:
    """Return the mean over the questions, the first axis, and half the width of its interval."""
    return values.mean(axis=0), quantile * values.std(axis=0, ddof=1) / np.sqrt(len(values))
