"""What a simulated model finds in the chat it is sent; prose outside envelopes and tags counts for nothing."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from types import MappingProxyType

from coupled_arena.models.calls import Message
from coupled_arena.models.simulated.claims import asserted, doubted
from coupled_arena.models.simulated.wording import brands_said
from coupled_arena.models.simulated.world import REMARKS, Position
from coupled_arena.prompts import load_prompts, prompt_names, read_envelopes
from coupled_arena.prompts.defang import ENVELOPES
from coupled_arena.records import VERDICTS, Verdict

OPPONENT = "opponent"
"""Speaker under which a debater is shown the other's turns."""

_ENVELOPE = re.compile(rf"<({'|'.join(ENVELOPES)})\b[^>]*>.*?</\1>", re.DOTALL)
_OPENING_TAG = re.compile(r"<([^\W\d][\w-]*)>")
_SECTION = re.compile(r"<([^\W\d][\w-]*)>(.*?)</\1>", re.DOTALL)
_MARGIN = re.compile(r"[+-]\d+\.\d\d(?!\d)")
_VERDICTS: dict[str | None, Verdict] = {verdict: verdict for verdict in VERDICTS}


@dataclass(frozen=True, slots=True)
class Inquiry:
    """The question a chat is about."""

    text: str
    """The question as it stands in the prompt."""
    domain: str
    """Its domain, empty where the prompt does not say."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What a debater knows of its battle, as codes of claims in the order they were met, repeated as often."""

    own: tuple[str, ...] = ()
    """Claims it has made."""
    theirs: tuple[str, ...] = ()
    """Claims its opponent has made."""
    doubted: tuple[str, ...] = ()
    """Claims its opponent has attacked or asked about."""


@dataclass(frozen=True, slots=True)
class Side:
    """What a judge sees of one debater."""

    position: Position = ()
    """The claims of each statement."""
    length: int = 0
    """Characters in all its tagged sections."""
    brands: frozenset[str] = frozenset()
    """The names it gives itself."""


@dataclass(frozen=True, slots=True)
class Hearing:
    """What a judge sees of a battle."""

    a: Side
    """The side shown as A."""
    b: Side
    """The side shown as B."""


@cache
def canonical_actions() -> MappingProxyType[str, str]:
    """Return the canonical action of every tag of the shipped prompt sets (`回答` is `respond`)."""
    actions: dict[str, str] = {}
    for name in prompt_names():
        actions.update({tag: action for action, tag in load_prompts(name).grammar.actions.items()})
    return MappingProxyType(actions)


def find_question(messages: Sequence[Message]) -> Inquiry | None:
    """Return the question of a chat, None if there is no question envelope."""
    for message in messages:
        if message.role == "user" and (inquiry := _inquiry(message.content)):
            return inquiry
    return None


def wanted_tags(messages: Sequence[Message]) -> tuple[tuple[str, str], ...]:
    """Return the tags the last message asks for behind its envelopes, as written and as canonical action.

    What stands before them may be an explanation of all tags, for an agent that has a system prompt of its own.
    """
    known = canonical_actions()
    content = messages[-1].content
    start = max((envelope.end() for envelope in _ENVELOPE.finditer(content)), default=0)
    tags = dict.fromkeys(_OPENING_TAG.findall(content, start))
    return tuple((tag, known.get(tag, tag)) for tag in tags)


def hear(messages: Sequence[Message]) -> Heard:
    """Return what a debater's chat says of its battle."""
    own: list[str] = []
    theirs: list[str] = []
    attacked: list[str] = []
    for message in messages:
        if message.role == "assistant":
            own += _said(message.content)
        elif message.role == "user":
            made, doubts = _answered(message.content)
            theirs += made
            attacked += doubts
    return Heard(tuple(own), tuple(theirs), tuple(attacked))


def find_claims(messages: Sequence[Message]) -> tuple[str, ...]:
    """Return all claims made in the turns a chat shows, whoever made them."""
    turns = (turn for message in messages if message.role == "user" for turn in _turns(message.content))
    return tuple(dict.fromkeys(code for _, text in turns for code in asserted(text)))


def find_hearing(messages: Sequence[Message]) -> Hearing | None:
    """Return the battle a judge is shown, None if the chat shows no rounds."""
    for message in messages:
        if message.role == "user" and (hearing := _hearing(message.content)):
            return hearing
    return None


def find_verdicts(messages: Sequence[Message]) -> tuple[Verdict, ...]:
    """Return the other judges' verdicts in the last message that shows any, none if the judge has answered to them."""
    for message in reversed(messages):
        if message.role == "assistant" and _MARGIN.search(message.content):
            break
        if message.role == "user" and (opinions := read_envelopes(message.content, "opinion")):
            return tuple(
                _VERDICTS[shown] for opinion in opinions if (shown := opinion.attributes.get("verdict")) in _VERDICTS
            )
    return ()


def find_own_margin(messages: Sequence[Message]) -> float | None:
    """Return the lead a judge gave A in its last reply, None if it has not spoken or did not say."""
    for message in reversed(messages):
        if message.role == "assistant" and (margins := _MARGIN.findall(message.content)):
            return float(margins[-1])
    return None


# Five judges read the same prompt, and every later call of a chat reads it again: what it says is kept for a while.
@lru_cache(maxsize=512)
def _inquiry(content: str) -> Inquiry | None:
    found = read_envelopes(content, "question")
    return Inquiry(found[0].text.strip(), found[0].attributes.get("domain", "")) if found else None


@lru_cache(maxsize=512)
def _turns(content: str) -> tuple[tuple[str, str], ...]:
    """Return speaker and text of the turns in a prompt."""
    return tuple((turn.attributes.get("speaker", ""), turn.text) for turn in read_envelopes(content, "turn"))


@lru_cache(maxsize=512)
def _said(content: str) -> tuple[str, ...]:
    return asserted(content)


@lru_cache(maxsize=512)
def _answered(content: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the claims an opponent makes and those it speaks of in a prompt."""
    text = "\n".join(text for speaker, text in _turns(content) if speaker == OPPONENT)
    return asserted(text), doubted(text)


@lru_cache(maxsize=512)
def _hearing(content: str) -> Hearing | None:
    rounds = read_envelopes(content, "round")
    if not rounds:
        return None
    sides = {"A": Side(), "B": Side()}
    known = canonical_actions()
    for speaker, text in (turn for shown in rounds for turn in _turns(shown.text)):
        if speaker not in sides:
            continue
        sections = _SECTION.findall(text)
        statements = tuple(asserted(said) for tag, said in sections if known.get(tag, tag) not in REMARKS)
        length = sum(len(said) for _, said in sections)
        brands = {brand for _, said in sections for brand in brands_said(said)}
        side = sides[speaker]
        sides[speaker] = Side(side.position + statements, side.length + length, side.brands | brands)
    return Hearing(sides["A"], sides["B"])
