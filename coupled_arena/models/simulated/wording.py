"""What simulated models say, in each language they know (`wording.toml`)."""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from types import MappingProxyType

from coupled_arena.models.simulated.claims import Claim


@dataclass(frozen=True, slots=True)
class Wording:
    """One language's sentences."""

    language: str
    """Language code."""
    spaced: bool
    """Whether words are parted by spaces; text without spaces is counted in characters."""
    signature: str
    """How a speaker names itself: field `brand`."""
    graded: str
    """How a question says its spread of qualities: field `spread`."""
    claim: str
    """An asserted claim: fields `code`, `subject`, `predicate`; the code stands directly before an ASCII colon."""
    subjects: tuple[str, ...]
    """What claims are about; as many in every language."""
    predicates: tuple[str, ...]
    """What claims say of it; as many in every language."""
    think: str
    """A private thought."""
    criticize: str
    """An attack on one claim: field `code`, never before a colon."""
    nothing_to_criticize: str
    """An attack where the opponent has claimed nothing."""
    ask: str
    """A question about one claim: field `code`, never before a colon."""
    nothing_to_ask: str
    """A question where the opponent has claimed nothing."""
    strongest: str
    """A judge's first reason: fields `side`, `code`, never before a colon."""
    silent: str
    """A judge's first reason where neither side has claimed anything."""
    again: str
    """A judge's first reason in discussion."""
    margin: str
    """A judge's second reason: field `margin`, signed, positive for A."""
    note: str
    """A remark of an added role on one claim: field `code`, never before a colon."""
    plain: str
    """The answer to a prompt that asks for nothing a simulated model knows."""
    places: tuple[str, ...]
    """Where an examiner's questions take place."""
    objects: tuple[str, ...]
    """What an examiner's questions are about."""
    tasks: tuple[str, ...]
    """An examiner's questions: fields `number`, `place`, `object`."""

    def sentence(self, claim: Claim) -> str:
        """Return a claim as one sentence."""
        predicate, subject = divmod(claim.phrase, len(self.subjects))
        return self.claim.format(
            code=claim.code, subject=self.subjects[subject], predicate=self.predicates[predicate % len(self.predicates)]
        )

    def join(self, sentences: Iterable[str]) -> str:
        """Return sentences as one text."""
        return (" " if self.spaced else "").join(sentences)

    def size(self, text: str) -> int:
        """Return the number of words, or of characters where words are not parted."""
        return text.count(" ") + text.count("\n") + 1 if self.spaced else len(text)

    def cut(self, text: str, size: int) -> str:
        """Return the first `size` words (or characters) of a text."""
        if not self.spaced:
            return text[:size]
        return "".join(re.findall(r"\S+\s*", text)[:size]).rstrip()


def brands_said(text: str) -> tuple[str, ...]:
    """Return the names by which a speaker names itself in a text, in any language.

    >>> brands_said("This is Acme speaking. Claim K7Q2: the first step follows.")
    ('Acme',)
    """
    return tuple(brand for found in _said("signature", r"([\w-]+)").findall(text) for brand in found if brand)


def spread_said(text: str) -> float | None:
    """Return the spread of qualities that a question's text says it has, in any language; None if it says none.

    >>> spread_said("Why does ice float? Difficulty: 1.5."), spread_said("How difficult is it to float?")
    (1.5, None)
    """
    found = _said("graded", r"(\d+(?:\.\d+)?)").search(text)
    return float(next(filter(None, found.groups()))) if found else None


@cache
def _said(sentence: str, field: str) -> re.Pattern[str]:
    """Return what finds a sentence of one field in any language, a group for each."""
    spoken = (re.split(r"\{\w+\}", getattr(wording, sentence)) for wording in wordings().values())
    return re.compile("|".join(field.join(map(re.escape, parts)) for parts in spoken))


@cache
def wordings() -> MappingProxyType[str, Wording]:
    """Return the languages simulated models speak, by code."""
    tables = tomllib.loads(files(__package__).joinpath("wording.toml").read_text(encoding="utf-8"))
    return MappingProxyType({language: _wording(language, table) for language, table in tables.items()})


def _wording(language: str, table: dict[str, str | list[str] | bool]) -> Wording:
    frozen = {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
    return Wording(language=language, **frozen)  # type: ignore[arg-type]  # the table's keys are the fields


_GERMAN_WORDS = re.compile(r"\b(?:und|oder|der|die|das|nicht|ist|eine?)\b", re.IGNORECASE)
_ENGLISH_WORDS = re.compile(r"\b(?:and|or|the|not|is|an?|of|to)\b", re.IGNORECASE)


@lru_cache(maxsize=256)
def wording_for(instructions: str) -> Wording:
    """Return the wording for the language of a prompt's instructions, English for one that is not known.

    >>> wording_for("Nenne die Gründe und das Urteil.").language
    'de'
    """
    if any("\u4e00" <= character <= "\u9fff" for character in instructions):
        return wordings()["zh"]
    german = len(_GERMAN_WORDS.findall(instructions)) > len(_ENGLISH_WORDS.findall(instructions))
    return wordings()["de" if german else "en"]
