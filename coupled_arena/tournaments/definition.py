"""The definition of a tournament: everything that determines its result, and nothing else."""

import asyncio
import difflib
import hashlib
import json
from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from coupled_arena.coupling.alignment import Alignment
from coupled_arena.coupling.keys import Mode
from coupled_arena.errors import HERE, ConfigurationError, Problem, RunInterrupted
from coupled_arena.models.budget import Budget
from coupled_arena.models.limits.limit import Limit
from coupled_arena.models.model import CHANGES_NO_REPLY, AnyModel, Model
from coupled_arena.models.simulated.dials import WORLD_DIGITS, in_world
from coupled_arena.records import USUAL_DIFFICULTY, Battle, Difficulty, Given, Name, Question, Record
from coupled_arena.tournaments.given import as_difficulty, as_examiner, as_judges, as_list, as_questions
from coupled_arena.tournaments.roles import AgentFactory, RoleSeat, factory_name
from coupled_arena.tournaments.rules import BattleRules, CommitteeRules
from coupled_arena.tournaments.schedules import Swiss
from coupled_arena.tournaments.schedules.kinds import SCHEDULES, AnySchedule, as_stored

if TYPE_CHECKING:
    from coupled_arena.tournaments.preflight.outlook import Preflight
    from coupled_arena.tournaments.results.result import Result
    from coupled_arena.tournaments.storage.store import Store

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

PYTHON_ONLY = frozenset({"agents", "questions", "roles"})
"""Keys whose values a store cannot give back."""
CHANGES_NO_RESULT = frozenset({"budget", "concurrency", "limits"})
"""Keys that are no part of what identifies a run."""


class Tournament(Given):
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
    models: Annotated[tuple[AnyModel, ...], BeforeValidator(as_list)]
    """What is rated: at least two models."""
    judges: Annotated[tuple[Model, ...] | int, BeforeValidator(as_judges)] = 5
    """The panel, or how many of the best-rated models of the tournament judge."""
    examiner: Annotated[Model | tuple[Model, ...] | None, BeforeValidator(as_examiner)] = None
    """Who writes the questions, one model or several; None takes them from `questions` or the bundled set."""
    reference: AnyModel | None = None
    """Who writes reference answers; None is the first examiner that plays in no battle."""
    domains: Annotated[tuple[Name, ...], BeforeValidator(as_list)] = DOMAINS
    """What the questions are about; left out beside `questions`, whatever these are about."""
    questions_per_domain: int = Field(default=5, ge=1, le=10_000)
    """How many questions each domain has; left out beside `questions`, all of these."""
    difficulty: Annotated[Difficulty | dict[Name, Difficulty], BeforeValidator(as_difficulty)] = USUAL_DIFFICULTY
    """How hard examiners are asked to make the questions: `easy`, `medium` or `hard`, or one of them by domain."""
    questions: Annotated[tuple[Question, ...] | Path | None, BeforeValidator(as_questions)] = None
    """Questions of your own: records, or a JSONL or CSV file."""
    language: Name = "en"
    """Language of questions and prompts."""
    prompts: str | None = None
    """Name of a prompt set or path of a TOML file; None is the language's own."""
    schedule: AnySchedule = Swiss()
    """Who meets whom: a rule by its name or as a table with its keys, or a function of yours (docs/schedules.md)."""
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
            placed = [p._replace(where=where) if p.where == HERE else p for p in error.problems]
            raise ConfigurationError(placed) from None

    @classmethod
    def stored(cls, document: Mapping[str, Any]) -> Self:
        """Build a tournament from the `document` a store keeps, without agents of your own and own questions."""
        kept = {key: value for key, value in document.items() if key not in PYTHON_ONLY}
        return cls(**{**kept, "schedule": as_stored(document["schedule"])})

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
        """Play the tournament, or go on with it; takes the options of `playing.play.play`."""
        from coupled_arena.tournaments.playing.play import play

        return await play(self, store, **options)

    def run(self, store: "Store | Path | str | None" = None, **options: Any) -> "Result":
        """Play the tournament to its end, or go on with it where it was interrupted.

        Args:
            store: a file in which the run lives; None keeps it in memory.
            options: those of `playing.play.play`: `listeners`, `observers`, `retry_failed`, `preflight`.

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
    def examiners(self) -> tuple[Model, ...]:
        """Who writes questions."""
        if self.examiner is None:
            return ()
        return (self.examiner,) if isinstance(self.examiner, Model) else self.examiner

    def difficulty_in(self, domain: str) -> Difficulty:
        """Return how hard examiners are asked to make the questions of a domain."""
        return self.difficulty.get(domain, USUAL_DIFFICULTY) if isinstance(self.difficulty, dict) else self.difficulty

    def judges_in(self, domain: str) -> tuple[Model, ...] | int:
        """Return who judges the battles of a domain: its panel, or how many of the best-rated models."""
        return self.committee.judges_by_domain.get(domain, self.judges)

    def min_judges_in(self, domain: str) -> int:
        """Return the fewest judges of a battle of a domain."""
        return self.committee.min_judges or (3 if isinstance(self.judges_in(domain), int) else 1)

    @property
    def prompt_set(self) -> str:
        """Name or path of the prompt set."""
        return self.prompts or self.language

    @property
    def judging_models(self) -> tuple[Model, ...]:
        """Every model that may sit in a committee, in listing order."""
        general = self.models if isinstance(self.judges, int) else self.judges
        panels = self.committee.judges_by_domain.values()
        return tuple(dict.fromkeys((*general, *(judge for panel in panels for judge in panel))))

    @property
    def possible_pairs(self) -> tuple[tuple[Model, Model], ...]:
        """Every two models that may yet meet, or be judged, in listing order."""
        always = set(self.schedule.always)
        return tuple(pair for pair in combinations(self.models, 2) if always <= {model.name for model in pair})

    @property
    def own_actions(self) -> tuple[str, ...]:
        """Tags that added roles say, by alphabet."""
        return tuple(sorted({seat.tag for seat in self.roles.values()}))

    @property
    def judges_dice(self) -> int:
        """Which independent draw of their dice the judges roll."""
        return 0

    @property
    def carried(self) -> tuple[Battle, ...]:
        """Battles that are not played, because another run has: a tournament that starts from none has none."""
        return ()

    @property
    def origin(self) -> dict[str, Any]:
        """What a manifest says of the run that this one starts from; nothing where it starts from none."""
        return {}

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
        # What an earlier version did not know is left out where nobody asks for it: its runs go on.
        if self.difficulty == USUAL_DIFFICULTY:
            del data["difficulty"]
        panels = data["committee"]["judges_by_domain"]
        if not panels:
            del data["committee"]["judges_by_domain"]
        judges = [] if isinstance(self.judges, int) else data["judges"]
        listed = [judge for panel in panels.values() for judge in panel]
        examiners = data["examiner"] if isinstance(data["examiner"], list) else [data["examiner"]]
        for model in filter(None, (*data["models"], *judges, *listed, *examiners, data["reference"])):
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
            data["questions"] = [
                question.model_dump(mode="json", exclude=None if question.difficulty else {"difficulty"})
                for question in self.questions
            ]
        else:
            data["questions"] = None
        return data

    def digest(self, *content: str) -> str:
        """Return the hex digest that identifies a run: the definition and the content of the files it names."""
        canonical = json.dumps([self.document(), *content], sort_keys=True, ensure_ascii=True)
        return hashlib.blake2b(canonical.encode(), digest_size=16).hexdigest()


def problems_of(error: ValidationError, where: str, record: type[Record] | None = None) -> list[Problem]:
    """Turn pydantic's findings into ours: one line each, with the key as in TOML.

    Args:
        error: what pydantic found.
        where: what problems name as their place.
        record: what was to be made; None is a tournament.
    """
    problems: dict[str, Problem] = {}
    for found in error.errors(include_url=False, include_input=False, include_context=False):
        keys = [str(part) for part in found["loc"]]
        key = ".".join(keys) or "definition"
        if found["type"] == "extra_forbidden":
            unknown = _unknown(keys) if record is None else _close(keys[-1], record.model_fields)
            message = KEYS_ELSEWHERE.get(keys[-1]) or unknown
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
        "questions": Question,
        "limits": Limit,
        "budget": Budget,
        **dict.fromkeys(("models", "judges", "examiner", "reference"), Model),
    }
    table = Model if "judges_by_domain" in keys[:-1] else tables.get(keys[0], Tournament)
    known = [*table.model_fields] if len(keys) > 1 else _top_keys()
    if keys[0] == "schedule" and len(keys) > 1:
        of = {kind: rule.model_fields for kind, rule in SCHEDULES.items()}
        known = [key for fields in of.values() for key in fields]
        if kinds := sorted(kind for kind, fields in of.items() if keys[-1] in fields):
            return f"unknown key of this schedule; it is one of {', '.join(kinds)}"
    return _close(keys[-1], known)


def _close(key: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(key, list(known), n=1)
    return f"unknown key; did you mean {close[0]!r}?" if close else "unknown key; docs/parameters.md lists all keys"


def _top_keys() -> list[str]:
    return [*Tournament.model_fields, *CommitteeRules.model_fields, *BattleRules.model_fields]
