"""Simulated judges by their equations: what they and their committee do, drawn for many debates at once.

Given a debate, the lead of a judge is normal: its mean follows from the claims, lengths and names of both sides, and
its noise is the same weighted sum of the noise of single claims that a value is of their qualities. Judges share no
noise; a judge that meets several debates over one question meets them with one view of its claims, as in a tournament
whose models share their dice.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coupled_arena.analysis.judges import Opinions
from coupled_arena.analysis.judges.table import STATUSES
from coupled_arena.models.families import family_of
from coupled_arena.models.model import Model
from coupled_arena.models.simulated.dials import Dials, read_dials
from coupled_arena.models.simulated.world import CLAIMS, ClaimBook
from coupled_arena.models.voice import ROLE_TEMPERATURES
from coupled_arena.studies.world.debates import Codes, Debates, Floats
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.panels import AuthorOf, panel

Flags = NDArray[np.bool_]

_VALID, _UNPARSABLE, _REFUSED, _FAILED, _NOT_ASKED = map(
    STATUSES.index, ("valid", "unparsable", "refused", "failed", "not asked")
)
_REPLIES = 2
_DIGITS = 2


def opinions_of(
    tournament: Tournament, book: ClaimBook, debates: Debates, author_of: AuthorOf, *, draws: int, seed: int
) -> Opinions:
    """Return the opinions that the listed panels of a tournament form on debates, as a table for the study of judges.

    Args:
        tournament: the definition; its panels are listed.
        book: the world of debaters and judges.
        debates: what is judged; those that ended early are left out.
        author_of: names the author of a model's texts, for `recuse="author"`.
        draws: how often each debate is judged, every time with new dice.
        seed: of the draws.
    """
    judged = np.flatnonzero(debates.judged)
    judges = tournament.judging_models
    seated = _seated(tournament, debates, judged, judges, author_of)
    views = [_View.of(tournament, book, debates, judged, judge, place) for place, judge in enumerate(judges)]
    rows = _Rows(views, judged, seated)
    for draw in range(draws):
        for turned in range(len(tournament.committee.presented)):
            _discuss(views, seated, tournament.committee.discussion_rounds, (seed, draw, turned), rows)
    models = {model.name: model for model in tournament.models}
    return rows.table(debates, judges, [family_of(models[name]) for name in debates.models])


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """One judge, and what it makes of every debate but for its noise."""

    place: int
    """Its place among the judges."""
    dials: Dials
    """What kind of judge it is."""
    greedy: bool
    """Whether it has no dice, but noise that follows from what it reads."""
    claims: Floats
    """Weight of the noise of every claim in its lead, shape (debates, CLAIMS)."""
    lead: Floats
    """Mean of its lead for side A, but for position, shape (debates,)."""
    named: Floats
    """1 where A names itself by the judge's brand and B does not, 0 the other way round, else NaN, shape (debates,)."""
    group: Codes
    """Debates of one group are judged with the same dice, shape (debates,)."""
    groups: int
    """How many groups there are."""

    @classmethod
    def of(
        cls, tournament: Tournament, book: ClaimBook, debates: Debates, judged: Codes, judge: Model, place: int
    ) -> "_View":
        dials = read_dials(tournament.model_of(judge).model)
        subjects = [book.subject(question.text) for question in debates.questions]
        question, claims = debates.question[judged], debates.claims[judged]
        liked = np.stack(
            [dials.acuity * subject.quality + dials.family * subject.affinity(dials.taste) for subject in subjects]
        )
        silence = dials.acuity * np.array([subject.silent for subject in subjects])
        lead = (claims * liked[question]).sum(axis=1) + debates.silent[judged] * silence[question]
        lead += dials.length * np.log(debates.length_a[judged] / debates.length_b[judged])
        on_a, on_b = (
            np.array([bool(dials.brand) and dials.brand in brands[place] for place in judged.tolist()], dtype=np.bool_)
            for brands in (debates.brands_a, debates.brands_b)
        )
        lead += dials.name * (on_a.astype(np.float64) - on_b)
        temperature = ROLE_TEMPERATURES["judge"] if judge.temperature is None else judge.temperature
        shares = [question]
        if debates.arm != "coupled":
            shares += [np.minimum(debates.a, debates.b)[judged], np.maximum(debates.a, debates.b)[judged]]
        group = np.unique(np.stack(shares), axis=1, return_inverse=True)[1].reshape(-1)
        if temperature == 0:
            group = np.arange(len(judged))
        return cls(
            place=place,
            dials=dials,
            greedy=temperature == 0,
            claims=claims,
            lead=lead,
            named=np.where(on_a == on_b, np.nan, on_a.astype(np.float64)),
            group=group,
            groups=int(group.max(initial=-1)) + 1,
        )

    def dice(self, seed: int, draw: int, turned: int, stage: int) -> np.random.Generator:
        """Return the dice of this judge in one order at one stage; a greedy one rolls the same in every draw."""
        return np.random.default_rng([seed, self.place, 0 if self.greedy else draw, turned, stage])

    def seen(self, dice: np.random.Generator, turned: int) -> Floats:
        """Return its leads for the side it is shown as A when it looks for the first time, shape (debates,)."""
        noise = (self.claims * dice.standard_normal((self.groups, CLAIMS))[self.group]).sum(axis=1)
        lead: Floats = (-1 if turned else 1) * (self.lead + noise) + self.dials.position
        return lead

    def said(self, dice: np.random.Generator, lead: Floats) -> tuple[Codes, Floats, Flags]:
        """Return what its replies come to, shape (debates,) each: status, vote, and whether the last one has text.

        Votes are 1 for the side shown as A, -1 for the other, 0 for a tie, NaN for none.
        """
        dials, size = self.dials, len(lead)
        status, vote = np.full(size, _UNPARSABLE), np.full(size, np.nan)
        answered, asked = np.ones(size, dtype=np.bool_), np.ones(size, dtype=np.bool_)
        for _ in range(_REPLIES):
            failed, refused, malformed, lapsed, which = dice.random((5, self.groups))[:, self.group]
            broken = [asked & (failed < dials.error), asked & (failed >= dials.error) & (refused < dials.refusal)]
            status[broken[0]], status[broken[1]] = _FAILED, _REFUSED
            asked &= ~(broken[0] | broken[1])
            answered &= ~(broken[0] | broken[1])
            read = asked & (malformed >= dials.malformed)
            meant = np.where(np.abs(lead) <= dials.tie, 0.0, np.sign(lead))
            spoken = np.where(lapsed < dials.lapse, np.floor(3 * which) - 1, meant)
            status[read], vote[read] = _VALID, spoken[read]
            asked &= ~read
        return status, vote, answered


def _seated(
    tournament: Tournament, debates: Debates, judged: Codes, judges: Sequence[Model], author_of: AuthorOf
) -> Flags:
    """Return who judges which debate, shape (debates, judges)."""
    models = {model.name: model for model in tournament.models}
    place = {judge.name: at for at, judge in enumerate(judges)}
    known: dict[tuple[int, int, str], list[int]] = {}
    seated = np.zeros((len(judged), len(judges)), dtype=np.bool_)
    for row, debate in enumerate(judged.tolist()):
        a, b = int(debates.a[debate]), int(debates.b[debate])
        domain = debates.questions[debates.question[debate]].domain
        if (a, b, domain) not in known:
            pair = models[debates.models[a]], models[debates.models[b]]
            committee = panel(tournament, domain, pair, author_of, None)
            known[a, b, domain] = [place[judge.name] for judge in committee]
        seated[row, known[a, b, domain]] = True
    return seated


def _discuss(views: Sequence[_View], seated: Flags, rounds: int, dice_of: tuple[int, int, int], rows: "_Rows") -> None:
    """Let the committees form opinions in one order: alone, then for some rounds of discussion."""
    seed, draw, turned = dice_of
    votes = np.full(seated.shape, np.nan)
    stated = np.full(seated.shape, np.nan)
    for stage in range(rounds + 1):
        held = ~np.isnan(votes)
        others = held.sum(axis=1, keepdims=True) - held
        pull = np.divide(
            np.nansum(votes, axis=1, keepdims=True) - np.where(held, votes, 0),
            others,
            out=np.zeros(seated.shape),
            where=others > 0,
        )
        before = votes.copy()
        for at, view in enumerate(views):
            dice = view.dice(seed, draw, turned, stage)
            lead = view.seen(dice, turned)
            if stage:
                again = stated[:, at] + view.dials.waver * dice.standard_normal(view.groups)[view.group]
                lead = np.where(np.isnan(stated[:, at]), lead, again) + view.dials.conformity * pull[:, at]
            # A judge writes its lead with two digits, and goes by what it wrote.
            lead = np.round(lead, _DIGITS)
            status, vote, answered = view.said(dice, lead)
            asked = seated[:, at] & ((others[:, at] > 0) if stage else True)
            status = np.where(asked, status, _NOT_ASKED)
            heard = asked & (status == _VALID)
            votes[heard, at] = vote[heard]
            spoke = asked & answered
            stated[spoke, at] = lead[spoke]
            carried = ~heard & ~np.isnan(before[:, at])
            rows.add((at, stage, draw, turned), seated[:, at], status, votes[:, at], carried)


class _Rows:
    """Collects opinions, a block for every judge, stage, draw and order."""

    def __init__(self, views: Sequence[_View], judged: Codes, seated: Flags) -> None:
        self.views = views
        self.judged = judged
        self.blocks: list[tuple[NDArray[Any], ...]] = []

    def add(self, at: tuple[int, ...], seated: Flags, status: Codes, votes: Floats, carried: Flags) -> None:
        """Note the opinions of one judge, votes as it was shown the sides; `at` is judge, stage, draw and order."""
        rows, (judge, _, _, turned) = np.flatnonzero(seated), at
        fixed = [np.full(len(rows), value, dtype=np.intp) for value in at]
        score = (1 + (-1 if turned else 1) * votes[rows]) / 2
        self.blocks.append((rows, *fixed, status[rows], score, carried[rows], self.views[judge].named[rows]))

    def table(self, debates: Debates, judges: Sequence[Model], model_family: Sequence[str]) -> Opinions:
        """Return what was noted."""
        columns = [np.concatenate(column) for column in zip(*self.blocks, strict=True)]
        battle, judge, stage, draw, turned, status, score, carried, named = columns
        at = self.judged
        return Opinions(
            judges=tuple(judge.name for judge in judges),
            models=debates.models,
            battle=battle,
            judge=judge,
            score=score,
            stage=stage,
            turned=turned == 1,
            dice=draw,
            status=status,
            carried=carried,
            named=named,
            chances=np.full((len(battle), 3), math.nan),
            question=debates.question[at],
            draw=np.zeros(len(at), dtype=np.intp),
            a=debates.a[at],
            b=debates.b[at],
            length=np.log2(debates.length_a[at] / debates.length_b[at]),
            truth=debates.score[at],
            judge_family=tuple(family_of(judge) for judge in judges),
            model_family=tuple(model_family),
        )
