"""Definitions that start from a finished run: with a newcomer, or judged anew."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, Self

from pydantic import Field, SkipValidation

from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.models.masking import MASK
from coupled_arena.models.model import Model
from coupled_arena.prompts import load_prompts
from coupled_arena.protocols.script import DEBATERS
from coupled_arena.records import Battle
from coupled_arena.tournaments.base import Base
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.rules import CommitteeRules

_FRESH = frozenset({"budget", "domains", "questions", "questions_per_domain"})
"""Keys that a definition does not take over from the one it is derived from."""


class Derived(Tournament):
    """A tournament that starts from a finished run, with its questions and its battles.

    Its runs live in the store of that run, and are other ones than those of any definition without a base.
    """

    base: SkipValidation[Base] = Field(exclude=True, repr=False)
    """The finished run."""

    @classmethod
    def of(cls, base: Base, where: str, changes: Mapping[str, Any]) -> Self:
        """Return the definition of a run with some keys changed.

        Raises:
            ConfigurationError: with every problem found, `where` as their place.
        """
        kept = base.tournament
        fields = {key: getattr(kept, key) for key in kept.model_fields_set - _FRESH}
        domains = tuple(dict.fromkeys(question.domain for question in base.questions))
        own = {"questions": base.questions, "domains": domains, "base": base}
        return cls.from_mapping({**fields, **own, **changes}, where)

    @property
    def carried(self) -> tuple[Battle, ...]:
        """The battles that stay as they are."""
        return self.base.battles

    @property
    def origin(self) -> dict[str, Any]:
        """What a manifest says of where the run comes from."""
        said = {"actions": list(self.base.actions)} if self.base.actions else {}
        return {"run": self.base.run, "digest": self.base.digest, **said}

    @property
    def own_actions(self) -> tuple[str, ...]:
        """Tags that the added roles say or said."""
        return self.base.actions

    def digest(self, *content: str) -> str:
        """Return the hex digest that identifies a run: the definition, where it comes from, and the files it names."""
        return super().digest(*content, *(f"{key} {value}" for key, value in self.origin.items() if key != "run"))


class WithNewcomer(Derived):
    """A finished run and one model more, the last one listed, which meets some of the others."""

    @classmethod
    def adding(cls, base: Base, newcomer: Model, scores: Any, where: str, **rules: Any) -> Self:
        """Return the definition of a run with a newcomer.

        Args:
            base: the finished run.
            newcomer: the model.
            scores: as for `Insertion`.
            where: what problems name as their place.
            rules: `budget`, `limits` and `concurrency` of the new run.

        Raises:
            ConfigurationError: with every problem found.
        """
        if problems := [Problem(where, *found) for found in _refusals(base, newcomer)]:
            raise ConfigurationError(problems)
        schedule = {"kind": "insertion", "newcomer": newcomer.name, "scores": scores}
        models = (*base.tournament.models, newcomer)
        name = f"{base.name} + {newcomer.name}"
        return cls.of(base, where, {"name": name, "models": models, "schedule": schedule, **rules})

    @property
    def newcomer(self) -> Model:
        """The model that is inserted."""
        return self.models[-1]

    @property
    def origin(self) -> dict[str, Any]:
        """What a manifest says of where the run comes from."""
        return {**super().origin, "added": self.newcomer.name}

    def asks(self, key: str) -> bool:
        """Return whether the models that a key names may be asked: questions and references are at hand."""
        return key not in ("examiner", "reference")


class JudgedAnew(Derived):
    """A finished run whose debates are judged by another committee, by other rules or in other words."""

    openings: bool = Field(default=False, exclude=True)
    """Whether the judges are shown the two openings only."""
    dice: int = Field(default=0, ge=0, lt=1_000_000, exclude=True)
    """Which independent draw of the judges' dice this is; 0 is the run's own."""

    @classmethod
    def judging(cls, base: Base, where: str, **changes: Any) -> Self:
        """Return the definition of a run that judges another one's debates.

        Args:
            base: the finished run.
            where: what problems name as their place.
            changes: `openings`, `dice`, `judges`, `agents`, `committee`, `prompts`, `budget`, `limits`, `concurrency`;
                what is left out stays.

        Raises:
            ConfigurationError: with every problem found.
        """
        openings = bool(changes.get("openings"))
        name = f"{base.name} {'judged by openings' if openings else 'judged anew'}"
        found = cls.of(base, where, {"name": name, **changes})
        judges = found.judging_models
        script = found.battle.script
        problems = []
        if not found.judged:
            problems.append(Problem(where, "run", f"no battle of run {base.run} was judged, so there is nothing to do"))
        if openings and len(script.openings) < len(DEBATERS):
            problems.append(Problem(where, "openings", f"the script {script.name!r} has no blind opening of each side"))
        problems += [Problem(where, "judges", message) for message in _unknown(base, judges)]
        if "prompts" not in changes:
            problems += [Problem(where, "prompts", message) for message in _other_words(base)]
        if problems:
            raise ConfigurationError(problems)
        return found

    @property
    def judged(self) -> tuple[Battle, ...]:
        """The battles that are judged: those that a committee has had before it."""
        return tuple(battle for battle in self.base.battles if battle.opinions)

    @property
    def carried(self) -> tuple[Battle, ...]:
        """The battles that stay as they are: forfeited, or broken off before a committee was asked."""
        return tuple(battle for battle in self.base.battles if not battle.opinions)

    @property
    def origin(self) -> dict[str, Any]:
        """What a manifest says of where the run comes from."""
        drawn = {"dice": self.dice} if self.dice else {}
        return {**super().origin, "judged": "openings" if self.openings else "battles", **drawn}

    @property
    def judges_dice(self) -> int:
        """Which independent draw of their dice the judges roll."""
        return self.dice

    @property
    def possible_pairs(self) -> tuple[tuple[Model, Model], ...]:
        """Every two models with a battle that is judged."""
        met = {battle.pair for battle in self.judged}
        return tuple(pair for pair in combinations(self.models, 2) if tuple(sorted(m.name for m in pair)) in met)

    def asks(self, key: str) -> bool:
        """Return whether the models that a key names may be asked: judges only."""
        return key.startswith(("judges", "committee.", "agents.")) or (key == "models" and not self.is_panel)


def committee_of(
    base: Base, rules: CommitteeRules | Mapping[str, Any] | None, *, judges: bool
) -> CommitteeRules | dict[str, Any]:
    """Return a base's committee rules with those that are given in place of its own.

    Other `judges` judge every domain, unless the rules that are given name panels of domains too.
    """
    own = base.tournament.committee.model_dump(exclude_unset=True, exclude={"judges_by_domain"} if judges else None)
    given = rules.model_dump(exclude_unset=True) if isinstance(rules, CommitteeRules) else dict(rules or {})
    return {**own, **given}


def _refusals(base: Base, newcomer: Model) -> Iterator[tuple[str, str]]:
    """Yield why a model cannot be added to a run, with the key that is to blame."""
    names = [model.name for model in base.tournament.models]
    if newcomer.name in names:
        yield "models", f"{newcomer.name!r} has played in run {base.run}; give the newcomer a name of its own"
    if base.openings:
        yield "run", f"run {base.run} was judged by the openings only; add to the run that it was made from"
    if base.agents:
        yield "agents", f"run {base.run} has agents written in Python ({', '.join(base.agents)}); {_GIVE}"
    for message in _unknown(base, (*base.tournament.models, *base.tournament.judging_models)):
        yield "models", message
    for message in _other_words(base):
        yield "prompts", message


_GIVE = "give its definition along, in Python: ca.add(..., definition=tournament)"


def _unknown(base: Base, models: tuple[Model, ...]) -> Iterator[str]:
    """Yield models that cannot be asked, because the store does not keep their secrets."""
    for model in dict.fromkeys(models):
        if MASK in f"{model.model} {model.api_base} {model.options}":
            yield (
                f"{model.name}: run {base.run} keeps no secrets, and this model was given one; give the run's own "
                "definition along (--definition FILE.toml, or definition=tournament)"
            )


def _other_words(base: Base) -> Iterator[str]:
    """Yield that a run's prompt set is not at hand, or has been changed since."""
    name = base.tournament.prompt_set
    try:
        digest = load_prompts(name).digest
    except ConfigurationError:
        digest = None
    if digest is None:
        yield (
            f"run {base.run} was played by the prompt set {name}, which is not at hand; give the run's own definition "
            "along (--definition FILE.toml, or definition=tournament)"
        )
    elif digest != base.prompts:
        yield f"the prompt set {name} has changed since run {base.run} was played, so battles would not be alike"
