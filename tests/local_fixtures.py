"""A tiny engine whose logits betray any deviation from canonical evaluation, and files for the cache."""

import hashlib
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar, cast

import numpy as np

from coupled_arena.models.calls import Message
from coupled_arena.models.local.canonical import CUT, Prefill
from coupled_arena.models.local.engine import Engine, Logits, Snapshot
from coupled_arena.models.local.prefixes import PrefixCache, as_tokens
from coupled_arena.models.local.scripts import Script
from coupled_arena.models.local.shapes import SHORTEST, Shape

T = TypeVar("T")

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
        self.shape = Shape(1, min(SHORTEST, context))
        self.shapes: list[Shape] = []
        """Shapes taken after the first."""
        self.cells: list[list[int]] = [[]]
        self.portions: list[int] = []
        """How many tokens every evaluation of a sequence appended."""
        self.batches: list[list[int]] = []
        """Sequences of every joint evaluation."""
        self._shown: list[Logits] = []
        self.closed = False
        self.endless = False
        """Whether no reply ever ends by itself."""
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

    def _evaluate(self, sequence: int, tokens: Sequence[int], start: int) -> Logits:
        cells = self.cells[sequence]
        if start != len(cells) or not tokens or start + len(tokens) > self.shape.length:
            raise AssertionError(f"{len(tokens)} tokens at {start}, and the sequence holds {len(cells)}")
        before = cells[-1] if cells else 0
        seed = hashlib.blake2b(struct.pack(f"<Q{len(tokens)}i", before, *tokens), digest_size=CELL_BYTES).digest()
        cells += [int.from_bytes(seed, "little") ^ index for index in range(len(tokens))]
        self.portions.append(len(tokens))
        logits = np.random.default_rng(cells[-1]).normal(size=len(self.names)).astype(np.float32)
        if self.endless:
            logits[sorted(self.end_tokens)] = -1000
        wanted = self.script.get(len(self.portions))
        if wanted is not None:
            logits[wanted] += 1000
        return logits

    def prefill(self, sequence: int, tokens: Sequence[int], start: int) -> Logits:
        return self._show([self._evaluate(sequence, tokens, start)])[0]

    def decode(self, sequences: Sequence[int], tokens: Sequence[int], starts: Sequence[int]) -> Sequence[Logits]:
        if list(sequences) != sorted(set(sequences)):
            raise AssertionError(f"sequences {sequences} are not in order")
        self.batches.append(list(sequences))
        rows = zip(sequences, tokens, starts, strict=True)
        return self._show([self._evaluate(sequence, (token,), start) for sequence, token, start in rows])

    def _show(self, rows: list[Logits]) -> Sequence[Logits]:
        # As in llama.cpp, the rows of the evaluation before are overwritten.
        for row in self._shown:
            row.fill(np.nan)
        self._shown = rows
        return rows

    def rewind(self, sequence: int, length: int) -> None:
        del self.cells[sequence][length:]

    def save(self, sequence: int) -> Snapshot:
        return np.array(self.cells[sequence], dtype=np.uint64).view(np.uint8)

    def restore(self, sequence: int, snapshot: Snapshot) -> None:
        self.cells[sequence] = [int(cell) for cell in snapshot.view(np.uint64)]

    def reshape(self, shape: Shape, kept: Sequence[int]) -> None:
        self.shapes.append(shape)
        cells = [self.cells[sequence] for sequence in kept]
        if any(len(kept) > shape.length for kept in cells) or len(cells) > shape.width:
            raise AssertionError(f"{len(cells)} sequences do not fit {shape}")
        self.shape = shape
        self.cells = cells + [[] for _ in range(shape.width - len(cells))]

    def close(self) -> None:
        self.closed = True


class Solo:
    """One sequence of an engine by itself, evaluated canonically."""

    def __init__(self, engine: Engine, limit: int = 0, cut: int = CUT) -> None:
        self.engine = engine
        self.prefixes = PrefixCache(limit, cut)
        self.length = 0

    def prefill(self, prompt: Sequence[int]) -> Logits:
        """Evaluate a prompt and return a copy of what comes next."""
        work = Prefill(self.engine, self.prefixes, 0, as_tokens(prompt))
        while (logits := work.advance()) is None:
            pass
        self.length = len(prompt)
        return logits.copy()

    def extend(self, token: int) -> Logits:
        """Append a token and return a copy of what comes next."""
        (logits,) = self.engine.decode([0], [token], [self.length])
        self.length += 1
        return logits.copy()

    def rewind(self, length: int) -> None:
        """Forget all but the first tokens."""
        self.engine.rewind(0, length)
        self.length = length

    def run(self, script: Script[T]) -> T:
        """Let a script write to its end."""
        try:
            step = next(script)
            while True:
                if step.position < self.length:
                    self.rewind(step.position)
                step = script.send(self.extend(step.token))
        except StopIteration as end:
            return cast(T, end.value)


def write_model(
    path: Path, *, architecture: str = "llama", context: int = 4096, fill: float = 1.0, quantised: bool = False
) -> Path:
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
    writer.add_tensor("blk.0.attn_norm.weight", values[0].copy())
    if quantised:
        kind = gguf.GGMLQuantizationType.Q8_0
        for name in ("token_embd.weight", "blk.0.attn_q.weight"):
            writer.add_tensor(name, gguf.quants.quantize(values, kind), raw_dtype=kind)
    else:
        writer.add_tensor("token_embd.weight", values)
        writer.add_tensor("blk.0.attn_q.weight", values)
        writer.add_tensor("blk.0.odd.weight", np.ascontiguousarray(values[:, :7]))
    writer.write_header_to_file(path)
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
