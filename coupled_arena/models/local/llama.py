"""A model in llama.cpp: one model, one context, a few sequences with a stream of key-value cells each."""

import ctypes
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from coupled_arena.errors import EngineFault, ModelUnavailable
from coupled_arena.models.calls import Message
from coupled_arena.models.local import capi
from coupled_arena.models.local.canonical import CUT
from coupled_arena.models.local.engine import Logits, Snapshot
from coupled_arena.models.local.llama_text import LlamaText
from coupled_arena.models.local.shapes import SHORTEST, Shape
from coupled_arena.models.local.snapshots import with_streams
from coupled_arena.models.local.threads import ThreadChoice

COMPUTE = threading.Lock()
"""Held while llama.cpp computes: one evaluation at a time in this process, whichever the model."""

_ONE_CHUNK = 256
"""A token that follows fewer than this many has its attention computed in one piece, whatever the threads."""


class LlamaEngine:
    """One loaded GGUF file; implements `Engine`.

    Args:
        path: the file.
        context: most tokens a sequence shall ever hold; a model trained for fewer holds fewer.
        threads: how many threads to compute with; timed once at loading and again after a stall.

    Raises:
        ModelUnavailable: xllamacpp is not to be had, the file cannot be loaded, or its architecture cannot be
            evaluated canonically (recurrent and encoder models).
    """

    def __init__(self, path: Path, context: int, threads: ThreadChoice) -> None:
        self._lib = capi.library()
        self._model: int | None = None
        self._state: int | None = None
        self._path = path
        self._threads = threads
        self._stalled = False
        self._batch = _Batch()
        try:
            with COMPUTE, capi.complaints() as complaints:
                self._load(context, complaints)
            self._open(Shape(1, min(SHORTEST, self.context)))
            self._check()
            self._measure(0, 0)
        except EngineFault as error:
            self.close()
            raise ModelUnavailable(str(error)) from error
        except BaseException:
            self.close()
            raise

    def _load(self, context: int, complaints: list[str]) -> None:
        lib = self._lib
        self._model = lib.llama_model_load_from_file(os.fsencode(self._path), lib.llama_model_default_params())
        if not self._model:
            raise ModelUnavailable(f"{self._path}: llama.cpp cannot load it: {_reason(complaints)}")
        unfit = [
            kind for kind in ("recurrent", "hybrid", "diffusion") if getattr(lib, f"llama_model_is_{kind}")(self._model)
        ]
        if lib.llama_model_has_encoder(self._model) or not lib.llama_model_has_decoder(self._model):
            unfit.append("encoder")
        if unfit:
            raise ModelUnavailable(f"{self._path}: is a model of the kind {unfit[0]}; only causal decoders are played")
        trained = lib.llama_model_n_ctx_train(self._model)
        self.context = min(context, trained) if trained > 0 else context
        self._text = LlamaText(self._path, self._model)
        self.names, self.written, self.end_tokens = self._text.names, self._text.written, self._text.end_tokens

    def _open(self, shape: Shape) -> None:
        """Make a context of this shape; the one there was is gone."""
        lib = self._lib
        with COMPUTE, capi.complaints() as complaints:
            if self._state:
                lib.llama_free(self._state)
            parameters = lib.llama_context_default_params()
            # With a stream for each sequence, which is the default, no sequence's logits depend on another's cells.
            for index, value in enumerate((shape.width * shape.length, CUT, CUT, shape.width)):
                parameters.words[index] = value
            self._state = lib.llama_init_from_model(self._model, parameters)
            if not self._state or lib.llama_n_ctx_seq(self._state) < shape.length:
                raise EngineFault(
                    f"{self._path}: llama.cpp cannot make a context of {shape.width} x {shape.length} tokens: "
                    f"{_reason(complaints)}"
                )
            self._memory = lib.llama_get_memory(self._state)
            self._rows: dict[int, Logits] = {}
        self.shape = shape

    def tokenize(self, text: str) -> list[int]:
        """Return the tokens of a plain text; nothing in it is read as a control token."""
        return self._text.tokenize(text)

    def render(self, messages: Sequence[Message], prefix: str) -> list[int]:
        """Return the tokens of a chat that ends where the model's next reply, begun with `prefix`, goes on.

        Raises:
            ModelUnavailable: llama.cpp does not know the file's template.
            ConfigurationError: a message has an unknown role.
        """
        return self._text.render(messages, prefix)

    def prefill(self, sequence: int, tokens: Sequence[int], start: int) -> Logits:
        """Append at most `CUT` tokens to a sequence, which holds `start` tokens; return what comes next."""
        count = len(tokens)
        self._settle(sequence, start)
        self._batch.fill(tokens, range(start, start + count), sequence, last_only=True)
        self._evaluate(count, "prefill" if count == CUT else "", divided=count == 1 and start >= _ONE_CHUNK)
        return self._row(count - 1)

    def decode(self, sequences: Sequence[int], tokens: Sequence[int], starts: Sequence[int]) -> Sequence[Logits]:
        """Append one token to each of at most `CUT` sequences; return what comes next in each."""
        count = len(sequences)
        self._settle(sequences[0], starts[0])
        self._batch.fill(tokens, starts, sequences, last_only=False)
        self._evaluate(count, f"decode {count}", divided=_divided(sequences, starts))
        return [self._row(index) for index in range(count)]

    def rewind(self, sequence: int, length: int) -> None:
        """Forget all but the first `length` tokens of a sequence."""
        if not self._lib.llama_memory_seq_rm(self._memory, sequence, length, -1):
            raise EngineFault(f"{self._path}: llama.cpp could not cut a sequence back to {length} tokens")

    def save(self, sequence: int) -> Snapshot:
        """Return the state of a sequence."""
        size = self._lib.llama_state_seq_get_size(self._state, sequence)
        snapshot = np.empty(size, dtype=np.uint8)
        if self._lib.llama_state_seq_get_data(self._state, snapshot.ctypes.data, size, sequence) != size:
            raise EngineFault(f"{self._path}: llama.cpp could not save a sequence")
        return snapshot

    def restore(self, sequence: int, snapshot: Snapshot) -> None:
        """Put a sequence into a saved state, bit for bit."""
        snapshot = with_streams(snapshot, self.shape.width)
        size = snapshot.nbytes
        if self._lib.llama_state_seq_set_data(self._state, snapshot.ctypes.data, size, sequence) != size:
            raise EngineFault(f"{self._path}: llama.cpp could not restore a sequence")

    def reshape(self, shape: Shape, kept: Sequence[int]) -> None:
        """Take another shape; the sequences in `kept` are renumbered from 0 in their order, all others forgotten."""
        snapshots = [self.save(sequence) for sequence in kept]
        self._open(shape)
        for sequence, snapshot in enumerate(snapshots):
            self.restore(sequence, snapshot)

    def close(self) -> None:
        """Let go of the weights; a second call does nothing."""
        if self._state:
            self._lib.llama_free(self._state)
            self._state = None
        if self._model:
            self._lib.llama_model_free(self._model)
            self._model = None

    def _settle(self, sequence: int, length: int) -> None:
        """Time the threads afresh if the last evaluation stalled: only now, since it overwrites that one's logits."""
        if self._stalled:
            self._measure(sequence, length)

    def _evaluate(self, count: int, kind: str, *, divided: bool) -> None:
        if divided:
            self._compute(count, 1)
            return
        began = time.perf_counter()
        self._compute(count, self._threads.threads)
        self._stalled = bool(kind) and self._threads.stalled(kind, time.perf_counter() - began)

    def _measure(self, sequence: int, length: int) -> None:
        def step(threads: int) -> None:
            self._batch.fill((0,), (length,), sequence, last_only=True)
            self._compute(1, threads)
            self.rewind(sequence, length)

        self._threads.measure(step)
        self._stalled = False

    def _check(self) -> None:
        self._batch.fill((0,), (0,), 0, last_only=True)
        self._compute(1, 1)
        if not np.isfinite(self._row(0)).all():
            raise ModelUnavailable(f"{self._path}: its logits are not numbers; fetch or copy the file again")
        self.rewind(0, 0)

    def _compute(self, count: int, threads: int) -> None:
        self._batch.batch.n_tokens = count
        with COMPUTE:
            self._lib.llama_set_n_threads(self._state, threads, threads)
            status = self._lib.llama_decode(self._state, self._batch.batch)
        if status:
            raise EngineFault(f"{self._path}: llama.cpp could not evaluate {count} tokens (status {status})")

    def _row(self, index: int) -> Logits:
        address = self._lib.llama_get_logits_ith(self._state, index)
        if not address:
            raise EngineFault(f"{self._path}: llama.cpp has no logits of token {index}")
        row = self._rows.get(address)
        if row is None:
            # The memory belongs to llama.cpp, which writes every evaluation to the same few places.
            pointer = ctypes.cast(address, ctypes.POINTER(ctypes.c_float))
            row = self._rows[address] = np.ctypeslib.as_array(pointer, (len(self.names),))
        return row


class _Batch:
    """A batch of tokens in arrays of ours, so that filling it is a few assignments."""

    def __init__(self) -> None:
        self._tokens = np.zeros(CUT, dtype=np.int32)
        self._positions = np.zeros(CUT, dtype=np.int32)
        self._counts = np.ones(CUT, dtype=np.int32)
        self._sequences = np.zeros(CUT, dtype=np.int32)
        self._wanted = np.zeros(CUT, dtype=np.int8)
        # One list of sequences for each token, each of length one.
        places = self._sequences.ctypes.data + self._sequences.itemsize * np.arange(CUT, dtype=np.uintp)
        self._lists = places.astype(np.uintp)

        integers = (self._tokens, self._positions, self._counts)
        token, position, counts = (ctypes.cast(a.ctypes.data, ctypes.POINTER(ctypes.c_int32)) for a in integers)
        lists = ctypes.cast(self._lists.ctypes.data, ctypes.POINTER(ctypes.POINTER(ctypes.c_int32)))
        wanted = ctypes.cast(self._wanted.ctypes.data, ctypes.POINTER(ctypes.c_int8))
        self.batch = capi.Batch(0, token, None, position, counts, lists, wanted)
        """The batch as llama.cpp reads it; `n_tokens` is set by whoever evaluates it."""

    def fill(
        self, tokens: Sequence[int], positions: Sequence[int], sequences: Sequence[int] | int, *, last_only: bool
    ) -> None:
        """Put tokens in; logits are wanted of all of them, or of the last one only."""
        count = len(tokens)
        self._tokens[:count] = tokens
        self._positions[:count] = positions
        self._sequences[:count] = sequences
        self._wanted[:count] = not last_only
        self._wanted[count - 1] = 1


def _divided(sequences: Sequence[int], starts: Sequence[int]) -> bool:
    """Return whether llama.cpp would divide any attention among the threads, so that logits depended on their number.

    It does so for a token that is evaluated with no adjacent sequence's beside it and follows many others.
    """
    last = len(sequences) - 1
    return any(
        start >= _ONE_CHUNK
        and (index == 0 or sequences[index - 1] != sequence - 1)
        and (index == last or sequences[index + 1] != sequence + 1)
        for index, (sequence, start) in enumerate(zip(sequences, starts, strict=True))
    )


def _reason(complaints: list[str]) -> str:
    # The first is the cause; what follows says that something failed.
    return complaints[0] if complaints else "it does not say why"
