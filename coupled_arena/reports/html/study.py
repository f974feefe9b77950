"""What a study of a run's judges finds, as far as its opinions can tell."""

from coupled_arena.analysis.correction import correct
from coupled_arena.analysis.judges import Estimate, Opinions
from coupled_arena.errors import RatingError
from coupled_arena.reports.html.document import Freed, Measured, Measures, Study
from coupled_arena.studies.judging.gathering import Gathered
from coupled_arena.studies.judging.measures import JUDGES, PANEL
from coupled_arena.studies.judging.reading import read_gathered, read_opinions
from coupled_arena.studies.judging.report import JudgeReport
from coupled_arena.studies.judging.study import studied
from coupled_arena.tournaments.results.documents import rounded
from coupled_arena.tournaments.results.result import Result

ELSEWHERE = frozenset({"ties", "moved", "alpha_before", "alpha_after"})
"""Measures that a page shows in another place."""


def study_of(result: Result, gathered: Gathered | None = None) -> Study | None:
    """Return what a study of the judges finds (`studies.judging`); None where nobody gave an opinion.

    Args:
        result: what the run comes to.
        gathered: the opinions of all its battles; by default they are read from the store.
    """
    if not any(battle.opinions for battle in result.battles):
        return None
    found = studied(read_opinions(result) if gathered is None else read_gathered(gathered, result))
    freed, told = _corrected(found.table)
    return Study(
        measures=_measures(found),
        panel=tuple(
            _measured(measure.meaning, found.committee[measure.name])
            for measure in PANEL
            if measure.name not in ELSEWHERE and found.committee[measure.name].value is not None
        ),
        minority=tuple((one.battle, one.judge) for one in found.minority),
        notes=found.notes,
        corrected=freed,
        corrected_notes=told,
    )


def _corrected(opinions: Opinions) -> tuple[tuple[Freed, ...], tuple[str, ...]]:
    """Return the corrected ratings and what must be known of them; without ratings, why there are none."""
    try:
        found = correct(opinions)
    except RatingError as reason:
        return (), (str(reason),)
    own, place = found.ratings, {name: at for at, name in enumerate(found.ratings.names)}
    freed = (
        Freed(
            model=name,
            raw=rounded(found.raw.rating(name)),
            corrected=rounded(own.rating(name)),
            low=rounded(own.low[place[name]]),
            high=rounded(own.high[place[name]]),
        )
        for name in own.ranking
    )
    return tuple(freed), found.notes


def _measures(found: JudgeReport) -> tuple[Measures, ...]:
    """Return every measure that is known of one judge at least."""
    known = [
        measure
        for measure in JUDGES
        if measure.name not in ELSEWHERE and any(row.estimates[measure.name].value is not None for row in found.rows)
    ]
    return tuple(
        Measures(
            title=measure.name.replace("_", " "),
            meaning=measure.meaning,
            judges=tuple(_measured(row.judge, row.estimates[measure.name]) for row in found.rows),
        )
        for measure in known
    )


def _measured(name: str, found: Estimate) -> Measured:
    return Measured(
        name=name, value=rounded(found.value), low=rounded(found.low), high=rounded(found.high), reason=found.reason
    )
