"""Texts and tokens of a model in llama.cpp: its vocabulary, its tokenizer and its chat template."""

import ctypes
from collections.abc import Sequence
from pathlib import Path

from coupled_arena.errors import EngineFault, ModelUnavailable
from coupled_arena.models.calls import Message
from coupled_arena.models.local import capi, chat


class LlamaText:
    """What a loaded GGUF file says of texts and tokens.

    Args:
        path: the file, named where something is wrong.
        model: llama.cpp's pointer to the model, which must outlive this object.
    """

    def __init__(self, path: Path, model: int) -> None:
        self._lib = lib = capi.library()
        self._path = path
        self._template = lib.llama_model_chat_template(model, None)
        self.vocabulary = lib.llama_model_get_vocab(model)
        """llama.cpp's pointer to the vocabulary."""
        size = lib.llama_vocab_n_tokens(self.vocabulary)
        control = [lib.llama_vocab_is_control(self.vocabulary, token) for token in range(size)]
        self.end_tokens = frozenset(t for t in range(size) if lib.llama_vocab_is_eog(self.vocabulary, t))
        """Ids of the tokens that end a reply."""
        self.names: Sequence[bytes] = [self._piece(token) for token in range(size)]
        """The bytes that identify every token, by id."""
        self.written: Sequence[bytes] = [b"" if control[token] else name for token, name in enumerate(self.names)]
        """The bytes every token adds to a reply, by id."""
        self._controls = {
            lib.llama_vocab_get_text(self.vocabulary, token).decode("utf-8", "replace"): token
            for token in range(size)
            if control[token]
        }
        self._controls.pop("", None)

    def tokenize(self, text: str) -> list[int]:
        """Return the tokens of a plain text; nothing in it is read as a control token."""
        data = text.encode("utf-8", "replace")
        room = len(data) + 8
        while True:
            buffer = (ctypes.c_int32 * room)()
            count = self._lib.llama_tokenize(self.vocabulary, data, len(data), buffer, room, False, False)
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
        if self._lib.llama_vocab_get_add_bos(self.vocabulary):
            tokens.append(self._lib.llama_vocab_bos(self.vocabulary))
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

    def _piece(self, token: int) -> bytes:
        room = 64
        while True:
            buffer = ctypes.create_string_buffer(room)
            length = self._lib.llama_token_to_piece(self.vocabulary, token, buffer, room, 0, True)
            if length >= 0:
                return buffer.raw[:length]
            room = -length
