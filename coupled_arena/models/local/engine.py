"""What a local model must be able to do.

An engine is one model holding one sequence. Everything above it (`canonical`, `generate`, `choices`) is written
against this narrow contract, so that another way of running models can take llama.cpp's place.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from coupled_arena.models.calls import Message

Logits = NDArray[np.float32]
"""Unnormalised log probabilities of the next token, shape (vocabulary,)."""

Snapshot = NDArray[np.uint8]
"""The state of a sequence as bytes, meaningful only to the engine that wrote it."""


class Engine(Protocol):
    """One loaded model with one sequence, used by one thread at a time.

    Every method may raise `EngineFault`.
    """

    context: int
    """Most tokens the sequence can hold."""
    names: Sequence[bytes]
    """The bytes that identify every token, by id; those of a control token are its name, as in `<|im_end|>`."""
    written: Sequence[bytes]
    """The bytes every token adds to a reply, by id; a control token adds none."""
    end_tokens: frozenset[int]
    """Ids of the tokens that end a reply."""

    def tokenize(self, text: str) -> list[int]:
        """Return the tokens of a plain text; nothing in it is read as a control token."""
        ...

    def render(self, messages: Sequence[Message], prefix: str) -> list[int]:
        """Return the tokens of a chat that ends where the model's next reply, begun with `prefix`, goes on."""
        ...

    def evaluate(self, tokens: Sequence[int], start: int) -> Logits:
        """Append tokens to the sequence, which holds `start` tokens, in one evaluation; return what comes next."""
        ...

    def rewind(self, length: int) -> None:
        """Forget all but the first `length` tokens of the sequence."""
        ...

    def save(self) -> Snapshot:
        """Return the state of the sequence."""
        ...

    def restore(self, snapshot: Snapshot) -> None:
        """Put the sequence into a saved state, bit for bit."""
        ...

    def close(self) -> None:
        """Let go of the weights; a second call does nothing."""
        ...
