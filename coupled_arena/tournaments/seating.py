"""Puts agents into the seats of a conversation and gives them their dice."""

import json
from collections.abc import Callable, Mapping, Sequence

from coupled_arena.agents import Debater, Examiner, Judge
from coupled_arena.agents.base import BaseChatAgent
from coupled_arena.agents.reference import ReferenceWriter
from coupled_arena.coupling import Dice, DiceTable
from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.model import CHANGES_NO_REPLY, Model
from coupled_arena.models.voice import Voice
from coupled_arena.prompts import PromptSet
from coupled_arena.protocols.committee import JudgeSeat
from coupled_arena.protocols.script import DEBATERS
from coupled_arena.records import Order, Side
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.matches import Fixture


class Seating:
    """Makes the agents of one run.

    Args:
        tournament: the definition.
        gateway: what the agents speak through.
        prompts: the prompt set.
    """

    def __init__(self, tournament: Tournament, gateway: Gateway, prompts: PromptSet) -> None:
        self.tournament = tournament
        self.gateway = gateway
        self.prompts = prompts
        self.table = DiceTable(tournament.seed, tournament.coupling)
        self._called: dict[str, Model] = {}

    def voice(self, model: Model, role: str) -> Voice:
        """Return a model in a role, in this tournament's world."""
        # One object per model string: the gateway looks its routes up by identity.
        called = self._called.setdefault(repr(model), self.tournament.model_of(model))
        return Voice(self.gateway, called, role)

    def author_of(self, model: Model) -> str:
        """Name the author of a model's texts: equal for the same weights and own settings, whatever the name."""
        called = self.voice(model, "").model
        own = called.model_dump(mode="json", exclude={"name", "model", "family", "timeout", *CHANGES_NO_REPLY})
        return json.dumps([self.gateway.identity(called), own], sort_keys=True)

    def examiner(self, model: Model) -> Examiner:
        """Return the agent that writes questions."""
        return Examiner("examiner", self.voice(model, "examiner"), self.prompts)

    def reference(self, model: Model) -> ReferenceWriter:
        """Return the agent that writes reference answers."""
        return ReferenceWriter("reference", self.voice(model, "reference"), self.prompts)

    def debaters(self, fixture: Fixture, models: Mapping[str, Model]) -> dict[str, BaseChatAgent]:
        """Return an agent for every speaker of the script."""
        rules = self.tournament.battle
        agents: dict[str, BaseChatAgent] = {
            side: Debater(
                f"debater_{side.lower()}",
                self.voice(models[name], "debater"),
                self.prompts,
                section_tokens=rules.section_tokens,
            )
            for side, name in zip(DEBATERS, (fixture.a, fixture.b), strict=True)
        }
        for role in rules.script.roles:
            seat = self.tournament.roles[role]
            if seat.agent is not None and seat.model is not None:
                agents[role] = seat.agent(role, self.voice(seat.model, role), self.prompts)
            elif seat.factory is not None:
                agents[role] = _made(role, seat.factory)
        return agents

    def judges(self, seats: Sequence[JudgeSeat], models: Mapping[str, Model]) -> dict[str, BaseChatAgent]:
        """Return an agent for every seat of a committee."""
        tokens = self.tournament.committee.reason_tokens
        return {
            seat.seat: Judge(
                seat.seat.replace(".", "_"), self.voice(models[seat.judge], "judge"), self.prompts, reason_tokens=tokens
            )
            for seat in seats
        }

    def step_dice(self, fixture: Fixture, number: int) -> Dice:
        """Return the dice of a step of a battle."""
        script = self.tournament.battle.script
        step, label = script.steps[number - 1], script.labels[number - 1]
        question, replicate = fixture.question.id, fixture.replicate
        if step.speaker not in DEBATERS:
            model = self.tournament.roles[step.speaker].name
            return self.table.role(question, replicate, step.speaker, model, label, (fixture.a, fixture.b))
        side: Side = "A" if step.speaker == "A" else "B"
        own, opponent = (fixture.a, fixture.b) if side == "A" else (fixture.b, fixture.a)
        return self.table.step(question, replicate, label, own, opponent, side)

    def judge_dice(self, fixture: Fixture, judge: str, stage: int, order: Order) -> Dice:
        """Return the dice of an opinion."""
        return self.table.judge(fixture.question.id, fixture.replicate, judge, stage, order, (fixture.a, fixture.b))


def _made(role: str, factory: Callable[[], BaseChatAgent]) -> BaseChatAgent:
    try:
        return factory()
    except Exception as error:
        message = f"its factory {getattr(factory, '__qualname__', factory)} raised {type(error).__name__}: {error}"
        raise ConfigurationError([Problem("Tournament", f"roles.{role}", message)]) from error
