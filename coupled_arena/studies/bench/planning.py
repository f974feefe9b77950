"""Makes a plan of what a user asks for, and says everything that is wrong with it."""

import reprlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any, cast, get_args

from pydantic import TypeAdapter, ValidationError

from coupled_arena.coupling.alignment import Alignment
from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.models.budget import Budget
from coupled_arena.models.limits.limit import Limit
from coupled_arena.models.model import AnyModel, Model
from coupled_arena.models.simulated.dials import WORLD_DIGITS
from coupled_arena.shown import plural
from coupled_arena.studies.bench.catalogue import load_task
from coupled_arena.studies.bench.plan import Coupling, Plan, Setting
from coupled_arena.studies.bench.task import Task
from coupled_arena.tournaments.definition import problems_of

WHERE = "bench"
"""What problems name as their place."""

_MODEL: TypeAdapter[Model] = TypeAdapter(AnyModel)

MOST_REPEATS = 10_000
MOST_AT_ONCE = 100_000
MOST_ANSWERS = 10_000_000
"""More answers than this are taken for a slip of the pen."""


def planned(
    models: Sequence[Model | str] | Model | str,
    task: Task | str | Path,
    *,
    items: int | None = None,
    repeats: int = 10,
    temperature: float | Sequence[float] | None = None,
    top_p: float | Sequence[float] | None = None,
    coupling: str = "coupled",
    alignment: str = "step",
    seed: int = 0,
    budget: Budget | Mapping[str, Any] | None = None,
    limits: Mapping[str, Limit] | None = None,
    concurrency: int = 64,
) -> Plan:
    """Return what a bench asks; the parameters are those of `bench`, keyword by keyword those of `Rules`.

    Raises:
        ConfigurationError: with everything wrong.
    """
    problems: list[Problem] = []
    listed = _listed(models)
    known = [model for value in listed if (model := _model(value, problems)) is not None]
    temperatures, top_ps = _values(temperature), _values(top_p)
    problems += _casting(known, listed)
    problems += _stated(known, temperature=temperature, top_p=top_p)
    problems += _numbers("temperature", temperatures, 0, 10, lowest=True)
    problems += _numbers("top_p", top_ps, 0, 1, lowest=False)
    problems += _words("coupling", coupling, get_args(Coupling))
    problems += _words("alignment", alignment, get_args(Alignment))
    problems += _count("repeats", repeats, MOST_REPEATS)
    problems += _count("items", 1 if items is None else items, MOST_ANSWERS)
    problems += _count("concurrency", concurrency, MOST_AT_ONCE)
    if not _whole(seed, 0, 10**WORLD_DIGITS - 1):
        message = f"must be a whole number of at most {WORLD_DIGITS} digits, not {seed!r}"
        problems.append(Problem(WHERE, "seed", message))
    bounds = _budget(budget, problems)
    problems += _limits(limits)
    found = _task(task, problems)
    if found is not None and items is not None and not problems and items > len(found.items):
        problems.append(Problem(WHERE, "items", f"{found.name} has {plural(len(found.items), 'item')}, not {items}"))
    if problems or found is None:
        raise ConfigurationError(problems)
    plan = Plan(
        models=tuple(known),
        task=found,
        items=found.chosen(items, seed),
        repeats=repeats,
        settings=tuple(Setting(t, p) for t in temperatures for p in top_ps),
        coupling=cast(Coupling, coupling),
        alignment=cast(Alignment, alignment),
        seed=seed,
        budget=bounds,
        limits=dict(limits or {}),
        concurrency=concurrency,
    )
    if plan.answers > MOST_ANSWERS:
        message = f"makes {plan.answers} answers, and {MOST_ANSWERS} are the most; ask fewer items or repeats"
        raise ConfigurationError([Problem(WHERE, "items", message)])
    return plan


def _model(value: Any, problems: list[Problem]) -> Model | None:
    try:
        return _MODEL.validate_python(value)
    except ValidationError as error:
        for problem in problems_of(error, WHERE):
            key = "models" if problem.key == "definition" else f"models.{problem.key}"
            problems.append(problem._replace(key=key))
        return None


def _task(task: Task | str | Path, problems: list[Problem]) -> Task | None:
    try:
        return task if isinstance(task, Task) else load_task(task)
    except ConfigurationError as error:
        problems += error.problems
        return None


def _budget(budget: Any, problems: list[Problem]) -> Budget:
    if budget is not None and not isinstance(budget, Budget | Mapping):
        problems.append(Problem(WHERE, "budget", f"must be a Budget or a table of its keys, not {budget!r}"))
        return Budget()
    try:
        return budget if isinstance(budget, Budget) else Budget(**(budget or {}))
    except ValidationError as error:
        problems += (found._replace(key=f"budget.{found.key}") for found in problems_of(error, WHERE))
        return Budget()


def _limits(limits: Any) -> Iterator[Problem]:
    if limits is not None and not (
        isinstance(limits, Mapping) and all(isinstance(limit, Limit) for limit in limits.values())
    ):
        yield Problem(WHERE, "limits", f"must be Limits by pattern of model strings, not {reprlib.repr(limits)}")


def _casting(models: Sequence[Model], listed: Sequence[Any]) -> Iterator[Problem]:
    """Nobody, equal names, agents, and simulated models beside real ones."""
    if not listed:
        yield Problem(WHERE, "models", "name at least one model")
    for name, count in sorted(Counter(model.name for model in models).items()):
        if count > 1:
            message = f"{name!r} is listed {count} times; give each a name of its own"
            yield Problem(WHERE, "models", message)
    for model in models:
        if model.kind == "agent":
            yield Problem(WHERE, "models", f"{model.name} is an agent, which plays in tournaments only; name a model")
    kinds = {model.kind == "sim" for model in models}
    if len(kinds) == 2:
        message = "simulated models are told what is right, real ones are not: compare one kind at a time"
        yield Problem(WHERE, "models", message)


def _stated(models: Sequence[Model], **given: float | Sequence[float] | None) -> Iterator[Problem]:
    """Settings that a model states itself beside those that all are to have."""
    for key, value in given.items():
        own = [model.name for model in models if getattr(model, key) is not None]
        if value is not None and own:
            message = f"is stated by {', '.join(own)} already; leave it out there, or here"
            yield Problem(WHERE, key, message)


def _words(key: str, value: Any, allowed: Sequence[str]) -> Iterator[Problem]:
    if value not in allowed:
        yield Problem(WHERE, key, f"must be one of {', '.join(allowed)}, not {value!r}")


def _count(key: str, value: Any, most: int) -> Iterator[Problem]:
    if not _whole(value, 1, most):
        yield Problem(WHERE, key, f"must be a whole number from 1 to {most}, not {value!r}")


def _whole(value: Any, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _listed(models: Any) -> list[Any]:
    """Return one model or several as a list; a table is one model."""
    several = isinstance(models, Iterable) and not isinstance(models, Model | str | Mapping)
    return list(models) if several else [models]


def _values(value: Any) -> tuple[Any, ...]:
    """Return one value or several, with numbers of other libraries as Python's."""
    several = isinstance(value, Iterable) and not isinstance(value, str)
    return tuple(map(_number, value if several else (value,)))


def _number(value: Any) -> Any:
    kept = isinstance(value, int) or not isinstance(value, Real)
    return value if kept else float(value)


def _numbers(key: str, values: Sequence[Any], low: float, high: float, *, lowest: bool) -> Iterator[Problem]:
    if not values:
        yield Problem(WHERE, key, "name at least one value, or leave it out")
    fit = [value for value in values if value is None or _within(value, low, high, lowest=lowest)]
    for value in values:
        if not any(value is other for other in fit):
            least = "from" if lowest else "above"
            yield Problem(
                WHERE, key, f"must be {least} {low:g} {'to' if lowest else 'and at most'} {high:g}, not {value!r}"
            )
    for value, count in Counter(fit).items():
        if count > 1:
            yield Problem(WHERE, key, f"{value} is listed {count} times")


def _within(value: Any, low: float, high: float, *, lowest: bool) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and (low <= value if lowest else low < value) and value <= high
