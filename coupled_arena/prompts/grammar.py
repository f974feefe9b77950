"""How a language writes tags and verdicts, and how it counts length."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.prompts.characters import fold
from coupled_arena.prompts.defang import RESERVED, THINKING, defang_reserved
from coupled_arena.prompts.tags import TAG_RULE, names_tag
from coupled_arena.records import Verdict

Unit = Literal["words", "characters"]

_IDEOGRAPH = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_LONGEST_WORD = 40
_UNITS = {
    "words": re.compile(rf"[{_IDEOGRAPH}]|[^\s{_IDEOGRAPH}]{{1,{_LONGEST_WORD}}}"),
    "characters": re.compile(r"\S"),
}


@dataclass(frozen=True)
class Grammar:
    """The tags, the verdict markers and the measure of length of one language."""

    actions: Mapping[str, str]
    """Canonical action to the tag that this language writes: `{"respond": "回答"}`."""
    tie: tuple[str, ...] = ("tie",)
    """The language's own words for a tie; the first is the one that judges are asked to write."""
    unit: Unit = "words"
    """What budgets are counted in."""
    problems: Mapping[str, str] = field(default_factory=dict)
    """What is said to a judge whose verdict cannot be read: sentence by kind of problem (`verdict.PROBLEMS`)."""

    @cached_property
    def names(self) -> dict[str, str]:
        """Folded tag, translated or canonical, to canonical action."""
        canonical = {fold(action): action for action in self.actions}
        translated = {fold(tag): action for action, tag in self.actions.items()}
        thinking = dict.fromkeys(THINKING, "think") if "think" in self.actions else {}
        return thinking | canonical | translated

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """Marker to verdict, the language's own words for a tie included."""
        verdicts: dict[str, Verdict] = {"[[A]]": "A", "[[B]]": "B"}
        verdicts.update({f"[[{word}]]": "tie" for word in ("tie", *self.tie)})
        return verdicts

    @cached_property
    def words(self) -> dict[str, Verdict]:
        """Folded content of a marker to verdict."""
        return {fold(marker[2:-2]): verdict for marker, verdict in self.verdicts.items()}

    @property
    def labels(self) -> tuple[str, str, str]:
        """The markers that judges are asked to write, in the order A, B, tie.

        >>> Grammar({"respond": "回答"}, tie=("平局",)).labels
        ('[[A]]', '[[B]]', '[[平局]]')
        """
        return "[[A]]", "[[B]]", f"[[{self.tie[0]}]]"

    def tag(self, action: str) -> str:
        """Return the tag of an action; a role's own action is its own tag.

        Raises:
            ConfigurationError: The action cannot be a tag.
        """
        name = self.actions.get(action, action)
        if not names_tag(name):
            raise ConfigurationError([Problem("grammar", "actions", f"{name!r} cannot be a tag: use {TAG_RULE}")])
        return name

    def open(self, action: str) -> str:
        """Return the opening tag of an action.

        >>> Grammar({"respond": "回答"}).open("respond")
        '<回答>'
        """
        return f"<{self.tag(action)}>"

    def close(self, action: str) -> str:
        """Return the closing tag of an action."""
        return f"</{self.tag(action)}>"

    def with_actions(self, *actions: str) -> "Grammar":
        """Return a grammar that also reads, writes and defangs these actions of a role's own (`note`)."""
        added = {action: self.tag(action) for action in actions if action not in self.actions}
        return replace(self, actions={**self.actions, **added}) if added else self

    def defang(self, text: str) -> str:
        """Return text in which no marker and no tag can be read, the tags of this grammar included."""
        return defang_reserved(text, self._reserved)

    @cached_property
    def _reserved(self) -> frozenset[str]:
        return RESERVED.union(self.names)

    def count(self, text: str) -> int:
        """Return the length of a text in this language's unit.

        A word is a run without spaces, counted anew every 40 characters; an ideograph counts as a word, so that no
        budget is evaded by leaving out spaces. Where the unit is the character, spaces do not count.

        >>> Grammar({}).count("two words"), Grammar({}, unit="characters").count("两个 字")
        (2, 3)
        """
        if self.unit == "words" and text.isascii():
            words = text.split()
            if max(map(len, words), default=0) <= _LONGEST_WORD:
                return len(words)
        return len(_UNITS[self.unit].findall(text))

    def cut(self, text: str, limit: int) -> str:
        """Return at most the first `limit` units of a text, cut at a word.

        >>> Grammar({}).cut("one two three", 2)
        'one two'
        """
        end = 0
        for number, match in enumerate(_UNITS[self.unit].finditer(text)):
            if number == limit:
                return text[: _word_start(text, match.start(), end)].rstrip()
            end = match.end()
        return text


def _word_start(text: str, position: int, end: int) -> int:
    """Return `end`, or the start of the ASCII word that a cut at `position` would split (if it is not too far)."""
    if position != end or not (text[position].isascii() and text[position].isalnum()):
        return end
    start = end
    while start and text[start - 1].isascii() and text[start - 1].isalnum():
        start -= 1
    return start if start and end - start < _LONGEST_WORD else end
