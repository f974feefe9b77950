"""Asks every model about every item, and scores what comes back."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from coupled_arena.models.calls import Reply
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.model import Model
from coupled_arena.models.voice import Voice
from coupled_arena.records import Outcome, Sharing
from coupled_arena.studies.bench.plan import ROLE, Plan
from coupled_arena.tournaments.playing.conversations import together

SILENT: tuple[Outcome, ...] = ("refused", "filtered", "empty")
"""Outcomes of a model that was asked and gave no answer: they score 0. All others without text are missing."""


class Place(NamedTuple):
    """Where an answer belongs, by positions in the plan."""

    setting: int
    """The setting."""
    model: int
    """The model."""
    item: int
    """The item."""
    repeat: int
    """The independent draw of the dice."""


class Answer(NamedTuple):
    """What came of asking one model about one item once."""

    text: str
    """What the model wrote."""
    outcome: Outcome
    """How the call ended."""
    score: float | None
    """What it is worth, from 0 to 1; None where the provider failed."""
    readable: bool | None
    """Whether an answer was found in the text; None where nobody looks for one."""
    sharing: Sharing
    """What its randomness was."""
    detail: str
    """The provider's words when something went wrong."""


class _Job(NamedTuple):
    """All repeats of one item at one setting, asked of one model together, so that they share their prompt."""

    setting: int
    model: int
    item: int


@dataclass(slots=True)
class Asking:
    """One execution of a plan.

    Local models are asked one after the other, each about all items, because they share one processor; all others are
    asked about one item after the other.
    """

    plan: Plan
    """What is asked."""
    gateway: Gateway
    """The way to the models."""
    answers: dict[Place, Answer] = field(default_factory=dict)
    """What came so far; what is missing was not asked."""

    async def run(self) -> None:
        """Ask everything.

        Raises:
            BudgetReached: nothing more may be spent; what came so far is in `answers`.
            ConfigurationError: the user's prompt or scorer is wrong.
            ModelError: a local model cannot be used.
            StoreError: an answer could not be kept.
        """
        at_once = max(1, self.plan.concurrency // self.plan.repeats)
        here = [place for place, model in enumerate(self.plan.models) if model.kind == "local"]
        there = [place for place, model in enumerate(self.plan.models) if model.kind != "local"]
        lanes = (self._by_model(here), self._by_item(there))
        await together(self._work(lane) for lane in lanes for _ in range(at_once))

    def _by_model(self, models: Sequence[int]) -> Iterator[_Job]:
        for model in models:
            yield from self._by_item([model])

    def _by_item(self, models: Sequence[int]) -> Iterator[_Job]:
        for item in range(len(self.plan.items)):
            for setting in range(len(self.plan.settings)):
                yield from (_Job(setting, model, item) for model in models)

    async def _work(self, jobs: Iterator[_Job]) -> None:
        for job in jobs:
            await together(self._ask(Place(*job, repeat)) for repeat in range(self.plan.repeats))

    async def _ask(self, place: Place) -> None:
        plan = self.plan
        model, item = plan.models[place.model], plan.items[place.item]
        voice = Voice(self.gateway, plan.called(model, plan.settings[place.setting]), ROLE)
        # Without dice every repeat is one and the same call; a hosted model may differ all the same.
        repeat = place.repeat if voice.sampling.temperature or model.kind == "hosted" else 0
        reply = await voice.say(
            plan.chat(model, item),
            dice=plan.dice.answer(item.id, repeat, model.name),
            part="whole",
            max_tokens=plan.task.max_tokens,
            choices=plan.task.choices if self.chooses(model) else (),
        )
        self.answers[place] = self._scored(place, reply)

    def chooses(self, model: Model) -> bool:
        """Return whether a model is asked to choose among strings, rather than to write."""
        return bool(self.plan.task.choices) and self.gateway.abilities(model).chooses

    def _scored(self, place: Place, reply: Reply) -> Answer:
        task, item = self.plan.task, self.plan.items[place.item]
        if reply.answered:
            score, readable = task.worth(item, reply.text), task.readable(item, reply.text)
            return Answer(reply.text, reply.outcome, score, readable, reply.sharing, reply.detail)
        worthless = 0.0 if reply.outcome in SILENT else None
        return Answer("", reply.outcome, worthless, None, reply.sharing, reply.detail)
