"""Draws tokens from a model's logits with shared dice.

The token is `argmax(logit / T - log E)` over the candidates that the filters leave, E being the noise of the token's
identity. This is the Gumbel-Max trick (-log E is a standard Gumbel variable), so each model is sampled exactly from
its own law, whoever shares its dice. Filters come first and only survivors are hashed.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coupled_arena.coupling.filters import bound_of_likeliest, bound_of_nucleus, likeliest, mass, nucleus, weigh
from coupled_arena.coupling.identity import Vocabulary
from coupled_arena.coupling.noise import GREATEST
from coupled_arena.coupling.race import PLAIN_UP_TO, contenders, race, races
from coupled_arena.coupling.sampling import Sampling
from coupled_arena.errors import EngineFault

REACH = GREATEST + math.log(GREATEST) + 0.5
"""A candidate this far below the likeliest in `logit / T` cannot win against any noise, and holds 2e-18 of its mass."""


_LOWEST = -3e38
"""No finite float32 logit of use lies below; at extreme temperatures the bound would."""

_NOISE_AT_ONCE = 1 << 15
"""Noise values held at a time when many draws are made; they stay in the processor's cache."""


class Draw(NamedTuple):
    """One token drawn."""

    token: int
    """Id of the token; the smallest end token for the end of the reply."""
    end: bool
    """Whether it ends the reply."""
    logprob: float
    """Its log probability under the law it was drawn from: temperature and filters applied; 0 when greedy."""


class Law:
    """What one token is drawn from: a model's own law after temperature, merging of end tokens and filters.

    A law is fixed once made and can be drawn from at any position.

    Example:
        >>> sampler = Sampler(Vocabulary([b"yes", b"no", b"maybe"], end_tokens=[]))
        >>> law = sampler.law(np.log([0.6, 0.3, 0.1]).astype(np.float32), Sampling(temperature=1, top_k=2))
        >>> law.tokens.tolist(), law.probabilities.round(3).tolist()
        ([0, 1], [0.667, 0.333])
    """

    __slots__ = ("_ends", "_identities", "_log_mass", "_scaled", "_weights", "tokens")

    tokens: NDArray[np.intp]
    """Ids of the candidates, in no order; the smallest end token stands for the end of the reply."""

    def __init__(
        self, tokens: NDArray[np.intp], scaled: NDArray[np.float64], vocabulary: Vocabulary, *, whole: bool = False
    ) -> None:
        self.tokens = tokens
        self._scaled = scaled
        self._identities = vocabulary.identities if whole else vocabulary.identities[tokens]
        self._ends = vocabulary.ends
        self._weights = weigh(scaled)
        self._log_mass = math.log(mass(self._weights))

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """How likely each candidate is, shape (candidates,)."""
        probabilities: NDArray[np.float64] = np.exp(self._scaled - self._log_mass)
        return probabilities

    def draw(self, key: bytes, position: int) -> Draw:
        """Draw one token with the noise of a key, 16 bytes, at a position, 0 .. 2**64 - 1."""
        if len(self.tokens) <= PLAIN_UP_TO:
            winner = race(self._scaled, self._identities, key, position)
        else:
            left = contenders(self._scaled, self._weights, self._identities, key, position)
            winner = int(left[race(self._scaled[left], self._identities[left], key, position)])
        token = int(self.tokens[winner])
        return Draw(token, bool(self._ends[token]), min(float(self._scaled[winner]) - self._log_mass, 0.0))

    def tokens_at(self, key: bytes, positions: NDArray[np.uint64]) -> NDArray[np.intp]:
        """Return the tokens that `draw` gives at many positions, shape (positions,), at less cost for each.

        Example: how often 1,000 draws of two models agree, if they share their dice.
            >>> sampler = Sampler(Vocabulary([b"yes", b"no"], end_tokens=[]))
            >>> one, other = (sampler.law(np.array(x, dtype=np.float32), Sampling(1)) for x in ([1, 0], [1.2, 0]))
            >>> many = np.arange(1000, dtype=np.uint64)
            >>> int((one.tokens_at(bytes(16), many) == other.tokens_at(bytes(16), many)).sum())
            958
        """
        if len(self.tokens) > PLAIN_UP_TO:
            return np.array([self.draw(key, int(position)).token for position in positions], dtype=np.intp)
        drawn = np.empty(len(positions), dtype=np.intp)
        rows = max(1, _NOISE_AT_ONCE // len(self.tokens))
        for start in range(0, len(positions), rows):
            some = slice(start, start + rows)
            drawn[some] = races(self._scaled, self._identities, key, positions[some])
        return self.tokens[drawn]


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
        return self.law(logits, sampling).draw(key, position)

    def law(self, logits: NDArray[np.float32], sampling: Sampling) -> Law:
        """Return the law that `draw` draws from; logits, settings and errors as there."""
        if logits.shape != self.vocabulary.identities.shape:
            raise EngineFault(f"the model gave logits of shape {logits.shape} for {len(self.vocabulary)} tokens")
        top = float(logits.max())
        if not math.isfinite(top):
            raise EngineFault(f"the largest of the model's logits is {top}; its weights or its state are damaged")
        if sampling.temperature == 0:
            return Law(np.array([self._greedy(logits, top)]), np.zeros(1), self.vocabulary)
        share = None if sampling.top_p == 1 else sampling.top_p
        bound, total = -math.inf, None
        if sampling.top_k is not None:
            bound = bound_of_likeliest(logits, sampling.top_k + len(self.vocabulary.end_tokens))
        elif share is not None:
            bound, total = bound_of_nucleus(logits, top, sampling.temperature, share)
        elif sampling.min_p is not None:
            bound = top + math.log(sampling.min_p) * sampling.temperature
        tokens, scaled = self._candidates(logits, top, sampling.temperature, bound)
        whole = tokens is self._all
        if sampling.top_k is not None and sampling.top_k < len(tokens):
            kept = likeliest(scaled, self.vocabulary.identities[tokens], sampling.top_k)
            tokens, scaled, whole = tokens[kept], scaled[kept], False
        if share is not None:
            held = mass(weigh(scaled)) if total is None else total
            kept = nucleus(scaled, self.vocabulary.identities[tokens], share * held)
            tokens, scaled, whole = tokens[kept], scaled[kept], False
        if sampling.min_p is not None:
            kept = np.flatnonzero(scaled >= scaled.max() + math.log(sampling.min_p))
            tokens, scaled, whole = tokens[kept], scaled[kept], False
        return Law(tokens, scaled, self.vocabulary, whole=whole)

    def _greedy(self, logits: NDArray[np.float32], top: float) -> int:
        equals = np.flatnonzero(logits == top)
        token = int(equals[np.argmin(self.vocabulary.identities[equals])])
        return int(self.vocabulary.end_tokens[0]) if self.vocabulary.ends[token] else token

    def _candidates(
        self, logits: NDArray[np.float32], top: float, temperature: float, bound: float
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return tokens and `(logit - top) / T` of everything the filters could keep, end tokens merged.

        The bound is in the model's own float32, so that most of a vocabulary is left behind in one comparison. It is
        never above what the exact filters keep: merging can only raise the likeliest candidate and adds no token.
        """
        bound = max(bound, top - REACH * temperature, _LOWEST)
        ends = self.vocabulary.end_tokens
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
