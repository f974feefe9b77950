"""What examiners write: who is asked for how many questions of each domain, one after the other."""

from functools import partial

from coupled_arena.coupling import Dice, noise_key, permutation
from coupled_arena.prompts import PromptSet
from coupled_arena.protocols import ExaminationAgenda, Rejected
from coupled_arena.protocols.examination import Examination
from coupled_arena.records import Question
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.playing.conversations import hold
from coupled_arena.tournaments.playing.seating import Seating


def shares(tournament: Tournament) -> dict[str, dict[str, int]]:
    """Return how many questions of each domain each examiner is asked for, in the order in which they are asked.

    Every examiner writes the same number in every domain, as far as that goes. Who writes the odd ones, and who is
    asked first, is drawn from the seed and passed on from domain to domain, so that no two examiners differ by more
    than one question over all domains.

    >>> models = ["sim/a", "sim/b"]
    >>> shares(Tournament(models=models, examiner=["sim/x", "sim/y"], domains=["math", "stem"]))
    {'math': {'sim/y': 3, 'sim/x': 2}, 'stem': {'sim/x': 3, 'sim/y': 2}}
    """
    names = [examiner.name for examiner in tournament.examiners]
    if not names:
        return {domain: {} for domain in tournament.domains}
    key = noise_key(seed=tournament.seed, scope=("examiners",), role=("schedule",), label=(), part="order")
    order = [names[place] for place in permutation(len(names), key)]
    each, odd = divmod(tournament.questions_per_domain, len(order))
    found: dict[str, dict[str, int]] = {}
    for number, domain in enumerate(tournament.domains):
        first = number * (odd or 1) % len(order)
        turns = order[first:] + order[:first]
        found[domain] = {name: each + (place < odd) for place, name in enumerate(turns)}
    return found


async def examine(tournament: Tournament, seating: Seating, prompts: PromptSet, domain: str) -> Examination:
    """Ask every examiner for its share of a domain; each knows what those before it wrote, and repeats none of it.

    Its `problem` is what kept each of them from writing its share.
    """
    examiners = {examiner.name: examiner for examiner in tournament.examiners}
    questions: list[Question] = []
    rejected: list[Rejected] = []
    problems: list[str] = []
    for name, count in shares(tournament)[domain].items():
        if not count:
            continue
        agenda = ExaminationAgenda(
            name,
            domain,
            count,
            prompts,
            partial(_dice, seating, domain, prompts.language, name),
            known=[question.text for question in questions],
            difficulty=tournament.difficulty_in(domain),
        )
        conversation = f"examination:{domain}" if len(examiners) == 1 else f"examination:{domain}:{name}"
        written = await hold(agenda, {"examiner": seating.examiner(examiners[name])}, conversation=conversation)
        questions += written.questions
        rejected += written.rejected
        if written.problem:
            problems.append(f"{name}: {written.problem}")
    return Examination(tuple(questions), tuple(rejected), "; ".join(problems))


def _dice(seating: Seating, domain: str, language: str, examiner: str, batch: int) -> Dice:
    return seating.table.examiner(domain, language, batch, examiner)
