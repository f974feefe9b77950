"""A world in which the truth is known: every question has a finite set of claims, each with a true quality.

Everything follows from the world's number and the question's text by hashing (BLAKE2b); nothing is stored and no
generator has a state, so two processes that name the same world live in the same one.

Qualities are normal with mean 0 and spread 1, or the spread that the question's text says. The value of one statement
(a `respond` section) is the mean quality of the distinct claims it makes, a side's value is the mean over its
statements that make a claim, and the truth of a battle is the side with the higher value. Means, not sums: saying more
is not better, so a judge that prefers longer texts is biased.
"""

import html
import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from coupled_arena.coupling import Sampler, Vocabulary, token_identity
from coupled_arena.models.simulated.claims import Claim, asserted, hashed_claims, hashed_normals
from coupled_arena.models.simulated.wording import spread_said
from coupled_arena.records import Turn, Verdict

CLAIMS = 32
"""Claims per question."""
SILENT = -3.0
"""Value of a side that makes no claim, in spreads: three standard deviations below the average claim."""
MOST_SPREAD = 10.0
"""A text that says a wider spread of qualities is taken to mean this."""
TIE = 1e-12
"""Values no further apart than this are equal."""
REMARKS = frozenset({"criticize", "raise", "think"})
"""Actions that make no claims; every other section is a statement."""

Position = tuple[tuple[str, ...], ...]
"""What one side claims: the codes in each of its statements, in the order they were made."""


@dataclass(frozen=True)
class Subject:
    """A question as the world knows it: its claims, ready to be drawn from."""

    digest: bytes
    """Names world and question."""
    claims: tuple[Claim, ...]
    """All claims; their places in this tuple are their candidate numbers."""
    index: Mapping[str, int] = field(repr=False)
    """Place of every code in `claims`."""
    quality: NDArray[np.float64] = field(repr=False)
    """True qualities, shape (claims,)."""
    identities: NDArray[np.uint64] = field(repr=False)
    """Identity of every claim for the shared noise, shape (claims,)."""
    silent: float = SILENT
    """True value of a side that makes no claim."""

    @cached_property
    def sampler(self) -> Sampler:
        """Return the coupled sampler over the claims; one candidate more, the last, ends a text."""
        tokens = [claim.code.encode() for claim in self.claims]
        return Sampler(Vocabulary([*tokens, b""], end_tokens={len(tokens)}))

    def affinity(self, taste: str) -> NDArray[np.float64]:
        """Return how much a taste likes each claim, standard normal, shape (claims,); zeros for no taste."""
        return _affinity(self.digest, taste, len(self.claims))

    def places(self, codes: Iterable[str]) -> list[int]:
        """Return the places of the codes that are claims of this question, each once, in order."""
        return list(dict.fromkeys(self.index[code] for code in codes if code in self.index))

    def value(self, position: Position, qualities: Sequence[float], silent: float) -> float:
        """Return the value of what one side claims, by true qualities or by somebody's view of them.

        Codes that are not claims of this question are prose and count for nothing; a side without claims is worth
        `silent`.
        """
        statements = [places for codes in position if (places := self.places(codes))]
        values = [math.fsum(qualities[place] for place in places) / len(places) for places in statements]
        return math.fsum(values) / len(values) if values else silent


@dataclass(frozen=True, slots=True)
class ClaimBook:
    """Every question's claims and their qualities in one of infinitely many worlds.

    Example:
        >>> book = ClaimBook(7)
        >>> best, *_, worst = book.ranked("Why is the sky blue?")
        >>> book.truth("Why is the sky blue?", ((worst.code,),), ((best.code,),))
        'B'
    """

    number: int = 0
    """Names the world; the `world` dial."""

    def subject(self, question: str) -> Subject:
        """Return what the world knows of a question's text; spaces and punctuation do not count."""
        return _subject(self.number, question)

    def ranked(self, question: str) -> tuple[Claim, ...]:
        """Return a question's claims, best first."""
        return tuple(sorted(self.subject(question).claims, key=lambda claim: (-claim.quality, claim.code)))

    def values(self, question: str, a: Position, b: Position) -> tuple[float, float]:
        """Return the true values of what two sides claim, the subject's `silent` for one that claims nothing."""
        subject = self.subject(question)
        qualities = subject.quality.tolist()
        return subject.value(a, qualities, subject.silent), subject.value(b, qualities, subject.silent)

    def truth(self, question: str, a: Position, b: Position) -> Verdict:
        """Return the side with the better realised claims, `tie` where their values are within 1e-12."""
        first, second = self.values(question, a, b)
        return verdict_of(first - second, TIE)

    def truth_of(self, question: str, turns: Sequence[Turn]) -> Verdict:
        """Return the truth of a battle from its question's text and its transcript."""
        return self.truth(question, position_of(turns, "A"), position_of(turns, "B"))


def position_of(turns: Sequence[Turn], side: str) -> Position:
    """Return what a side claims in a transcript, one entry a statement; remarks do not count."""
    said = (section for turn in turns if turn.speaker == side for section in turn.sections)
    return tuple(asserted(section.text) for section in said if section.tag not in REMARKS)


def verdict_of(lead: float, threshold: float) -> Verdict:
    """Return who is ahead where `lead` is A's, `tie` up to and including the threshold."""
    if abs(lead) <= threshold:
        return "tie"
    return "A" if lead > 0 else "B"


def plain_text(question: str) -> str:
    """Return a question's letters and digits alone, so that quoting and defanging do not move it to another world.

    >>> plain_text("Is  2 &lt; 3?")
    'is23'
    """
    text = unicodedata.normalize("NFKC", html.unescape(question)).casefold()
    return "".join(filter(str.isalnum, text))


@lru_cache(maxsize=1024)
def _subject(number: int, question: str) -> Subject:
    text = f"{number}\n{plain_text(question)}".encode()
    digest = blake2b(text, digest_size=16, person=b"ca sim question").digest()
    claims = hashed_claims(digest, CLAIMS)
    said = spread_said(unicodedata.normalize("NFKC", html.unescape(question)))
    spread = 1.0 if said is None else min(said, MOST_SPREAD)
    claims = tuple(replace(claim, quality=spread * claim.quality) for claim in claims)
    return Subject(
        digest=digest,
        claims=claims,
        index={claim.code: place for place, claim in enumerate(claims)},
        quality=np.array([claim.quality for claim in claims]),
        identities=np.array([token_identity(claim.code.encode()) for claim in claims], dtype=np.uint64),
        silent=spread * SILENT,
    )


@lru_cache(maxsize=4096)
def _affinity(digest: bytes, taste: str, claims: int) -> NDArray[np.float64]:
    return np.array(hashed_normals(digest, f"taste {taste}", claims)) if taste else np.zeros(claims)
