"""How many battles a tournament has at most."""

from collections import Counter
from collections.abc import Sequence

from coupled_arena.records import Question
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.derived import JudgedAnew
from coupled_arena.tournaments.playing.questions import known_questions


def battles_of(tournament: Tournament) -> tuple[int, int]:
    """Return how many battles are played at most: in all, and by one model.

    >>> battles_of(Tournament(models=["sim/a", "sim/b", "sim/c"], domains=["math"], questions_per_domain=2))
    (4, 4)
    """
    return battles_over(tournament, known_questions(tournament))


def battles_over(tournament: Tournament, known: Sequence[Question] | None) -> tuple[int, int]:
    """Return what `battles_of` does, for questions that are at hand; None where an examiner writes them."""
    found = battles_by_domain(tournament, known).values()
    return sum(battles for battles, _ in found), sum(own for _, own in found)


def battles_by_domain(tournament: Tournament, known: Sequence[Question] | None) -> dict[str, tuple[int, int]]:
    """Return what `battles_over` does for every domain, in the order of the questions."""
    if isinstance(tournament, JudgedAnew):
        return {domain: (count, 0) for domain, count in Counter(b.domain for b in tournament.judged).items()}
    asked = questions_by_domain(tournament, known)
    return {domain: _battles(tournament, questions) for domain, questions in asked.items()}


def questions_by_domain(tournament: Tournament, known: Sequence[Question] | None) -> dict[str, int]:
    """Return how many questions every domain has at most, in the order of the questions."""
    most = dict.fromkeys(tournament.domains, tournament.questions_per_domain)
    return most if known is None else dict(Counter(question.domain for question in known))


def _battles(tournament: Tournament, questions: int) -> tuple[int, int]:
    models = len(tournament.models)
    each = questions * tournament.battle.replicates * (2 if tournament.battle.sides == "both" else 1)
    each *= len(tournament.arms)
    matches, own = tournament.schedule.matches(models)
    return matches * each, own * each
