"""The definition of a tournament: everything that determines its result, and nothing else."""

import asyncio
import difflib
import hashlib
import json
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError, model_validator

from coupled_arena.coupling.alignment import Alignment
from coupled_arena.coupling.keys import Mode
from coupled_arena.errors import HERE, ConfigurationError, Problem, RunInterrupted
from coupled_arena.models.budget import Budget
from coupled_arena.models.limits.limit import Limit
from coupled_arena.models.model import CHANGES_NO_REPLY, AnyModel, Model
from coupled_arena.models.simulated.dials import WORLD_DIGITS, in_world
from coupled_arena.protocols.script import SCRIPTS, Script
from coupled_arena.protocols.voting import OnFlip, VoteRule
from coupled_arena.records import Name, Order, Question, Record
from coupled_arena.tournaments.roles import AgentFactory, RoleSeat, factory_name
from coupled_arena.tournaments.schedules import RoundRobin, Swiss

if TYPE_CHECKING:
    from coupled_arena.tournaments.preflight.outlook import Preflight
    from coupled_arena.tournaments.result import Result
    from coupled_arena.tournaments.store import Store

DOMAINS = ("writing", "roleplay", "extraction", "reasoning", "math", "coding", "stem", "humanities")
"""Auto-Arena's eight domains (arXiv 2405.20267, section 3.1)."""

KEYS_ELSEWHERE = {"api_key": 'keys come from the environment only: name the variable, api_key_env = "MY_KEY"'}
"""Keys that are refused with what to write instead."""


WRITE = {
    "dict_type": "write a table",
    "model_type": "write a table",
    "string_type": "write text",
    "string_unicode": "holds half a character (a lone surrogate); write the whole character",
    "tuple_type": "write a list",
}
"""What to write instead where a value is of a wrong type, by the name of pydantic's finding."""

MOST_JUDGES = 1_000
PYTHON_ONLY = frozenset({"agents", "questions", "roles"})
"""Keys whose values a store cannot give back."""
CHANGES_NO_RESULT = frozenset({"budget", "concurrency", "limits"})
"""Keys that are no part of what identifies a run."""


def _as_list(value: Any) -> Any:
    if not isinstance(value, list | tuple):
        raise ValueError("write a list, such as [...]")
    return value


_LISTED_MODELS: TypeAdapter[tuple[Model, ...]] = TypeAdapter(tuple[AnyModel, ...])
_LISTED_QUESTIONS: TypeAdapter[tuple[Question, ...]] = TypeAdapter(tuple[Question, ...])

# Each of the following decides between the members of a union itself: pydantic would report a finding for every
# member, under keys that no file has.


def _as_judges(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return _LISTED_MODELS.validate_python(value)
    if not isinstance(value, int) or isinstance(value, bool) or value > MOST_JUDGES:
        raise ValueError(f"write a number of judges up to {MOST_JUDGES}, or a list of models")
    return value


def _as_questions(value: Any) -> Any:
    if isinstance(value, str):
        return Path(value)
    if isinstance(value, list | tuple) and all(isinstance(part, Question | Mapping) for part in value):
        return _LISTED_QUESTIONS.validate_python(value)
    if value is not None and not isinstance(value, Path):
        raise ValueError("write the path of a JSONL or CSV file, or a list of tables with the fields of a question")
    return value


def _as_script(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if value not in SCRIPTS:
        raise ValueError(f"no script named {value!r}; there is {', '.join(sorted(SCRIPTS))}, or give steps")
    return SCRIPTS[value]


SCHEDULES: dict[str, type[Swiss] | type[RoundRobin]] = {"swiss": Swiss, "round_robin": RoundRobin}


def _as_schedule(value: Any) -> Any:
    if isinstance(value, Swiss | RoundRobin):
        return value
    kind = value.get("kind") if isinstance(value, Mapping) else value
    if not isinstance(kind, str) or kind not in SCHEDULES:
        shown = f" named {kind!r}" if isinstance(kind, str) else " of this kind"
        raise ValueError(f"no schedule{shown}; there is {', '.join(sorted(SCHEDULES))}")
    return SCHEDULES[kind].model_validate(value if isinstance(value, Mapping) else {})


class CommitteeRules(Record):
    """Who judges, and how a committee comes to a decision."""

    recuse: Literal["family", "author", "none"] = "family"
    """Who may not judge a battle: the debaters' families, only the same weights and settings, or nobody."""
    discussion_rounds: int = Field(default=1, ge=0, le=3)
    """How many rounds of discussion follow the lone opinions."""
    min_judges: int | None = Field(default=None, ge=1, le=MOST_JUDGES)
    """Fewest judges of a battle; None is 3 for a number of judges and 1 for a listed panel."""
    vote: VoteRule = "plurality"
    """`plurality`: equal top counts are a tie; `majority`: half of the valid votes or fewer are a tie."""
    quorum: float = Field(default=0.5, ge=0, lt=1)
    """A decision needs more than this share of the seats to hold a valid verdict."""
    orders: Literal["one", "both"] = "one"
    """Whether each judge sees a battle once, or also with the debaters' labels exchanged."""
    on_flip: OnFlip = "tie"
    """What two different verdicts of one judge count as where it saw both orders."""
    judges_see_thoughts: bool = False
    """Whether judges are shown `think`."""
    references: bool = True
    """Whether math, reasoning and coding questions get a reference answer, where a model may write it."""
    reason_tokens: int | None = Field(default=None, ge=1, le=1_000_000)
    """Most tokens of a judge's reasons; None is the prompt set's limit."""

    @property
    def presented(self) -> tuple[Order, ...]:
        """The presentation orders."""
        return ("AB", "BA") if self.orders == "both" else ("AB",)


class BattleRules(Record):
    """How a battle is fought."""

    script: Annotated[Script, BeforeValidator(_as_script)] = SCRIPTS["peer-battle"]
    """`peer-battle`, `single`, or steps of your own."""
    sides: Literal["balanced", "both"] = "balanced"
    """Each model speaks first on half of the questions, or on all of them, once each."""
    replicates: int = Field(default=1, ge=1, le=1_000)
    """How many independent draws of the dice a question is battled over in one match."""
    forfeit: Literal["loss", "void"] = "loss"
    """What a debater that gives no answer gets."""
    reveal_criticism: bool = True
    """Whether `criticize` is shown to the opponent."""
    section_tokens: int | None = Field(default=None, ge=10, le=1_000_000)
    """Most tokens of one section, beside the word budget."""


class Tournament(Record):
    """A tournament: who plays, who asks, who judges, on what, by which rules.

    Keys of `committee` and `battle` may also be given directly (`recuse="author"`). Strings and tables stand for
    models.

    Raises:
        ConfigurationError: with every problem found.

    Example:
        >>> Tournament(models=["sim/ada?skill=1", "sim/bob"], judges=["sim/j1"], examiner="sim/x").schedule
        Swiss(rounds=None, scores=None)
    """

    name: Name = "tournament"
    """Name of the run."""
    models: Annotated[tuple[AnyModel, ...], BeforeValidator(_as_list)]
    """What is rated: at least two models."""
    judges: Annotated[tuple[Model, ...] | int, BeforeValidator(_as_judges)] = 5
    """The panel, or how many of the best-rated models of the tournament judge."""
    examiner: AnyModel | None = None
    """Who writes the questions; None takes them from `questions` or the bundled set."""
    reference: AnyModel | None = None
    """Who writes reference answers; None is the examiner."""
    domains: Annotated[tuple[Name, ...], BeforeValidator(_as_list)] = DOMAINS
    """What the questions are about; left out beside `questions`, whatever these are about."""
    questions_per_domain: int = Field(default=5, ge=1, le=10_000)
    """How many questions each domain has; left out beside `questions`, all of these."""
    questions: Annotated[tuple[Question, ...] | Path | None, BeforeValidator(_as_questions)] = None
    """Questions of your own: records, or a JSONL or CSV file."""
    language: Name = "en"
    """Language of questions and prompts."""
    prompts: str | None = None
    """Name of a prompt set or path of a TOML file; None is the language's own."""
    schedule: Annotated[Swiss | RoundRobin, BeforeValidator(_as_schedule)] = Swiss()
    """Who meets whom."""
    coupling: Literal["coupled", "independent", "fresh", "both"] = "coupled"
    """Whether models share their dice, roll their own, roll anew for every opponent and side, or play every battle in
    a coupled and in an independent arm, of which the first is rated and the second compared with it."""
    alignment: Alignment = "step"
    """What places a token of a local model's reply in the noise: its number, or the text it follows."""
    seed: int = Field(default=0, ge=0, lt=10**WORLD_DIGITS)
    """The one number all randomness is derived from."""
    committee: CommitteeRules = CommitteeRules()
    """Who judges, and how a committee decides."""
    battle: BattleRules = BattleRules()
    """How a battle is fought."""
    roles: dict[str, RoleSeat] = {}
    """Agents for the added roles of the script."""
    agents: dict[Name, AgentFactory] = {}
    """Agents of your own, by the name in their model string: `agent/NAME` plays, judges or writes through one."""
    concurrency: int = Field(default=64, ge=1, le=100_000)
    """Battles in flight; never changes a result."""
    limits: dict[Name, Limit] = {}
    """What hosted models may send, by pattern of their model strings; models that a pattern fits share its limit."""
    budget: Budget = Budget()
    """What a run may spend before it stops; never changes what is answered."""

    def __init__(self, /, **parameters: Any) -> None:
        try:
            super().__init__(**parameters)
        except ValidationError as error:
            raise ConfigurationError(problems_of(error, HERE)) from None

    @classmethod
    def from_mapping(cls, parameters: Mapping[str, Any], where: str) -> Self:
        """Build a tournament from the keys of a file, which every problem names."""
        try:
            return cls(**parameters)
        except ConfigurationError as error:
            raise ConfigurationError([problem._replace(where=where) for problem in error.problems]) from None

    @classmethod
    def stored(cls, document: Mapping[str, Any]) -> Self:
        """Build a tournament from the `document` a store keeps, without agents of your own and own questions."""
        return cls(**{key: value for key, value in document.items() if key not in PYTHON_ONLY})

    @model_validator(mode="before")
    @classmethod
    def _lift(cls, parameters: Any) -> Any:
        """Move keys of a table that were given directly into their table."""
        if not isinstance(parameters, dict):
            return parameters
        lifted = dict(parameters)
        for table, rules in (("committee", CommitteeRules), ("battle", BattleRules)):
            direct = {key: lifted.pop(key) for key in rules.model_fields if key in lifted}
            given = lifted.get(table, {})
            if direct and isinstance(given, Record):
                given = {key: getattr(given, key) for key in given.model_fields_set}
            if not isinstance(given, Mapping):
                continue
            twice = sorted(set(direct) & set(given))
            if twice:
                raise ValueError(f"{twice[0]} is given twice: directly and in {table}; give it once")
            if direct:
                lifted[table] = {**given, **direct}
        return lifted

    async def arun(self, store: "Store | Path | str | None" = None, **options: Any) -> "Result":
        """Play the tournament, or go on with it; takes the options of `play.play`."""
        from coupled_arena.tournaments.play import play

        return await play(self, store, **options)

    def run(self, store: "Store | Path | str | None" = None, **options: Any) -> "Result":
        """Play the tournament to its end, or go on with it where it was interrupted.

        Args:
            store: a file in which the run lives; None keeps it in memory.
            options: those of `play.play`: `listeners`, `observers`, `retry_failed`, `preflight`.

        Raises:
            ConfigurationError: the definition cannot be played; raised before the first call.
            RunInterrupted: stopped by Ctrl-C; running it again on the same store goes on.
            RuntimeError: called inside a running event loop; use `await tournament.arun(...)` there.
        """
        refuse_event_loop("tournament.arun(...)")
        try:
            return asyncio.run(self.arun(store, **options))
        except KeyboardInterrupt:
            kept = "nothing was kept, for lack of a store" if store is None else f"all answers are kept in {store}"
            raise RunInterrupted(f"{self.name} was interrupted; {kept}; run it again to go on") from None

    async def apreflight(self, store: "Store | Path | str | None" = None, **options: Any) -> "Preflight":
        """Do what `preflight` does inside an event loop, as in a notebook."""
        from coupled_arena.tournaments.preflight.outlook import preflight

        return await preflight(self, store, **options)

    def preflight(self, store: "Store | Path | str | None" = None, **options: Any) -> "Preflight":
        """Check the tournament, ask every hosted model once, and say what a run will ask and at worst cost.

        Args:
            store: the file in which the run lives or will live; nothing is written there.
            options: those of `preflight.outlook.preflight`: `probe=False` asks no provider at all.

        Raises:
            ConfigurationError: with everything that keeps the tournament from being played.
            RuntimeError: called inside a running event loop; use `await tournament.apreflight(...)` there.
        """
        refuse_event_loop("tournament.apreflight(...)")
        return asyncio.run(self.apreflight(store, **options))

    @property
    def arms(self) -> tuple[Mode, ...]:
        """How the dice are coupled, once for every time a battle is played; the first arm is the one rated."""
        return ("coupled", "independent") if self.coupling == "both" else (self.coupling,)

    @property
    def is_panel(self) -> bool:
        """Whether the judges are listed."""
        return not isinstance(self.judges, int)

    @property
    def min_judges(self) -> int:
        """Fewest judges of a battle."""
        return self.committee.min_judges or (1 if self.is_panel else 3)

    @property
    def prompt_set(self) -> str:
        """Name or path of the prompt set."""
        return self.prompts or self.language

    @property
    def judging_models(self) -> tuple[Model, ...]:
        """Every model that may sit in a committee, in listing order."""
        return self.models if isinstance(self.judges, int) else self.judges

    @property
    def possible_pairs(self) -> tuple[tuple[Model, Model], ...]:
        """Every two models that may yet meet, or be judged, in listing order."""
        return tuple(combinations(self.models, 2))

    @property
    def own_actions(self) -> tuple[str, ...]:
        """Tags that added roles say, by alphabet."""
        return tuple(sorted({seat.tag for seat in self.roles.values()}))

    def asks(self, key: str) -> bool:
        """Return whether the models that a key of the definition names may be asked anything."""
        return True

    def model_of(self, model: Model) -> Model:
        """Return a model as it is called: a simulated one lives in this tournament's world unless it names another."""
        return in_world(model, self.seed) if model.kind == "sim" else model

    def document(self) -> dict[str, Any]:
        """Return the definition as plain data, for the manifest and the digest.

        Left out is what changes no result: concurrency, limits, budget, and what models cost.
        """
        data = self.model_dump(mode="json", exclude={*CHANGES_NO_RESULT, "agents", "roles", "questions"})
        singles = [data["examiner"], data["reference"]]
        judges = [] if isinstance(self.judges, int) else data["judges"]
        for model in filter(None, (*data["models"], *judges, *singles)):
            for key in CHANGES_NO_REPLY:
                del model[key]
        data["agents"] = {name: factory_name(factory) for name, factory in sorted(self.agents.items())}
        if self.prompts is not None:
            # Where the file lies is no part of the definition; what it says is, by its digest.
            data["prompts"] = Path(self.prompts).name
        data["roles"] = {name: seat.document() for name, seat in sorted(self.roles.items())}
        if isinstance(self.questions, Path):
            data["questions"] = self.questions.name
        elif self.questions is not None:
            data["questions"] = [question.model_dump(mode="json") for question in self.questions]
        else:
            data["questions"] = None
        return data

    def digest(self, *content: str) -> str:
        """Return the hex digest that identifies a run: the definition and the content of the files it names."""
        canonical = json.dumps([self.document(), *content], sort_keys=True, ensure_ascii=True)
        return hashlib.blake2b(canonical.encode(), digest_size=16).hexdigest()


def problems_of(error: ValidationError, where: str) -> list[Problem]:
    """Turn pydantic's findings into ours: one line each, with the key as in TOML."""
    problems: dict[str, Problem] = {}
    for found in error.errors(include_url=False, include_input=False, include_context=False):
        keys = [str(part) for part in found["loc"]]
        key = ".".join(keys) or "definition"
        if found["type"] == "extra_forbidden":
            message = KEYS_ELSEWHERE.get(keys[-1]) or _unknown(keys)
        else:
            message = WRITE.get(found["type"]) or found["msg"].removeprefix("Value error, ")
        problems.setdefault(key, Problem(where, key, message))
    return list(problems.values())


def refuse_event_loop(instead: str) -> None:
    """Make sure that a call that opens an event loop is not made inside one.

    Raises:
        RuntimeError: it is; says what to await instead.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError(f"inside an event loop, as in a notebook, write: await {instead}")


def _unknown(keys: list[str]) -> str:
    """Return what is wrong with an unknown key, and the known one it may have been meant for."""
    tables: dict[str, type[Record]] = {
        "committee": CommitteeRules,
        "battle": BattleRules,
        "schedule": Swiss,
        "questions": Question,
        "limits": Limit,
        "budget": Budget,
        **dict.fromkeys(("models", "judges", "examiner", "reference"), Model),
    }
    known = [*tables.get(keys[0], Tournament).model_fields] if len(keys) > 1 else _top_keys()
    close = difflib.get_close_matches(keys[-1], known, n=1)
    return f"unknown key; did you mean {close[0]!r}?" if close else "unknown key; docs/parameters.md lists all keys"


def _top_keys() -> list[str]:
    return [*Tournament.model_fields, *CommitteeRules.model_fields, *BattleRules.model_fields]
