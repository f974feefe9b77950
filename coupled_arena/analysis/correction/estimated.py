"""The fit of all effects that the opinions tell, and what follows from it for ratings and biases."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from coupled_arena.analysis.correction.effects import Effect, Unestimated, effects_of, separating, unknowable
from coupled_arena.analysis.correction.fit import MOST_LAPSE, Fit, fit
from coupled_arena.analysis.correction.likelihood import Likelihood
from coupled_arena.analysis.correction.result import Bias
from coupled_arena.analysis.correction.spread import clustered
from coupled_arena.analysis.correction.votes import PANEL, Floats, Term, Votes
from coupled_arena.analysis.labels import Codes
from coupled_arena.errors import RatingError
from coupled_arena.ratings.result import Ratings
from coupled_arena.ratings.scale import MEAN, POINTS, spread
from coupled_arena.ratings.student import t_reach

MOST_ERROR = 0.1
"""Largest standard error of a lapse with which lapses are told from verdicts that are merely close."""


@dataclass(frozen=True, slots=True, eq=False)
class Estimated:
    """The fit of all that can be told, and what is left out of it."""

    votes: Votes
    """The verdicts."""
    played: Codes
    """Models with a vote, by code, shape (played,)."""
    effects: tuple[Effect, ...]
    """What was estimated, but lapses."""
    lapses: tuple[int, ...]
    """Judges whose lapses are estimated, by code."""
    left: tuple[Unestimated, ...]
    """What was not, and why."""
    likelihood: Likelihood
    """The likelihood of strengths, effects and lapses."""
    fit: Fit
    """Its maximum."""
    covariance: Floats
    """Of the parameters, shape (parameters, parameters); NaN with a single question."""
    alone: tuple[int, ...]
    """Questions that alone determine a parameter."""

    @classmethod
    def of(cls, votes: Votes, terms: Sequence[Term], virtual_ties: float) -> "Estimated":
        """Fit all effects of these terms that the votes tell; one without a finite maximum is a `RatingError`."""
        effects, left = effects_of(votes, terms)
        played = np.unique(np.concatenate([votes.a, votes.b]))
        while True:
            likelihood = _likelihood(votes, played, effects, (), virtual_ties)
            # The prior tells strengths from effects by assumption alone, so what can be told is asked without it.
            bare, equal = replace(likelihood, virtual_ties=0.0), np.zeros(likelihood.size)
            before = bare.at(equal).observed
            gone, why = unknowable(before, effects, len(played))
            if not gone:
                break
            left += tuple(Unestimated(votes.judges[effect.judge], effect.term, why) for effect in gone)
            effects = tuple(effect for effect in effects if all(effect is not other for other in gone))
        fitted = fit(likelihood)
        if infinite := separating(before, bare.at(fitted.point).observed, effects, len(played)):
            # Taken to be none, the strongest bias of all would stay in the ratings.
            named = ", ".join(f"{effect.term} of {votes.judges[effect.judge]}" for effect in infinite)
            raise RatingError(
                f"no finite effect fits best: the battles won are separated from those lost by {named}; leave the "
                "judge or the term out, or play more battles"
            )
        found = cls(votes, played, effects, (), left, likelihood, fitted, *_spread(likelihood, fitted, votes))
        return found.with_lapses(virtual_ties) if "lapse" in terms else found

    def with_lapses(self, virtual_ties: float) -> "Estimated":
        """Return the fit with a lapse for every judge, or this one with the reason why there is none."""
        judges = tuple(np.unique(self.votes.judge).tolist())
        likelihood = _likelihood(self.votes, self.played, self.effects, judges, virtual_ties)
        fitted = fit(likelihood, self.fit.point)
        covariance, alone = _spread(likelihood, fitted, self.votes)
        lapses = slice(likelihood.size - len(judges), None)
        # A lapse that is held at none has no spread, but information that says how well others would be seen.
        known = np.diag(np.linalg.pinv(likelihood.at(fitted.point).expected))
        errors = np.sqrt(np.maximum(np.diag(covariance), known)[lapses])
        if not fitted.converged or (fitted.point[lapses] >= MOST_LAPSE).any():
            why = "no finite strengths fit best once judges may lapse"
        elif not (errors <= MOST_ERROR).all():
            why = (
                "the opinions cannot tell lapses from close battles: that takes more opinions on nearly one-sided ones "
                f"(largest standard error {errors.max():.2f}, {MOST_ERROR} at most)"
            )
        else:
            return replace(self, lapses=judges, likelihood=likelihood, fit=fitted, covariance=covariance, alone=alone)
        return replace(self, left=(*self.left, Unestimated(PANEL, "lapse", why)))

    @property
    def degrees(self) -> int | None:
        """Degrees of freedom of all intervals; None where there are none."""
        questions = self.votes.questions
        enough = questions > len(self.played) + len(self.effects) + len(self.lapses)
        return questions - 1 if enough and not self.alone else None

    def ratings(self, raw: Ratings) -> Ratings:
        """Return the corrected ratings in the frame of the raw ones."""
        basis, size = self.likelihood.basis, len(self.played) - 1
        strength = basis @ self.fit.point[:size]
        matrix = POINTS**2 * basis @ self.covariance[:size, :size] @ basis.T
        models, square = len(raw.names), np.ix_(self.played, self.played)
        within, covariance = np.full(models, MEAN), np.full((models, models), np.nan)
        within[self.played] += POINTS * strength
        covariance[square] = matrix
        covariance.setflags(write=False)
        spreads = [spread(variance, self.degrees, raw.level) for variance in np.diag(covariance).tolist()]
        ratings = [value if place in self.played else None for place, value in enumerate(within.tolist())]
        ends = [
            (None, None) if rating is None or reach is None else (rating - reach, rating + reach)
            for rating, (_, reach) in zip(ratings, spreads, strict=True)
        ]
        return replace(
            raw,
            ratings=tuple(ratings),
            se=tuple(se for se, _ in spreads),
            low=tuple(low for low, _ in ends),
            high=tuple(high for _, high in ends),
            within=tuple(within.tolist()),
            covariance=covariance,
            degrees=tuple(self.degrees if place in self.played else None for place in range(models)),
            converged=self.fit.converged,
            iterations=self.fit.iterations,
            score=None,
            neighbours=(),
        )

    def biases(self, level: float) -> tuple[Bias, ...]:
        """Return what was estimated, by term, then judge."""
        first = len(self.played) - 1
        found = [
            self._bias(effect.judge, effect.term, first + place, effect.votes, effect.questions, level)
            for place, effect in enumerate(self.effects)
        ]
        first += len(self.effects)
        for place, judge in enumerate(self.lapses, first):
            own = self.votes.judge == judge
            questions = len(np.unique(self.votes.question[own]))
            found.append(self._bias(judge, "lapse", place, int(own.sum()), questions, level))
        return tuple(found)

    def _bias(self, judge: int, term: Term, place: int, votes: int, questions: int, level: float) -> Bias:
        name, value = self.votes.judges[judge], float(self.fit.point[place])
        if not self.fit.free[place]:
            return Bias(name, term, value, None, None, None, votes, questions, "it lies at the end of what it may be")
        variance = float(self.covariance[place, place])
        if self.degrees is None or not variance > 0:
            return Bias(name, term, value, None, None, None, votes, questions, "too few questions")
        se = math.sqrt(variance)
        reach = t_reach(level, self.degrees) * se
        low, high = value - reach, value + reach
        if term == "lapse":
            low, high = max(0.0, low), min(1.0, high)
        return Bias(name, term, value, se, low, high, votes, questions)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know."""
        notes, position = [], self.votes.traits.get("position")
        if position is not None and (position > 0).all() and any(one.term == "position" for one in self.effects):
            notes.append("judges saw side A first only: what they grant to it may be an advantage of speaking first")
        if self.degrees is None:
            parameters = len(self.played) + len(self.effects) + len(self.lapses)
            few = f"{self.votes.questions} questions do not outnumber {parameters} strengths and effects"
            single = f"{len(self.alone)} of the questions determine an effect or a strength alone"
            notes.append(f"no intervals: {single if self.alone else few}")
        return tuple(notes)


def _likelihood(
    votes: Votes, played: Codes, effects: Sequence[Effect], lapses: Sequence[int], virtual_ties: float
) -> Likelihood:
    place = {judge: number for number, judge in enumerate(lapses)}
    return Likelihood.of(
        models=len(played),
        a=np.searchsorted(played, votes.a),
        b=np.searchsorted(played, votes.b),
        score=votes.score,
        effects=np.stack([effect.values for effect in effects], axis=1) if effects else np.zeros((len(votes), 0)),
        lapse=np.array([place.get(judge, -1) for judge in range(len(votes.judges))], dtype=np.intp)[votes.judge],
        virtual_ties=virtual_ties,
    )


def _spread(likelihood: Likelihood, fitted: Fit, votes: Votes) -> tuple[Floats, tuple[int, ...]]:
    if votes.questions < 2:
        return np.full((likelihood.size, likelihood.size), np.nan), ()
    return clustered(likelihood, fitted, votes.question)
