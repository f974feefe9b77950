"""What the pieces of a tokenizer's file stand for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.coupling import Vocabulary, shared_tokens, token_bytes
from coupled_arena.coupling.pieces import Spelling
from coupled_arena.errors import ConfigurationError


@pytest.mark.parametrize(
    ("piece", "spelling", "data"),
    [
        ("Ġthe", "byte-level", b" the"),
        ("Ċ", "byte-level", b"\n"),
        ("Ã©", "byte-level", "é".encode()),
        ("Ģ", "byte-level", b"\x80"),
        ("<|im_end|>", "byte-level", b"<|im_end|>"),
        ("a b", "byte-level", b"a b"),
        ("▁", "byte-level", "▁".encode()),
        ("", "byte-level", b""),
        ("▁the", "sentencepiece", b" the"),
        ("▁▁", "sentencepiece", b"  "),
        ("<0xAB>", "sentencepiece", b"\xab"),
        ("<0x0a>", "sentencepiece", b"\n"),
        ("<0xABC>", "sentencepiece", b"<0xABC>"),
        ("é", "sentencepiece", "é".encode()),
        ("Ġ", "sentencepiece", "Ġ".encode()),
    ],
)
def test_a_piece_stands_for_its_bytes(piece: str, spelling: Spelling, data: bytes) -> None:
    assert token_bytes(piece, spelling) == data


def test_the_characters_of_byte_level_are_the_256_bytes() -> None:
    alphabet = [chr(code) for code in range(0x144) if len(token_bytes(chr(code), "byte-level")) == 1]
    # Control characters, the space and the soft hyphen stand for themselves; the alphabet writes them otherwise.
    spelled = [character for character in alphabet if character.isprintable() and character != " "]
    assert sorted(token_bytes(character, "byte-level")[0] for character in spelled) == list(range(256))


@given(st.text(max_size=10).filter(lambda text: "▁" not in text and not text.startswith("<0x")))
def test_in_sentencepiece_text_without_marks_is_itself(text: str) -> None:
    assert token_bytes(text, "sentencepiece") == text.encode()


def test_one_text_in_two_spellings_is_one_token_and_byte_fallback_gets_an_ordinal() -> None:
    bpe = Vocabulary([token_bytes(piece, "byte-level") for piece in ("Ġthe", "Ċ", "cat")], [])
    pieces = ("▁the", "<0x0A>", "\n", "dog")
    fallback = Vocabulary([token_bytes(piece, "sentencepiece") for piece in pieces], [])
    assert shared_tokens(bpe, fallback) == 2
    assert len(set(fallback.identities.tolist())) == 4


def test_an_unknown_spelling_is_one_clear_line() -> None:
    with pytest.raises(ConfigurationError, match="byte-level, sentencepiece, not 'wordpiece'"):
        token_bytes("a", "wordpiece")  # type: ignore[arg-type]
