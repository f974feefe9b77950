"""Characters that look like, or hide between, the ones the grammar is made of.

The readers and `defang` build their patterns from the same classes, so that whatever a reader would accept is
exactly what `defang` breaks.
"""

import re
import unicodedata

OPEN = r"\[［﹇【"
"""Square brackets that open a verdict marker, as the inside of a character class."""

CLOSE = r"\]］﹈】"
"""Square brackets that close a verdict marker."""

LESS = "<＜﹤〈"
"""What may open a tag."""

GREATER = ">＞﹥〉"
"""What may close a tag."""

SLASH = "/／"
"""What makes a tag a closing one."""

BREAK = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
"""What ends a line, as `str.splitlines` understands lines."""

SPACE = "\t \xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
"""Spaces within a line."""

HIDDEN = (
    "\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890-\u0891\u08e2\u115f-\u1160\u17b4-\u17b5\u180b-\u180f"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Format characters (category Cf) and everything else that Unicode lets a renderer ignore."""

GAP = SPACE + HIDDEN
"""What may stand between two brackets of a marker or between a bracket and a name."""

_HIDDEN = re.compile(f"[{HIDDEN}]")


def fold(text: str) -> str:
    r"""Return text as the grammar compares it: visible, compatibility-normalised, without case or outer spaces.

    >>> fold(" Ｔ\u200bie ")
    'tie'
    """
    return unicodedata.normalize("NFKC", _HIDDEN.sub("", text)).casefold().strip()
