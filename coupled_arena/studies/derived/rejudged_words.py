"""A run judged anew in words: the same on the command line, in Python and in JSON."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from coupled_arena.analysis import Agreement
from coupled_arena.ratings.shifts import Shift
from coupled_arena.reports.summary import dice
from coupled_arena.shown import plural
from coupled_arena.studies.comparing.wording import percent

if TYPE_CHECKING:
    from coupled_arena.studies.derived.rejudged import Rejudged


def answer(found: "Rejudged") -> str:
    """Return how many decisions change, and whether the ranking does."""
    what = f"{found.changed} of {found.judged} decisions change"
    if found.agreement.value is not None:
        what += f" (agreement {percent(found.agreement.value)} %{_beyond(found.kappa)})"
    return f"judged anew, {what}; {_ranking(found)}."


def lines(found: "Rejudged") -> Iterator[str]:
    """Yield what belongs to the answer."""
    yield f"{found.result.run} judges the debates of {found.base}: {_panel(found)}"
    width = max(len(shift.model) for shift in found.shifts)
    yield "ranks and ratings, old and new (intervals of the moves hold for all models together):"
    for shift in found.shifts:
        yield f"  {shift.model:<{width}}  {_rank(shift)}; {_rating(shift)}"
    for change in found.arms.changes:
        if change.turned:
            state = "resolved" if change.resolved else "not resolved"
            yield f"{change.a} and {change.b} change places ({change.first:+z.0f} and {change.second:+z.0f}: {state})"
    if found.turned:
        yield f"decisions that change: {', '.join(f'{n} from {x} to {y}' for x, y, n in found.turned)}"
    stood = len(found.result.leading) - found.judged
    if stood:
        yield f"{plural(stood, 'battle')} left as played: given away, or broken off before a judge was asked"
    yield dice(found.result.shared())
    yield from (f"note: {caveat}" for caveat in found.result.caveats)


def _beyond(kappa: Agreement) -> str:
    if kappa.value is None:
        return ""
    interval = "" if kappa.low is None or kappa.high is None else f", 95 % interval {kappa.low:.2f} to {kappa.high:.2f}"
    return f", kappa {kappa.value:.2f}{interval}"


def _ranking(found: "Rejudged") -> str:
    if not found.reordered:
        return "the ranking stays as it was"
    moved = [f"{s.model} from {s.before or '-'} to {s.after or '-'}" for s in found.shifts if s.before != s.after]
    settled = "settled for at least one pair" if found.differ else "settled for no pair"
    return f"the ranking changes ({', '.join(moved)}): {settled}"


def _panel(found: "Rejudged") -> str:
    sat = {opinion.judge: None for battle in found.result.battles for opinion in battle.opinions}
    names = ", ".join(judge.name for judge in found.result.tournament.judging_models if judge.name in sat)
    return f"judges {names}" if names else "nobody judged"


def _rank(shift: Shift) -> str:
    places = f"rank {shift.before or '-'} to {shift.after or '-'}"
    if shift.shift is None or shift.low is None or shift.high is None:
        return places
    return f"{places}, {shift.shift:+d} ({shift.low:+d} to {shift.high:+d})"


def _rating(shift: Shift) -> str:
    if shift.change is None:
        return "no rating to compare"
    moved = f"rating {shift.rating_before:.0f} to {shift.rating_after:.0f}, {round(shift.change):+d}"
    if shift.change_low is None or shift.change_high is None:
        return moved
    return f"{moved} ({round(shift.change_low):+d} to {round(shift.change_high):+d})"
