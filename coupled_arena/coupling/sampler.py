"""Draws tokens from a model's logits with shared dice.

The token is `argmax(logit / T - log E)` over the candidates that the filters leave, E being the noise of the token's
identity. This is the Gumbel-Max trick (-log E is a standard Gumbel variable), so each model is sampled exactly from
its own law, whoever shares its dice. Filters come first and only survivors are hashed.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from coupled_arena.coupling.filters import (
    bound_of_likeliest,
    bound_of_nucleus,
    likeliest,
    mass,
    nucleus,
    vectorised,
    weigh,
    weigh_logits,
)
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

    __slots__ = ("_identities", "_log_mass", "_scaled", "_vocabulary", "_weights", "tokens")

    tokens: NDArray[np.intp]
    """Ids of the candidates, in no order; the smallest end token stands for the end of the reply."""

    def __init__(self, tokens: NDArray[np.intp], scaled: NDArray[np.float64], vocabulary: Vocabulary) -> None:
        self.tokens = tokens
        self._scaled = scaled
        self._vocabulary = vocabulary
        self._identities = vocabulary.identities[tokens]
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
            return self._race(self.tokens, self._scaled, self._identities, key, position)
        left = contenders(self._weights, self._identities, key, position)
        return self._race(self.tokens[left], self._scaled[left], self._identities[left], key, position)

    def _race(
        self,
        tokens: NDArray[np.intp],
        scaled: NDArray[np.float64],
        identities: NDArray[np.uint64],
        key: bytes,
        position: int,
    ) -> Draw:
        winner = race(scaled, identities, key, position)
        token = int(tokens[winner])
        logprob = float(scaled[winner]) - self._log_mass
        return Draw(token, bool(self._vocabulary.ends[token]), min(logprob, 0.0))

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


class _WholeLaw(Law):
    """The law of a large vocabulary without filters; only who can still win is weighed in float64."""

    __slots__ = ("_logits", "_merged", "_temperature", "_top")

    def __init__(
        self, tokens: NDArray[np.intp], logits: NDArray[np.float32], top: float, temperature: float, vocab: Vocabulary
    ) -> None:
        self.tokens = tokens
        self._vocabulary = vocab
        self._logits, self._top, self._temperature = logits, top, temperature
        self._merged = np.logaddexp.reduce(_scale(logits[vocab.end_tokens], top, temperature), keepdims=True)
        self._weights = weigh_logits(logits, top, temperature)
        self._weights[vocab.end_tokens] = 0
        self._log_mass = math.log(mass(self._weights) + float(np.exp(self._merged[0])))

    @property
    def probabilities(self) -> NDArray[np.float64]:
        scaled = _scale(self._logits, self._top, self._temperature)
        scaled[self._vocabulary.end_tokens] = -np.inf
        scaled[self._vocabulary.end_tokens[:1]] = self._merged[: len(self._vocabulary.end_tokens)]
        probabilities: NDArray[np.float64] = np.exp(scaled - self._log_mass)
        return probabilities

    def draw(self, key: bytes, position: int) -> Draw:
        vocabulary = self._vocabulary
        tokens = contenders(self._weights, vocabulary.identities, key, position)
        scaled = _scale(self._logits[tokens], self._top, self._temperature)
        if len(vocabulary.end_tokens):
            scaled[vocabulary.ends[tokens]] = -np.inf
            tokens = np.append(tokens, vocabulary.end_tokens[0])
            scaled = np.append(scaled, self._merged)
        return self._race(tokens, scaled, vocabulary.identities[tokens], key, position)


class Sampler:
    """Draws from one model's logits; holds no state between draws, so any number of threads can share it."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._all = np.arange(len(vocabulary))

    def draw(self, logits: ArrayLike, sampling: Sampling, key: bytes, position: int) -> Draw:
        """Draw one token: temperature, merging of end tokens, top-k, top-p, min-p, then the race.

        Ties at the edge of a filter, and at the top when greedy, are broken by the smaller identity, so that the order
        of a vocabulary never matters.

        Args:
            logits: unnormalised log probabilities, shape (vocabulary,), taken as float32; -inf is never drawn.
            sampling: temperature and filters.
            key: noise key, 16 bytes.
            position: 0 .. 2**64 - 1: the step index, or the hash of a context.

        Raises:
            EngineFault: the logits are no numbers, do not fit the vocabulary, or have no finite maximum.

        Example:
            >>> sampler = Sampler(Vocabulary([b"yes", b"no", b""], end_tokens=[2]))
            >>> sampler.draw(np.array([2, 1, -9], dtype=np.float32), Sampling(temperature=0), bytes(16), 0)
            Draw(token=0, end=False, logprob=0.0)
        """
        return self._law(_numbers(logits), sampling).draw(key, position)

    def law(self, logits: ArrayLike, sampling: Sampling) -> Law:
        """Return the law that `draw` draws from; logits, settings and errors as there."""
        return self._law(_numbers(logits).copy(), sampling)

    def _law(self, logits: NDArray[np.float32], sampling: Sampling) -> Law:
        if logits.shape != self.vocabulary.identities.shape:
            raise EngineFault(f"the model gave logits of shape {logits.shape} for {len(self.vocabulary)} tokens")
        top = float(logits.max())
        if not math.isfinite(top):
            raise EngineFault(f"the largest of the model's logits is {top}; its weights or its state are damaged")
        temperature, top_k, min_p = sampling.temperature, sampling.top_k, sampling.min_p
        if temperature == 0:
            return Law(np.array([self._greedy(logits, top)]), np.zeros(1), self.vocabulary)
        share = None if sampling.top_p == 1 else sampling.top_p
        bound, total = top - REACH * temperature, None
        if top_k is not None:
            bound = max(bound, bound_of_likeliest(logits, top_k + len(self.vocabulary.end_tokens)))
        elif share is not None:
            least, total = bound_of_nucleus(logits, top, temperature, share)
            bound = max(bound, least)
        elif min_p is not None:
            bound = max(bound, top + math.log(min_p) * temperature)
        possible = logits >= np.nextafter(np.float32(max(bound, _LOWEST)), np.float32(-np.inf))
        if top_k is share is min_p is None and vectorised(int(np.count_nonzero(possible)), temperature):
            return _WholeLaw(self._all, logits, top, temperature, self.vocabulary)
        tokens, scaled = self._candidates(logits, possible, top, temperature)
        if top_k is not None:
            kept = likeliest(scaled, self.vocabulary.identities[tokens], top_k)
            tokens, scaled = tokens[kept], scaled[kept]
        if share is not None:
            held = mass(weigh(scaled)) if total is None else total
            kept = nucleus(scaled, self.vocabulary.identities[tokens], share * held)
            tokens, scaled = tokens[kept], scaled[kept]
        if min_p is not None:
            kept = np.flatnonzero(scaled >= scaled.max() + math.log(min_p))
            tokens, scaled = tokens[kept], scaled[kept]
        return Law(tokens, scaled, self.vocabulary)

    def _greedy(self, logits: NDArray[np.float32], top: float) -> int:
        equals = np.flatnonzero(logits == top)
        token = int(equals[np.argmin(self.vocabulary.identities[equals])])
        return int(self.vocabulary.end_tokens[0]) if self.vocabulary.ends[token] else token

    def _candidates(
        self, logits: NDArray[np.float32], possible: NDArray[np.bool_], top: float, temperature: float
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return tokens and `(logit - top) / T` of everything the filters could keep, end tokens merged.

        What is possible was found in the model's own float32, so that most of a vocabulary is left behind in one
        comparison. Merging can only raise the likeliest candidate and adds no token, so nothing was left too early.
        """
        ends = self.vocabulary.end_tokens
        # The smallest end token stands for all of them.
        possible[ends] = False
        possible[ends[:1]] = True
        (tokens,) = possible.nonzero()
        scaled = _scale(logits[tokens], top, temperature)
        if len(ends) > 1:
            merged = np.logaddexp.reduce(_scale(logits[ends], top, temperature))
            scaled[tokens.searchsorted(ends[0])] = merged
        return tokens, scaled


def _numbers(logits: ArrayLike) -> NDArray[np.float32]:
    try:
        return np.asarray(logits, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise EngineFault(f"the model's logits are no numbers: {error}") from None


def _scale(logits: NDArray[np.float32], top: float, temperature: float) -> NDArray[np.float64]:
    scaled = logits.astype(np.float64)
    scaled -= top
    # A temperature next to 0 sends all but the likeliest to -inf, which is what they are worth.
    with np.errstate(over="ignore"):
        scaled /= temperature
    return scaled
