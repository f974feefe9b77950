"""Reads the answer out of a reply: the last number, a letter, yes or no, the text itself."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

Reader = Callable[[str], str | None]
"""Finds the answer in a reply; None where there is none."""

LETTERS = "ABCD"
"""Letters of a question with four options."""

NUMBER = re.compile(r"(?<![\w.])-?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|(?<![\w.])-?(?:\d+(?:\.\d+)?|\.\d+)|\d+(?:\.\d+)?")
"""A number as it is written in a text, with or without thousands' commas."""

_MARKS = "*_`\"'#>()[]{}\\ \t\r\n"
# An A before a word is an article, unless the word sets it beside something else.
_ALONE = re.compile(rf"(?<![\w'])(A(?!\s+(?!(?:and|is|or)\b)[a-z])|[{LETTERS[1:]}])(?![\w'])")
_YES_NO = re.compile(r"\b(yes|no)\b", re.IGNORECASE)
_ANSWER = r"\banswer\b\W*(?:(?:is|would be|should be)\b\W*)?(?:option\W+)?"
_ANSWERED = re.compile(_ANSWER + r"(yes|no)\b", re.IGNORECASE)


class _Gold(Protocol):
    @property
    def gold(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Exact:
    """Scores 1 where the answer found in a reply is the gold one, else 0.

    Example:
        >>> from coupled_arena.studies.bench.task import Item
        >>> Exact(last_number)(Item("1", "What is 2 + 2?", "4"), "2 + 2 = 4.0")
        1.0
    """

    read: Reader
    """Finds the answer; the gold answers are written as it writes them."""

    def __call__(self, item: _Gold, text: str) -> float:
        """Return 1 or 0."""
        return float(self.read(text) == item.gold)


def last_number(text: str) -> str | None:
    """Return the last number of a text, without thousands' commas and idle zeros (GSM8K's reading).

    >>> last_number("3 boxes of 1,200: $3,600.00"), last_number("7-5"), last_number("none")
    ('3600', '5', None)
    """
    found = NUMBER.findall(text)
    return plain_number(found[-1]) if found else None


def plain_number(text: str) -> str:
    """Return a number without thousands' commas and idle zeros.

    >>> plain_number("1,200.50"), plain_number("-0.0")
    ('1200.5', '0')
    """
    # Not by arithmetic, which rounds a number of many digits.
    plain = f"{Decimal(text.replace(',', '')):f}"
    plain = plain.rstrip("0").removesuffix(".") if "." in plain else plain
    return "0" if plain == "-0" else plain


def strict_letter(text: str) -> str | None:
    """Return the letter A, B, C or D of a reply that is nothing else but spaces around it and one full stop.

    >>> strict_letter(" B. "), strict_letter("Answer: B")
    ('B', None)
    """
    bare = text.strip().removesuffix(".")
    return bare if len(bare) == 1 and bare in LETTERS else None


def letter(text: str) -> str | None:
    """Return the letter A, B, C or D that a reply answers, however it is wrapped.

    In this order: after the last `answer` (`The answer is (B)`); at the beginning, alone or before a mark (`**A**`,
    `B) Paris`); the only one that stands alone anywhere.

    >>> [letter(text) for text in ("Answer: A", "**A**", "b", "B) Paris", "I think it is C", "A cat", "A or B")]
    ['A', 'A', 'B', 'B', 'C', None, None]
    """
    if said := re.findall(_ANSWER + rf"([{LETTERS}{LETTERS.lower()}])(?![\w'])", text, re.IGNORECASE):
        return str(said[-1]).upper()
    bare = text.strip(_MARKS)
    if begun := re.match(rf"([{LETTERS}{LETTERS.lower()}])(?=$|[\s*_`]*[.):,\n*]|\s*$)", bare):
        return begun[1].upper()
    alone = set(_ALONE.findall(text))
    return alone.pop() if len(alone) == 1 else None


def yes_or_no(text: str) -> str | None:
    """Return `yes` or `no`: after the last `answer`, at the beginning, or the only one of the two in the text.

    >>> [yes_or_no(text) for text in ("Yes, it is.", "**No**", "The answer is no", "It is: yes.", "Yes or no?", "?")]
    ['yes', 'no', 'no', 'yes', 'yes', None]
    """
    if said := _ANSWERED.findall(text):
        return str(said[-1]).lower()
    if begun := _YES_NO.match(text.strip(_MARKS)):
        return begun[1].lower()
    found = {word.lower() for word in _YES_NO.findall(text)}
    return found.pop() if len(found) == 1 else None


def whole_text(text: str) -> str | None:
    """Return a reply without case, surrounding marks and final full stop; None for an empty one.

    >>> whole_text(' **Paris**. ')
    'paris'
    """
    return text.strip(_MARKS + ".!").casefold() or None
