"""Debates of simulated models in memory, and what a judge can make of each, as arrays.

Agendas, agents, prompts and dice are those of a tournament; only the bus, the store and the judges are left out. So the
texts are, word for word, those that a tournament with the same question would bring forth.
"""

import math
from collections import deque
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coupled_arena.agents.base import BaseChatAgent, CancellationToken
from coupled_arena.coupling.keys import Mode
from coupled_arena.errors import ConversationFailed, ConversationStalled
from coupled_arena.models.calls import Call, Reply
from coupled_arena.models.gateway import Gateway, Speaker
from coupled_arena.models.model import Model
from coupled_arena.models.simulated.speech import reply_to
from coupled_arena.models.simulated.wording import brands_said
from coupled_arena.models.simulated.world import CLAIMS, ClaimBook, Subject, position_of
from coupled_arena.prompts import load_prompts
from coupled_arena.protocols import BattleAgenda, Transcript
from coupled_arena.protocols.bus import Utterance
from coupled_arena.protocols.script import DEBATERS
from coupled_arena.records import SCORES, Question, Turn
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.playing.matches import Fixture, fixtures
from coupled_arena.tournaments.playing.seating import Seating

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


class Answering(Gateway):
    """A gateway to simulated models alone, which answers at once and remembers nothing but openings."""

    def __init__(self) -> None:
        super().__init__()
        self._openings: dict[Call, Reply] = {}

    async def reply(self, call: Call, speaker: Speaker | None = None) -> Reply:
        """Return the answer of a simulated model."""
        if any(message.role == "assistant" for message in call.messages):
            return reply_to(call)
        # A model opens in the same words whoever it meets, unless its dice are fresh.
        if call not in self._openings:
            self._openings[call] = reply_to(call)
        return self._openings[call]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Debates:
    """Debates over further questions, a row each; every possible pair debates every question."""

    arm: Mode
    """How the dice were coupled."""
    questions: tuple[Question, ...]
    """What was debated."""
    models: tuple[str, ...]
    """Debaters, in listing order."""
    question: Codes
    """Place of the question, shape (debates,)."""
    a: Codes
    """Place of the model on side A, shape (debates,)."""
    b: Codes
    """Place of the model on side B, shape (debates,)."""
    judged: NDArray[np.bool_]
    """Whether both sides spoke to the end, shape (debates,)."""
    score: Floats
    """Score of A by the truth, or by who gave the debate away; NaN where it is void, shape (debates,)."""
    claims: Floats
    """Weight of every claim in the value of A less that of B, shape (debates, CLAIMS)."""
    silent: Floats
    """1 where A alone makes no claim, -1 where B alone makes none, else 0, shape (debates,)."""
    length_a: Floats
    """Characters that judges are shown of A, at least 1, shape (debates,)."""
    length_b: Floats
    """Characters that judges are shown of B, at least 1, shape (debates,)."""
    brands_a: tuple[frozenset[str], ...]
    """How A names itself, for every debate."""
    brands_b: tuple[frozenset[str], ...]
    """How B names itself, for every debate."""


def debates_of(tournament: Tournament, book: ClaimBook, questions: Sequence[Question], arm: Mode) -> Debates:
    """Let every possible pair of a tournament debate every question, each speaking first on half of them.

    Args:
        tournament: the definition; its models and roles are simulated.
        book: the world they live in.
        questions: what is debated.
        arm: how the dice are coupled.
    """
    rules = tournament.battle
    own = tournament.model_copy(update={"coupling": arm})
    seating = Seating(own, Answering(), load_prompts(own.prompt_set).with_actions(*own.own_actions))
    named = {model.name: model for model in own.models}
    played = [
        replace(fixture, arm=arm)
        for x, y in own.possible_pairs
        for fixture in fixtures(
            (x.name, y.name), questions, round_=1, played={}, sides=rules.sides, replicates=1, seed=own.seed
        )
    ]
    hidden = own.committee.hidden
    rows = [_row(book, fixture, _transcript(seating, fixture, named), hidden) for fixture in played]
    places = {question.id: place for place, question in enumerate(questions)}
    models = {model.name: place for place, model in enumerate(own.models)}
    return Debates(
        arm=arm,
        questions=tuple(questions),
        models=tuple(models),
        question=np.array([places[fixture.question.id] for fixture in played], dtype=np.intp),
        a=np.array([models[fixture.a] for fixture in played], dtype=np.intp),
        b=np.array([models[fixture.b] for fixture in played], dtype=np.intp),
        judged=np.array([row.judged for row in rows]),
        score=np.array([row.score for row in rows]),
        claims=np.array([row.claims for row in rows]),
        silent=np.array([row.silent for row in rows]),
        length_a=np.array([row.lengths[0] for row in rows], dtype=np.float64),
        length_b=np.array([row.lengths[1] for row in rows], dtype=np.float64),
        brands_a=tuple(row.brands[0] for row in rows),
        brands_b=tuple(row.brands[1] for row in rows),
    )


@dataclass(frozen=True, slots=True)
class _Row:
    judged: bool
    score: float
    claims: Floats
    silent: float
    lengths: tuple[int, ...]
    brands: tuple[frozenset[str], ...]


def _row(book: ClaimBook, fixture: Fixture, transcript: Transcript, hidden: tuple[str, ...]) -> _Row:
    turns, subject = transcript.turns, book.subject(fixture.question.text)
    if transcript.status is None:
        score = SCORES[book.truth_of(fixture.question.text, turns)]
    else:
        score = math.nan if transcript.status == "void" else SCORES["B" if transcript.forfeited == ("A",) else "A"]
    weights = [_weights(subject, turns, side) for side in DEBATERS]
    shown = {
        side: [s.text for turn in turns if turn.speaker == side for s in turn.sections if s.tag not in hidden]
        for side in DEBATERS
    }
    return _Row(
        judged=transcript.status is None,
        score=score,
        claims=weights[0] - weights[1],
        silent=float(not weights[0].any()) - float(not weights[1].any()),
        lengths=tuple(max(1, sum(map(len, texts))) for texts in shown.values()),
        brands=tuple(frozenset(brand for text in texts for brand in brands_said(text)) for texts in shown.values()),
    )


def _weights(subject: Subject, turns: Sequence[Turn], side: str) -> Floats:
    """Return the weight of every claim in the value of a side, zeros for one that makes no claim."""
    weights = np.zeros(CLAIMS)
    statements = [places for codes in position_of(turns, side) if (places := subject.places(codes))]
    for places in statements:
        weights[places] += 1 / (len(places) * len(statements))
    return weights


def _transcript(seating: Seating, fixture: Fixture, models: Mapping[str, Model]) -> Transcript:
    """Hold a debate."""
    agenda = seating.debate(fixture)
    at_once(_held(agenda, seating.debaters(fixture, models)), fixture.id)
    if agenda.result is None:
        raise ConversationStalled(fixture.id, "nothing was left to say and there was no result")
    return agenda.result


async def _held(agenda: BattleAgenda, seats: Mapping[str, BaseChatAgent]) -> None:
    waiting = deque(agenda.open())
    while waiting:
        request = waiting.popleft()
        answer = await seats[request.seat].on_messages([request.message], CancellationToken())
        waiting.extend(agenda.hear(Utterance(request.seat, answer.chat_message)))


def at_once(coroutine: Coroutine[Any, Any, None], conversation: str) -> None:
    """Run a coroutine that never waits, without an event loop, and so inside one too.

    Raises:
        ConversationFailed: it waits for something.
    """
    try:
        coroutine.send(None)
    except StopIteration:
        return
    coroutine.close()
    raise ConversationFailed(conversation, "an agent waited for something; those of a world must answer at once")
