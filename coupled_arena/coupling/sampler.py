"""Draws tokens from a model's logits with shared dice.

The token is `argmax(logit / T - log E)` over the candidates that the filters leave, E being the noise of the token's
identity. This is the Gumbel-Max trick (-log E is a standard Gumbel variable), so each model is sampled exactly from
its own law, whoever shares its dice. Filters come first and only survivors are hashed.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coupled_arena.coupling.filters import bound_of_likeliest, likeliest, nucleus, weigh
from coupled_arena.coupling.identity import Vocabulary
from coupled_arena.coupling.noise import GREATEST
from coupled_arena.coupling.race import race
from coupled_arena.coupling.sampling import Sampling
from coupled_arena.errors import EngineFault

REACH = GREATEST + math.log(GREATEST) + 0.5
"""A candidate this far below the likeliest in `logit / T` cannot win against any noise, and holds 2e-18 of its mass."""


_LOWEST = -3e38
"""No finite float32 logit of use lies below; at extreme temperatures the bound would."""


class Draw(NamedTuple):
    """One token drawn."""

    token: int
    """Id of the token; the smallest end token for the end of the reply."""
    end: bool
    """Whether it ends the reply."""
    logprob: float
    """Its log probability under the law it was drawn from: temperature and filters applied; 0 when greedy."""


class Sampler:
    """Draws from one model's logits; holds no state between draws, so any number of threads can share it."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._all = np.arange(len(vocabulary))

    def draw(self, logits: NDArray[np.float32], sampling: Sampling, key: bytes, position: int) -> Draw:
        """Draw one token: temperature, merging of end tokens, top-k, top-p, min-p, then the race.

        Ties at the edge of a filter, and at the top when greedy, are broken by the smaller identity, so that the order
        of a vocabulary never matters.

        Args:
            logits: unnormalised log probabilities, shape (vocabulary,); -inf is never drawn.
            sampling: temperature and filters.
            key: noise key, 16 bytes.
            position: 0 .. 2**64 - 1: the step index, or the hash of a context.

        Raises:
            EngineFault: the logits do not fit the vocabulary, or have no finite maximum.

        Example:
            >>> sampler = Sampler(Vocabulary([b"yes", b"no", b""], end_tokens=[2]))
            >>> sampler.draw(np.array([2, 1, -9], dtype=np.float32), Sampling(temperature=0), bytes(16), 0)
            Draw(token=0, end=False, logprob=0.0)
        """
        if logits.shape != self.vocabulary.identities.shape:
            raise EngineFault(f"the model gave logits of shape {logits.shape} for {len(self.vocabulary)} tokens")
        top = float(logits.max())
        if not math.isfinite(top):
            raise EngineFault(f"the largest of the model's logits is {top}; its weights or its state are damaged")
        if sampling.temperature == 0:
            return self._greedy(logits, top)
        tokens, scaled = self._candidates(logits, top, sampling)
        identities = self.vocabulary.identities if tokens is self._all else self.vocabulary.identities[tokens]
        if sampling.top_k is not None and sampling.top_k < len(tokens):
            kept = likeliest(scaled, identities, sampling.top_k)
            tokens, scaled, identities = tokens[kept], scaled[kept], identities[kept]
        if sampling.top_p is not None and sampling.top_p < 1:
            kept = nucleus(scaled, identities, sampling.top_p)
            tokens, scaled, identities = tokens[kept], scaled[kept], identities[kept]
        if sampling.min_p is not None:
            kept = np.flatnonzero(scaled >= scaled.max() + math.log(sampling.min_p))
            tokens, scaled, identities = tokens[kept], scaled[kept], identities[kept]
        winner = race(scaled, identities, key, position)
        token = int(tokens[winner])
        logprob = float(scaled[winner]) - math.log(float(weigh(scaled).sum()))
        return Draw(token, bool(self.vocabulary.ends[token]), min(logprob, 0.0))

    def _greedy(self, logits: NDArray[np.float32], top: float) -> Draw:
        equals = np.flatnonzero(logits == top)
        token = int(equals[np.argmin(self.vocabulary.identities[equals])])
        if self.vocabulary.ends[token]:
            return Draw(int(self.vocabulary.end_tokens[0]), True, 0.0)
        return Draw(token, False, 0.0)

    def _candidates(
        self, logits: NDArray[np.float32], top: float, sampling: Sampling
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return tokens and `(logit - top) / T` of everything the filters could keep, end tokens merged.

        The bound is in the model's own float32, so that most of a vocabulary is left behind in one comparison. It is
        never above what the exact filters keep: merging can only raise the likeliest candidate and adds no token.
        """
        temperature = sampling.temperature
        bound = max(top - REACH * temperature, _LOWEST)
        ends = self.vocabulary.end_tokens
        if sampling.top_k is not None:
            bound = max(bound, bound_of_likeliest(logits, sampling.top_k + len(ends)))
        elif sampling.top_p is None and sampling.min_p is not None:
            bound = max(bound, top + math.log(sampling.min_p) * temperature)
        possible = logits >= np.nextafter(np.float32(bound), np.float32(-np.inf))
        possible[ends] = False
        # Leaving a few behind is not worth the gathering.
        if 2 * np.count_nonzero(possible) > len(possible):
            tokens, scaled = self._all, _scale(logits, top, temperature)
            scaled[ends] = -np.inf
        else:
            tokens = np.flatnonzero(possible)
            scaled = _scale(logits[tokens], top, temperature)
        if not len(ends):
            return tokens, scaled
        parts = _scale(logits[ends], top, temperature)
        merged = np.logaddexp.reduce(parts)
        if tokens is self._all:
            scaled[ends[0]] = merged
            return tokens, scaled
        return np.append(tokens, ends[0]), np.append(scaled, merged)


def _scale(logits: NDArray[np.float32], top: float, temperature: float) -> NDArray[np.float64]:
    scaled = logits.astype(np.float64)
    scaled -= top
    # A temperature next to 0 sends all but the likeliest to -inf, which is what they are worth.
    with np.errstate(over="ignore"):
        scaled /= temperature
    return scaled
