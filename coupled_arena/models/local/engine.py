"""What a local model must be able to do.

An engine is one model holding a few sequences. Everything above it (`canonical`, `generate`, `choices`, `room`) is
written against this narrow contract, so that another way of running models can take llama.cpp's place.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from coupled_arena.models.calls import Message
from coupled_arena.models.local.shapes import Shape

Logits = NDArray[np.float32]
"""Unnormalised log probabilities of the next token, shape (vocabulary,); overwritten by the next evaluation."""

Snapshot = NDArray[np.uint8]
"""The state of a sequence as bytes, meaningful only to the engine that wrote it."""


class Engine(Protocol):
    """One loaded model with some sequences, numbered from 0, used by one thread at a time.

    Every method may raise `EngineFault`.
    """

    context: int
    """Most tokens a sequence can ever hold."""
    shape: Shape
    """How many sequences there are now, and how many tokens each can hold."""
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

    def prefill(self, sequence: int, tokens: Sequence[int], start: int) -> Logits:
        """Append tokens to a sequence, which holds `start` tokens, in one evaluation; return what comes next."""
        ...

    def decode(self, sequences: Sequence[int], tokens: Sequence[int], starts: Sequence[int]) -> Sequence[Logits]:
        """Append one token to each of some sequences, in ascending order; return what comes next in each."""
        ...

    def rewind(self, sequence: int, length: int) -> None:
        """Forget all but the first `length` tokens of a sequence."""
        ...

    def save(self, sequence: int) -> Snapshot:
        """Return the state of a sequence."""
        ...

    def restore(self, sequence: int, snapshot: Snapshot) -> None:
        """Put a sequence into a saved state, bit for bit."""
        ...

    def reshape(self, shape: Shape, kept: Sequence[int]) -> None:
        """Take another shape; the sequences in `kept` are renumbered from 0 in their order, all others forgotten."""
        ...

    def close(self) -> None:
        """Let go of the weights; a second call does nothing."""
        ...
