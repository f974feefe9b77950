"""Agents of the user's own: what makes them, and who sits in an added role of a script."""

from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, model_validator

from coupled_arena.agents import Role, factories
from coupled_arena.agents.factories import ROLES, factory_name
from coupled_arena.models.model import AnyModel, Model
from coupled_arena.records import Record

__all__ = ["AgentFactory", "RoleSeat", "factory_name"]


def _named(maker: Any) -> Any:
    """Refuse what makes no agent or has no name of its own."""
    if not callable(maker):
        raise ValueError("an agent is given in Python, as a function without arguments that makes one")
    if "<lambda>" in getattr(maker, "__qualname__", "<lambda>"):
        raise ValueError("a factory needs a name, which identifies the run; write a function instead of a lambda")
    return maker


AgentFactory = Annotated[factories.AgentFactory, BeforeValidator(_named)]
"""Makes a fresh AutoGen chat agent for one conversation; a named function, whose name is part of a run's identity."""


class RoleSeat(Record):
    """An agent for an added role.

    Give `agent` (a subclass of `Role`) and `model`, or `factory`, a function without arguments that returns a fresh
    AutoGen chat agent for each battle.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    agent: type[Role] | None = None
    """The agent's class."""
    model: AnyModel | None = None
    """The model it speaks with."""
    factory: AgentFactory | None = None
    """Makes any chat agent; a named function, because its name is part of the run's identity."""
    says: str = "note"
    """Tag of what a factory's agents say; a `Role` has its own."""

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        if isinstance(value, tuple) and len(value) == 2:
            value = {"agent": value[0], "model": value[1]}
        if isinstance(value, type) and issubclass(value, Role):
            raise ValueError(f"{value.__name__} needs a model to speak through; write ({value.__name__}, MODEL)")
        if callable(value) and not isinstance(value, Record):
            value = {"factory": value}
        if not isinstance(value, dict | Record):
            raise ValueError("a role needs an agent class and a model, or a factory of chat agents, given in Python")
        return value

    @model_validator(mode="after")
    def _whole(self) -> "RoleSeat":
        if (self.factory is None) == (self.agent is None or self.model is None):
            raise ValueError("a role needs an agent class and a model, or a factory of chat agents")
        return self

    @property
    def tag(self) -> str:
        """Tag of the section this role says."""
        return self.agent.tag if self.agent is not None else self.says

    @property
    def name(self) -> str:
        """The model's name, or the factory's where there is none."""
        return self.model.name if self.model else getattr(self.factory, "__qualname__", repr(self.factory))

    def voice_of(self, role: str) -> Model:
        """Return what is asked for the words of a role: its model, or the agents of its factory."""
        return self.model or Model(self.name, f"agent/{ROLES}{role}")

    def document(self) -> dict[str, Any]:
        """Return what identifies the seat, as plain data."""
        return {
            "agent": factory_name(self.agent or self.factory),
            "model": self.model.model_dump(mode="json") if self.model else None,
            "instructions": self.agent.instructions if self.agent is not None else None,
            "tag": self.tag,
        }
