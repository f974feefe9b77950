"""Which models judge a battle: pure functions of listing, families, authorship and ratings."""

from collections.abc import Callable, Mapping, Sequence

from coupled_arena.models.families import family_of
from coupled_arena.models.model import Model
from coupled_arena.tournaments.definition import Tournament

ADVISABLE_JUDGES = 3
"""Fewer judges than this are worth a caveat."""

AuthorOf = Callable[[Model], str]
"""Names the author of a model's texts: equal for the same weights and settings under two names."""


def eligible(tournament: Tournament, pair: Sequence[Model], author_of: AuthorOf) -> tuple[Model, ...]:
    """Return the models that may judge a battle of this pair, in listing order.

    Nobody judges a battle they debate in, by name; `committee.recuse` excludes more.
    """
    names = {model.name for model in pair}
    judges = [judge for judge in tournament.judging_models if judge.name not in names]
    match tournament.committee.recuse:
        case "family":
            families = {family_of(model) for model in pair}
            judges = [judge for judge in judges if family_of(judge) not in families]
        case "author":
            authors = {author_of(model) for model in pair}
            judges = [judge for judge in judges if author_of(judge) not in authors]
    return tuple(judges)


def panel(
    tournament: Tournament, pair: Sequence[Model], author_of: AuthorOf, ratings: Mapping[str, float] | None
) -> tuple[Model, ...]:
    """Return the committee of a battle: all eligible of a listed panel, else the best-rated.

    Until ratings exist, the best-rated are the first in listing order.
    """
    judges = eligible(tournament, pair, author_of)
    if not isinstance(tournament.judges, int):
        return judges
    place = {model.name: index for index, model in enumerate(tournament.models)}
    if ratings is not None:
        judges = tuple(sorted(judges, key=lambda judge: (-ratings.get(judge.name, 0.0), place[judge.name])))
    return judges[: tournament.judges]


def short_pairings(tournament: Tournament, author_of: AuthorOf) -> tuple[tuple[str, str, int], ...]:
    """Return the pairings with fewer eligible judges than needed, and how many they have."""
    return tuple(
        (x.name, y.name, judges)
        for x, y in tournament.possible_pairs
        if (judges := len(eligible(tournament, (x, y), author_of))) < tournament.min_judges
    )
