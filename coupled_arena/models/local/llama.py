"""A model in llama.cpp: one model, one context, one sequence."""

import ctypes
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from coupled_arena.errors import EngineFault, ModelUnavailable
from coupled_arena.models.calls import Message
from coupled_arena.models.local import capi, chat
from coupled_arena.models.local.canonical import CUT
from coupled_arena.models.local.engine import Logits, Snapshot
from coupled_arena.models.local.threads import ThreadChoice

COMPUTE = threading.Lock()
"""Held while llama.cpp computes: one evaluation at a time in this process, whichever the model."""

_SEQUENCE = 0


class LlamaEngine:
    """One loaded GGUF file; implements `Engine`.

    Args:
        path: the file.
        context: most tokens the sequence shall hold; a model trained for fewer holds fewer.
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
        try:
            with COMPUTE, capi.complaints() as complaints:
                self._load(context, complaints)
            self._memory = self._lib.llama_get_memory(self._state)
            self._batch = self._lib.llama_batch_init(CUT, 0, 1)
            self._read_vocabulary()
            self._template = self._lib.llama_model_chat_template(self._model, None)
            self._check()
            self._measure(0)
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
        parameters = lib.llama_context_default_params()
        for index, value in enumerate((min(context, trained) if trained > 0 else context, CUT, CUT, 1)):
            parameters.words[index] = value
        self._state = lib.llama_init_from_model(self._model, parameters)
        if not self._state:
            raise ModelUnavailable(f"{self._path}: llama.cpp cannot make a context: {_reason(complaints)}")
        self.context = min(lib.llama_n_ctx_seq(self._state), parameters.words[0])

    def _read_vocabulary(self) -> None:
        lib = self._lib
        self._vocabulary = lib.llama_model_get_vocab(self._model)
        size = lib.llama_vocab_n_tokens(self._vocabulary)
        self.end_tokens = frozenset(t for t in range(size) if lib.llama_vocab_is_eog(self._vocabulary, t))
        self.names: Sequence[bytes] = [self._piece(token) for token in range(size)]
        control = [lib.llama_vocab_is_control(self._vocabulary, token) for token in range(size)]
        self.written: Sequence[bytes] = [b"" if control[token] else name for token, name in enumerate(self.names)]
        self._controls = {
            lib.llama_vocab_get_text(self._vocabulary, token).decode("utf-8", "replace"): token
            for token in range(size)
            if control[token]
        }
        self._controls.pop("", None)

    def _piece(self, token: int) -> bytes:
        room = 64
        while True:
            buffer = ctypes.create_string_buffer(room)
            length = self._lib.llama_token_to_piece(self._vocabulary, token, buffer, room, 0, True)
            if length >= 0:
                return buffer.raw[:length]
            room = -length

    def tokenize(self, text: str) -> list[int]:
        """Return the tokens of a plain text; nothing in it is read as a control token."""
        data = text.encode("utf-8", "replace")
        room = len(data) + 8
        while True:
            buffer = (ctypes.c_int32 * room)()
            count = self._lib.llama_tokenize(self._vocabulary, data, len(data), buffer, room, False, False)
            if count >= 0:
                return buffer[:count]
            if -count <= room:
                raise EngineFault(f"{self._path}: a text of {len(data)} bytes cannot be tokenised")
            room = -count

    def render(self, messages: Sequence[Message], prefix: str) -> list[int]:
        """Return the tokens of a chat that ends where the model's next reply, begun with `prefix`, goes on.

        The template is the file's own as far as llama.cpp knows it: a system message that a template would add of its
        own accord is not added.

        Raises:
            ModelUnavailable: llama.cpp does not know the file's template.
            ConfigurationError: a message has an unknown role.
        """
        template = self._apply if self._template else chat.plain
        tokens: list[int] = []
        if self._lib.llama_vocab_get_add_bos(self._vocabulary):
            tokens.append(self._lib.llama_vocab_bos(self._vocabulary))
        for part in chat.fragments(messages, prefix, template, self._controls):
            if isinstance(part, str):
                tokens += self.tokenize(part)
            elif tokens != [part]:
                # A template that writes the beginning of the text itself would otherwise write it twice.
                tokens.append(part)
        return tokens

    def _apply(self, messages: Sequence[Message]) -> str:
        array = (capi.ChatMessage * len(messages))()
        encoded = [(message.role.encode(), message.content.encode("utf-8", "replace")) for message in messages]
        for slot, (role, content) in zip(array, encoded, strict=True):
            slot.role, slot.content = role, content
        room = 1024 + 2 * sum(len(role) + len(content) for role, content in encoded)
        while True:
            buffer = ctypes.create_string_buffer(room)
            length = self._lib.llama_chat_apply_template(self._template, array, len(messages), True, buffer, room)
            if length < 0:
                raise ModelUnavailable(f"{self._path}: llama.cpp does not know its chat template; use another file")
            if length <= room:
                return buffer.raw[:length].decode("utf-8", "replace")
            room = length

    def evaluate(self, tokens: Sequence[int], start: int) -> Logits:
        """Append at most `CUT` tokens to the sequence, which holds `start` tokens; return what comes next."""
        began = time.perf_counter()
        logits = self._decode(tokens, start, self._threads.threads)
        kind = "decode" if len(tokens) == 1 else "prefill" if len(tokens) == CUT else ""
        if kind and self._threads.stalled(kind, time.perf_counter() - began) and start + len(tokens) < self.context:
            self._measure(start + len(tokens))
        return logits

    def _measure(self, length: int) -> None:
        def step(threads: int) -> None:
            self._decode((0,), length, threads)
            self.rewind(length)

        self._threads.measure(step)

    def _check(self) -> None:
        if not np.isfinite(self._decode((0,), 0, 1)).all():
            raise ModelUnavailable(f"{self._path}: its logits are not numbers; fetch or copy the file again")
        self.rewind(0)

    def _decode(self, tokens: Sequence[int], start: int, threads: int) -> Logits:
        batch, last = self._batch, len(tokens) - 1
        batch.n_tokens = len(tokens)
        for index, token in enumerate(tokens):
            batch.token[index] = token
            batch.pos[index] = start + index
            batch.n_seq_id[index] = 1
            batch.seq_id[index][0] = _SEQUENCE
            batch.logits[index] = index == last
        with COMPUTE:
            self._lib.llama_set_n_threads(self._state, threads, threads)
            status = self._lib.llama_decode(self._state, batch)
            if status:
                raise EngineFault(f"{self._path}: llama.cpp could not evaluate {len(tokens)} tokens (status {status})")
            row = self._lib.llama_get_logits_ith(self._state, -1)
        # The row belongs to llama.cpp and is overwritten by its next evaluation.
        return np.ctypeslib.as_array(row, (len(self.names),)).copy()

    def rewind(self, length: int) -> None:
        """Forget all but the first `length` tokens of the sequence."""
        if not self._lib.llama_memory_seq_rm(self._memory, _SEQUENCE, length, -1):
            raise EngineFault(f"{self._path}: llama.cpp could not cut a sequence back to {length} tokens")

    def save(self) -> Snapshot:
        """Return the state of the sequence."""
        size = self._lib.llama_state_seq_get_size(self._state, _SEQUENCE)
        snapshot = np.empty(size, dtype=np.uint8)
        if self._lib.llama_state_seq_get_data(self._state, snapshot.ctypes.data, size, _SEQUENCE) != size:
            raise EngineFault(f"{self._path}: llama.cpp could not save a sequence")
        return snapshot

    def restore(self, snapshot: Snapshot) -> None:
        """Put the sequence into a saved state, bit for bit."""
        size = snapshot.nbytes
        if self._lib.llama_state_seq_set_data(self._state, snapshot.ctypes.data, size, _SEQUENCE) != size:
            raise EngineFault(f"{self._path}: llama.cpp could not restore a sequence")

    def close(self) -> None:
        """Let go of the weights; a second call does nothing."""
        if hasattr(self, "_batch"):
            self._lib.llama_batch_free(self._batch)
            del self._batch
        if self._state:
            self._lib.llama_free(self._state)
            self._state = None
        if self._model:
            self._lib.llama_model_free(self._model)
            self._model = None


def _reason(complaints: list[str]) -> str:
    # The first is the cause; what follows says that something failed.
    return complaints[0] if complaints else "it does not say why"
