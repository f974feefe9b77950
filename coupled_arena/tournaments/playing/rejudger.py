"""Judges the battles of a finished run anew, round by round; what was said in them stands."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from coupled_arena.errors import ConversationError
from coupled_arena.models.model import Model
from coupled_arena.protocols import SINGLE, Case
from coupled_arena.ratings import Ratings
from coupled_arena.records import Battle, Decision, Question
from coupled_arena.tournaments.derived import JudgedAnew
from coupled_arena.tournaments.playing.conversations import together
from coupled_arena.tournaments.playing.events import RoundOpened
from coupled_arena.tournaments.playing.matches import Fixture
from coupled_arena.tournaments.playing.runner import Played, Runner, logger
from coupled_arena.tournaments.results.leaderboard import rated
from coupled_arena.tournaments.results.points import rounds_of


@dataclass(slots=True)
class Rejudger(Runner):
    """Judges the battles of one run.

    Committees are chosen as while playing: before each round, from the ratings that the new decisions of the rounds
    before it make.
    """

    async def play(self) -> Played:
        """Judge every battle that has been judged before; the others stay as they are."""
        tournament = self.tournament
        if not isinstance(tournament, JudgedAnew):
            raise TypeError("only the battles of a finished run can be judged anew")
        questions = {question.id: question for question in self.questions}
        battles: list[Battle] = []
        ratings: Ratings | None = None
        ordered = sorted(tournament.base.battles, key=lambda battle: battle.round)
        for number, played in groupby(ordered, key=lambda battle: battle.round):
            own = list(played)
            self._tell(RoundOpened(number, rounds_of(own)[-1]))
            strengths = None if ratings is None else ratings.known
            jobs = [
                self._anew(
                    battle, questions[battle.question], self._committee(battle.a, battle.b, battle.domain, strengths)
                )
                for battle in own
                if battle.opinions
            ]
            judged = iter(await together(jobs))
            battles += [next(judged) if battle.opinions else battle for battle in own]
            ratings = self._rated(number, battles)
        return Played(tuple(battles), ratings if ratings is not None else rated(tournament, battles))

    async def _anew(self, battle: Battle, question: Question, committee: Sequence[Model]) -> Battle:
        """Judge one battle by this run's committee."""
        # Its dice are those of the battle: the same judge, asked the same, gives the answer it gave.
        arm = next(arm for arm in self.tournament.arms if arm == battle.arm)
        fixture = Fixture(battle.round, question, battle.replicate, battle.a, battle.b, battle.weight, arm)
        async with self.slots:
            try:
                opinions = await self._judge(fixture, self._case(battle, question), committee)
                decision = self._decide(opinions, committee)
            except ConversationError as error:
                logger.exception("battle %s is void", battle.id)
                opinions, decision = (), Decision(status="void", reason=str(error))
        return self._ended(battle.model_copy(update={"opinions": opinions, "decision": decision}))

    def _case(self, battle: Battle, question: Question) -> Case:
        """Return what the judges are shown: all turns, or the openings as if nothing had followed them."""
        script = self.tournament.battle.script
        if not isinstance(self.tournament, JudgedAnew) or not self.tournament.openings:
            return Case(question, battle.turns, script)
        openings = {turn.speaker: turn for turn in battle.turns if turn.step in script.openings}
        turns = [
            openings[step.speaker].model_copy(update={"step": number, "round": step.round})
            for number, step in enumerate(SINGLE.steps, 1)
            if step.speaker in openings
        ]
        return Case(question, tuple(turns), SINGLE)
