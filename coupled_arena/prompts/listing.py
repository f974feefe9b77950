"""Reading the questions an examiner wrote, and noticing those it wrote before."""

import json
import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from coupled_arena.prompts.characters import BREAK
from coupled_arena.prompts.fences import unfenced

_NUMBER = re.compile(
    r"^(?P<indent>[ \t>]*)(?P<bold>\*\*|__)?(?:#{1,4}[ ])?(?:(?:question|frage|问题|q)[ ]?)?"
    r"(?P<style>[(（]?)(?P<number>\d{1,4})(?P<close>[)）]|[.．:：、](?!\d))(?P<plain>\*\*|__)?[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_SHINGLE = 4
_ALIKE = 0.7


def read_numbered(text: str) -> tuple[str, ...]:
    r"""Return the items of a numbered list in whatever way it was numbered, without numbers and chatter.

    An item begins at the start of a line with the next number (`(1)`, `1.`, `1)`, `1、`, `**1.**`, `Question 1:`),
    written like the first one; a number or two may be missing. Anything else, a `(2)` inside a line or a list inside an
    item, belongs to the item. What comes before the first item is dropped, and so are further paragraphs of the last
    item where no other item has any. A text without numbers has no items.

    >>> read_numbered("Sure!\n(1) Is (2) prime?\n(2) Why?\n\nHope this helps!")
    ('Is (2) prime?', 'Why?')
    """
    starts: list[re.Match[str]] = []
    for match in _NUMBER.finditer(text):
        number = int(match["number"])
        if not starts:
            if number <= 3:
                starts.append(match)
        elif _style(match) == _style(starts[0]) and 1 <= number - int(starts[-1]["number"]) <= 3:
            starts.append(match)
    ends = [*(match.start() for match in starts[1:]), len(text)]
    items = [_item(match, text[match.end() : end]) for match, end in zip(starts, ends, strict=False)]
    if len(items) > 1 and not any(_paragraphs(item)[1:] for item in items[:-1]):
        items[-1] = _paragraphs(items[-1])[0]
    return tuple(item for item in items if item)


def read_json_questions(text: str) -> tuple[str, ...]:
    """Return the questions of a reply in the form `{"questions": ["…"]}`; a bare list and a code fence will do.

    What is not of this form holds no questions.

    >>> read_json_questions('{"questions": ["Why?", ""]}')
    ('Why?',)
    """
    try:
        value = json.loads(unfenced(text))
    except (ValueError, RecursionError):
        return ()
    items = value.get("questions") if isinstance(value, dict) else value
    if not isinstance(items, list):
        return ()
    return tuple(item.strip() for item in items if isinstance(item, str) and item.strip())


def questions_schema() -> dict[str, Any]:
    """Return the JSON schema of a reply that `read_json_questions` reads."""
    return {
        "type": "object",
        "properties": {"questions": {"type": "array", "items": {"type": "string"}}},
        "required": ["questions"],
        "additionalProperties": False,
    }


def near_duplicate(text: str, others: Iterable[str]) -> str | None:
    """Return the first of the other texts that this one nearly repeats, or None.

    Two texts nearly repeat each other where the sets of their runs of 4 letters or digits, case, accents of width and
    everything else left out, have a Jaccard similarity of at least 0.7. So a reworded beginning, other punctuation or
    another number make no new question.

    >>> near_duplicate("What is the 10th prime number, and why?", ["What is the 12th prime number, and why?"])
    'What is the 12th prime number, and why?'
    >>> near_duplicate("What is entropy?", ["Who wrote Faust?"]) is None
    True
    """
    own = _shingles(text)
    for other in others:
        theirs = _shingles(other)
        if len(own & theirs) >= _ALIKE * len(own | theirs):
            return other
    return None


@lru_cache(maxsize=1024)
def _shingles(text: str) -> frozenset[str]:
    plain = "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))
    return frozenset(plain[start : start + _SHINGLE] for start in range(max(1, len(plain) - _SHINGLE + 1)))


def _item(match: re.Match[str], text: str) -> str:
    """Return an item's text, without the end of bold type that began before its number."""
    bold = match["bold"]
    return (text.replace(bold, "", 1) if bold and not match["plain"] else text).strip()


def _style(match: re.Match[str]) -> tuple[bool, bool, int]:
    return bool(match["style"]), match["close"] in ")）", len(match["indent"].expandtabs(4)) // 2


def _paragraphs(text: str) -> list[str]:
    return re.split(rf"\n[^\S{BREAK}]*\n\s*", text) if text else [""]
