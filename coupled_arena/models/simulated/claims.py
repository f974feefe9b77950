"""How claims are named, hashed and recognised in text."""

import re
from dataclasses import dataclass
from hashlib import blake2b
from statistics import NormalDist

_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
_DIGITS = "23456789"
_CODE = r"(?<![A-Za-z0-9])([A-HJ-NP-Z][2-9][A-HJ-NP-Z][2-9])(?![A-Za-z0-9])"
_ASSERTED = re.compile(_CODE + ":")
_DOUBTED = re.compile(_CODE + "(?!:)")
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that can be said about a question."""

    code: str
    """Letter, digit, letter, digit (`K7Q2`), unique within the question."""
    quality: float
    """True quality, standard normal over all claims."""
    phrase: int
    """Which words the claim is put in, at least 0; every language finds its own words for it."""


def asserted(text: str) -> tuple[str, ...]:
    """Return the codes of the claims a text makes: those directly before a colon.

    >>> asserted("Claim K7Q2: the first step follows. I doubt M3B4.")
    ('K7Q2',)
    """
    return tuple(_ASSERTED.findall(text))


def doubted(text: str) -> tuple[str, ...]:
    """Return the codes of the claims a text speaks of without making them.

    >>> doubted("Claim K7Q2: the first step follows. I doubt M3B4.")
    ('M3B4',)
    """
    return tuple(_DOUBTED.findall(text))


def hashed_claims(digest: bytes, count: int) -> tuple[Claim, ...]:
    """Return the claims that follow from a question's digest, codes all different."""
    claims: dict[str, Claim] = {}
    for place in range(count):
        attempt = 0
        while True:
            naming, quality, phrase = _words(digest, place, attempt)
            code = _code(naming)
            if code not in claims:
                break
            attempt += 1
        claims[code] = Claim(code, _normal(quality), phrase)
    return tuple(claims.values())


def hashed_normals(digest: bytes, name: str, count: int) -> list[float]:
    """Return standard normal numbers, one a claim, that follow from a question's digest and a name."""
    key = blake2b(name.encode(), digest_size=16, key=digest, person=b"ca sim normals").digest()
    return [_normal(_words(key, place, 0)[0]) for place in range(count)]


def _words(digest: bytes, place: int, attempt: int) -> tuple[int, int, int]:
    """Return three 64-bit words of hash."""
    data = blake2b(place.to_bytes(4) + attempt.to_bytes(4), digest_size=24, key=digest, person=b"ca sim claim").digest()
    return int.from_bytes(data[:8]), int.from_bytes(data[8:16]), int.from_bytes(data[16:])


def _code(word: int) -> str:
    symbols = []
    for alphabet in (_LETTERS, _DIGITS, _LETTERS, _DIGITS):
        word, rest = divmod(word, len(alphabet))
        symbols.append(alphabet[rest])
    return "".join(symbols)


def _normal(word: int) -> float:
    """Return the standard normal number at the quantile that a 64-bit word stands for."""
    return _NORMAL.inv_cdf(((word >> 11) + 0.5) * 2.0**-53)
