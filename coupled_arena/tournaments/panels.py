"""Which models judge a battle: pure functions of listing, families, authorship and ratings."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from coupled_arena.models.families import family_of
from coupled_arena.models.model import Model
from coupled_arena.tournaments.definition import Tournament

ADVISABLE_JUDGES = 3
"""Fewer judges than this are worth a caveat."""

AuthorOf = Callable[[Model], str]
"""Names the author of a model's texts: equal for the same weights and settings under two names."""


def panel_key(domain: str) -> str:
    """Return the key that names the panel of a domain that has one of its own."""
    return f"committee.judges_by_domain.{domain}"


def panels_in(tournament: Tournament, domains: Iterable[str]) -> dict[str, list[str]]:
    """Return the domains that every panel judges in, of these, by the key that names the panel.

    >>> tournament = Tournament(models=["sim/a", "sim/b"], judges=["sim/j"], judges_by_domain={"math": ["sim/m"]})
    >>> panels_in(tournament, ["stem", "math", "coding"])
    {'judges': ['stem', 'coding'], 'committee.judges_by_domain.math': ['math']}
    """
    found: dict[str, list[str]] = {}
    for domain in domains:
        key = panel_key(domain) if domain in tournament.committee.judges_by_domain else "judges"
        found.setdefault(key, []).append(domain)
    return found


def eligible(tournament: Tournament, domain: str, pair: Sequence[Model], author_of: AuthorOf) -> tuple[Model, ...]:
    """Return the models that may judge a battle of this pair in a domain, in listing order.

    Nobody judges a battle they debate in, by name; `committee.recuse` excludes more.
    """
    names = {model.name for model in pair}
    listed = tournament.judges_in(domain)
    judges = [judge for judge in (tournament.models if isinstance(listed, int) else listed) if judge.name not in names]
    match tournament.committee.recuse:
        case "family":
            families = {family_of(model) for model in pair}
            judges = [judge for judge in judges if family_of(judge) not in families]
        case "author":
            authors = {author_of(model) for model in pair}
            judges = [judge for judge in judges if author_of(judge) not in authors]
    return tuple(judges)


def panel(
    tournament: Tournament,
    domain: str,
    pair: Sequence[Model],
    author_of: AuthorOf,
    ratings: Mapping[str, float] | None,
) -> tuple[Model, ...]:
    """Return the committee of a battle: all eligible of a listed panel, else the best-rated.

    Until ratings exist, the best-rated are the first in listing order.
    """
    judges, most = eligible(tournament, domain, pair, author_of), tournament.judges_in(domain)
    if not isinstance(most, int):
        return judges
    place = {model.name: index for index, model in enumerate(tournament.models)}
    if ratings is not None:
        judges = tuple(sorted(judges, key=lambda judge: (-ratings.get(judge.name, 0.0), place[judge.name])))
    return judges[:most]


def short_pairings(tournament: Tournament, domain: str, author_of: AuthorOf) -> tuple[tuple[str, str, int], ...]:
    """Return the pairings with fewer eligible judges than needed in a domain, and how many they have."""
    return tuple(
        (x.name, y.name, judges)
        for x, y in tournament.possible_pairs
        if (judges := len(eligible(tournament, domain, (x, y), author_of))) < tournament.min_judges_in(domain)
    )
