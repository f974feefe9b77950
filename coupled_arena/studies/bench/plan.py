"""What a bench asks: which models, which items, how often, at which settings, with whose dice."""

import hashlib
import json
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from coupled_arena.coupling import DiceTable
from coupled_arena.coupling.alignment import Alignment
from coupled_arena.models.budget import Budget
from coupled_arena.models.calls import Message
from coupled_arena.models.limits.limit import Limit
from coupled_arena.models.model import CHANGES_NO_REPLY, Model
from coupled_arena.models.simulated.dials import in_world
from coupled_arena.models.simulated.sheet import answer_sheet
from coupled_arena.models.voice import OTHER_TEMPERATURE, ROLE_TEMPERATURES
from coupled_arena.studies.bench.task import Item, Task

ROLE = "answer"
"""The role that models answer in; it decides the temperature where nothing else does."""

Coupling = Literal["coupled", "independent"]
"""Whether models share their dice, or each rolls its own."""

MOST_WRONG = 3
"""Wrong answers that a simulated model may give to an item."""


class Setting(NamedTuple):
    """Sampling settings that all models are asked at."""

    temperature: float | None = None
    """Sampling temperature; None is each model's own."""
    top_p: float | None = None
    """Probability kept; None is each model's own."""


class At(NamedTuple):
    """What one model is asked at."""

    temperature: float
    """Sampling temperature."""
    top_p: float | None
    """Probability kept; None is all of it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that determines what a bench comes to, and what bounds it."""

    models: tuple[Model, ...]
    """Who is asked."""
    task: Task
    """The task."""
    items: tuple[Item, ...]
    """The items that are asked about."""
    repeats: int
    """How many independent draws of the dice each item is asked with."""
    settings: tuple[Setting, ...]
    """Sampling settings, at least one."""
    coupling: Coupling
    """Whether models share their dice."""
    alignment: Alignment
    """What places a token of a local model's reply in the noise."""
    seed: int
    """The one number all randomness is derived from."""
    budget: Budget
    """What may be spent; changes no answer."""
    limits: Mapping[str, Limit]
    """What hosted models may send; changes no answer."""
    concurrency: int
    """Calls in flight, about; changes no answer."""
    golds: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """Right answers of the task, each once and by alphabet."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "golds", tuple(sorted({item.gold for item in self.task.items})))

    @property
    def dice(self) -> DiceTable:
        """Who shares dice with whom."""
        return DiceTable(self.seed, self.coupling)

    @property
    def answers(self) -> int:
        """How many answers there are to be."""
        return len(self.models) * len(self.settings) * len(self.items) * self.repeats

    def called(self, model: Model, setting: Setting) -> Model:
        """Return a model as it is called at a setting; a simulated one lives in the world of the seed."""
        own = {key: value for key, value in setting._asdict().items() if value is not None}
        at_home = in_world(model, self.seed) if model.kind == "sim" else model
        return at_home.model_copy(update=own) if own else at_home

    def asked_at(self, model: Model, setting: Setting) -> At:
        """Return what a model is asked at: the setting, else its own settings, else the temperature of the role."""
        called = self.called(model, setting)
        usual = ROLE_TEMPERATURES.get(ROLE, OTHER_TEMPERATURE)
        return At(usual if called.temperature is None else called.temperature, called.top_p)

    def common(self, models: Sequence[Model], setting: Setting) -> Setting:
        """Return what several models are asked at; None where they differ, or nothing is taken off (`top_p`)."""
        at = {self.asked_at(model, setting) for model in models}
        temperatures, top_ps = ({one[part] for one in at} for part in (0, 1))
        return Setting(
            temperatures.pop() if len(temperatures) == 1 else None, top_ps.pop() if len(top_ps) == 1 else None
        )

    def chat(self, model: Model, item: Item) -> tuple[Message, ...]:
        """Return what a model is sent about an item; simulated ones are told what is right."""
        chat = self.task.chat(item)
        if model.kind != "sim":
            return chat
        return (*chat, answer_sheet(item.gold, self._mistakes(item), item.subject))

    def document(self) -> dict[str, Any]:
        """Return the plan as plain data, without what changes no answer."""
        models = [model.model_dump(mode="json", exclude=set(CHANGES_NO_REPLY)) for model in self.models]
        return {
            "task": self.task.name,
            "scorer": self.task.scorer,
            "models": models,
            "items": len(self.items),
            "repeats": self.repeats,
            "settings": [setting._asdict() for setting in self.settings],
            "coupling": self.coupling,
            "alignment": self.alignment,
            "seed": self.seed,
        }

    def digest(self) -> str:
        """Return the hex digest that identifies a run: the plan and all that is asked.

        Raises:
            ConfigurationError: the prompt of an item cannot be made.
        """
        canonical = json.dumps([self.document(), self.task.digest(self.items)], sort_keys=True)
        return hashlib.blake2b(canonical.encode(), digest_size=16).hexdigest()

    def _mistakes(self, item: Item) -> list[str]:
        """Return what an item's answer may be mistaken for: right answers of other items, next to it by alphabet."""
        golds, place = self.golds, bisect_left(self.golds, item.gold)
        around = [golds[(place + step) % len(golds)] for step in range(1, min(MOST_WRONG, len(golds) - 1) + 1)]
        return around or ["none of these"]
