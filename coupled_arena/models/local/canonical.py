"""Canonical evaluation: logits that depend on the prompt and the reply alone, never on what ran before.

Floating-point sums depend on how they are grouped, so the same text evaluated in other portions gives other logits and
sooner or later another reply. Here every prompt is evaluated alone and in the same portions: cut at multiples of `CUT`
tokens from its start. Evaluated prefixes are shared at those cuts only. What was evaluated while a reply was written,
one token at a time, is never reused: the next prompt that contains the reply evaluates it as a prompt.
"""

from collections.abc import Callable, Sequence

from coupled_arena.models.local.engine import Engine, Logits
from coupled_arena.models.local.prefixes import PrefixCache, as_tokens

CUT = 64
"""Prompts are evaluated in portions of this many tokens."""


def last_cut(length: int) -> int:
    """Return the last cut of a prompt of `length` tokens, which leaves at least one token after it.

    >>> last_cut(63), last_cut(64), last_cut(65), last_cut(128)
    (0, 0, 64, 64)
    """
    return max(length - 1, 0) // CUT * CUT


class Evaluator:
    """Evaluates prompts and replies of one engine canonically.

    Args:
        engine: the model.
        prefixes: where evaluated prefixes are kept.
    """

    def __init__(self, engine: Engine, prefixes: PrefixCache) -> None:
        self.engine = engine
        """The model."""
        self.prefixes = prefixes
        """Where evaluated prefixes are kept."""
        self.length = 0
        """Tokens the sequence holds now."""

    def prefill(self, prompt: Sequence[int], pause: Callable[[], None] = lambda: None) -> Logits:
        """Evaluate a prompt of at least one token from its longest kept prefix on, and return what comes next.

        `pause` is called between portions and may raise to abandon the prompt; nothing wrong is kept then.
        """
        end = last_cut(len(prompt))
        start = self._resume(prompt[:end])
        for begin in range(start, end, CUT):
            pause()
            self._evaluate(prompt[begin : begin + CUT])
        if end > start:
            self.prefixes.add(as_tokens(prompt[:end]), self.engine.save())
        pause()
        return self._evaluate(prompt[end:])

    def extend(self, token: int) -> Logits:
        """Append one token of a reply and return what comes next."""
        return self._evaluate((token,))

    def rewind(self, length: int) -> None:
        """Forget all but the first `length` tokens."""
        self.engine.rewind(length)
        self.length = length

    def _resume(self, prefix: Sequence[int]) -> int:
        found = self.prefixes.find(as_tokens(prefix))
        if found is None:
            self.rewind(0)
            return 0
        snapshot, length = found
        self.engine.restore(snapshot)
        self.rewind(length)
        return length

    def _evaluate(self, tokens: Sequence[int]) -> Logits:
        logits = self.engine.evaluate(tokens, self.length)
        self.length += len(tokens)
        return logits
