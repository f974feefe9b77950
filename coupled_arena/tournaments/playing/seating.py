"""Puts agents into the seats of a conversation and gives them their dice."""

import json
from collections.abc import Mapping, Sequence
from functools import partial

from coupled_arena.agents import Debater, Examiner, Judge, Role
from coupled_arena.agents.base import BaseChatAgent
from coupled_arena.agents.factories import ROLES, AgentBackend
from coupled_arena.agents.guest import AgentVoice, Guest
from coupled_arena.agents.reference import ReferenceWriter
from coupled_arena.agents.seat import Seat
from coupled_arena.coupling import Dice, DiceTable
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.model import CHANGES_NO_REPLY, Model
from coupled_arena.models.voice import Voice
from coupled_arena.prompts import PromptSet
from coupled_arena.protocols import BattleAgenda
from coupled_arena.protocols.battle import HIDDEN_FROM_OPPONENT
from coupled_arena.protocols.committee import JudgeSeat
from coupled_arena.protocols.script import DEBATERS
from coupled_arena.records import Order, Side
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.playing.matches import Fixture


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
        self.tables = {arm: DiceTable(tournament.seed, arm) for arm in tournament.arms}
        # Questions and references are written once for all arms, with dice that no arm changes.
        self.table = self.tables[tournament.arms[0]]
        self.agents = with_agents(tournament, gateway)
        self._called: dict[Model, Model] = {}

    def called(self, model: Model) -> Model:
        """Return a model as it is called, in this tournament's world."""
        # One object for equal models: the gateway finds the route of one it has seen at once.
        called = self._called.get(model)
        if called is None:
            called = self._called[model] = self.tournament.model_of(model)
        return called

    def voice(self, model: Model, role: str, *, shares: bool = True) -> Voice:
        """Return a model in a role for one conversation; an agent of the user's may share no dice with its opponent."""
        called = self.called(model)
        if called.kind != "agent":
            return Voice(self.gateway, called, role)
        guest = Guest(self.agents, called.path, Seat(self.gateway, role, self.called))
        return AgentVoice(gateway=self.gateway, model=called, role=role, guest=guest, shares=shares)

    def author_of(self, model: Model) -> str:
        """Name the author of a model's texts: equal for the same weights and own settings, whatever the name."""
        called = self.called(model)
        own = called.model_dump(mode="json", exclude={"name", "model", "family", "timeout", *CHANGES_NO_REPLY})
        identity = self.agents.author(called.path) if called.kind == "agent" else self.gateway.identity(called)
        return json.dumps([identity, own], sort_keys=True)

    def examiner(self, model: Model) -> Examiner:
        """Return the agent that writes questions."""
        return Examiner("examiner", self.voice(model, "examiner"), self.prompts)

    def reference(self, model: Model) -> ReferenceWriter:
        """Return the agent that writes reference answers."""
        return ReferenceWriter("reference", self.voice(model, "reference"), self.prompts)

    def debate(self, fixture: Fixture) -> BattleAgenda:
        """Return the agenda of a battle's debate."""
        rules = self.tournament.battle
        return BattleAgenda(
            rules.script,
            fixture.question,
            {"A": fixture.a, "B": fixture.b, **{role: seat.name for role, seat in self.tournament.roles.items()}},
            self.prompts,
            partial(self.step_dice, fixture),
            hidden=HIDDEN_FROM_OPPONENT if rules.reveal_criticism else (*HIDDEN_FROM_OPPONENT, "criticize"),
            forfeits=rules.forfeit,
        )

    def debaters(self, fixture: Fixture, models: Mapping[str, Model]) -> dict[str, BaseChatAgent]:
        """Return an agent for every speaker of the script."""
        rules = self.tournament.battle
        # The calls of agents are numbered, those of other debaters go by what they ask for: their dice differ.
        alike = len({models[name].kind == "agent" for name in (fixture.a, fixture.b)}) == 1
        agents: dict[str, BaseChatAgent] = {
            side: Debater(
                f"debater_{side.lower()}",
                self.voice(models[name], "debater", shares=alike),
                self.prompts,
                section_tokens=rules.section_tokens,
            )
            for side, name in zip(DEBATERS, (fixture.a, fixture.b), strict=True)
        }
        for role in rules.script.roles:
            seat = self.tournament.roles[role]
            seated = seat.agent or partial(Role, tag=seat.says)
            agents[role] = seated(role, self.voice(seat.voice_of(role), role), self.prompts)
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
        question, replicate, table = fixture.question.id, fixture.replicate, self.tables[fixture.arm]
        if step.speaker not in DEBATERS:
            model = self.tournament.roles[step.speaker].name
            return table.role(question, replicate, step.speaker, model, label, (fixture.a, fixture.b))
        side: Side = "A" if step.speaker == "A" else "B"
        own, opponent = (fixture.a, fixture.b) if side == "A" else (fixture.b, fixture.a)
        return table.step(question, replicate, label, own, opponent, side)

    def judge_dice(self, fixture: Fixture, judge: str, stage: int, order: Order) -> Dice:
        """Return the dice of an opinion."""
        models, draw = (fixture.a, fixture.b), self.tournament.judges_dice
        return self.tables[fixture.arm].judge(
            fixture.question.id, fixture.replicate, judge, stage, order, models, sample=draw
        )


def with_agents(tournament: Tournament, gateway: Gateway) -> AgentBackend:
    """Let a gateway know the agents of a tournament, and return what makes them.

    Agents that are models go by their names, agents of a role by the role's behind `roles/`.
    """
    factories = {f"{ROLES}{role}": seat.factory for role, seat in tournament.roles.items() if seat.factory is not None}
    backend = AgentBackend({**tournament.agents, **factories}, gateway, tournament.model_of)
    gateway.use("agent", backend)
    return backend


def agents_models(tournament: Tournament, gateway: Gateway) -> dict[str, tuple[Model, ...]]:
    """Return the models that agents ask through `model_client`, by name as in `agents`, or `roles/` and the role.

    Calls every factory once; one that makes no agent has no models here, and is a problem that the checks report.
    """
    backend = with_agents(tournament, gateway)
    return {name: backend.models(name) for name in sorted(backend.factories)}
