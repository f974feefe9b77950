"""Draws tokens from a model's logits with shared dice.

The token is `argmax(logit / T - log E)` over the candidates that the filters leave, E being the noise of the token's
identity. This is the Gumbel-Max trick (-log E is a standard Gumbel variable), so each model is sampled exactly from
its own law, whoever shares its dice. Filters come first and only survivors are hashed.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coupled_arena.coupling.identity import Vocabulary
from coupled_arena.coupling.noise import GREATEST, exponentials
from coupled_arena.coupling.sampling import Sampling
from coupled_arena.errors import EngineFault

REACH = GREATEST + math.log(GREATEST) + 0.5
"""A candidate this far below the likeliest in `logit / T` cannot win against any noise, and holds 2e-18 of its mass."""

_BLOCKS_PER_CANDIDATE = 8
"""Blocks whose maxima bound the k-th largest logit; with eight for each, 7 % more than k tokens pass the bound."""

_FIRST_GUESS = 256
_GROWTH = 8
"""The nucleus is looked for among this many likeliest candidates first, then among so many times more."""


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
        identities = self.vocabulary.identities[tokens]
        if sampling.top_k is not None and sampling.top_k < len(tokens):
            kept = _likeliest(scaled, identities, sampling.top_k)
            tokens, scaled, identities = tokens[kept], scaled[kept], identities[kept]
        if sampling.top_p is not None and sampling.top_p < 1:
            kept = _nucleus(scaled, identities, sampling.top_p)
            tokens, scaled, identities = tokens[kept], scaled[kept], identities[kept]
        if sampling.min_p is not None:
            kept = np.flatnonzero(scaled >= scaled.max() + math.log(sampling.min_p))
            tokens, scaled, identities = tokens[kept], scaled[kept], identities[kept]
        noise = exponentials(key, position, identities)
        winner = int(np.argmax(scaled - np.log(noise, out=noise)))
        token = int(tokens[winner])
        logprob = float(scaled[winner]) - math.log(float(np.exp(scaled).sum()))
        return Draw(token, bool(self.vocabulary.ends[token]), min(logprob, 0.0))

    def _greedy(self, logits: NDArray[np.float32], top: float) -> Draw:
        likeliest = np.flatnonzero(logits == top)
        token = int(likeliest[np.argmin(self.vocabulary.identities[likeliest])])
        return Draw(token, bool(self.vocabulary.ends[token]), 0.0)

    def _candidates(
        self, logits: NDArray[np.float32], top: float, sampling: Sampling
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return tokens and `(logit - top) / T` of everything the filters could keep, end tokens merged.

        The bound is in the model's own float32, so that most of a vocabulary is left behind in one comparison. It is
        never above what the exact filters keep: merging can only raise the likeliest candidate and adds no token.
        """
        ends = self.vocabulary.end_tokens
        bound = top - REACH * sampling.temperature
        if sampling.top_k is not None:
            bound = max(bound, _bound_of_likeliest(logits, sampling.top_k + len(ends)))
        elif sampling.top_p is None and sampling.min_p is not None:
            bound = max(bound, top + math.log(sampling.min_p) * sampling.temperature)
        tokens = np.flatnonzero(logits >= np.nextafter(np.float32(bound), np.float32(-np.inf)))
        if len(ends):
            tokens = tokens[~self.vocabulary.ends[tokens]]
        # A temperature next to 0 sends all but the likeliest to -inf, which is what they are worth.
        with np.errstate(over="ignore"):
            scaled = (logits[tokens].astype(np.float64) - top) / sampling.temperature
            if not len(ends):
                return tokens, scaled
            parts = (logits[ends].astype(np.float64) - top) / sampling.temperature
        highest = float(parts.max())
        if highest == -math.inf:
            return tokens, scaled
        merged = highest + math.log(float(np.exp(parts - highest).sum()))
        return np.append(tokens, ends[0]), np.append(scaled, merged)


def _bound_of_likeliest(logits: NDArray[np.float32], count: int) -> float:
    """Return a value that at least `count` logits reach, close to the largest such value; -inf if there are fewer.

    The vocabulary is cut into blocks; the `count`-th largest of their maxima is such a value, at the price of one
    vectorised maximum instead of a partition of the whole vocabulary.
    """
    size = len(logits)
    if count > size:
        return -math.inf
    blocks = count * _BLOCKS_PER_CANDIDATE
    height = size // blocks
    maxima = logits[: height * blocks].reshape(height, blocks).max(axis=0) if height > 1 else logits
    return float(np.partition(maxima, len(maxima) - count)[len(maxima) - count])


def _likeliest(scaled: NDArray[np.float64], identities: NDArray[np.uint64], count: int) -> NDArray[np.intp]:
    """Return where the `count` likeliest candidates are; equals at the edge enter by the smaller identity."""
    edge = np.partition(scaled, len(scaled) - count)[len(scaled) - count]
    above = np.flatnonzero(scaled > edge)
    tied = np.flatnonzero(scaled == edge)
    room = count - len(above)
    if len(tied) > room:
        tied = tied[np.argsort(identities[tied])[:room]]
    return np.concatenate((above, tied))


def _nucleus(scaled: NDArray[np.float64], identities: NDArray[np.uint64], share: float) -> NDArray[np.intp]:
    """Return where the fewest likeliest candidates are that hold `share` of the mass, likeliest first."""
    weights = np.exp(scaled)
    needed = share * float(weights.sum())
    count = _FIRST_GUESS
    while True:
        head = _likeliest(scaled, identities, count) if count < len(scaled) else np.arange(len(scaled))
        head = head[np.lexsort((identities[head], -scaled[head]))]
        held = np.cumsum(weights[head])
        if held[-1] >= needed or len(head) == len(scaled):
            return head[: int(np.searchsorted(held, needed)) + 1]
        count *= _GROWTH
