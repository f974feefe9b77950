"""Further questions of the kind that a tournament asks: new claims, the same domains and spreads of quality."""

from coupled_arena.models.simulated.dials import read_dials
from coupled_arena.models.simulated.examiner import GRADES
from coupled_arena.models.simulated.wording import spread_said, wordings
from coupled_arena.records import Question
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.playing.questions import known_questions

AUTHOR = "truth"
"""Author of questions that only the truth is computed over."""


def further_questions(tournament: Tournament, count: int) -> tuple[Question, ...]:
    """Return questions whose domains and spreads have the shares they have in a tournament, as far as `count` allows.

    A world knows a question by its text alone, so that any new text stands for a question nobody has asked.

    >>> tournament = Tournament(models=["sim/a", "sim/b"], judges=["sim/j"], examiner="sim/x?difficulty=2",
    ...     domains=["math", "stem"], difficulty={"math": "easy"})
    >>> [question.text for question in further_questions(tournament, 4)[1:3]]
    ['Further question 1. Difficulty: 1.00.', 'Further question 2. Difficulty: 2.00.']
    """
    kinds = _kinds(tournament)
    english = wordings()["en"]
    questions = []
    for number in range(count):
        domain, spread = kinds[number * len(kinds) // count]
        graded = [] if spread is None else [english.graded.format(spread=f"{spread:.2f}")]
        questions.append(
            Question(
                id=f"{AUTHOR}-{number}",
                domain=domain,
                language=tournament.language,
                text=english.join([f"Further question {number}.", *graded]),
                author=AUTHOR,
            )
        )
    return tuple(questions)


def _kinds(tournament: Tournament) -> list[tuple[str, float | None]]:
    """Return domain and spread, None where none is said, of the questions of a tournament, as often as they occur."""
    known = known_questions(tournament)
    if known is not None:
        return [(question.domain, spread_said(question.text)) for question in known]
    graders = [read_dials(tournament.model_of(examiner).model).difficulty for examiner in tournament.examiners]
    return [
        (domain, difficulty * GRADES[tournament.difficulty_in(domain)] if difficulty else None)
        for domain in tournament.domains
        for difficulty in graders
    ]
