"""Token identity: tokens with equal bytes are one, end tokens are one candidate."""

import pytest

from coupled_arena.coupling import Vocabulary, shared_tokens, token_identity
from coupled_arena.errors import ConfigurationError


def test_vocabularies_agree_on_every_string_they_share() -> None:
    one = Vocabulary([b" the", b"cat", b"<eos>"], end_tokens=[2])
    two = Vocabulary([b"</s>", b"dog", b"cat", b" the"], end_tokens=[0])
    assert one.identities[0] == two.identities[3] == token_identity(b" the")
    assert one.identities[1] == two.identities[2]
    assert len(set(one.identities.tolist()) | set(two.identities.tolist())) == 4


def test_duplicates_are_told_apart_by_their_ordinal() -> None:
    vocabulary = Vocabulary([b"a", b"", b"a", b"", b"a"], end_tokens=[])
    assert vocabulary.identities.tolist() == [
        token_identity(b"a"),
        token_identity(b""),
        token_identity(b"a", 1),
        token_identity(b"", 1),
        token_identity(b"a", 2),
    ]
    assert len(set(vocabulary.identities.tolist())) == 5


def test_all_end_tokens_have_one_identity_whatever_their_bytes() -> None:
    one = Vocabulary([b"<|im_end|>", b"x", b""], end_tokens=[2, 0])
    two = Vocabulary([b"</s>", b"x"], end_tokens=[0])
    assert one.identities[0] == one.identities[2] == two.identities[0]
    assert one.identities[0] not in (token_identity(b"<|im_end|>"), token_identity(b""), token_identity(b"</s>"))
    assert one.end_tokens.tolist() == [0, 2]


def test_end_tokens_take_no_ordinal_from_ordinary_tokens() -> None:
    vocabulary = Vocabulary([b"x", b"x"], end_tokens=[0])
    assert vocabulary.identities[1] == token_identity(b"x")


def test_identity_is_the_same_in_every_release() -> None:
    assert token_identity(b" the") == 11277309899577342212


def test_a_vocabulary_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        Vocabulary([b"a"], end_tokens=[]).identities[0] = 0


def test_text_instead_of_bytes_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="tokens: must be bytes"):
        Vocabulary([b"a", "b"], end_tokens=[])  # type: ignore[list-item]


@pytest.mark.parametrize("end", [-1, 2])
def test_an_end_token_outside_the_vocabulary_is_refused(end: int) -> None:
    with pytest.raises(ConfigurationError, match="not a token id below 2"):
        Vocabulary([b"a", b"b"], end_tokens=[end])


def test_an_empty_vocabulary_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="at least one token"):
        Vocabulary([], end_tokens=[])


def test_two_vocabularies_without_a_common_token_share_nothing_but_the_end() -> None:
    one, other = Vocabulary([b"a", b"</s>"], end_tokens=[1]), Vocabulary([b"<eos>", b"b"], end_tokens=[0])
    assert shared_tokens(one, other) == 0
    assert one.identities[1] == other.identities[0]


def test_shared_tokens_are_counted_with_their_duplicates() -> None:
    one = Vocabulary([b"a", b"a", b"b", b"</s>", b"c"], end_tokens=[3])
    other = Vocabulary([b"c", b"a", b"x", b"a", b"a"], end_tokens=[])
    assert shared_tokens(one, other) == shared_tokens(other, one) == 3
    assert shared_tokens(one, one) == 4
