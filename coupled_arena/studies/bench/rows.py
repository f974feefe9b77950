"""What the answers of a bench say: of every model, how often it is right; of every pair, how sure the difference is."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from coupled_arena.analysis.mean import mean_score
from coupled_arena.analysis.paired import Paired, paired
from coupled_arena.ratings.counting import more_questions
from coupled_arena.ratings.student import t_reach
from coupled_arena.records import Sharing, weakest
from coupled_arena.studies.bench.asking import SILENT, Answer, Place
from coupled_arena.studies.bench.plan import Plan

LEVEL = 0.95
"""Coverage of every interval; each holds by itself."""


@dataclass(frozen=True, slots=True)
class ModelRow:
    """How one model did at one setting."""

    model: str
    """Its name."""
    temperature: float
    """Temperature it was asked at."""
    top_p: float | None
    """Probability kept; None is all of it."""
    accuracy: float | None
    """Mean score from 0 to 1: over the items, of the mean over their repeats; None without any score."""
    low: float | None
    """Lower end of the 95 % interval for more items like these; None where there is none."""
    high: float | None
    """Upper end of the interval."""
    answers: int
    """Answers that were scored."""
    missing: int
    """Answers that are missing: the provider failed, or nobody asked because the budget was spent."""
    silent: int
    """Answers that were refused, filtered or empty; they score 0."""
    unreadable: int | None
    """Texts in which no answer was found, which score 0; None where the scorer does not look for one."""
    sharing: Sharing
    """What the randomness of its answers was: that of the least shared one."""


@dataclass(frozen=True, slots=True)
class PairRow:
    """How two models did against each other at one setting; a difference is the first minus the second."""

    a: str
    """The first model."""
    b: str
    """The second model."""
    temperature: float | None
    """Temperature both were asked at; None where each had its own."""
    top_p: float | None
    """Probability kept of both; None where it is all, or each had its own."""
    difference: float | None
    """Mean difference of their scores; None without an item that both answered."""
    low: float | None
    """Lower end of the 95 % interval for more items like these; None where there is none."""
    high: float | None
    """Upper end of the interval."""
    resolved: bool
    """Whether the interval excludes 0."""
    more_items: int | None
    """About how many more items would make it exclude 0 if the difference stays; None where nothing can be said."""
    se_coupled: float | None
    """Standard error of the difference with shared dice; None where dice were not shared."""
    se_independent: float | None
    """Standard error that dice of each model's own would give."""
    covariance: float | None
    """Mean covariance of the two scores within an item; None where dice were not shared."""
    data_noise: float | None
    """Variance of the difference between items."""
    prediction_noise: float | None
    """Variance of the difference within an item, over the dice."""
    saved: float | None
    """Share of samples that shared dice save, by the total variance; None where dice were not shared."""
    saved_low: float | None
    """Lower end of its 95 % interval."""
    saved_high: float | None
    """Upper end of its interval."""
    saved_within: float | None
    """Share of the variance within items that shared dice take away."""
    identical: float | None
    """Share of (item, repeat) at which both wrote the same text, of those at which both wrote one."""
    sharing: str
    """`shared`; or why not: `independent` by choice, `none`, `seed-only`, `deterministic` (T = 0)."""
    items: int
    """Items that both have a score for."""
    missing: int
    """(Item, repeat) at which a score of either is missing."""


def model_rows(plan: Plan, answers: Mapping[Place, Answer]) -> tuple[ModelRow, ...]:
    """Return how every model did at every setting."""
    rows = []
    for number, setting in enumerate(plan.settings):
        for place, model in enumerate(plan.models):
            own = _own(answers, plan, number, place)
            found = mean_score(_scores(plan, own), level=LEVEL)
            scored = sum(answer.score is not None for answer in own.values())
            looked_for = [answer.readable for answer in own.values() if answer.readable is not None]
            at = plan.asked_at(plan.models[place], setting)
            rows.append(
                ModelRow(
                    model=model.name,
                    temperature=at.temperature,
                    top_p=at.top_p,
                    accuracy=found.value,
                    low=found.low,
                    high=found.high,
                    answers=scored,
                    missing=len(plan.items) * plan.repeats - scored,
                    silent=sum(answer.outcome in SILENT for answer in own.values()),
                    unreadable=looked_for.count(False) if looked_for else None,
                    sharing=_weakest(own.values()),
                )
            )
    return tuple(rows)


def pair_rows(
    plan: Plan, answers: Mapping[Place, Answer], apart: Iterable[tuple[int, int]] = ()
) -> tuple[PairRow, ...]:
    """Return how every two models did against each other at every setting.

    Args:
        plan: what was asked.
        answers: what came of it.
        apart: pairs of models, by their places, that have no token in common and so nothing to share dice on.
    """
    unlike = set(apart)
    return tuple(
        _pair(plan, answers, number, first, second, unlike=(first, second) in unlike)
        for number in range(len(plan.settings))
        for first, second in combinations(range(len(plan.models)), 2)
    )


def _own(answers: Mapping[Place, Answer], plan: Plan, setting: int, model: int) -> dict[tuple[int, int], Answer]:
    """Return a model's answers at a setting by item and repeat, in that order."""
    places = (Place(setting, model, item, repeat) for item in range(len(plan.items)) for repeat in range(plan.repeats))
    return {(place.item, place.repeat): answers[place] for place in places if place in answers}


def _scores(plan: Plan, own: Mapping[tuple[int, int], Answer]) -> NDArray[np.float64]:
    scores = np.full((len(plan.items), plan.repeats), math.nan)
    for place, answer in own.items():
        if answer.score is not None:
            scores[place] = answer.score
    return scores


def _pair(
    plan: Plan, answers: Mapping[Place, Answer], number: int, first: int, second: int, *, unlike: bool
) -> PairRow:
    setting = plan.settings[number]
    a, b = (_own(answers, plan, number, place) for place in (first, second))
    sharing = _sharing(plan, a.values(), b.values(), unlike=unlike)
    found = paired(_scores(plan, a), _scores(plan, b), shared=sharing == "shared", level=LEVEL)
    at = plan.common([plan.models[place] for place in (first, second)], setting)
    more = _more_items(found)
    return PairRow(
        a=plan.models[first].name,
        b=plan.models[second].name,
        temperature=at.temperature,
        top_p=at.top_p,
        difference=found.difference,
        low=found.low,
        high=found.high,
        resolved=more == 0,
        more_items=more,
        se_coupled=found.se_coupled,
        se_independent=found.se_independent,
        covariance=found.covariance,
        data_noise=found.data_noise,
        prediction_noise=found.prediction_noise,
        saved=found.saved,
        saved_low=found.saved_low,
        saved_high=found.saved_high,
        saved_within=found.saved_within,
        identical=_identical(a, b),
        sharing=sharing,
        items=found.questions,
        missing=found.dropped,
    )


def _sharing(plan: Plan, a: Iterable[Answer], b: Iterable[Answer], *, unlike: bool) -> str:
    if plan.coupling == "independent":
        return "independent"
    return "none" if unlike else weakest([_weakest(a), _weakest(b)])


def _weakest(answers: Iterable[Answer]) -> Sharing:
    # A call without text threw no dice.
    thrown = [answer.sharing for answer in answers if answer.text]
    return weakest(thrown) if thrown else "none"


def _identical(a: Mapping[tuple[int, int], Answer], b: Mapping[tuple[int, int], Answer]) -> float | None:
    both = [(a[place].text, b[place].text) for place in a if place in b and a[place].text and b[place].text]
    return sum(one == other for one, other in both) / len(both) if both else None


def _more_items(found: Paired) -> int | None:
    """Return about how many more items it takes until the interval of a difference excludes 0, none where it does."""
    if not found.difference or found.low is None or found.high is None or found.questions < 2:
        return None
    reach = (found.high - found.low) / 2
    if reach < abs(found.difference):
        return 0
    lead = abs(found.difference) / reach * t_reach(found.level, found.questions - 1) / math.sqrt(found.questions)
    return more_questions(lead, found.questions, found.level)
