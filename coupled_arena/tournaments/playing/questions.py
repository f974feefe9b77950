"""Where a tournament's questions come from: records, a file, an examiner, and the set that ships with the package."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coupled_arena.agents.messages import StepAnswer
from coupled_arena.errors import ModelError
from coupled_arena.models.model import Model
from coupled_arena.prompts import PromptSet, bundled_questions, load_questions, near_duplicate
from coupled_arena.protocols import Rejected
from coupled_arena.protocols.examination import Examination
from coupled_arena.protocols.reference import ReferenceAgenda
from coupled_arena.records import Question
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.derived import Derived, JudgedAnew, WithNewcomer
from coupled_arena.tournaments.panels import AuthorOf
from coupled_arena.tournaments.playing.conversations import hold, together
from coupled_arena.tournaments.playing.examining import examine
from coupled_arena.tournaments.playing.seating import Seating
from coupled_arena.tournaments.results.asked import strayed
from coupled_arena.tournaments.schedules import Adaptive

BUNDLED = "bundled"
"""Author of the questions that ship with the package."""
_STOPPED = "it builds on a run that was adaptive and stopped by what it saw: intervals and ranks do not allow for that"


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """The questions of a run."""

    questions: tuple[Question, ...]
    """By domain, in the order of the definition."""
    rejected: tuple[Rejected, ...] = ()
    """What examiners wrote and is not used."""
    caveats: tuple[str, ...] = ()
    """What a reader of the leaderboard must know about them."""
    unread: frozenset[str] = frozenset()
    """Ids of the questions whose reference answers no judge is shown."""

    @property
    def shown(self) -> tuple[Question, ...]:
        """The questions as battles are fought over them."""
        return tuple(q.model_copy(update={"reference": None}) if q.id in self.unread else q for q in self.questions)


def given_questions(tournament: Tournament) -> tuple[Question, ...]:
    """Return the questions of the definition or its file that are asked, by domain; see `chosen`.

    Raises:
        ConfigurationError: the file cannot be read; every problem with its line.
    """
    given = tournament.questions or ()
    if isinstance(given, Path):
        given = load_questions(given, language=tournament.language)
    return chosen(tournament, given)


def known_questions(tournament: Tournament) -> tuple[Question, ...] | None:
    """Return the questions of a tournament as they are before the first call, or None if an examiner writes them."""
    if tournament.questions is not None:
        return given_questions(tournament)
    if tournament.examiners:
        return None
    most = tournament.questions_per_domain
    return tuple(q for domain in tournament.domains for q in bundled_questions(tournament.language, domain)[:most])


def domains_of(tournament: Tournament) -> tuple[str, ...]:
    """Return the domains that are asked about, in order."""
    known = known_questions(tournament)
    return tournament.domains if known is None else tuple(dict.fromkeys(question.domain for question in known))


def chosen(tournament: Tournament, given: Sequence[Question]) -> tuple[Question, ...]:
    """Return which of one's own questions are asked, by domain.

    All of them, unless the definition also lists `domains` (then only of these) or says `questions_per_domain` (then
    the first ones of each).
    """
    own = dict.fromkeys(question.domain for question in given)
    domains = tournament.domains if "domains" in tournament.model_fields_set else tuple(own)
    most = tournament.questions_per_domain if "questions_per_domain" in tournament.model_fields_set else None
    return tuple(question for domain in domains for question in [q for q in given if q.domain == domain][:most])


async def questions_of(tournament: Tournament, seating: Seating, prompts: PromptSet) -> QuestionSet:
    """Return the questions of a run: those of the run it is derived from, or gathered anew."""
    if not isinstance(tournament, Derived):
        return await gather(tournament, seating, prompts)
    questions = tournament.base.questions
    wanting = [question for question in questions if prompts.domain(question.domain).needs_reference]
    without = sum(question.reference is None for question in wanting)
    caveats = [*strayed(questions)]
    if without and tournament.committee.references:
        caveats.append(f"{without} of {len(wanting)} questions that want a reference answer have none")
    unread = frozenset[str]()
    if isinstance(tournament, WithNewcomer) and _answered_for_judges(tournament, seating):
        unread = frozenset(question.id for question in wanting if question.reference)
    if isinstance(tournament, WithNewcomer) and unread:
        caveats.append(f"{tournament.newcomer.name} writes reference answers: its own battles are judged without them")
    if isinstance(tournament, JudgedAnew) and tournament.openings:
        caveats.append("the judges were shown the two openings only")
    before = tournament.base.tournament.schedule
    if not isinstance(tournament.schedule, Adaptive) and (
        isinstance(before, Adaptive) or _STOPPED in tournament.base.caveats
    ):
        caveats.append(_STOPPED)
    return QuestionSet(questions, caveats=tuple(caveats), unread=unread)


def _answered_for_judges(tournament: WithNewcomer, seating: Seating) -> bool:
    """Return whether a newcomer wrote the reference answers of the run it comes into."""
    before, _ = reference_writer(tournament.base.tournament, seating.author_of)
    return before is not None and reference_writer(tournament, seating.author_of)[0] is None


async def gather(tournament: Tournament, seating: Seating, prompts: PromptSet) -> QuestionSet:
    """Return the questions of a run, with reference answers where they are wanted.

    Raises:
        ModelError: nobody supplied a single question.
    """
    given = given_questions(tournament)
    if tournament.questions is not None:
        asked = QuestionSet(given)
    else:
        written = await together(examine(tournament, seating, prompts, domain) for domain in tournament.domains)
        asked = _filled_up(tournament, prompts, written)
    if not asked.questions:
        raise ModelError(f"{tournament.name}: no question for any domain; {'; '.join(asked.caveats)}")
    asked = replace(asked, caveats=(*asked.caveats, *strayed(asked.questions)))
    return await _with_references(tournament, seating, prompts, asked)


def _filled_up(tournament: Tournament, prompts: PromptSet, written: Sequence[Examination]) -> QuestionSet:
    """Return what examiners wrote about the domains, none of it twice, with bundled questions in place of the rest."""
    asked = QuestionSet(())
    for domain, examination in zip(tournament.domains, written, strict=True):
        before = [question.text for question in asked.questions]
        own = _one_domain(tournament, prompts, domain, examination, before)
        asked = QuestionSet(
            (*asked.questions, *own.questions), (*asked.rejected, *own.rejected), (*asked.caveats, *own.caveats)
        )
    return asked


def _one_domain(
    tournament: Tournament, prompts: PromptSet, domain: str, written: Examination, before: Sequence[str]
) -> QuestionSet:
    """Leave out what nearly repeats a question of another domain, and fill up from the bundled set, visibly."""
    wanted = tournament.questions_per_domain
    again = [question for question in written.questions if near_duplicate(question.text, before)]
    kept = {question.id: question for question in written.questions if question not in again}
    texts = [*before, *(question.text for question in kept.values())]
    free = [name for number in range(1, wanted + 1) if (name := f"{domain}-{number}") not in kept]
    spare = [q for q in bundled_questions(prompts.language, domain) if not near_duplicate(q.text, texts)]
    taken = {
        name: question.model_copy(update={"id": name, "author": BUNDLED})
        for name, question in zip(free, spare, strict=False)
    }
    caveats: list[str] = []
    if free and tournament.examiners:
        repeated = f"{len(again)} nearly repeat a question of another domain" if again else ""
        why = "; ".join(filter(None, (written.problem, repeated)))
        caveats.append(f"{domain}: {len(taken)} of {wanted} questions are bundled ones; {why}")
    if len(kept) + len(taken) < wanted:
        caveats.append(f"{domain}: {len(kept) + len(taken)} of {wanted} questions could be had")
    asked = {**kept, **taken}
    rejected = [Rejected(domain=domain, text=q.text, reason="near-duplicate", author=q.author) for q in again]
    numbered = (f"{domain}-{number}" for number in range(1, wanted + 1))
    return QuestionSet(
        tuple(asked[name] for name in numbered if name in asked), (*written.rejected, *rejected), tuple(caveats)
    )


def reference_writer(tournament: Tournament, author_of: AuthorOf) -> tuple[Model | None, str]:
    """Return who writes reference answers, or why nobody does: a writer must play in no battle.

    The model named as `reference`, else the first examiner that plays in no battle.
    """
    writers = tournament.examiners if tournament.reference is None else (tournament.reference,)
    if not tournament.committee.references:
        return None, "references are switched off"
    if not writers:
        return None, "references are off: no examiner and no reference model is named"
    for writer in writers:
        if not any(writer.name == m.name or author_of(writer) == author_of(m) for m in tournament.models):
            return writer, ""
    names = " and ".join(writer.name for writer in writers)
    plays = "plays" if len(writers) == 1 else "play"
    return None, f"references are off: {names} {plays} in this tournament; name another model as `reference`"


async def _with_references(
    tournament: Tournament, seating: Seating, prompts: PromptSet, asked: QuestionSet
) -> QuestionSet:
    needing = [q for q in asked.questions if prompts.domain(q.domain).needs_reference and q.reference is None]
    if not needing:
        return asked
    writer, why_not = reference_writer(tournament, seating.author_of)
    if writer is None:
        return QuestionSet(asked.questions, asked.rejected, (*asked.caveats, why_not))
    answers = await together(_reference(question, writer, seating, prompts) for question in needing)
    written = {q.id: answer.sections[0].text for q, answer in zip(needing, answers, strict=True) if answer.sections}
    caveats = asked.caveats
    if len(written) < len(needing):
        why = next(f"{a.outcome}: {a.detail}".rstrip(": ") for a in answers if not a.sections)
        caveats += (f"{writer.name} wrote {len(written)} of {len(needing)} reference answers ({why})",)
    questions = tuple(
        q.model_copy(update={"reference": written[q.id]}) if q.id in written else q for q in asked.questions
    )
    return QuestionSet(questions, asked.rejected, caveats)


async def _reference(question: Question, writer: Model, seating: Seating, prompts: PromptSet) -> StepAnswer:
    agenda = ReferenceAgenda(question, prompts, seating.table.reference(question.id, writer.name))
    agents = {"reference": seating.reference(writer)}
    return await hold(agenda, agents, conversation=f"reference:{question.id}")
