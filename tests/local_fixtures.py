"""A tiny engine whose logits betray any deviation from canonical evaluation, and files for the cache."""

import hashlib
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from coupled_arena.models.calls import Message
from coupled_arena.models.local.engine import Logits, Snapshot

CELL_BYTES = 8

LETTERS: tuple[bytes, ...] = (b"<end>", b"<stop>", b"a", b"b", b"ab", b"c", "é".encode()[:1], "é".encode()[1:], b" ")
"""A vocabulary with two end tokens, a string that several tokenisations spell, and half characters."""


class FakeEngine:
    """An engine without weights: each cell hashes the cell before it and the whole portion it was evaluated in.

    So logits agree only if a sequence was evaluated in the same portions, as in a real engine they do to the last bit.
    """

    def __init__(self, names: Sequence[bytes] = LETTERS, ends: Sequence[int] = (0, 1), context: int = 4096) -> None:
        self.names: Sequence[bytes] = names
        self.written: Sequence[bytes] = [b"" if token in ends else name for token, name in enumerate(names)]
        self.end_tokens = frozenset(ends)
        self.context = context
        self.cells: list[int] = []
        self.portions: list[int] = []
        self.closed = False
        self.script: dict[int, int] = {}
        """Token to make all but certain after so many evaluations of this engine."""

    def tokenize(self, text: str) -> list[int]:
        """Return the longest tokens that fit, from left to right; other bytes become spaces."""
        data, tokens = text.encode(), []
        while data:
            fits = [(len(name), t) for t, name in enumerate(self.names) if name and data.startswith(name)]
            size, token = max((fit for fit in fits if fit[1] not in self.end_tokens), default=(1, len(self.names) - 1))
            tokens.append(token)
            data = data[size:]
        return tokens

    def render(self, messages: Sequence[Message], prefix: str) -> list[int]:
        return self.tokenize(" ".join(message.content for message in messages) + " " + prefix)

    def evaluate(self, tokens: Sequence[int], start: int) -> Logits:
        if start != len(self.cells) or not tokens or start + len(tokens) > self.context:
            raise AssertionError(f"{len(tokens)} tokens at {start}, and the sequence holds {len(self.cells)}")
        before = self.cells[-1] if self.cells else 0
        seed = hashlib.blake2b(struct.pack(f"<Q{len(tokens)}i", before, *tokens), digest_size=CELL_BYTES).digest()
        self.cells += [int.from_bytes(seed, "little") ^ index for index in range(len(tokens))]
        self.portions.append(len(tokens))
        logits = np.random.default_rng(self.cells[-1]).normal(size=len(self.names)).astype(np.float32)
        wanted = self.script.get(len(self.portions))
        if wanted is not None:
            logits[wanted] += 1000
        return logits

    def rewind(self, length: int) -> None:
        del self.cells[length:]

    def save(self) -> Snapshot:
        return np.array(self.cells, dtype=np.uint64).view(np.uint8)

    def restore(self, snapshot: Snapshot) -> None:
        self.cells = [int(cell) for cell in snapshot.view(np.uint64)]

    def close(self) -> None:
        self.closed = True


def write_model(path: Path, *, architecture: str = "llama", context: int = 4096, fill: float = 1.0) -> Path:
    """Write a GGUF file that has the shape of a model and no sense."""
    import gguf

    writer = gguf.GGUFWriter(None, architecture)
    writer.add_context_length(context)
    writer.add_block_count(1)
    writer.add_embedding_length(64)
    writer.add_head_count(2)
    writer.add_file_type(0)
    writer.add_array("tokenizer.ggml.tokens", ["a", "b", "<end>"])
    values = np.random.default_rng(0).normal(size=(32, 64)).astype(np.float32) * fill
    writer.add_tensor("token_embd.weight", values)
    writer.add_tensor("blk.0.attn_norm.weight", values[0].copy())
    writer.add_tensor("blk.0.attn_q.weight", values)
    writer.add_tensor("blk.0.odd.weight", np.ascontiguousarray(values[:, :7]))
    writer.write_header_to_file(path)
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
