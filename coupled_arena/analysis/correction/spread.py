"""How the parameters of a fit vary from question to question."""

from itertools import pairwise

import numpy as np

from coupled_arena.analysis.correction.fit import Fit
from coupled_arena.analysis.correction.likelihood import Likelihood
from coupled_arena.analysis.correction.votes import Floats
from coupled_arena.analysis.labels import Codes

_WHOLE = 1 - 1e-6
"""A question that determines so much of a parameter determines it alone."""


def clustered(likelihood: Likelihood, fitted: Fit, question: Codes) -> tuple[Floats, tuple[int, ...]]:
    """Return the covariance of the parameters, robust to any dependence within a question.

    `(G - 1) / G * B (sum_g T_g T_g') B` with B the inverse observed information and `T_g = (I - J_g B)^-1 S_g`, S_g the
    score and J_g the information of question g: one Newton step of the jackknife over G questions, as in
    `ratings.sandwich`. Parameters that are held at a bound do not vary.

    Args:
        likelihood: what was maximised.
        fitted: its maximum.
        question: of every verdict, from 0 without a gap, shape (votes,); at least two.

    Returns:
        The covariance, shape (parameters, parameters), and the questions that determine a parameter alone.
    """
    free = np.flatnonzero(fitted.free)
    own = np.ix_(free, free)
    order = np.argsort(question, kind="stable")
    edges = np.searchsorted(question[order], np.arange(int(question.max()) + 2))
    bread, alone = fitted.bread[own], []
    steps = np.zeros((len(edges) - 1, len(free)))
    for one, (low, high) in enumerate(pairwise(edges.tolist())):
        found = likelihood.part(order[low:high]).at(fitted.point)
        pull = found.observed[own] @ bread
        # The trace bounds the largest share of all, and costs nothing.
        if np.trace(pull) >= _WHOLE and np.linalg.eigvals(pull).real.max() >= _WHOLE:
            alone.append(one)
            # What a question determines alone has no score; this keeps it from dividing nothing by nothing.
            pull = pull * (1 - 1e-9)
        steps[one] = bread @ np.linalg.solve(np.eye(len(bread)) - pull, found.gradient[free])
    covariance = np.zeros((likelihood.size, likelihood.size))
    covariance[own] = (len(steps) - 1) / len(steps) * steps.T @ steps
    return covariance, tuple(alone)
