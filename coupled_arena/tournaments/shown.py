"""What whoever judges a battle is shown of it, a person or a model, and the digest that names it."""

import hashlib
from collections.abc import Iterator, Sequence

from coupled_arena.protocols.committee import Case
from coupled_arena.records import Battle, Question
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.storage import packing
from coupled_arena.tournaments.storage.reader import RunReader
from coupled_arena.tournaments.stored import definition_of


def case_of(battle: Battle, question: Question, tournament: Tournament) -> Case:
    """Return what is shown of a battle to whoever judges it."""
    return Case(question, battle.turns, tournament.battle.script)


def digest_of(case: Case, hidden: tuple[str, ...]) -> str:
    """Return the digest of what is shown of a battle in its own frame: 32 hex digits, whoever debated.

    Args:
        case: the battle as judges see it.
        hidden: actions that are not shown.
    """
    rounds = [
        [number, [[said.label, [[section.tag, section.text] for section in said.sections]] for said in spoken]]
        for number, spoken in case.rounds("AB", hidden).items()
    ]
    return hashlib.blake2b(packing.as_json([case.question.text, rounds]).encode(), digest_size=16).hexdigest()


def shown_in(run: RunReader, ids: Sequence[str] | None = None) -> Iterator[tuple[str, Battle]]:
    """Yield the judged battles of a run, each with the digest of what was shown, a few in memory at a time.

    Args:
        run: the run.
        ids: which of its battles; None is all.

    Raises:
        RunNotFound: the run is no tournament but a bench.
    """
    tournament = definition_of(run)
    questions = {question.id: question for question in run.load_questions()}
    for battle in run.each_battle(ids):
        if battle.opinions and battle.question in questions:
            case = case_of(battle, questions[battle.question], tournament)
            yield digest_of(case, tournament.committee.hidden), battle
