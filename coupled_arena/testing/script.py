"""What a model of the fake provider does with each request: its script."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.models.simulated.dials import dial_problems
from coupled_arena.testing import tokens
from coupled_arena.testing.behaviours import (
    Behaviour,
    Body,
    Broken,
    Completion,
    Delayed,
    Drip,
    Failure,
    Half,
    RefusesParameter,
    Simulated,
    Thinks,
)
from coupled_arena.testing.request import Request
from coupled_arena.testing.simulation import answer_of

Script = Behaviour | str | Sequence[Behaviour | str] | Callable[[Request], Behaviour | str]
"""One behaviour for all requests, one for each (the last one repeats), or a function that chooses by the request."""

SIMULATED = "sim/"
"""How a text begins that names a simulated model."""

ENDLESS = 4096
"""Tokens of hidden reasoning that takes all it can get, where the request states no limit."""


class Plan(NamedTuple):
    """What is done with one request."""

    answer: Completion | Failure | Body | Broken
    """What is answered."""
    wait: float = 0.0
    """Seconds before it."""
    share: float = 1.0
    """How much of its body is sent before the connection is closed; 1 is all of it, and the connection stays."""
    pieces: int = 1
    """In how many pieces."""
    pause: float = 0.0
    """Seconds between two of them."""


class Actor:
    """A model's script, and how far it has been played.

    Raises:
        ConfigurationError: the script cannot be played; every problem is listed.
    """

    def __init__(self, name: str, script: Script) -> None:
        if problems := [Problem("FakeProvider", name, problem) for problem in _problems(script)]:
            raise ConfigurationError(problems)
        self._script = script
        self._played = 0

    def next(self, request: Request) -> Behaviour:
        """Return the behaviour for a request.

        Raises:
            ConfigurationError: a function returned what is no behaviour.
        """
        script = self._script
        if callable(script):
            return as_behaviour(script(request))
        if isinstance(script, str) or not isinstance(script, Sequence):
            return as_behaviour(script)
        step = script[min(self._played, len(script) - 1)]
        self._played = min(self._played + 1, len(script))
        return as_behaviour(step)


def as_behaviour(step: Any) -> Behaviour:
    """Return what a behaviour or a text stands for.

    Raises:
        ConfigurationError: it is neither.
    """
    if isinstance(step, str):
        return Simulated(step) if step.startswith(SIMULATED) else Completion(step)
    if not isinstance(step, Behaviour):
        raise ConfigurationError([Problem("FakeProvider", "script", _not_a_behaviour(step))])
    return step


def plan(step: Behaviour | str, request: Request) -> Plan:
    """Return what a behaviour does with a request, with what wraps it taken apart.

    Raises:
        ConfigurationError: it is no behaviour, or a simulated model's dials cannot be read.
    """
    behaviour = as_behaviour(step)
    match behaviour:
        case Delayed(seconds, then):
            inner = plan(then, request)
            return inner._replace(wait=inner.wait + seconds)
        case Half(share, then):
            return plan(then, request)._replace(share=share)
        case Drip(pieces, pause, then):
            return plan(then, request)._replace(pieces=pieces, pause=pause)
        case RefusesParameter(parameter, then):
            refused = request.body.get(parameter) is not None
            return Plan(_refused(parameter)) if refused else plan(then, request)
        case Thinks(tokens=needed, then=then):
            inner = plan(then, request)
            if request.body.get("reasoning_effort") == "none" or not isinstance(inner.answer, Completion):
                return inner
            return inner._replace(answer=_thinking(inner.answer, needed, request.max_tokens))
        case Simulated(model):
            return Plan(answer_of(model, request))
        case Completion() | Failure() | Body() | Broken():
            return Plan(behaviour)
        case _:
            raise ConfigurationError([Problem("FakeProvider", "script", _not_a_behaviour(behaviour))])


def _thinking(answer: Completion, needed: int | None, limit: int | None) -> Completion:
    if needed is None:
        return replace(answer, text="", finish_reason="length", reasoning_tokens=limit or ENDLESS)
    own = tokens.count(answer.reasoning) if answer.reasoning_tokens is None else answer.reasoning_tokens
    return replace(answer, reasoning_tokens=own + needed)


def _refused(parameter: str) -> Failure:
    words = f"Unsupported parameter: '{parameter}' is not supported with this model."
    if parameter == "max_tokens":
        words += " Use 'max_completion_tokens' instead."
    return Failure(400, words, "invalid_request_error", "unsupported_parameter", parameter)


def _problems(script: Any) -> list[str]:
    """Return what is wrong with a script."""
    if isinstance(script, str | Behaviour):
        return problems_of(script)
    if isinstance(script, Mapping) or not (callable(script) or isinstance(script, Sequence)):
        return [_not_a_behaviour(script)]
    if not isinstance(script, Sequence):
        return []
    if not script:
        return ["holds no behaviour: give one for each request, of which the last one repeats"]
    return [problem for step in script for problem in problems_of(step)]


def problems_of(step: Any) -> list[str]:
    """Return what is wrong with a behaviour or a text."""
    if not isinstance(step, str | Behaviour):
        return [_not_a_behaviour(step)]
    behaviour = as_behaviour(step)
    if isinstance(behaviour, Simulated):
        return [f"{behaviour.model}: {problem.key}: {problem.message}" for problem in dial_problems(behaviour.model)]
    found = []
    match behaviour:
        case Half(share, _) if not 0 <= share < 1:
            found.append(f"share must be at least 0 and below 1, not {share}")
        case Drip(pieces, pause, _) if pieces < 1 or not pause >= 0:
            found.append(f"pieces must be at least 1 and pause at least 0, not {pieces} and {pause}")
        case Delayed(seconds, _) if not seconds >= 0:
            found.append(f"seconds must be at least 0, not {seconds}")
        case Failure(status=status) if not 400 <= status <= 599:
            found.append(f"the status of an error must be from 400 to 599, not {status}")
    if isinstance(behaviour, (Delayed, Half, Drip, RefusesParameter, Thinks)):
        found += problems_of(behaviour.then)
    return found


def _not_a_behaviour(thing: object) -> str:
    return f"must be a text, a behaviour, a sequence of them or a function that returns one, not {thing!r}"
