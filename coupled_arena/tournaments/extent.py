"""How many battles a tournament has at most."""

from collections.abc import Sequence

from coupled_arena.records import Question
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.questions import known_questions


def battles_of(tournament: Tournament) -> tuple[int, int]:
    """Return how many battles are played at most: in all, and by one model.

    >>> battles_of(Tournament(models=["sim/a", "sim/b", "sim/c"], domains=["math"], questions_per_domain=2))
    (4, 4)
    """
    return battles_over(tournament, known_questions(tournament))


def battles_over(tournament: Tournament, known: Sequence[Question] | None) -> tuple[int, int]:
    """Return what `battles_of` does, for questions that are at hand; None where an examiner writes them."""
    models = len(tournament.models)
    questions = len(tournament.domains) * tournament.questions_per_domain if known is None else len(known)
    each = questions * tournament.battle.replicates * (2 if tournament.battle.sides == "both" else 1)
    each *= len(tournament.arms)
    matches, own = tournament.schedule.matches(models)
    return matches * each, own * each
