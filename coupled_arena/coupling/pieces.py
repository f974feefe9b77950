"""Bytes of tokens that a tokenizer's file spells as text."""

import re
from typing import Literal, get_args

from coupled_arena.errors import ConfigurationError, Problem

Spelling = Literal["byte-level", "sentencepiece"]
"""How a vocabulary spells bytes: byte-level BPE (GPT-2, Llama 3, Qwen) or SentencePiece (Llama 2, Gemma, Mistral)."""

_PRINTABLE = (*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100))
_OTHERS = [byte for byte in range(256) if byte not in _PRINTABLE]
_BYTE_LEVEL = {chr(byte): byte for byte in _PRINTABLE} | {chr(256 + place): byte for place, byte in enumerate(_OTHERS)}
"""Byte-level BPE writes a byte as the Latin-1 character it prints as; those that print as nothing from U+0100 on."""

_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")


def token_bytes(piece: str, spelling: Spelling) -> bytes:
    r"""Return the bytes that a token stands for in a text.

    In byte-level BPE each character is a byte; a piece with any other character is an added token and stands for
    itself. In SentencePiece `▁` is a space and `<0xAB>` one byte. Special tokens, such as `<s>`, keep their spelling;
    give a model's end tokens to `Vocabulary` by number.

    Raises:
        ConfigurationError: the spelling is unknown.

    Example:
        >>> token_bytes("Ġthe", "byte-level") == token_bytes("▁the", "sentencepiece") == b" the"
        True
        >>> token_bytes("ÃŃ", "byte-level") == token_bytes("í", "sentencepiece"), token_bytes("<0x0A>", "sentencepiece")
        (True, b'\n')
    """
    if spelling not in get_args(Spelling):
        message = f"must be one of {', '.join(get_args(Spelling))}, not {spelling!r}"
        raise ConfigurationError([Problem("token_bytes", "spelling", message)])
    if spelling == "byte-level":
        found = [_BYTE_LEVEL.get(character) for character in piece]
        known = [byte for byte in found if byte is not None]
        return bytes(known) if len(known) == len(found) else piece.encode("utf-8", "surrogatepass")
    if match := _BYTE_TOKEN.fullmatch(piece):
        return bytes([int(match[1], 16)])
    return piece.replace("▁", " ").encode("utf-8", "surrogatepass")
