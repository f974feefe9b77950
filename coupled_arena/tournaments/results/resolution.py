"""What an adaptive schedule has resolved, why it stopped, and what is missing."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, Literal

import numpy as np

from coupled_arena.ratings import RatingInput
from coupled_arena.ratings.scale import ends_of, points_of
from coupled_arena.ratings.score import Score, scores_of
from coupled_arena.ratings.settled import Settled
from coupled_arena.records import Battle
from coupled_arena.shown import plural
from coupled_arena.tournaments.results.documents import rounded
from coupled_arena.tournaments.results.neighbours import NO_BATTLE
from coupled_arena.tournaments.results.points import question_scores, replicates_of
from coupled_arena.tournaments.schedules import Adaptive, Standings
from coupled_arena.tournaments.schedules.adaptive import Met
from coupled_arena.tournaments.schedules.goals import Relation

Ended = Literal["resolved", "questions", "rounds", "unfinished"]
"""Why no more was played: it is resolved, no pair that matters has a question left, the rounds are over, or none of
these: the run stopped before its end, or judges the battles of another anew."""

MOST_NAMED = 5
"""Most pairs that are named in a line."""

OF_RATINGS = "intervals of ratings and ranks are for schedules that do not stop by what they see; go by these lines"
"""What a reader of the leaderboard must know."""

_WORDS: Mapping[Ended, str] = {
    "questions": "no pair that matters has a question left",
    "rounds": "all rounds are played",
    "unfinished": "no more was played",
}


@dataclass(frozen=True, slots=True)
class Resolution:
    """What is known of a target, by confidence sequences that hold at all looks and for all pairs together."""

    target: str
    """What was to be resolved, in words."""
    confidence: float
    """Probability that nothing false is called resolved, at least."""
    comparisons: int
    """Pairs that the confidence is shared among, by Bonferroni's inequality."""
    ended: Ended
    """Why no more was played."""
    answer: tuple[str, ...]
    """The ranking, or the best models, or the better one, as far as it was asked for; empty until it is resolved."""
    pairs: tuple[Score, ...]
    """Every two models that met, in the order of their names, with the interval of their sequence."""
    missing: tuple[Score, ...]
    """Pairs that matter and are not resolved, those that need the fewest questions first; some may not have met."""
    above: frozenset[tuple[str, str]]
    """Who is known to be above whom, what follows from other pairs included."""

    @property
    def is_resolved(self) -> bool:
        """Whether the target is known."""
        return self.ended == "resolved"

    @property
    def multiplicity(self) -> str:
        """How intervals were corrected for looks and pairs."""
        pairs = plural(self.comparisons, "pair")
        return f"confidence sequences that hold at every look, Bonferroni over {pairs}"

    @property
    def circle(self) -> tuple[str, ...]:
        """Models that each beat another of them, as far as battles tell: they have no order."""
        return tuple(sorted({a for a, b in self.above if a == b}))

    @property
    def lines(self) -> tuple[str, ...]:
        """Whether the target is resolved and how, or why not and what is missing."""
        level = f"{100 * self.confidence:g} %"
        if self.is_resolved:
            return (f"{self.target}: resolved at {level}: {', '.join(self.answer)}", OF_RATINGS)
        return (
            f"{self.target}: not resolved at {level}: {_WORDS[self.ended]}",
            *self._circle(),
            *(f"not resolved: {_shown(score)}" for score in self.missing[:MOST_NAMED]),
            *self._more(),
            OF_RATINGS,
        )

    def settled(self, ranking: Sequence[str], ratings: Mapping[str, float]) -> tuple[Settled, ...]:
        """Return for each pair of neighbours in a ranking whether their order is settled, by their own battles.

        Intervals of a fixed number of questions would promise too much: a schedule that stops once a pair is settled
        stops where chance has just pushed it.

        Args:
            ranking: models, the best first.
            ratings: ratings of those that have one.
        """
        return tuple(self._settled(a, b, ratings) for a, b in pairwise(ranking))

    def document(self) -> dict[str, Any]:
        """Return the same as plain data."""
        return {
            "target": self.target,
            "confidence": self.confidence,
            "multiplicity": self.multiplicity,
            "resolved": self.is_resolved,
            "ended": self.ended,
            "answer": list(self.answer),
            "lines": list(self.lines),
            "pairs": [_document(score) for score in self.pairs],
            "missing": [_document(score) for score in self.missing],
        }

    def _more(self) -> Iterator[str]:
        more = len(self.missing) - MOST_NAMED
        if more > 0:
            yield f"not resolved: {plural(more, 'more pair')}"

    def _circle(self) -> Iterator[str]:
        if self.circle:
            yield f"{', '.join(self.circle)} beat each other in a circle: they have no order"

    def _settled(self, a: str, b: str, ratings: Mapping[str, float]) -> Settled:
        both = (turned for own in self.pairs for turned in (own, own.turned()))
        score = next((own for own in both if (own.a, own.b) == (a, b)), None)
        known = bool({(a, b), (b, a)} & self.above)
        if score is None or score.share is None:
            difference = ratings[a] - ratings[b] if a in ratings and b in ratings else None
            through = "through others" if known else ""
            return Settled(a, b, difference, None, None, known, None, self.multiplicity, own=through, missing=NO_BATTLE)
        own = f"by their own {plural(score.battles, 'battle')}"
        low, high = ends_of(score)
        return Settled(
            a=a,
            b=b,
            difference=points_of(score.share),
            low=low,
            high=high,
            resolved=known,
            more_questions=0 if known else score.more_questions,
            multiplicity=self.multiplicity,
            own=own if score.settled or not known else f"{own} and through others",
        )


def resolution(rule: Adaptive, models: Sequence[str], battles: Sequence[Battle], *, questions: int) -> Resolution:
    """Return what the battles of a run resolve.

    Args:
        rule: the schedule.
        models: names of all models.
        battles: those of the arm that is rated.
        questions: how many questions there are.
    """
    names = sorted(models)
    each = rule.level(len(names))
    asked = {pair: len(replicates) for pair, replicates in replicates_of(battles).items()}
    met = Met.of(names, Standings(tuple(names), 0, questions=questions, asked=asked, scores=question_scores(battles)))
    above, goal = met.above(each), rule.goal(names)
    matter = goal.open_pairs(above)
    everyone = list(combinations(names, 2))
    scores = scores_of(RatingInput.from_battles(battles, models=names), everyone, level=each, every_look=True)
    place = {name: index for index, name in enumerate(names)}
    missing = [score for score in scores if matter[place[score.a], place[score.b]]]
    ended: Ended = "unfinished"
    if goal.is_reached(above):
        ended = "resolved"
    elif not (matter & (met.fresh > 0)).any():
        ended = "questions"
    elif rule.rounds is not None and max((battle.round for battle in battles), default=0) >= rule.rounds:
        ended = "rounds"
    return Resolution(
        target=rule.target,
        confidence=rule.confidence,
        comparisons=rule.comparisons(len(names)),
        ended=ended,
        answer=_answer(rule, names, above) if ended == "resolved" else (),
        pairs=tuple(score for score in scores if score.questions),
        missing=tuple(sorted(missing, key=lambda score: (score.more_questions is None, score.more_questions or 0))),
        above=frozenset((names[i], names[j]) for i, j in np.argwhere(above).tolist()),
    )


def _answer(rule: Adaptive, names: Sequence[str], above: Relation) -> tuple[str, ...]:
    """Return the models that were asked for, those that are above more others first."""
    order = sorted(range(len(names)), key=lambda model: (-int(above[model].sum()), names[model]))
    if rule.pair is not None:
        return tuple(name for name in (names[model] for model in order) if name in rule.pair)[:1]
    return tuple(names[model] for model in order[: rule.top])


def _shown(score: Score) -> str:
    if score.share is None or score.low is None or score.high is None:
        return f"{score.a} and {score.b}: no rated battle of theirs"
    ends = f"[{100 * score.low:.0f}, {100 * score.high:.0f}]"
    questions, more = plural(score.questions, "question"), score.more_questions
    line = f"{score.a} scores {100 * score.share:.0f} % {ends} against {score.b} on {questions}"
    return line if more is None else f"{line}: about {plural(more, 'more question')}"


def _document(score: Score) -> dict[str, Any]:
    keys = ("a", "b", "questions", "share", "low", "high", "settled", "more_questions")
    return {key: rounded(getattr(score, key)) for key in keys}
