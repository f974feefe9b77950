"""The dials of simulated models: the parameters after `?` in `sim/NAME?skill=1.2&acuity=2`."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote

from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.models.model import Model
from coupled_arena.models.simulated.claims import doubted


class Range(NamedTuple):
    """The values a numeric dial may have."""

    low: float
    """Smallest allowed value."""
    high: float
    """Largest allowed value."""
    meaning: str
    """What the dial does, in a few words."""
    role: str = "judge"
    """Whom it changes: `debater`, `judge`, `examiner`, or `any`."""


RANGES: Mapping[str, Range] = MappingProxyType(
    {
        "skill": Range(-10, 10, "pull towards good claims, in units of N(0,1) over models", "debater"),
        "verbosity": Range(1, 12, "claims in a statement", "debater"),
        "attack": Range(0, 10, "claims a criticism names for every three of a statement", "debater"),
        "concession": Range(-10, 10, "pull away from an own claim that was attacked", "debater"),
        "truncation": Range(0, 1, "rate of turns that are cut off", "debater"),
        "difficulty": Range(0, 10, "spread of the claims' qualities in a hard question; 0 grades nothing", "examiner"),
        "refusal": Range(0, 1, "rate of refused calls", "any"),
        "error": Range(0, 1, "rate of failed calls", "any"),
        "acuity": Range(0, 1000, "how clearly a judge sees quality; 0 sees nothing, 1000 everything"),
        "position": Range(-10, 10, "lead a judge grants to the side shown as A"),
        "length": Range(-10, 10, "lead a judge grants to a text e times as long"),
        "family": Range(-10, 10, "weight of a judge's own taste against quality"),
        "name": Range(-10, 10, "lead a judge grants to the side that names the judge's brand as its own"),
        "tie": Range(0, 10, "leads up to this are ties"),
        "conformity": Range(0, 10, "pull of the other judges' opinions in discussion"),
        "waver": Range(0, 10, "spread of what a second look in discussion adds"),
        "lapse": Range(0, 1, "rate of verdicts drawn at random"),
        "malformed": Range(0, 1, "rate of replies whose verdict cannot be read"),
    }
)
"""Every numeric dial with its bounds; `taste` is any word, `brand` one word, and `world` any whole number."""

WORLD_DIGITS = 40
"""Most digits of a world's number; any seed fits."""

_WHOLE = re.compile(rf"-?[0-9]{{1,{WORLD_DIGITS}}}")

_BRAND = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,39}")

ALLOWED = ", ".join(["skill", "skill.DOMAIN", *(name for name in RANGES if name != "skill"), "taste, brand, world"])
"""The dials as a message lists them."""

_YOUNGER = frozenset(
    {"attack", "concession", "truncation", "difficulty", "brand", "name", "waver", "lapse", "malformed"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dials:
    """What makes one simulated model differ from another; any model may debate, judge and examine.

    A judge's leads are in units of the error with which it reads the quality of one claim.
    """

    skill: float = 0.0
    """Pull towards good claims: 0 chooses blindly, below 0 prefers weak ones. Models are spread as N(0,1)."""
    skills: tuple[tuple[str, float], ...] = ()
    """Skill in single domains (`skill.math`), sorted by domain; it replaces `skill` there."""
    verbosity: float = 3.0
    """About how many claims a statement makes, 1 to 12."""
    taste: str = ""
    """Name of a taste: models that share it like the same claims whatever their quality; empty for none."""
    brand: str = ""
    """A word by which the model names itself in its statements, and which it knows as a judge; empty for none."""
    attack: float = 1.0
    """About how many claims a criticism names for every three of a statement, at least one; 0 attacks nothing."""
    concession: float = 2.0
    """Logit that an own claim loses by having been attacked; below 0 the attacked claim is held on to."""
    truncation: float = 0.0
    """Rate of turns as a debater that are cut off somewhere, 0 to 1."""
    difficulty: float = 0.0
    """As an examiner: spread of the claims' qualities in a hard question, which a question's text then says; 3/4 of it
    where medium ones are asked for, 1/2 for easy ones. 0 grades nothing: every question has spread 1."""
    refusal: float = 0.0
    """Rate of calls the model refuses, 0 to 1."""
    error: float = 0.0
    """Rate of calls its provider fails, 0 to 1."""
    acuity: float = 0.7
    """As a judge: how clearly it sees the quality of one claim, in units of its error; 0 sees nothing."""
    position: float = 0.15
    """As a judge: lead granted to the side shown as A."""
    length: float = 0.0
    """As a judge: lead granted to A per unit of ln(length of A / length of B)."""
    family: float = 0.0
    """As a judge: weight of its own taste, in the unit of `acuity`."""
    name: float = 0.0
    """As a judge: lead granted to the side that names itself by the judge's brand, where the other does not."""
    tie: float = 0.1
    """As a judge: leads up to this are called ties."""
    conformity: float = 0.3
    """As a judge: lead added in discussion when all others agree, in their direction."""
    waver: float = 0.0
    """As a judge: standard deviation of the lead that a second look in discussion adds."""
    lapse: float = 0.0
    """As a judge: rate of verdicts drawn from A, B and tie at random, whatever the lead, 0 to 1."""
    malformed: float = 0.0
    """As a judge: rate of replies that end without a verdict, 0 to 1."""
    world: int = 0
    """Number of the world the model lives in."""

    def skill_in(self, domain: str) -> float:
        """Return the skill in a domain."""
        return dict(self.skills).get(domain, self.skill)

    def canonical(self, path: str) -> str:
        """Return the model string that spells out every dial, in a fixed order.

        What an earlier version did not know is left out where it is not turned: stored replies stay true.

        >>> Dials(skill=1.5, world=7).canonical("ada").split("&")[0]
        'sim/ada?skill=1.5'
        """
        pairs = [("skill", repr(self.skill))]
        pairs += [(f"skill.{quote(domain)}", repr(value)) for domain, value in self.skills]
        pairs += [
            (field.name, quote(value) if isinstance(value := getattr(self, field.name), str) else repr(value))
            for field in fields(self)
            if field.name not in ("skill", "skills")
            and not (field.name in _YOUNGER and getattr(self, field.name) == field.default)
        ]
        return f"sim/{path}?" + "&".join(f"{name}={value}" for name, value in pairs)


def dial_problems(model: str) -> tuple[Problem, ...]:
    """Return everything wrong with the parameters of a simulated model string, one line each.

    >>> [str(problem) for problem in dial_problems("sim/ada?tie=-1")]
    ['sim/ada?tie=-1: tie: must be from 0 to 10 (leads up to this are ties), not -1']
    """
    return _read(model)[1]


def read_dials(model: str) -> Dials:
    """Return the dials of a simulated model string.

    Raises:
        ConfigurationError: with every problem found.
    """
    dials, problems = _read(model)
    if problems:
        raise ConfigurationError(problems)
    return dials


def in_world(model: Model, number: int) -> Model:
    """Return a simulated model that lives in a world, under its old name; one that names a world stays in it.

    >>> in_world(Model("sim/ada?skill=1"), 7)
    Model('sim/ada', 'sim/ada?skill=1&world=7')
    """
    if "world" in model.parameters:
        return model
    joint = "&" if "?" in model.model else "?"
    return model.model_copy(update={"model": f"{model.model}{joint}world={number}"})


@lru_cache(maxsize=4096)
def _read(model: str) -> tuple[Dials, tuple[Problem, ...]]:
    problems: list[Problem] = []
    settings: dict[str, Any] = {}
    skills: dict[str, float] = {}
    seen: set[str] = set()
    if "," in model.partition("?")[0]:
        problems.append(Problem(model, "name", "has a comma; name several models one by one"))
    for name, text in parse_qsl(model.partition("?")[2], keep_blank_values=True):
        complaint = ""
        if name in seen:
            complaint = "is given twice; keep one"
        elif name == "taste":
            settings[name] = text
        elif name == "brand":
            settings[name], complaint = text, _unlike_a_brand(text)
        elif name == "world":
            settings[name], complaint = _world(text)
        elif name in RANGES:
            settings[name], complaint = _number(name, text)
        elif name.startswith("skill.") and name != "skill.":
            skills[name.removeprefix("skill.")], complaint = _number("skill", text)
        else:
            complaint = f"is no dial of simulated models; allowed: {ALLOWED}"
        seen.add(name)
        if complaint:
            problems.append(Problem(model, name, complaint))
    return Dials(**settings, skills=tuple(sorted(skills.items()))), tuple(problems)


def _unlike_a_brand(text: str) -> str:
    """Return what keeps a text from being a brand (empty if nothing); a claim's code would be taken for the claim."""
    if not text or (_BRAND.fullmatch(text) and not doubted(text)):
        return ""
    return f"must be one word of letters, digits and hyphens, unlike a claim's code, not {text!r}"


def _world(text: str) -> tuple[int, str]:
    """Return a world's number and what is wrong with it (empty if nothing)."""
    if _WHOLE.fullmatch(text):
        return int(text), ""
    return 0, f"must be a whole number of at most {WORLD_DIGITS} digits, not {text!r}"


def _number(name: str, text: str) -> tuple[float, str]:
    """Return a dial's value and what is wrong with it (empty if nothing)."""
    low, high, meaning, _ = RANGES[name]
    wanted = f"must be from {low:g} to {high:g} ({meaning})"
    try:
        value = float(text)
    except ValueError:
        return 0.0, f"{wanted}, not {text!r}"
    if not math.isfinite(value) or not low <= value <= high:
        return 0.0, f"{wanted}, not {text}"
    # Adding 0 turns -0 into 0: equal dials must be spelled equally.
    return value + 0.0, ""
