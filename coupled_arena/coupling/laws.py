"""The exact joint law of models that share their dice, for answers of a single token.

With shared noise `E` a model of law p answers `argmin E_k / p_k`: a race of exponential clocks, whose law is p itself.
What two models answer together follows in closed form, and with it how often one beats the other, how often they tie,
and how much of the variance of their difference the shared dice take away.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coupled_arena.errors import ConfigurationError, Problem

TOLERANCE = 1e-9
"""How far from 1 the probabilities of a law may sum."""

Floats = NDArray[np.float64]


def joint_law(first: ArrayLike, second: ArrayLike) -> Floats:
    """Return the probability that two models answer i and j when they share their dice.

    On the diagonal it is `1 / sum_k max(p_k / p_i, q_k / q_i)`, which exceeds `p_i q_i` whenever both lie in (0, 1).
    Off it, with `t = E_j / E_i`, it is the integral of `1 / (1 + t + sum_k max(p_k / p_i, t q_k / q_j))**2` over t from
    `p_j / p_i` to `q_j / q_i`, k running over the other answers; the integrand is `1 / (A + B t)**2` between the cuts
    `t = p_k q_j / (p_i q_k)`, so the integral is a finite sum.

    Args:
        first: law p of one model, shape (n,): probabilities of the same n answers, zeros allowed.
        second: law q of the other, shape (n,).

    Returns:
        Shape (n, n); rows sum to p, columns to q.

    Raises:
        ConfigurationError: the laws are no probabilities, or of different lengths.

    Example:
        >>> joint_law([0.4, 0.6], [0.48, 0.52]).round(3).tolist()
        [[0.4, 0.0], [0.08, 0.52]]
    """
    p, q = _law("first", first), _law("second", second)
    if p.shape != q.shape:
        raise ConfigurationError(
            [Problem("joint_law", "second", f"needs {len(p)} answers like the first, not {len(q)}")]
        )
    joint = np.zeros((len(p), len(q)))
    for i in np.flatnonzero(p):
        for j in np.flatnonzero(q):
            joint[i, j] = _same(p, q, i) if i == j else _different(p, q, i, j)
    return joint


def independent_law(first: ArrayLike, second: ArrayLike) -> Floats:
    """Return the probability that two models answer i and j when each rolls dice of its own, shape (n, n)."""
    return np.outer(_law("first", first), _law("second", second))


def _same(p: Floats, q: Floats, i: np.intp) -> float:
    if q[i] == 0:
        return 0.0
    return float(1 / np.maximum(p / p[i], q / q[i]).sum())


def _different(p: Floats, q: Floats, i: np.intp, j: np.intp) -> float:
    low = p[j] / p[i]
    high = q[j] / q[i] if q[i] > 0 else np.inf
    if low >= high:
        return 0.0
    others = np.ones(len(p), dtype=np.bool_)
    others[[i, j]] = False
    # Beyond its cut an answer holds back the second model more than the first.
    fixed, growing = p[others] / p[i], q[others] / q[j]
    cuts = np.divide(fixed, growing, out=np.full(len(fixed), np.inf), where=growing > 0)
    inside = np.unique(cuts[(cuts > low) & (cuts < high)])
    edges = np.concatenate(([low], inside, [high]))
    total = 0.0
    for start, end in pairwise(edges):
        past = cuts <= start
        constant, slope = 1 + fixed[~past].sum(), 1 + growing[past].sum()
        at_start = constant + slope * start
        total += 1 / (slope * at_start) if np.isinf(end) else (end - start) / (at_start * (constant + slope * end))
    return float(total)


@dataclass(frozen=True, slots=True)
class WinRates:
    """How often each of k models beats each other one, averaged over questions."""

    wins: Floats
    """Probability that the row's model scores more than the column's, shape (k, k)."""
    ties: Floats
    """Probability that both score the same, shape (k, k); 1 on the diagonal."""
    covariance: Floats
    """Mean over the questions of the covariance of two models' scores within a question, shape (k, k).

    The diagonal holds the mean variance within a question. Shared dice take twice the covariance off the variance of a
    difference of scores (arXiv 2502.01754, proposition 1, with the covariance taken within the question).
    """

    @property
    def averages(self) -> Floats:
        """Mean probability of beating another model, shape (k,)."""
        averages: Floats = self.wins.sum(axis=1) / (len(self.wins) - 1)
        return averages


def win_rates(laws: ArrayLike, scores: ArrayLike, *, coupled: bool, weights: ArrayLike | None = None) -> WinRates:
    """Return how often models that answer with a single token beat each other.

    Args:
        laws: probabilities of every answer, shape (models, questions, answers); at least two models.
        scores: what an answer is worth, shape (questions, answers).
        coupled: whether the models share their dice.
        weights: how often each question is asked, shape (questions,), up to a constant; None for equally often.

    Raises:
        ConfigurationError: shapes do not fit, or laws or weights are no probabilities.

    Example: with shared dice three models are ranked by accuracy, without them in the opposite order.
        >>> right = np.array([[0.4, 1.0], [0.48, 0.9], [0.5, 0.89]])
        >>> laws = np.stack([right, 1 - right], axis=-1)
        >>> win_rates(laws, [[1, 0], [1, 0]], coupled=True).averages.round(4).tolist()
        [0.0525, 0.0225, 0.03]
        >>> win_rates(laws, [[1, 0], [1, 0]], coupled=False).averages.round(5).tolist()
        [0.1545, 0.15675, 0.16225]
    """
    given, worth = np.asarray(laws, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    if given.ndim != 3 or len(given) < 2 or worth.shape != given.shape[1:]:
        message = f"need shapes (models, questions, answers) and (questions, answers), not {given.shape}, {worth.shape}"
        raise ConfigurationError([Problem("win_rates", "laws, scores", message)])
    shares = np.ones(len(worth)) if weights is None else np.asarray(weights, dtype=np.float64)
    if shares.shape != (len(worth),) or not (shares >= 0).all() or not 0 < shares.sum() < np.inf:
        message = f"needs one share of at least 0 for each of {len(worth)} questions, and one above 0"
        raise ConfigurationError([Problem("win_rates", "weights", message)])
    models = len(given)
    wins, ties, covariance = np.zeros((models, models)), np.eye(models), np.zeros((models, models))
    law = joint_law if coupled else independent_law
    for question, share in enumerate(shares / shares.sum()):
        value = worth[question]
        more = value[:, None] > value[None, :]
        same = value[:, None] == value[None, :]
        means = given[:, question] @ value
        for a in range(models):
            covariance[a, a] += share * (given[a, question] @ value**2 - means[a] ** 2)
            for b in range(a + 1, models):
                joint = law(given[a, question], given[b, question])
                wins[a, b] += share * joint[more].sum()
                wins[b, a] += share * joint[more.T].sum()
                ties[a, b] += share * joint[same].sum()
                covariance[a, b] += share * (value @ joint @ value - means[a] * means[b])
            ties[a + 1 :, a] = ties[a, a + 1 :]
            covariance[a + 1 :, a] = covariance[a, a + 1 :]
    return WinRates(wins, ties, covariance)


def _law(name: str, given: ArrayLike) -> Floats:
    law = np.asarray(given, dtype=np.float64)
    if law.ndim != 1 or not len(law) or not (law >= 0).all() or abs(law.sum() - 1) > TOLERANCE:
        message = "needs probabilities of at least 0 that sum to 1, in one dimension"
        raise ConfigurationError([Problem("joint law", name, message)])
    return law
