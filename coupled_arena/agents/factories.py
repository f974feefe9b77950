"""Agents of the user's own, by the functions that make them: who they are, and which of our models they ask."""

import hashlib
import inspect
import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from tokenize import TokenError
from typing import Any, NamedTuple

from coupled_arena.agents.base import BaseChatAgent
from coupled_arena.agents.client import ModelClient, collecting
from coupled_arena.agents.seat import Seat
from coupled_arena.errors import HERE, ConfigurationError, ModelError, Problem
from coupled_arena.models.calls import Abilities, Call, Reply
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.model import Model

AgentFactory = Callable[[], BaseChatAgent]
"""Makes a fresh AutoGen chat agent for one conversation."""

WITHOUT_EFFECT = (
    "api_base",
    "api_key_env",
    "min_p",
    "options",
    "temperature",
    "thinking_tokens",
    "top_k",
    "top_p",
)
"""Settings of a model that an agent does not have."""

ROLES = "roles/"
"""How the name of a role's agent begins; agents that are models have no slash in their names."""

_PLAIN = (bool, float, int, str, type(None))


class Made(NamedTuple):
    """A fresh agent."""

    agent: BaseChatAgent
    """The agent."""
    models: tuple[Model, ...]
    """The models it can ask through `model_client`, in the order in which it got to know them."""


class AgentBackend:
    """Says of `agent/NAME` models what a backend says of others; the agents themselves speak in their seats.

    Args:
        factories: functions that make agents, by name.
        gateway: what the agents speak through.
        called: a model as it is called in this tournament.
    """

    def __init__(
        self, factories: Mapping[str, AgentFactory], gateway: Gateway, called: Callable[[Model], Model]
    ) -> None:
        self.factories = dict(factories)
        self.gateway = gateway
        self.called = called
        self._authors: dict[str, str] = {}

    def make(self, name: str, role: str = "") -> Made:
        """Return a fresh agent.

        Raises:
            ConfigurationError: there is no such agent, or its factory raised or made something else.
        """
        factory = self.factories.get(name)
        if factory is None:
            known = ", ".join(sorted(self.factories)) or "none"
            message = f"no agent of this name is given (given: {known}); agents are given in Python, "
            raise _wrong(name, message + "Tournament(agents={...}), and a file can name none")
        with Seat(self.gateway, role, self.called).taken(), collecting() as clients:
            try:
                agent: Any = factory()
            except ConfigurationError:
                raise
            except Exception as error:
                message = f"its factory {factory_name(factory)} raised {type(error).__name__}: {error}"
                raise _wrong(name, message) from error
        if not isinstance(agent, BaseChatAgent):
            message = f"its factory {factory_name(factory)} returned a {type(agent).__name__}; "
            raise _wrong(name, message + "it has to return a chat agent (autogen_agentchat BaseChatAgent)")
        return Made(agent, _models(agent, clients))

    def models(self, name: str) -> tuple[Model, ...]:
        """Return the models an agent can ask, as they are called; none where it cannot be made."""
        try:
            return tuple(self.called(model) for model in self.make(name).models)
        except ConfigurationError:
            return ()

    def author(self, name: str) -> str:
        """Name the author of an agent's texts by a digest: of the factory's name and source, and what it makes."""
        author = self._authors.get(name)
        if author is None:
            agent = self.make(name).agent
            parts = [*parts_of(self.factories[name]), _source(type(agent)), _dump(agent)]
            author = self._authors[name] = _digest(json.dumps(parts))
        return author

    def abilities(self, model: Model) -> Abilities:
        """Return that an agent is asked in plain words."""
        return Abilities(context=model.context)

    def identity(self, model: Model) -> str:
        """Return the agent's name and author: two names of one factory may stand for agents that differ."""
        return json.dumps([model.path, self.author(model.path)])

    def problems(self, model: Model) -> Sequence[str]:
        """Return what keeps the agent from being seated; calls its factory twice."""
        idle = [name for name in WITHOUT_EFFECT if getattr(model, name) != Model.default(name)]
        unused = [f"{name} means nothing to an agent: set it for the model that it asks" for name in idle]
        return [*unused, *self.faults(model.path)]

    def faults(self, name: str) -> Iterator[str]:
        """Yield what keeps an agent from being seated, and its models from being used."""
        try:
            first, second = self.make(name), self.make(name)
        except ConfigurationError as error:
            yield from (problem.message for problem in error.problems)
            return
        if first.agent is second.agent:
            yield (
                f"its factory {factory_name(self.factories[name])} returned the same agent twice, and battles would "
                "share its memory: make a new agent at every call"
            )
        for model in first.models:
            yield from (f"{model.name}: {problem}" for problem in self.gateway.problems(self.called(model)))

    async def complete(self, call: Call) -> Reply:
        """Refuse: an agent is asked in its seat.

        Raises:
            ModelError: always.
        """
        raise ModelError(f"{call.model.name}: an agent is asked in its seat")

    async def aclose(self) -> None:
        """Do nothing: agents belong to their conversations."""


def factory_name(maker: Any) -> str:
    """Return the dotted name of a class or function that makes agents."""
    return f"{maker.__module__}.{getattr(maker, '__qualname__', type(maker).__qualname__)}"


def parts_of(maker: Callable[..., Any]) -> list[Any]:
    """Return what identifies a class or function of the user's, as plain data: name, source, what it brings along."""
    return [factory_name(maker), _source(maker), _captured(maker)]


def key_of(name: str) -> str:
    """Return the key of a definition that an agent is given under.

    >>> key_of("fact_checker"), key_of("roles/note_taker")
    ('agents.fact_checker', 'roles.note_taker')
    """
    return f"roles.{name.removeprefix(ROLES)}" if name.startswith(ROLES) else f"agents.{name}"


def _wrong(name: str, message: str) -> ConfigurationError:
    return ConfigurationError([Problem(HERE, key_of(name), message)])


def _models(agent: BaseChatAgent, made: Sequence[ModelClient]) -> tuple[Model, ...]:
    """Return the models of the clients an agent made or holds."""
    held = [part for value in vars(agent).values() for part in (value if isinstance(value, list | tuple) else (value,))]
    clients = [*made, *(client for client in held if isinstance(client, ModelClient))]
    return tuple(dict.fromkeys(client.model for client in clients))


def _source(maker: Any) -> str:
    """Return the source of a function or class, nothing for AutoGen's own or where there is none."""
    if str(maker.__module__).startswith("autogen_"):
        return ""
    try:
        return inspect.getsource(maker)
    except (OSError, TypeError, SyntaxError, TokenError):
        # The last two are of code whose file is not Python, such as a cell of a document.
        return ""


def _captured(factory: Callable[..., Any]) -> list[Any]:
    """Return what a function brings along: its defaults and the variables of the function it was made in."""
    defaults = getattr(factory, "__defaults__", None) or ()
    named = getattr(factory, "__kwdefaults__", None) or {}
    cells = getattr(factory, "__closure__", None) or ()
    return [_written(value) for value in (*defaults, *named.values(), *map(_content, cells))]


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        # Nothing was assigned to it yet.
        return None


def _written(value: Any) -> Any:
    """Return a value that cannot change, as JSON; of others only the class, since they differ between executions."""
    if isinstance(value, tuple):
        return [_written(part) for part in value]
    if isinstance(value, Model):
        return value.model_dump(mode="json")
    return value if isinstance(value, _PLAIN) else factory_name(type(value))


def _dump(agent: BaseChatAgent) -> str:
    """Return what AutoGen can write down of an agent, nothing where it cannot."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return agent.dump_component().model_dump_json()
    except Exception:  # noqa: BLE001 (many agents cannot be written down, each in its own way)
        return ""


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
