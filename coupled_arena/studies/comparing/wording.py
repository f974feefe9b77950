"""A comparison in words: the same on the command line, in Python and in JSON."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from coupled_arena.ratings.score import Score
from coupled_arena.shown import plural

if TYPE_CHECKING:
    from coupled_arena.studies.comparing.comparison import Asked, Domain

MOST_NAMED = 8
"""Most questions that are named in a line."""

_DIGITS = 3


def percent(share: float) -> str:
    """Return a share in per cent, with as many decimals as it takes to tell it from 0, 50 and 100.

    >>> [percent(share) for share in (0.684, 0.5, 0.5021, 0.997, 1.0)]
    ['68', '50', '50.2', '99.7', '100']
    """
    for digits in range(_DIGITS):
        shown = f"{100 * share:.{digits}f}"
        if float(shown) not in (0, 50, 100) or math.isclose(100 * share, float(shown), abs_tol=1e-9):
            return shown
    return f"{100 * share:.{_DIGITS}f}"


def answer(score: Score, played: int, questions: int | None = None) -> str:
    """Return which model is better, with the interval and whether it is settled.

    Args:
        score: of one model against the other.
        played: battles, rated or not.
        questions: how many there are, where battles stop once it is settled; None where all are asked in any case.
    """
    if score.share is None:
        none = f"none of their {plural(played, 'battle')} could be rated" if played else "no battle was played"
        return f"nothing can be said of {score.a} and {score.b}: {none}."
    if math.isclose(score.share, 0.5, abs_tol=1e-9):
        all_tied = score.ties == score.battles
        what = f"all of their {score.battles} battles are ties" if all_tied else f"each scores 50 % of {_rated(score)}"
        return f"{score.a} and {score.b} are level: {what}{_interval(score)}; {_state(score, questions)}."
    ahead = score if score.share > 0.5 else score.turned()
    verb = "beats" if score.settled else "leads"
    won = f"it wins {percent(_known(ahead.share))} % of {_rated(score)}"
    return f"{ahead.a} {verb} {ahead.b}: {won}{_interval(ahead)}; {_state(score, questions)}."


def _rated(score: Score) -> str:
    return plural(score.battles, "battle") + (", ties counted half" if score.ties else "")


def _interval(score: Score) -> str:
    return "" if score.low is None else f" (95 % interval {_range(score)})"


def _range(score: Score) -> str:
    return f"{percent(_known(score.low))} to {percent(_known(score.high))} %"


def _state(score: Score, questions: int | None) -> str:
    if score.settled:
        return "settled" if questions is None else f"settled after {score.questions} of {plural(questions, 'question')}"
    if score.low is None:
        few = "is" if score.questions == 1 else "are"
        return f"not settled: {plural(score.questions, 'question')} {few} too few for an interval"
    if score.more_questions is None:
        return "not settled"
    return f"not settled: about {plural(score.more_questions, 'more question')} would settle it if this stays so"


def by_domain(domains: Sequence["Domain"]) -> Iterator[str]:
    """Yield the score of every domain, where there are several and any battle was rated."""
    if len(domains) < 2 or all(score.share is None for _, score in domains):
        return
    width = max(len(name) for name, _ in domains)
    yield f"score of {domains[0].score.a} by domain (95 % intervals that hold for all of them together):"
    for name, score in domains:
        yield f"  {name:<{width}}  {_in_domain(score)}"


def _in_domain(score: Score) -> str:
    if score.share is None:
        return "no battle could be rated"
    line = f"{percent(score.share):>3} % of {_rated(score)}"
    if score.low is None:
        return f"{line}: too few questions for an interval"
    line += f" ({_range(score)})"
    return f"{line}: {score.a if score.share > 0.5 else score.b} is better here" if score.settled else line


def by_question(questions: Sequence["Asked"], a: str) -> Iterator[str]:
    """Yield on how many questions a model was ahead, behind and level, and which ones the rarer cases are."""
    groups: dict[str, list[str]] = {"ahead": [], "behind": [], "level": []}
    for asked in questions:
        if asked.share is not None:
            groups["level" if asked.share == 0.5 else "ahead" if asked.share > 0.5 else "behind"].append(asked.id)
    found = {name: ids for name, ids in groups.items() if ids}
    if found:
        usual = max(found, key=lambda name: len(found[name]))
        parts = (f"{name} on {len(ids)}{'' if name == usual else f' ({_listed(ids)})'}" for name, ids in found.items())
        yield f"by question {a} is {', '.join(parts)}"


def _listed(ids: Sequence[str]) -> str:
    more = len(ids) - MOST_NAMED
    return ", ".join(ids[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def outcomes(counted: Mapping[str, int], score: Score) -> str:
    """Return what became of all battles."""
    parts = ", ".join(f"{number} {status}" for status, number in counted.items())
    return (
        f"{plural(sum(counted.values()), 'battle')}: {parts}; "
        f"{score.a} won {score.wins}, lost {score.losses}, tied {score.ties}"
    )


def of_sides(sides: Score) -> Iterator[str]:
    """Yield whether the side that spoke first had an advantage, whoever spoke there."""
    if sides.share is None:
        return
    line = f"the side that spoke first wins {percent(sides.share)} % of {_rated(sides)}"
    if sides.low is not None:
        line += f" ({_range(sides)})"
    if sides.settled:
        favoured = "first" if sides.share > 0.5 else "second"
        line += f": speaking {favoured} is an advantage here; each model speaks first on half of the questions"
    yield line


def looks(stops: bool) -> Iterator[str]:
    """Yield what intervals hold for where battles stop once it is settled."""
    if stops:
        yield "intervals hold at every look, so that battles may stop once it is settled; they are wider for that"


def scope(judges: Sequence[str]) -> str:
    """Return whom and what the answer is about."""
    same = "judge" if len(judges) == 1 else "judges"
    return f"judged by {', '.join(judges)}; intervals are for more questions like these before the same {same}"


def _known(share: float | None) -> float:
    return math.nan if share is None else share
