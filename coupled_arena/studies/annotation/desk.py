"""The desk at which one annotator votes: hands out the next text, takes the vote, and goes back."""

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.protocols.voting import exchanged
from coupled_arena.records import Order, Verdict, name_problem
from coupled_arena.studies.annotation.drawing import order_of, place_of
from coupled_arena.tournaments.shown import case_of, digest_of, shown_in
from coupled_arena.tournaments.storage.human_votes import HumanVote
from coupled_arena.tournaments.storage.store import Store
from coupled_arena.tournaments.stored import definition_of

Choice = Literal["left", "right", "tie", "pass"]
"""What an annotator can say: which of the two columns is better, neither, or nothing."""

_SAID: dict[Choice, Verdict | None] = {"left": "A", "right": "B", "tie": "tie", "pass": None}


class Progress(NamedTuple):
    """How far an annotator is."""

    voted: int
    """Texts voted on."""
    passed: int
    """Texts passed over."""
    texts: int
    """Texts in all."""


@dataclass(frozen=True, slots=True)
class Slip:
    """What an annotator is shown of one battle: no model, no judge, no id."""

    shown: str
    """Digest of the text."""
    domain: str
    """Domain of the question."""
    language: str
    """Language of the question."""
    question: str
    """The question."""
    reference: str | None
    """The reference answer that judges were shown, if any."""
    rounds: tuple[tuple[int, tuple[tuple[str, tuple[tuple[str, str], ...]], ...]], ...]
    """By round: its number, and of every turn the column (`left`, `right`, or an added role's name) and its sections
    as (tag, text)."""
    choice: Choice | None
    """What this annotator said of it before."""

    def document(self) -> dict[str, Any]:
        """Return it as plain data."""
        rounds = [
            {"number": number, "turns": [{"column": column, "sections": sections} for column, sections in turns]}
            for number, turns in self.rounds
        ]
        names = ("shown", "domain", "language", "question", "reference", "choice")
        return {**{name: getattr(self, name) for name in names}, "rounds": rounds}


class Desk:
    """Where one annotator votes on the battles of one run.

    Every vote is in the store when `vote` returns. What was voted on before is not handed out again, whichever process
    or run of the store the vote is from.

    Args:
        store: the store, open for writing.
        run: id of the run; None is the one opened last.
        annotator: who votes.
        seed: draws the order of the texts and the sides.
        clock: seconds since 1970.

    Raises:
        ConfigurationError: the annotator's name cannot be one.
        RunNotFound: the store holds no such run, or it is a bench.

    Example:
        >>> import coupled_arena as ca
        >>> with ca.Store(":memory:") as store:
        ...     result = ca.Tournament(models=["sim/a", "sim/b"], judges=["sim/j"], domains=["math"]).run(store)
        ...     desk = Desk(store, annotator="me")
        ...     desk.vote(desk.next().shown, "left")
        ...     desk.progress
        Progress(voted=1, passed=0, texts=5)
    """

    def __init__(
        self,
        store: Store,
        run: str | None = None,
        *,
        annotator: str = "me",
        seed: int = 0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if problem := name_problem(annotator):
            raise ConfigurationError([Problem("annotate", "annotator", problem)])
        self.annotator = annotator
        self._run = store.run(run)
        self.run = self._run.id
        """Id of the run."""
        self._store, self._votes = store, store.human_votes
        self._version: int | None = None
        self._seed, self._clock = seed, clock
        self._tournament = definition_of(self._run)
        self._texts: dict[str, str] = {}
        self._known: set[str] = set()
        self._waiting: list[str] = []
        self._said: dict[str, HumanVote] = {}
        self.refresh()

    @property
    def sitting(self) -> str:
        """What tells this desk from others where a text may stand in other columns: 16 hex digits."""
        return hashlib.blake2b(json.dumps([self._seed, self.annotator]).encode(), digest_size=8).hexdigest()

    @property
    def progress(self) -> Progress:
        """How far the annotator is."""
        said = [self._said[shown].verdict for shown in self._texts if shown in self._said]
        return Progress(sum(verdict is not None for verdict in said), said.count(None), len(self._texts))

    def refresh(self) -> None:
        """Take in the battles that were played, and what the annotator said in another process, meanwhile."""
        version = self._store.version
        new = [name for name in self._run.battle_ids() if name not in self._known]
        if not new and version == self._version:
            return
        self._version = version
        self._said = {vote.shown: vote for vote in self._votes.load() if vote.annotator == self.annotator}
        self._known.update(new)
        for shown, battle in shown_in(self._run, new):
            self._texts.setdefault(shown, battle.id)
        waiting = [shown for shown in self._texts if shown not in self._said]
        self._waiting = sorted(waiting, key=lambda shown: place_of(self._seed, shown), reverse=True)

    def next(self) -> Slip | None:
        """Return the next text to vote on, or None where none is left."""
        self.refresh()
        while self._waiting:
            if (slip := self.slip(self._waiting[-1])) is not None:
                return slip
            self._waiting.pop()
        return None

    def last(self) -> Slip | None:
        """Return the text voted on last, to vote again, or None where there is none."""
        own = [shown for shown in self._said if shown in self._texts]
        return self.slip(max(own, key=lambda shown: self._said[shown].created)) if own else None

    def slip(self, shown: str) -> Slip | None:
        """Return what is shown of a text, or None where the run no longer holds it."""
        found = self._run.load_battles([self._texts[shown]]) if shown in self._texts else ()
        questions = {question.id: question for question in self._run.load_questions()} if found else {}
        for battle in found:
            case = case_of(battle, questions[battle.question], self._tournament)
            hidden = self._tournament.committee.hidden
            if digest_of(case, hidden) == shown:
                columns = {"A": "left", "B": "right"}
                rounds = tuple(
                    (
                        number,
                        tuple(
                            (
                                columns.get(said.label, said.label),
                                tuple((part.tag, part.text) for part in said.sections),
                            )
                            for said in turns
                        ),
                    )
                    for number, turns in case.rounds(self._order(shown), hidden).items()
                )
                question = case.question
                choice = self._choice(self._said.get(shown))
                return Slip(
                    shown, question.domain, question.language, question.text, question.reference, rounds, choice
                )
        return None

    def battle_of(self, shown: str) -> str:
        """Return the id of the battle whose text this is; no annotator may see it.

        Raises:
            ConfigurationError: there is no such text.
        """
        if shown not in self._texts:
            raise ConfigurationError([Problem("annotate", "shown", "no such text is at this desk; fetch the next one")])
        return self._texts[shown]

    def vote(self, shown: str, choice: Choice) -> None:
        """Store a vote; a later one on the same text takes its place.

        Raises:
            ConfigurationError: there is no such text or no such choice.
            StoreError: the store cannot be written.
        """
        battle = self.battle_of(shown)
        if choice not in _SAID:
            words = f"must be one of {', '.join(_SAID)}, not {choice!r}"
            raise ConfigurationError([Problem("annotate", "choice", words)])
        order, said = self._order(shown), _SAID[choice]
        vote = HumanVote(
            shown=shown,
            annotator=self.annotator,
            run=self.run,
            battle=battle,
            order=order,
            verdict=exchanged(said) if order == "BA" else said,
            created=self._clock(),
        )
        self._votes.save(vote)
        self._said[shown] = vote
        self._waiting = [other for other in self._waiting if other != shown]

    def _order(self, shown: str) -> Order:
        return order_of(self._seed, self.annotator, shown)

    def _choice(self, vote: HumanVote | None) -> Choice | None:
        """Return what was said, in the columns in which the text is shown now."""
        if vote is None:
            return None
        verdict = exchanged(vote.verdict) if self._order(vote.shown) == "BA" else vote.verdict
        return next(choice for choice, said in _SAID.items() if said == verdict)
