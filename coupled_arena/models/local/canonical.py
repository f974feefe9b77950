"""Canonical evaluation: logits that depend on the prompt and the reply alone, never on what runs before or beside it.

Floating-point sums depend on how they are grouped, so the same text evaluated in other portions gives other logits and
sooner or later another reply. Here every prompt is evaluated alone and in the same portions: cut at multiples of `CUT`
tokens from its start. Evaluated prefixes are shared at those cuts only, and whole prompts by those that ask the same.
What was evaluated while a reply was written, one token at a time, is never reused: the next prompt that contains the
reply evaluates it as a prompt. Replies are written one token at a time, of several sequences together only where the
weights are known to give the same logits so.
"""

from coupled_arena.models.local.engine import Engine, Logits
from coupled_arena.models.local.prefixes import PrefixCache, Tokens

CUT = 64
"""Prompts are evaluated in portions of this many tokens."""


def last_cut(length: int) -> int:
    """Return the last cut of a prompt of `length` tokens, which leaves at least one token after it.

    >>> last_cut(63), last_cut(64), last_cut(65), last_cut(128)
    (0, 0, 64, 64)
    """
    return max(length - 1, 0) // CUT * CUT


class Prefill:
    """The evaluation of one prompt, portion by portion, from its longest kept prefix on.

    Args:
        engine: the model.
        prefixes: where evaluated prefixes are kept.
        sequence: the sequence that shall hold the prompt; whatever it holds is forgotten.
        prompt: tokens, at least one.
    """

    def __init__(self, engine: Engine, prefixes: PrefixCache, sequence: int, prompt: Tokens) -> None:
        self.sequence = sequence
        """The sequence that shall hold the prompt; may change between portions, when its contents are moved."""
        self.done = 0
        """Tokens evaluated so far."""
        self._engine = engine
        self._prefixes = prefixes
        self._prompt = prompt
        self._end = last_cut(len(prompt))
        self._begun = False
        self._new = False

    def advance(self) -> Logits | None:
        """Evaluate the next portion; return what comes next after the last one, and None before it."""
        if not self._begun:
            self._begun = True
            last = self._prefixes.last(self._prompt)
            if last is not None:
                self._engine.restore(self.sequence, last.snapshot)
                self.done = len(self._prompt)
                return last.logits
            self._resume()
        if self.done < self._end:
            self._evaluate(self._prompt[self.done : self.done + CUT])
            self._new = True
            return None
        if self._new:
            self._prefixes.add(self._prompt[: self._end], self._engine.save(self.sequence))
        logits = self._evaluate(self._prompt[self._end :])
        self._prefixes.keep_last(self._prompt, self._engine.save(self.sequence), logits)
        return logits

    def _resume(self) -> None:
        found = self._prefixes.find(self._prompt[: self._end])
        if found is not None:
            snapshot, self.done = found
            self._engine.restore(self.sequence, snapshot)
        self._engine.rewind(self.sequence, self.done)

    def _evaluate(self, tokens: Tokens) -> Logits:
        logits = self._engine.prefill(self.sequence, tokens.tolist(), self.done)
        self.done += len(tokens)
        return logits
