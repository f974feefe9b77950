"""Writes a reply token by token."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coupled_arena.coupling import Sampler, Sampling
from coupled_arena.coupling.alignment import ALIGNMENTS, Alignment
from coupled_arena.models.calls import TokenLogprob
from coupled_arena.models.local.engine import Engine, Logits
from coupled_arena.models.local.scripts import Script, Step
from coupled_arena.models.local.spelling import Emit, ReplyText


@dataclass(frozen=True, slots=True)
class Generated:
    """A reply as it was written."""

    text: str
    """The text, without a stop string."""
    tokens: int
    """Tokens written, without the one that ended the reply."""
    finished: bool
    """Whether the model or a stop string ended it, and not the limit of tokens."""
    logprobs: tuple[TokenLogprob, ...] = ()
    """How likely every token was, if that was asked for."""


def generate(
    engine: Engine,
    sampler: Sampler,
    logits: Logits,
    length: int,
    *,
    sampling: Sampling,
    key: bytes,
    max_tokens: int,
    stop: Sequence[str] = (),
    alignment: Alignment = "step",
    logprobs: int | None = None,
    emit: Emit | None = None,
) -> Script[Generated]:
    """Write a reply to a prompt with the dice of a noise key.

    Args:
        engine: tells what tokens stand for.
        sampler: draws from the model's vocabulary.
        logits: what comes after the prompt.
        length: tokens of the prompt.
        sampling: temperature and filters.
        key: noise key, 16 bytes.
        max_tokens: most tokens to write, at least 1.
        stop: strings that end the reply; `ReplyText` says how they and broken characters are treated.
        alignment: what places a token in the noise.
        logprobs: how many alternatives to every token are told, 0 or more; None tells nothing.
        emit: takes the text piece by piece.
    """
    text = ReplyText(stop, emit)
    positions = ALIGNMENTS[alignment]()
    told: list[TokenLogprob] = []
    for step in range(max_tokens):
        draw = sampler.draw(logits, sampling, key, positions.next())
        if draw.end:
            return Generated(text.finish(), step, True, tuple(told))
        if logprobs is not None:
            told.append(_tell(engine.names, logits, draw.token, logprobs))
        written = engine.written[draw.token]
        positions.append(written)
        if text.append(written):
            return Generated(text.finish(), step + 1, True, tuple(told))
        if step + 1 < max_tokens:
            logits = yield Step(draw.token, length + step)
    return Generated(text.finish(), max_tokens, False, tuple(told))


def _tell(names: Sequence[bytes], logits: Logits, token: int, count: int) -> TokenLogprob:
    """Return how likely a token and the likeliest ones are under the model's own law, equals by the smaller id."""
    scores = logits.astype(np.float64)
    scores -= np.logaddexp.reduce(scores)
    best: list[int] = []
    if count:
        edge = np.partition(scores, max(len(scores) - count, 0))[max(len(scores) - count, 0)]
        likely = np.flatnonzero(scores >= edge)
        best = likely[np.lexsort((likely, -scores[likely]))][:count].tolist()
    top = tuple(TokenLogprob.of(names[other], float(scores[other])) for other in best)
    return TokenLogprob.of(names[token], float(scores[token]), top)
