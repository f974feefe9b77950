"""Plays a tournament: questions, rounds, battles, decisions, ratings. Running it again resumes it."""

import asyncio
import logging
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Protocol

from coupled_arena.coupling import Dice
from coupled_arena.errors import ConversationError
from coupled_arena.models.model import Model
from coupled_arena.prompts import PromptSet
from coupled_arena.protocols import Case, CommitteeAgenda, Observer, Transcript, judge_seats
from coupled_arena.ratings import Ratings
from coupled_arena.records import Battle, Decision, Opinion, Order, Question, Turn, Verdict
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.panels import panel
from coupled_arena.tournaments.playing.conversations import hold, together
from coupled_arena.tournaments.playing.events import BattleEnded, Event, Listener, RoundOpened
from coupled_arena.tournaments.playing.matches import Fixture, fixtures
from coupled_arena.tournaments.playing.seating import Seating
from coupled_arena.tournaments.results.leaderboard import Row, leading, rated, rows_of
from coupled_arena.tournaments.results.points import Replicates, points, question_scores, replicates_of, rounds_of
from coupled_arena.tournaments.schedules import Pairing, Standings

logger = logging.getLogger(__name__)

JUDGE_WORDS = 300
"""Most words of one opinion (Auto-Arena, appendix B)."""


class Keeper(Protocol):
    """Keeps what a run has come to."""

    def save_battle(self, battle: Battle) -> None:
        """Keep a battle."""
        ...

    def save_ratings(self, number: int, rows: Iterable[Row]) -> None:
        """Keep the leaderboard after a round."""
        ...


@dataclass(frozen=True, slots=True)
class Played:
    """What came out of all rounds."""

    battles: tuple[Battle, ...]
    """Every battle, in the order of the schedule."""
    ratings: Ratings
    """The final ratings."""


@dataclass(slots=True)
class Runner:
    """Plays the rounds of one run.

    Results never depend on which battle ends first: committees are chosen before a round, ratings are refitted after
    it, and battles are kept in the order of the schedule.
    """

    tournament: Tournament
    """The definition."""
    seating: Seating
    """Makes agents and dice."""
    prompts: PromptSet
    """The prompt set."""
    questions: Sequence[Question]
    """What is battled over."""
    listeners: Sequence[Listener] = ()
    """Told of rounds and battles."""
    observers: Sequence[Observer] = ()
    """Told of every utterance."""
    keeper: Keeper | None = None
    """Makes battles and ratings durable before anybody hears of them."""
    strangers: Set[frozenset[str]] = frozenset()
    """Pairs of models, by name, that have no token in common and so no dice to share."""
    earlier: Sequence[Battle] = ()
    """Battles that were played before, which count as the first rounds and are not played again."""
    models: dict[str, Model] = field(init=False)
    """Debaters and judges by name."""
    slots: asyncio.Semaphore = field(init=False)
    """Bounds the battles in flight."""

    def __post_init__(self) -> None:
        tournament = self.tournament
        self.models = {model.name: model for model in (*tournament.judging_models, *tournament.models)}
        self.slots = asyncio.Semaphore(tournament.concurrency)

    async def play(self) -> Played:
        """Play every round the schedule asks for."""
        battles = list(self.earlier)
        rounds = rounds_of(battles)
        ratings: Ratings | None = None
        for number in range(1, len(rounds) + 1):
            ratings = self._rated(number, [battle for battle in battles if battle.round <= number])
        while True:
            counted = leading(self.tournament, battles)
            played = replicates_of(counted)
            standings = self._standings(rounds, counted, played, ratings)
            pairings = tuple(self.tournament.schedule.next_round(standings))
            if not pairings:
                break
            self._tell(RoundOpened(len(rounds) + 1, pairings))
            battles += await self._round(len(rounds) + 1, pairings, standings, played)
            rounds.append(pairings)
            ratings = self._rated(len(rounds), battles)
        return Played(tuple(battles), ratings if ratings is not None else rated(self.tournament, battles))

    def _rated(self, number: int, battles: Sequence[Battle]) -> Ratings:
        """Rate all battles up to a round, and keep the leaderboard they make."""
        ratings = rated(self.tournament, battles)
        if self.keeper is not None:
            self.keeper.save_ratings(number, rows_of(ratings, leading(self.tournament, battles)))
        return ratings

    def _standings(
        self,
        rounds: Sequence[tuple[Pairing, ...]],
        counted: Sequence[Battle],
        played: Replicates,
        ratings: Ratings | None,
    ) -> Standings:
        names = tuple(model.name for model in self.tournament.models)
        return Standings(
            models=names,
            seed=self.tournament.seed,
            rounds=tuple(rounds),
            points=points(names, rounds, counted),
            ratings=None if ratings is None else ratings.known,
            questions=len(self.questions),
            asked={pair: len(replicates) for pair, replicates in played.items()},
            scores=question_scores(counted),
        )

    async def _round(
        self, number: int, pairings: Sequence[Pairing], standings: Standings, played: Replicates
    ) -> list[Battle]:
        """Play all battles of a round; the first fault that is not a battle's own stops the others."""
        rules = self.tournament.battle
        jobs: list[tuple[Fixture, tuple[Model, ...]]] = []
        for a, b, most in pairings:
            if b is None:
                continue
            committees = {
                domain: self._committee(a, b, domain, standings.ratings)
                for domain in dict.fromkeys(question.domain for question in self.questions)
            }
            match = fixtures(
                (a, b),
                self.questions,
                round_=number,
                played=played.get((min(a, b), max(a, b)), {}),
                sides=rules.sides,
                replicates=rules.replicates,
                seed=self.tournament.seed,
                most=most,
            )
            jobs += [
                (replace(fixture, arm=arm), committees[fixture.question.domain])
                for arm in self.tournament.arms
                for fixture in match
            ]
        return await together(self._job(fixture, committee) for fixture, committee in jobs)

    def _committee(self, a: str, b: str, domain: str, ratings: Mapping[str, float] | None) -> tuple[Model, ...]:
        return panel(self.tournament, domain, (self.models[a], self.models[b]), self.seating.author_of, ratings)

    async def _job(self, fixture: Fixture, committee: Sequence[Model]) -> Battle:
        async with self.slots:
            try:
                battle = await self._battle(fixture, committee)
            except ConversationError as error:
                logger.exception("battle %s is void", fixture.id)
                battle = self._record(fixture, (), (), Decision(status="void", reason=str(error)))
        return self._ended(battle)

    def _ended(self, battle: Battle) -> Battle:
        """Keep a battle, and then tell of it."""
        if self.keeper is not None:
            self.keeper.save_battle(battle)
        self._tell(BattleEnded(battle))
        return battle

    async def _battle(self, fixture: Fixture, committee: Sequence[Model]) -> Battle:
        """Hold one battle: the debate, and, if both sides spoke to the end, the committee."""
        agenda = self.seating.debate(fixture)
        seats = self.seating.debaters(fixture, self.models)
        transcript = await hold(agenda, seats, conversation=fixture.id, observers=self.observers)
        if transcript.status is not None:
            return self._record(fixture, transcript.turns, (), early_decision(transcript))
        case = Case(fixture.question, transcript.turns, self.tournament.battle.script)
        opinions = await self._judge(fixture, case, committee)
        return self._record(fixture, transcript.turns, opinions, self._decide(opinions, committee))

    async def _judge(self, fixture: Fixture, case: Case, committee: Sequence[Model]) -> tuple[Opinion, ...]:
        rules = self.tournament.committee

        def dice(judge: str, stage: int, order: Order) -> Dice:
            return self.seating.judge_dice(fixture, judge, stage, order)

        seats = judge_seats([judge.name for judge in committee], rules.presented)
        agenda = CommitteeAgenda(
            case,
            seats,
            self.prompts,
            dice,
            discussion_rounds=rules.discussion_rounds,
            max_tokens=self.prompts.max_tokens(JUDGE_WORDS),
            hidden=rules.hidden,
        )
        agents = self.seating.judges(seats, self.models)
        return await hold(agenda, agents, conversation=f"{fixture.id}:committee", observers=self.observers)

    def _decide(self, opinions: Sequence[Opinion], committee: Sequence[Model]) -> Decision:
        judges = [judge.name for judge in committee]
        votes = self.tournament.committee.votes(opinions, judges)
        last = votes[-1]
        void = last.verdict is None
        return Decision(
            status="void" if void else "decided",
            verdict=last.verdict,
            votes=last.votes,
            stages=tuple(vote.verdict for vote in votes),
            reason=f"{len(judges) - last.invalid} of {len(judges)} judges hold a valid verdict" if void else "",
        )

    def _record(
        self, fixture: Fixture, turns: Sequence[Turn], opinions: Sequence[Opinion], decision: Decision
    ) -> Battle:
        return Battle(
            id=fixture.id,
            round=fixture.round,
            question=fixture.question.id,
            domain=fixture.question.domain,
            replicate=fixture.replicate,
            a=fixture.a,
            b=fixture.b,
            arm=fixture.arm,
            turns=tuple(map(_alone, turns)) if frozenset((fixture.a, fixture.b)) in self.strangers else tuple(turns),
            opinions=tuple(opinions),
            decision=decision,
            weight=fixture.weight,
        )

    def _tell(self, event: Event) -> None:
        for listener in self.listeners:
            listener(event)


def _alone(turn: Turn) -> Turn:
    """Return a turn that shared nothing, though its dice could have been."""
    return turn.model_copy(update={"sharing": "none"}) if turn.sharing == "shared" else turn


def early_decision(transcript: Transcript) -> Decision:
    """Return the decision of a battle that ended before the judges were asked."""
    if transcript.status == "forfeited":
        winner: Verdict = "B" if transcript.forfeited == ("A",) else "A"
        return Decision(status="forfeited", verdict=winner, forfeited=transcript.forfeited, reason=transcript.reason)
    return Decision(status="void", reason=transcript.reason)
