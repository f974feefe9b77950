"""Reading the tagged sections of a turn, however carelessly they were tagged."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from coupled_arena.prompts.characters import fold
from coupled_arena.prompts.defang import THINKING
from coupled_arena.prompts.grammar import Grammar
from coupled_arena.prompts.tags import Tag, find_tags
from coupled_arena.records import Section

_CODE = re.compile(r"`[^`\n]+`")
_CUT_TAG = re.compile(r"\s*</[^<>\s]{0,40}>?\s*\Z")
_DEPTH = 4
_INDENT = 40


class _Node(NamedTuple):
    """A section's place in the text."""

    action: str
    """Canonical action."""
    start: int
    """Index of its opening tag."""
    inner: int
    """Index after its opening tag."""
    end: int
    """Index of its closing tag, or of what ended it."""
    after: int
    """Index after its closing tag."""
    children: tuple["_Node", ...] = ()
    """Sections inside it, which are no part of its text."""


def read_sections(text: str, grammar: Grammar) -> tuple[Section, ...]:
    """Return the sections of a turn in the order in which they were opened, under canonical tags, without empty ones.

    * Case, spaces, full-width brackets and hidden characters in a tag do not matter; an action's canonical name and its
      translation are the same tag.
    * A section whose closing tag is missing ends where the next one begins, or with the text.
    * A complete section inside another is taken out of it (thoughts inside an answer stay thoughts). A tag that is not
      closed inside the section it stands in is text there, and so is a tag quoted as `code` within a line.
    * A closing tag that was never opened closes what came before it: a reasoning model's text up to `</think>` is
      `think`.
    * Prose outside the tags belongs to no section. Where there is no section but `think`, it is `respond`.
    * Each action counts once, and the first counts: a model that goes on to play its opponent is not heard. Thoughts
      are joined.

    >>> from coupled_arena.prompts.grammar import Grammar
    >>> grammar = Grammar({name: name for name in ("think", "respond", "criticize", "raise")})
    >>> for section in read_sections("<Think>easy</think> <respond> 42 </respond> Hope this helps!", grammar):
    ...     print(section)
    tag='think' text='easy'
    tag='respond' text='42'
    >>> read_sections("42", grammar)
    (Section(tag='respond', text='42'),)
    """
    nodes = _Parser(text, grammar).nodes()
    sections: dict[str, str] = {}
    for action, said in _said(text, nodes):
        if said and action not in sections:
            sections[action] = said
        elif said and action == "think":
            sections[action] += "\n" + said
    if not sections.keys() - {"think"}:
        outside = _without(text, 0, len(text), nodes)
        if outside:
            sections["respond"] = outside
    return tuple(Section(tag=action, text=said) for action, said in sections.items())


def visible_from(text: str, grammar: Grammar) -> int | None:
    """Return where a reply goes on after its thoughts, or None if it never finished thinking.

    Everything up to the last closing tag of a thought is thought, opened or not. A tag that opens a thought counts at
    the start of a line only, so that a judge may mention it.
    """
    names = dict.fromkeys(THINKING, "think") | grammar.names
    tags = [tag for tag in find_tags(text, names) if tag.action == "think"]
    start = max((tag.end for tag in tags if tag.closing), default=0)
    unfinished = any(
        not tag.closing
        and tag.start >= start
        and not fold(text[max(start, tag.start - _INDENT) : tag.start].rpartition("\n")[2])
        for tag in tags
    )
    return None if unfinished else start


class _Parser:
    """Finds the sections of one text in time proportional to it."""

    def __init__(self, text: str, grammar: Grammar) -> None:
        code = [match.span() for match in _CODE.finditer(text)]
        self.text = text
        self.tags = _outside_code(find_tags(text, grammar.names), code)
        self.partner = _partners(self.tags)

    def nodes(self) -> tuple[_Node, ...]:
        """Return the sections that stand in no other."""
        tags, found, used, index = self.tags, [], 0, 0
        while index < len(tags):
            tag, last = tags[index], self.partner[index]
            if tag.closing:
                found.append(_Node(tag.action, used, used, tag.start, tag.end))
                last = index
            elif last is not None:
                children = self.inside(index + 1, last, depth=1)
                found.append(_Node(tag.action, tag.start, tag.end, tags[last].start, tags[last].end, children))
            else:
                following = tags[index + 1] if index + 1 < len(tags) else None
                end = following.start if following else self.unfinished(tag.end)
                last = index + 1 if following and following.closing else index
                found.append(_Node(tag.action, tag.start, tag.end, end, tags[last].end if last > index else end))
            used = max(used, found[-1].after)
            index = last + 1
        return tuple(found)

    def inside(self, index: int, stop: int, depth: int) -> tuple[_Node, ...]:
        """Return the complete sections among the tags from `index` up to `stop`; other tags there are text."""
        found = []
        while index < stop:
            tag, last = self.tags[index], self.partner[index]
            if tag.closing or last is None or last >= stop:
                index += 1
                continue
            children = self.inside(index + 1, last, depth + 1) if depth < _DEPTH else ()
            found.append(_Node(tag.action, tag.start, tag.end, self.tags[last].start, self.tags[last].end, children))
            index = last + 1
        return tuple(found)

    def unfinished(self, inner: int) -> int:
        """Return where the last section ends, leaving out the beginning of a closing tag that was cut off."""
        match = _CUT_TAG.search(self.text, max(inner, len(self.text) - 80))
        return match.start() if match else len(self.text)


def _outside_code(tags: list[Tag], code: list[tuple[int, int]]) -> list[Tag]:
    """Return the tags that do not stand in a line's `code`."""
    found, index = [], 0
    for tag in tags:
        while index < len(code) and code[index][1] <= tag.start:
            index += 1
        if index == len(code) or tag.start < code[index][0]:
            found.append(tag)
    return found


def _partners(tags: list[Tag]) -> list[int | None]:
    """Return for every opening tag the index of the tag that closes it, if one does.

    That is the next closing tag of the same action, unless the action is opened again before it with yet another
    action opened in between: then the first one was never closed.
    """
    partners: list[int | None] = [None] * len(tags)
    closing: dict[str, int] = {}
    opening: dict[str, int] = {}
    following: int | None = None
    for index in range(len(tags) - 1, -1, -1):
        tag = tags[index]
        if tag.closing:
            closing[tag.action] = index
            continue
        last, again = closing.get(tag.action), opening.get(tag.action)
        if last is not None and (again is None or again > last or again == following):
            partners[index] = last
        opening[tag.action] = following = index
    return partners


def _said(text: str, nodes: tuple[_Node, ...]) -> Iterator[tuple[str, str]]:
    """Yield action and text of every section, a section before those inside it."""
    for node in nodes:
        yield node.action, _without(text, node.inner, node.end, node.children)
        yield from _said(text, node.children)


def _without(text: str, start: int, end: int, nodes: tuple[_Node, ...]) -> str:
    """Return a stretch of text without the sections in it."""
    pieces = []
    for node in nodes:
        pieces.append(text[start : node.start])
        start = node.after
    pieces.append(text[start:end])
    return " ".join(piece for piece in map(str.strip, pieces) if piece)
