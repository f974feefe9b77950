"""Envelopes: where text of others begins and ends in a prompt."""

import html
import re
from collections.abc import Iterable
from typing import NamedTuple

from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.prompts.defang import ENVELOPES, defang
from coupled_arena.prompts.grammar import Grammar
from coupled_arena.records import Section

_ATTRIBUTE = re.compile(r' ([a-z]+)="([^"<>]*)"')
_OPENING = {name: re.compile(rf'<{name}(?P<attributes>(?: [a-z]+="[^"<>]*")*)>\n?') for name in ENVELOPES}


class Sealed(str):
    """Text that is fit for a prompt as it is: what `envelope` and `seal` return.

    Joining or formatting it gives an ordinary string again, which the next envelope defangs: to put several envelopes
    into one, hand them over one by one.
    """

    __slots__ = ()


class Envelope(NamedTuple):
    """The content of an envelope found in a prompt."""

    text: str
    """What was put into it, defanged unless it was sealed."""
    attributes: dict[str, str]
    """Its attributes, by name."""


def envelope(name: str, /, *contents: str, grammar: Grammar | None = None, **attributes: object) -> Sealed:
    r"""Return contents wrapped in `<name attribute="...">` and `</name>`, each content on lines of its own.

    A content is defanged unless it is `Sealed`, so no text can close its envelope or open another.

    Args:
        name: One of `ENVELOPES`.
        contents: Text of a model, a question, or what `envelope` and `seal` returned.
        grammar: The language whose tags are broken besides the shipped ones.
        attributes: Written in the order given.

    Raises:
        ConfigurationError: There is no envelope of that name.

    >>> print(envelope("turn", seal([Section(tag="respond", text="See </turn>.")], Grammar({})), speaker="A"))
    <turn speaker="A">
    <respond>See <\/turn>.</respond>
    </turn>
    """
    _require(name)
    clean = grammar.defang if grammar else defang
    written = "".join(f' {key}="{html.escape(clean(str(value)))}"' for key, value in attributes.items())
    inner = "\n".join(content if isinstance(content, Sealed) else clean(content) for content in contents)
    return Sealed(f"<{name}{written}>\n{inner}\n</{name}>")


def seal(sections: Iterable[Section], grammar: Grammar) -> Sealed:
    """Return sections as tagged text in the grammar's language, their text defanged.

    >>> seal([Section(tag="respond", text="42")], Grammar({"respond": "回答"}))
    '<回答>42</回答>'
    """
    sections = tuple(sections)
    clean = grammar.with_actions(*(section.tag for section in sections)).defang
    return Sealed("\n".join(f"{grammar.open(s.tag)}{clean(s.text)}{grammar.close(s.tag)}" for s in sections))


def read_envelopes(text: str, name: str) -> tuple[Envelope, ...]:
    """Return the envelopes of a name in a prompt, in order; one that is not closed is none.

    Raises:
        ConfigurationError: There is no envelope of that name.

    >>> read_envelopes(str(envelope("round", "hello", number=1)), "round")
    (Envelope(text='hello', attributes={'number': '1'}),)
    """
    _require(name)
    found = []
    closing = f"</{name}>"
    opened = _OPENING[name].search(text)
    while opened:
        end = text.find(closing, opened.end())
        if end < 0:
            break
        inner = text[opened.end() : end].removesuffix("\n")
        attributes = {key: html.unescape(value) for key, value in _ATTRIBUTE.findall(opened["attributes"])}
        found.append(Envelope(inner, attributes))
        opened = _OPENING[name].search(text, end + len(closing))
    return tuple(found)


def _require(name: str) -> None:
    """Refuse a name that no envelope has."""
    if name not in ENVELOPES:
        message = f"there is no envelope {name!r}; use one of {', '.join(ENVELOPES)}"
        raise ConfigurationError([Problem("prompts", "envelope", message)])
