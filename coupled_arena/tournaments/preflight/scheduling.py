"""What can be known of a schedule before the first call: whom it names, what it answers first, what it cannot tell."""

from collections.abc import Iterator

from coupled_arena.errors import HERE, ConfigurationError, Problem
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.playing.questions import known_questions
from coupled_arena.tournaments.preflight.extent import questions_by_domain
from coupled_arena.tournaments.results.caveats import one_baseline
from coupled_arena.tournaments.schedules import Adaptive, Against, Insertion, Standings, Swiss
from coupled_arena.tournaments.schedules.own import OwnSchedule


def absentees(tournament: Tournament) -> Iterator[Problem]:
    """Yield the models that a schedule names and that do not play."""
    names = {model.name for model in tournament.models}
    rule = tournament.schedule
    named = {
        "schedule.baseline": [rule.baseline] if isinstance(rule, Against) else (),
        "schedule.pair": (rule.pair or ()) if isinstance(rule, Adaptive) else (),
        "schedule.newcomer": [rule.newcomer] if isinstance(rule, Insertion) else (),
        "schedule.scores": sorted((rule.scores if isinstance(rule, Insertion | Swiss) else None) or ()),
    }
    for key, listed in named.items():
        for name in listed:
            if name not in names:
                yield Problem(HERE, key, f"{name!r} does not play; the names are {', '.join(sorted(names))}")
    if isinstance(rule, Adaptive) and rule.top is not None and rule.top >= len(names):
        yield Problem(HERE, "schedule.top", f"must be below {len(names)}, the number of models")


def first_round(tournament: Tournament) -> Iterator[Problem]:
    """Yield what is wrong with the first answer of a schedule in Python, which depends on nothing that is played."""
    rule = tournament.schedule
    if not isinstance(rule, OwnSchedule) or rule.rule is None:
        return
    questions = sum(questions_by_domain(tournament, known_questions(tournament)).values())
    names = tuple(model.name for model in tournament.models)
    try:
        if not rule.next_round(Standings(names, tournament.seed, questions=questions)):
            yield Problem(HERE, "schedule", f"{rule.name} asks for no match in its first round")
    except ConfigurationError as error:
        yield from error.problems


def schedule_notes(tournament: Tournament) -> Iterator[str]:
    """Yield what a schedule cannot tell, and what is not known of it."""
    yield from one_baseline(tournament)
    rule = tournament.schedule
    if isinstance(rule, OwnSchedule) and not rule.is_bounded:
        yield f"{rule.name} says nothing of how long it goes on: the figures are of a round robin, the most it may play"
