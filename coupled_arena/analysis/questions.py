"""Which questions were hardest, easiest and most contested, as far as battles can tell.

A battle says who was better, not who was right: a question that nobody can answer looks like one that everybody can.
What can be seen is where models gave no answer, where better-rated ones failed to show it, and where judges disagreed.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from coupled_arena.records import VERDICTS, Battle, Verdict

FEWEST_BATTLES = 4
"""A question with fewer battles is never named."""

LEAST_RELIABILITY = 0.5
"""A question is named only where at least this share of what sets it apart is its own and not chance."""

_FACTOR_TEN = 400.0


@dataclass(frozen=True, slots=True)
class QuestionStanding:
    """How a question fared in the battles over it."""

    question: str
    """Its id."""
    domain: str
    """Its domain."""
    battles: int
    """Battles that say something of its hardness."""
    hardness: float | None
    """Points that were missing in a battle on average, in [-0.5, 1], drawn towards the mean of all questions by as much
    as chance may have made of it; None without such a battle."""
    hardness_reliability: float
    """Share of the spread of `hardness` over questions that is the questions' own and not chance, in [0, 1]."""
    silent: float
    """Share of debaters that gave no answer, in [0, 1]."""
    contested: float | None
    """Chance that two judges who had not yet heard each other disagreed, in [0, 1], drawn towards the mean as
    `hardness` is; None where no battle had two such verdicts."""
    contested_reliability: float
    """As `hardness_reliability`, of `contested`."""
    changed: float | None
    """Share of judges whose last verdict is not their first, in [0, 1]; None without discussion."""


class Shrunken(NamedTuple):
    """A mean that was drawn towards the mean of all groups."""

    mean: float
    """The mean."""
    reliability: float
    """Share of what sets the group apart that was kept, in [0, 1]."""


def question_standings(battles: Iterable[Battle], ratings: Mapping[str, float]) -> tuple[QuestionStanding, ...]:
    """Return how every question fared, in the order of first mention.

    In a battle, half a point is missing for each debater that gave no answer. Where both answered, what is missing is
    `p - s`: with p the score that the ratings expect of the better-rated model, `1 / (1 + 10^(-d / 400))` for d points
    more, and s its score. So a question is hard where models have nothing to say or the better ones cannot show that
    they are, and easy where they win more surely than elsewhere. Contested is one where judges disagree before they
    discuss: `1 - sum n_v (n_v - 1) / (n (n - 1))` over the verdicts v. Both are means over battles, each shrunken (see
    `shrunken`), because of many questions some stand out by chance.

    Args:
        battles: of one arm; void ones count where a debater gave no answer.
        ratings: points by model, 400 per factor ten of odds; battles of models without one do not count for hardness.

    Example:
        >>> from coupled_arena.records import Decision
        >>> def battle(question, number, verdict):
        ...     decision = Decision(status="decided", verdict=verdict)
        ...     return Battle(id=f"{question}:{number}", round=1, question=question, domain="math", replicate=number,
        ...                   a="ada", b="bob", arm="coupled", decision=decision)
        >>> played = [battle("q1", n, "A") for n in range(6)] + [battle("q2", n, "B") for n in range(6)]
        >>> [(found.question, round(found.hardness, 2)) for found in question_standings(played, {"ada": 200, "bob": 0})]
        [('q1', -0.24), ('q2', 0.76)]
    """
    over: dict[str, list[Battle]] = {}
    for battle in battles:
        over.setdefault(battle.question, []).append(battle)
    missing = {question: _known(_missing(battle, ratings) for battle in own) for question, own in over.items()}
    split = {question: _known(map(_split, own)) for question, own in over.items()}
    hardness, contested = (shrunken(list(values.values())) for values in (missing, split))
    return tuple(
        QuestionStanding(
            question,
            own[0].domain,
            len(missing[question]),
            None if hard is None else hard.mean,
            0.0 if hard is None else hard.reliability,
            sum(map(_silent, own)) / (2 * len(own)),
            None if torn is None else torn.mean,
            0.0 if torn is None else torn.reliability,
            _changed(own),
        )
        for (question, own), hard, torn in zip(over.items(), hardness, contested, strict=True)
    )


def shrunken(groups: Sequence[Sequence[float]]) -> tuple[Shrunken | None, ...]:
    """Return the mean of every group, drawn towards the mean of all by as much as chance may have made of it.

    The variance t between groups and s within them are those of one-way random effects (Searle, Casella and McCulloch
    1992, Variance Components, section 3.6); the mean of n values keeps the share `t / (t + s / n)` of its distance.
    Where no group has two values, or the means differ by no more than chance, nothing is kept.

    Args:
        groups: values by group; None is returned for an empty one.

    Example:
        >>> [round(group.mean, 2) for group in shrunken([[1, 1, 0, 1], [0, 0, 1, 0], [0, 0, 0, 0]])]
        [0.63, 0.27, 0.1]
    """
    filled = [np.asarray(group, dtype=np.float64) for group in groups if len(group)]
    if not filled:
        return (None,) * len(groups)
    sizes = np.array([len(group) for group in filled], dtype=np.float64)
    means = np.array([group.mean() for group in filled])
    overall, kept = float(np.concatenate(filled).mean()), _kept(filled, sizes, means)
    found = iter(zip(overall + kept * (means - overall), kept, strict=True))
    return tuple(Shrunken(*map(float, next(found))) if len(group) else None for group in groups)


def _kept(
    groups: Sequence[NDArray[np.float64]], sizes: NDArray[np.float64], means: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return which share of its distance from the others every group keeps."""
    total, number = sizes.sum(), len(groups)
    if number < 2 or total == number:
        return np.zeros(number)
    within = sum(float(((group - group.mean()) ** 2).sum()) for group in groups) / (total - number)
    between = float(sizes @ (means - sizes @ means / total) ** 2) / (number - 1)
    each = (total - float(sizes @ sizes) / total) / (number - 1)
    spread = max(0.0, (between - within) / each)
    return spread / (spread + within / sizes) if spread else np.zeros(number)


def named(
    standings: Iterable[QuestionStanding], by: str, *, most: int = 3, lowest: bool = False
) -> tuple[QuestionStanding, ...]:
    """Return the questions that stand out beyond chance, the most extreme first; often there is none.

    Args:
        standings: all questions.
        by: `hardness` or `contested`.
        most: how many at most.
        lowest: the lowest instead of the highest.
    """
    known = [
        (float(value), found)
        for found in standings
        if (value := getattr(found, by)) is not None
        and found.battles >= FEWEST_BATTLES
        and getattr(found, f"{by}_reliability") >= LEAST_RELIABILITY
    ]
    middle = sum(value for value, _ in known) / len(known) if known else 0.0
    sign = 1 if lowest else -1
    apart = [(value, found) for value, found in known if sign * value < sign * middle]
    return tuple(found for _, found in sorted(apart, key=lambda pair: (sign * pair[0], pair[1].question))[:most])


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]


def _silent(battle: Battle) -> int:
    """Return how many of the two debaters gave no answer in the end."""
    without = {turn.speaker for turn in battle.turns if turn.speaker in ("A", "B") and not turn.answered}
    return len(without | set(battle.decision.forfeited))


def _missing(battle: Battle, ratings: Mapping[str, float]) -> float | None:
    if silent := _silent(battle):
        return silent / 2
    verdict = battle.decision.verdict
    if verdict is None or battle.a not in ratings or battle.b not in ratings:
        return None
    ahead = ratings[battle.a] - ratings[battle.b]
    better: Verdict = "A" if ahead >= 0 else "B"
    score = 0.5 if verdict == "tie" else float(verdict == better)
    return float(1 / (1 + 10 ** (-abs(ahead) / _FACTOR_TEN))) - score


def _split(battle: Battle) -> float | None:
    first = [opinion.verdict for opinion in battle.opinions if opinion.stage == 0 and opinion.verdict is not None]
    number = len(first)
    if number < 2:
        return None
    counts = [first.count(verdict) for verdict in VERDICTS]
    return 1 - sum(count * (count - 1) for count in counts) / (number * (number - 1))


def _changed(battles: Iterable[Battle]) -> float | None:
    changes = []
    for battle in battles:
        said: dict[tuple[str, str], list[Verdict]] = {}
        for opinion in battle.opinions:
            if opinion.verdict is not None:
                said.setdefault((opinion.judge, opinion.order), []).append(opinion.verdict)
        changes += [verdicts[0] != verdicts[-1] for verdicts in said.values() if len(verdicts) > 1]
    return sum(changes) / len(changes) if changes else None
