"""A schedule of the user's own: a function of the standings, or an object with `next_round` and `matches`."""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Literal, Self

from pydantic import Field

from coupled_arena.agents.factories import factory_name, parts_of
from coupled_arena.errors import HERE, ConfigurationError, Problem
from coupled_arena.tournaments.schedules.rule import NamedRule
from coupled_arena.tournaments.schedules.standings import Pairing, Standings

Rule = Callable[[Standings], Iterable[Pairing]]
"""A schedule as a function: the pairings of the next round, none when the tournament is over."""

_OVER = "an empty list when the tournament is over"
_LONGER = "give an object with next_round(standings) and with matches(models), which says how many are played"


class OwnSchedule(NamedRule):
    """A schedule in Python, whose every answer is checked.

    A function lets no model play more matches than there are other models, as in a round robin: that is what preflight
    counts with, and where a run stops. An object says by `matches` itself how many it plays.
    """

    kind: Literal["own"] = Field(default="own", repr=False)
    """Name of the rule in a stored definition; no file can hold one."""
    name: str
    """Dotted name of the function, or of the object's class."""
    digest: str
    """Digest of its source and of what it brings along: a changed rule makes another run."""
    rule: Any = Field(default=None, exclude=True, repr=False)
    """The function or object; None in a definition that comes from a store."""

    @classmethod
    def of(cls, rule: Any) -> Self:
        """Return the schedule of a function or object.

        Raises:
            ValueError: it has no name that identifies a run, or is no schedule.
        """
        if isinstance(rule, type):
            raise ValueError(f"{rule.__name__} is a class; write {rule.__name__}(...)")
        kind = type(rule).__name__
        if _is_object(rule):
            if repr(rule) == object.__repr__(rule):
                raise ValueError(
                    f"{kind} needs a repr that says what it is, which identifies the run; make it a dataclass"
                )
            parts = [*parts_of(type(rule)), repr(rule)]
        elif not hasattr(rule, "__qualname__"):
            raise ValueError(f"{kind} has to be a function, or to have next_round(standings) and matches(models)")
        elif "<lambda>" in rule.__qualname__:
            raise ValueError("a schedule needs a name, which identifies the run; write a function instead of a lambda")
        else:
            parts = parts_of(rule)
        text = json.dumps(parts)
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        return cls(name=factory_name(type(rule) if _is_object(rule) else rule), digest=digest, rule=rule)

    @property
    def is_bounded(self) -> bool:
        """Whether the rule itself says how many matches it plays."""
        return _is_object(self.rule)

    def matches(self, models: int) -> tuple[int, int]:
        """Return how many whole matches are played at most: in all, and by one model.

        Raises:
            ConfigurationError: an object says something else than two numbers.
        """
        if not self.is_bounded:
            return models * (models - 1) // 2, models - 1
        try:
            found = self.rule.matches(models)
        except Exception as error:
            raise _raised(f"{self.name}: matches({models})", error) from error
        if not (isinstance(found, tuple) and len(found) == 2 and all(type(most) is int and most > 0 for most in found)):
            message = f"matches({models}) returned {found!r}; it has to be two whole numbers, in all and by one model"
            raise _wrong(self.name, message)
        return found

    def next_round(self, standings: Standings) -> Sequence[Pairing]:
        """Return the pairings of the next round, checked.

        Raises:
            ConfigurationError: the rule raised, or its answer cannot be played; names rule and round.
        """
        who = f"{self.name}, round {len(standings.rounds) + 1}"
        if self.rule is None:
            raise _wrong(who, "is not at hand: a store keeps only its name; run the definition that has it")
        models = len(standings.models)
        # All that is well formed: every pair once. Whatever is longer has a fault in it, and may have no end.
        most = models * (models - 1) // 2 + models
        try:
            answer = self.rule.next_round(standings) if self.is_bounded else self.rule(standings)
            listed = isinstance(answer, Iterable) and not isinstance(answer, str)
            pairings = tuple(islice(answer, most + 1)) if listed else ()
        except Exception as error:
            raise _raised(who, error) from error
        if not listed:
            raise _wrong(who, f"returned {answer!r}; return a list of pairings, {_OVER}")
        fault = next(_faults(pairings, standings.models), "") or self._too_many(
            (*standings.rounds, pairings), standings
        )
        if fault:
            raise _wrong(who, fault)
        return pairings

    def _too_many(self, rounds: Iterable[Iterable[Pairing]], standings: Standings) -> str:
        """Return what is wrong with the number of matches, or nothing."""
        size = max(1, standings.questions)
        most, own = self.matches(len(standings.models))
        asked: Counter[frozenset[str]] = Counter()
        for a, b, questions in (pairing for played in rounds for pairing in played if pairing.b is not None):
            pair = frozenset((a, str(b)))
            # What is left of a match that was begun: fixtures ask nothing again before all was asked.
            left = size - asked[pair] % size
            asked[pair] += left if questions is None else min(questions, left)
        by_model = Counter[str]()
        for pair, count in asked.items():
            by_model.update(dict.fromkeys(pair, count))
        busiest = min(by_model, key=lambda model: (-by_model[model], model), default="")
        rule = "its matches() allows" if self.is_bounded else "a round robin has"
        end = f"return {_OVER}" + ("" if self.is_bounded else f", or {_LONGER}")
        if busiest and by_model[busiest] > own * size:
            return f"lets {busiest} play more than the {own} matches that {rule}; {end}"
        if asked.total() > most * size:
            return f"lets models play more than the {most} matches in all that {rule}; {end}"
        return ""


def _is_object(rule: Any) -> bool:
    return callable(getattr(rule, "next_round", None)) and callable(getattr(rule, "matches", None))


def _faults(pairings: Sequence[Any], models: Sequence[str]) -> Iterator[str]:
    """Yield everything that keeps pairings from being played."""
    met: set[frozenset[str]] = set()
    byes: set[str] = set()
    for found in pairings:
        if not isinstance(found, Pairing):
            yield f"returned {found!r} among its pairings; a match is Pairing(a, b), a bye Pairing(a, None)"
            return
        for name in (found.a,) if found.b is None else (found.a, found.b):
            if name not in models:
                yield f"{name!r} does not play; the models are {', '.join(sorted(models))}"
        if found.questions is not None and (type(found.questions) is not int or found.questions < 1):
            yield f"{found} has to be over at least one question, or None for all"
        if found.b is None:
            if found.a in byes:
                yield f"gives {found.a} two byes in one round"
            byes.add(found.a)
            continue
        if found.a == found.b:
            yield f"lets {found.a} meet itself; a bye is Pairing({found.a!r}, None)"
        pair = frozenset((found.a, found.b))
        if pair in met:
            yield f"lets {found.a} and {found.b} meet twice in one round; let them meet again in the next"
        met.add(pair)
    if playing := byes & {name for pair in met for name in pair}:
        yield f"gives {min(playing)} a bye and a match in one round"
    if pairings and not met:
        yield f"returned byes alone; return {_OVER}"


def _raised(who: str, error: Exception) -> ConfigurationError:
    return _wrong(who, f"raised {type(error).__name__}: {error}")


def _wrong(who: str, message: str) -> ConfigurationError:
    return ConfigurationError([Problem(HERE, "schedule", f"{who}: {message}")])
