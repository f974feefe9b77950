"""One draw among a few whole strings."""

import math
from collections.abc import Sequence

import numpy as np

from coupled_arena.coupling.identity import token_identity
from coupled_arena.coupling.race import race
from coupled_arena.coupling.sampling import Sampling
from coupled_arena.errors import ConfigurationError, Problem


def choose(labels: Sequence[str], logprobs: Sequence[float], key: bytes, *, temperature: float) -> int:
    """Draw one label from `softmax(logprobs / temperature)` with noise keyed by the labels' bytes.

    Args:
        labels: distinct strings; their order never matters.
        logprobs: their log probabilities, up to a common constant; -inf is never drawn.
        key: noise key, 16 bytes.
        temperature: finite, at least 0; 0 takes the likeliest, ties by identity.

    Returns:
        The index of the label drawn.

    Raises:
        ConfigurationError: labels are missing or repeated, lengths differ, or no log probability is usable.

    Example:
        >>> choose(["A", "B", "tie"], [-0.1, -3.0, -4.0], bytes(16), temperature=0)
        0
    """
    Sampling(temperature=temperature)
    scores = np.asarray(logprobs, dtype=np.float64)
    best = float(scores.max()) if scores.size else math.nan
    problems = []
    if len(set(labels)) != len(labels):
        problems.append(Problem("choose", "labels", f"must differ from each other, not {list(labels)}"))
    if scores.shape != (len(labels),):
        problems.append(Problem("choose", "logprobs", f"needs one for each of {len(labels)} labels, not {scores.size}"))
    elif not math.isfinite(best):
        problems.append(Problem("choose", "logprobs", f"needs a finite largest value, not {list(logprobs)}"))
    if problems:
        raise ConfigurationError(problems)
    identities = np.array([token_identity(label.encode("utf-8", "surrogatepass")) for label in labels], dtype=np.uint64)
    if temperature == 0:
        equals = np.flatnonzero(scores == best)
        return int(equals[np.argmin(identities[equals])])
    with np.errstate(over="ignore"):
        scaled = (scores - best) / temperature
    return race(scaled, identities, key, 0)
