"""Token identity: which tokens of which vocabularies are the same and therefore share dice."""

import hashlib
from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from coupled_arena.errors import ConfigurationError, Problem


def token_identity(data: bytes, ordinal: int = 0) -> int:
    """Return the 64-bit identity of a token: BLAKE2b-64 of its bytes, salted with the ordinal of a duplicate.

    `Ġthe`, `▁the` and ` the` have one byte string and so one identity in every vocabulary.

    Args:
        data: the bytes the token stands for in a text.
        ordinal: 0 for the first token of a vocabulary with these bytes, 1 for the second, ...

    Example:
        >>> token_identity(b" the") == token_identity(" the".encode()), token_identity(b"x") == token_identity(b"x", 1)
        (True, False)
    """
    digest = hashlib.blake2b(data, digest_size=8, salt=ordinal.to_bytes(16, "little"))
    return int.from_bytes(digest.digest(), "little")


END_IDENTITY = int.from_bytes(hashlib.blake2b(digest_size=8, person=b"end of text").digest(), "little")
"""Identity of the end of a reply, one for all models; hashed apart from every byte string."""


class Vocabulary:
    """The identities of a model's tokens; its end tokens are one candidate.

    Args:
        tokens: the bytes of every token, by token id.
        end_tokens: ids of the tokens that end a reply; they are merged into the one with the smallest id.

    Raises:
        ConfigurationError: there are no tokens, one is text instead of bytes, or an end token is not among them.

    Example:
        >>> vocabulary = Vocabulary([b"a", b"b", b"</s>", b"<eos>"], end_tokens=[3, 2])
        >>> len(vocabulary), vocabulary.end_tokens.tolist()
        (4, [2, 3])
    """

    __slots__ = ("end_tokens", "ends", "identities")

    identities: NDArray[np.uint64]
    """Identity of every token, shape (n,); all end tokens carry `END_IDENTITY`."""
    end_tokens: NDArray[np.intp]
    """Ids of the end tokens, ascending."""
    ends: NDArray[np.bool_]
    """Whether a token ends a reply, shape (n,)."""

    def __init__(self, tokens: Sequence[bytes], end_tokens: Collection[int]) -> None:
        problems = [
            Problem("Vocabulary", "end_tokens", f"{token} is not a token id below {len(tokens)}")
            for token in sorted(end_tokens)
            if not 0 <= token < len(tokens)
        ]
        if not tokens:
            problems.append(Problem("Vocabulary", "tokens", "needs at least one token"))
        elif any(isinstance(token, str) for token in tokens):
            problems.append(
                Problem("Vocabulary", "tokens", "must be bytes, not text; `token_bytes` turns pieces into them")
            )
        if problems:
            raise ConfigurationError(problems)
        self.end_tokens = np.array(sorted(set(end_tokens)), dtype=np.intp)
        self.ends = np.zeros(len(tokens), dtype=np.bool_)
        self.ends[self.end_tokens] = True
        seen: Counter[bytes] = Counter()
        self.identities = np.empty(len(tokens), dtype=np.uint64)
        for token, data in enumerate(tokens):
            if self.ends[token]:
                self.identities[token] = END_IDENTITY
                continue
            self.identities[token] = token_identity(data, seen[data])
            seen[data] += 1
        for column in (self.identities, self.end_tokens, self.ends):
            column.setflags(write=False)

    def __len__(self) -> int:
        return len(self.identities)


def shared_tokens(first: Vocabulary, second: Vocabulary) -> int:
    """Return how many tokens two vocabularies have in common, the end of a reply not counted.

    They share their dice on these and on the end only; where there are none, two models with equal noise keys draw
    their texts independently, and nothing may be called coupled.

    Example:
        >>> one, other = Vocabulary([b"a", b"b", b"</s>"], [2]), Vocabulary([b"<eos>", b"b", b"c"], [0])
        >>> shared_tokens(one, other)
        1
    """
    return len(np.intersect1d(first.identities[~first.ends], second.identities[~second.ends]))
