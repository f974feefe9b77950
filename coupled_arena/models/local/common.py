"""Which local models have no token in common, and so nothing to share dice on."""

import struct
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from pathlib import Path

from coupled_arena.coupling import Vocabulary, shared_tokens
from coupled_arena.coupling.pieces import Spelling, token_bytes
from coupled_arena.errors import ModelUnavailable
from coupled_arena.models.local.cache import ModelCache
from coupled_arena.models.local.gguf_file import GgufFile, read_gguf
from coupled_arena.models.model import Model

_BYTE_LEVEL = "gpt2"
"""What a file calls a byte-level tokenizer; the pieces of all others write a space as `▁`."""

_TOKENS, _TYPES = "tokenizer.ggml.tokens", "tokenizer.ggml.token_type"
_CONTROL = 3
"""Type of a token that steers the model and adds nothing to a text."""

_COUNTED = 12
"""Bytes before the items of an array: their type and their number."""


def strangers(models: Sequence[Model], cache: ModelCache | None = None) -> list[tuple[int, int]]:
    """Return the pairs of local models, by their places among all models, that have no token in common.

    Tokens are common if they stand for the same bytes (`coupling.shared_tokens`), those that add nothing to a text not
    counted. Strangers share no dice but those that end a reply, whatever their noise keys, and nothing may be called
    coupled. Weights are not loaded: what is read is the head of their files, and of variants of one file not even that.

    Args:
        models: models of any kind.
        cache: where model files are; None takes the user's own.

    Raises:
        ModelUnavailable: a file is not to be had, or tells no vocabulary.
    """
    known = cache or ModelCache()
    files = [(place, known.original(model.path)) for place, model in enumerate(models) if model.kind == "local"]
    pairs = [(one, other) for one, other in combinations(files, 2) if one[1] != other[1]]
    vocabularies = {path: _vocabulary(path) for path in dict.fromkeys(path for pair in pairs for _, path in pair)}
    return [
        (one, other)
        for (one, first), (other, second) in pairs
        if not shared_tokens(vocabularies[first], vocabularies[second])
    ]


def _vocabulary(path: Path) -> Vocabulary:
    """Return the vocabulary that a file tells; every token that adds nothing to a text counts as an end."""
    file = read_gguf(path)
    if _TOKENS not in file.places:
        raise ModelUnavailable(f"{path}: tells no vocabulary ({_TOKENS}); use another GGUF file")
    types = _items(path, file, _TYPES) if _TYPES in file.places else b""
    byte_level = file.metadata.get("tokenizer.ggml.model") == _BYTE_LEVEL
    return _spelled(_items(path, file, _TOKENS), types, "byte-level" if byte_level else "sentencepiece")


# Variants of one model are compared more than anything else, and their vocabularies are the same bytes.
@lru_cache(maxsize=8)
def _spelled(tokens: bytes, types: bytes, spelling: Spelling) -> Vocabulary:
    """Return the vocabulary that the arrays of a file spell."""
    control = {token for token, (kind,) in enumerate(struct.iter_unpack("<i", types)) if kind == _CONTROL}
    return Vocabulary([token_bytes(piece, spelling) for piece in _strings(tokens)], control)


def _items(path: Path, head: GgufFile, key: str) -> bytes:
    """Return the items of an array of the metadata as they lie in the file."""
    begin, end = head.places[key]
    with path.open("rb") as file:
        file.seek(begin + _COUNTED)
        return file.read(end - begin - _COUNTED)


def _strings(data: bytes) -> list[str]:
    found, at = [], 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        at += 8
        found.append(data[at : at + length].decode("utf-8", "replace"))
        at += length
    return found
