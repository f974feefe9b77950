"""Tags in text that a model wrote: `<think>`, `</ Respond >`, `＜回答＞`."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from coupled_arena.prompts.characters import BREAK, GAP, GREATER, LESS, SLASH, SPACE, fold

NAME = f"[^{LESS}{GREATER}{SLASH}{SPACE}{BREAK}]{{1,64}}+"
"""Pattern of what may be a tag's name; hidden characters inside it are folded away."""

TAG_RULE = "a letter first, then letters, digits, `-` and `_`, 32 at most"
"""What the name of a tag that prompts ask for must be."""

_WRITTEN = re.compile(r"[^\W\d][\w-]{0,31}")
_TAG = re.compile(
    f"[{LESS}][{GAP}]*+(?P<slash>[{SLASH}]?+)[{GAP}]*+(?P<name>{NAME})"
    f"(?P<rest>[^{LESS}{GREATER}{BREAK}]{{0,200}}+)[{GREATER}]"
)
_ATTRIBUTES = re.compile(r"\s+[\w-]+\s*=.*", re.DOTALL)


class Tag(NamedTuple):
    """One tag found in a text."""

    action: str
    """The canonical name."""
    closing: bool
    """Whether it closes a section."""
    start: int
    """Index of its first character."""
    end: int
    """Index after its last character."""


def names_tag(name: str) -> bool:
    """Return whether prompts can ask for a tag of this name: whether it follows `TAG_RULE`.

    >>> names_tag("note"), names_tag("two words")
    (True, False)
    """
    return _WRITTEN.fullmatch(name) is not None


def find_tags(text: str, names: Mapping[str, str]) -> list[Tag]:
    """Return the tags in a text, in order.

    Args:
        text: What a model wrote.
        names: Folded tag name to canonical name; other tags are text.

    >>> find_tags("< Think >hm</think>", {"think": "think"})
    [Tag(action='think', closing=False, start=0, end=9), Tag(action='think', closing=True, start=11, end=19)]
    """
    found = []
    for match in _TAG.finditer(text):
        action = names.get(fold(match["name"]))
        rest = fold(match["rest"])
        if action is not None and (not rest or _ATTRIBUTES.fullmatch(" " + rest)):
            found.append(Tag(action, bool(match["slash"]), match.start(), match.end()))
    return found
