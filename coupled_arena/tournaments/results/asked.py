"""What a result says of its questions: which of them stand out, and whether they suit their authors' families."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from coupled_arena.analysis.authors import Advantage, advantage_of
from coupled_arena.analysis.questions import QuestionStanding, named
from coupled_arena.models.families import family_of
from coupled_arena.prompts import leak
from coupled_arena.records import Battle, Question
from coupled_arena.tournaments.definition import Tournament

if TYPE_CHECKING:
    import pandas as pd

QUESTION_COLUMNS = (
    "question", "domain", "author", "difficulty", "battles", "hardness", "hardness_reliability", "silent", "contested",
    "contested_reliability", "changed", "leak", "text",
)  # fmt: skip
"""Columns of `Result.question_table`, in order."""

MOST_NAMED = 3
"""Most questions in another language that a caveat names."""

EXTREMES = {"hardest": ("hardness", False), "easiest": ("hardness", True), "contested": ("contested", False)}
"""What is named of questions: by which column, and whether its lowest values."""


def advantages(
    tournament: Tournament, questions: Iterable[Question], battles: Sequence[Battle]
) -> tuple[Advantage, ...]:
    """Return for every examiner whether its questions suit its own family."""
    authors = {question.id: question.author for question in questions}
    return tuple(
        advantage_of(
            examiner.name,
            [model.name for model in tournament.models if family_of(model) == family_of(examiner)],
            battles,
            authors,
        )
        for examiner in tournament.examiners
    )


def extremes(standings: Sequence[QuestionStanding]) -> dict[str, tuple[QuestionStanding, ...]]:
    """Return the questions that stand out, by the keys of `EXTREMES`."""
    return {key: named(standings, by, lowest=lowest) for key, (by, lowest) in EXTREMES.items()}


def extreme_lines(standings: Sequence[QuestionStanding]) -> tuple[str, ...]:
    """Return the questions that stand out, in words: nothing where none does."""
    found = extremes(standings)
    return tuple(
        f"{'most contested' if key == 'contested' else key} questions: "
        + ", ".join(f"{one.question} ({getattr(one, EXTREMES[key][0]):.2f})" for one in standing)
        for key, standing in found.items()
        if standing
    )


def question_table(questions: Iterable[Question], standings: Iterable[QuestionStanding]) -> "pd.DataFrame":
    """Return a line for every question, the hardest first; those without a battle come last."""
    import pandas as pd

    known = {standing.question: standing for standing in standings}
    lines = [_line(question, known.get(question.id)) for question in questions]
    lines.sort(key=lambda line: (line["hardness"] is None, -(line["hardness"] or 0.0), line["question"]))
    table = pd.DataFrame(lines, columns=list(QUESTION_COLUMNS))
    numbers = ("hardness", "hardness_reliability", "silent", "contested", "contested_reliability", "changed")
    return table.astype(dict.fromkeys(numbers, float)).astype({"battles": int})


def strayed(questions: Iterable[Question]) -> tuple[str, ...]:
    """Return as a caveat which questions are not wholly in their language."""
    found = [(q, where) for q in questions if (where := leak(q.text, q.language)) is not None]
    if not found:
        return ()
    names = ", ".join(f"{q.id} ({where.share:.0%} {where.language})" for q, where in found[:MOST_NAMED])
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    return (f"questions in another language than {found[0][0].language}, wholly or partly: {names}{more}",)


def _line(question: Question, standing: QuestionStanding | None) -> Mapping[str, Any]:
    found = leak(question.text, question.language)
    own = {column: getattr(question, column) for column in ("domain", "author", "difficulty", "text")}
    fared = {
        column: getattr(standing, column, None)
        for column in QUESTION_COLUMNS
        if column in QuestionStanding.__dataclass_fields__
    }
    return {
        **fared,
        **own,
        "question": question.id,
        "battles": 0 if standing is None else standing.battles,
        "leak": None if found is None else found.language,
    }
