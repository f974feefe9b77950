"""What a definition makes of a tournament that its author may not expect: no problems, but worth knowing before."""

from collections.abc import Collection, Iterator, Sequence

from coupled_arena.models.calls import Spent
from coupled_arena.models.families import family_of
from coupled_arena.models.limits.limit import patterns_for
from coupled_arena.models.model import Model
from coupled_arena.shown import plural
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.panels import ADVISABLE_JUDGES, AuthorOf, eligible, panels_in
from coupled_arena.tournaments.playing.questions import domains_of, reference_writer
from coupled_arena.tournaments.preflight.casting import cast
from coupled_arena.tournaments.preflight.scheduling import schedule_notes

MOST_PAIRS_LISTED = 3
"""Most pairs with few judges that are named."""


def notes_on(tournament: Tournament, author_of: AuthorOf, asked: Collection[Model], worst: Spent) -> Iterator[str]:
    """Yield what is worth knowing before a run.

    Args:
        tournament: the definition.
        author_of: names the author of a model's texts.
        asked: every model that may be asked.
        worst: what the run may still spend at most, as far as that is known.
    """
    yield from _budget(tournament, worst)
    yield from _limits(tournament, [model.model for model in asked if model.kind == "hosted"])
    yield from _families(tournament)
    yield from _small_committees(tournament, author_of)
    yield from schedule_notes(tournament)
    yield from _references(tournament, author_of)
    yield from _uncounted(tournament)


def _budget(tournament: Tournament, worst: Spent) -> Iterator[str]:
    """Yield the bounds that a run may reach before its end."""
    budget = tournament.budget
    for name, bound, most in (
        ("usd", budget.usd, worst.usd),
        ("tokens", budget.tokens, worst.tokens),
        ("calls", budget.calls, worst.calls),
    ):
        if bound is not None and most > bound:
            spends = f"${most:.2f}" if name == "usd" else f"{most} {name}"
            yield f"the worst case, {spends}, is above budget.{name} = {bound:g}: the run may stop before its end"


def _limits(tournament: Tournament, hosted: Sequence[str]) -> Iterator[str]:
    fitting = {pattern for string in hosted for pattern in patterns_for(string, tournament.limits)}
    for pattern in tournament.limits:
        if pattern not in fitting:
            strings = ", ".join(dict.fromkeys(hosted)) or "there is none"
            yield f"limits.{pattern} fits no hosted model ({strings}), so it holds nothing back"


def _families(tournament: Tournament) -> Iterator[str]:
    """Yield the families that recusal keeps from judging their own."""
    if tournament.committee.recuse != "family":
        return
    members: dict[str, list[Model]] = {}
    for model in dict.fromkeys((*tournament.models, *tournament.judging_models)):
        members.setdefault(family_of(model), []).append(model)
    judges = set(tournament.judging_models)
    for family, models in members.items():
        playing = [model.name for model in models if model in tournament.models]
        recused = [model.name for model in models if model in judges and playing != [model.name]]
        if playing and recused:
            yield f"family {family}: {', '.join(recused)} may not judge battles of {', '.join(playing)}"


def _small_committees(tournament: Tournament, author_of: AuthorOf) -> Iterator[str]:
    for key, (domain, *_) in panels_in(tournament, domains_of(tournament)).items():
        within = "" if key == "judges" else f" in {domain}"
        small = [
            (a.name, b.name, judges)
            for a, b in tournament.possible_pairs
            if len(judges := eligible(tournament, domain, (a, b), author_of)) < ADVISABLE_JUDGES
        ]
        for a, b, judges in small[:MOST_PAIRS_LISTED]:
            names = ", ".join(judge.name for judge in judges)
            yield f"{a} against {b}{within}: judged by {names} only; {ADVISABLE_JUDGES} judges or more are advisable"
        if len(small) > MOST_PAIRS_LISTED:
            more = plural(len(small) - MOST_PAIRS_LISTED, "more pair")
            yield f"fewer than {ADVISABLE_JUDGES} judges{within} for {more}"


def _references(tournament: Tournament, author_of: AuthorOf) -> Iterator[str]:
    """Yield which of several examiners also writes reference answers."""
    writer, _ = reference_writer(tournament, author_of)
    if writer is not None and tournament.reference is None and len(tournament.examiners) > 1:
        yield f"reference answers are written by {writer.name}, the first examiner that plays in no battle"


def _uncounted(tournament: Tournament) -> Iterator[str]:
    for model in dict.fromkeys(m for models in cast(tournament).values() for m in models if m.kind == "agent"):
        yield f"{model.name}: is an agent of your own, counted as one call a turn; what it asks and costs is not known"
    for role, seat in tournament.roles.items():
        if seat.factory is not None:
            yield f"roles.{role}: what the agents of its factory ask and cost is not known"
