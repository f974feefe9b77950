"""Writes a reply token by token."""

import codecs
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from coupled_arena.coupling import Sampler, Sampling
from coupled_arena.models.local.canonical import Evaluator


@dataclass(frozen=True, slots=True)
class Generated:
    """A reply as it was written."""

    text: str
    """The text, without a stop string."""
    tokens: int
    """Tokens written, without the one that ended the reply."""
    finished: bool
    """Whether the model or a stop string ended it, and not the limit of tokens."""


def generate(
    evaluator: Evaluator,
    sampler: Sampler,
    prompt: Sequence[int],
    *,
    sampling: Sampling,
    key: bytes,
    max_tokens: int,
    stop: Sequence[str] = (),
    pause: Callable[[], None] = lambda: None,
) -> Generated:
    """Write a reply to a prompt with the dice of a noise key; the step index is the position of the noise.

    Stop strings are looked for in the bytes of the reply, so one may begin and end in the middle of a token. Bytes
    that are not UTF-8 become U+FFFD, and a character that the limit of tokens cuts in two is left out.

    Args:
        evaluator: evaluates the model canonically.
        sampler: draws from the model's vocabulary.
        prompt: tokens, at least one.
        sampling: temperature and filters.
        key: noise key, 16 bytes.
        max_tokens: most tokens to write, at least 1.
        stop: strings that end the reply.
        pause: called before every evaluation; may raise to abandon the reply.

    Raises:
        EngineFault: the model cannot be evaluated.
    """
    ends = [text.encode() for text in stop if text]
    written = evaluator.engine.written
    reply = bytearray()
    logits = evaluator.prefill(prompt, pause)
    for step in range(max_tokens):
        draw = sampler.draw(logits, sampling, key, step)
        if draw.end:
            return Generated(_decode(reply), step, finished=True)
        begin = len(reply)
        reply += written[draw.token]
        end = _find(reply, ends, begin)
        if end is not None:
            return Generated(_decode(reply[:end]), step + 1, finished=True)
        if step + 1 < max_tokens:
            pause()
            logits = evaluator.extend(draw.token)
    return Generated(_decode(reply), max_tokens, finished=False)


def _find(reply: bytearray, ends: Sequence[bytes], begin: int) -> int | None:
    """Return where the first stop string begins that ends after `begin`."""
    places = [reply.find(end, max(begin - len(end) + 1, 0)) for end in ends]
    return min((place for place in places if place >= 0), default=None)


def _decode(reply: bytes | bytearray) -> str:
    return codecs.getincrementaldecoder("utf-8")("replace").decode(bytes(reply))
