"""Models against each other: cards, meetings and how they did by domain."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from coupled_arena.models.families import family_of
from coupled_arena.models.model import Model
from coupled_arena.models.prices import price_of
from coupled_arena.ratings import RatingInput, Ratings, rate
from coupled_arena.ratings.score import scores_of
from coupled_arena.records import Battle, Usage
from coupled_arena.reports.html.document import Card, Domain, DomainRating, Meeting
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.results.documents import rounded
from coupled_arena.tournaments.results.leaderboard import PRIOR
from coupled_arena.tournaments.results.result import Result

FEWEST_IN_DOMAIN = 20
"""Rated battles of a domain from which on models are rated by it."""


def cards(result: Result, ranked: Sequence[str]) -> tuple[Card, ...]:
    """Return a card for every model, in the order of the leaderboard."""
    models = {model.name: model for model in result.tournament.models}
    places = circles(result.ratings.components, ranked)
    return tuple(_card(models[name], places[name], result.leading) for name in ranked)


def circles(components: Sequence[Sequence[str]], ranked: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return where models stand in a graph of who met whom: on a circle for every group that battles connect.

    The best of a group stands on top, the others follow clockwise; circles stand side by side and hold an area in
    proportion to their models.

    >>> circles([("a", "b")], ["b", "a"])
    {'b': (0.5, 0.0), 'a': (0.5, 1.0)}
    """
    order = {name: place for place, name in enumerate(ranked)}
    groups = sorted((sorted(group, key=order.__getitem__) for group in components), key=lambda own: order[own[0]])
    widths = [math.sqrt(len(group)) for group in groups]
    left, found = 0.0, {}
    for group, width in zip(groups, widths, strict=True):
        share = width / sum(widths)
        for place, name in enumerate(group):
            angle = 2 * math.pi * place / len(group)
            radius = 0.5 if len(group) > 1 else 0.0
            x = left + share * (0.5 + radius * math.sin(angle))
            found[name] = (round(x, 4), round(0.5 - radius * math.cos(angle), 4))
        left += share
    return found


def _card(model: Model, place: tuple[float, float], battles: Sequence[Battle]) -> Card:
    own = [battle for battle in battles if model.name in (battle.a, battle.b)]
    turns = [turn for battle in own for turn in battle.turns if turn.model == model.name and turn.speaker in ("A", "B")]
    price = price_of(model) if model.kind != "agent" else None
    used = sum((turn.usage for turn in turns), Usage())
    return Card(
        name=model.name,
        model=model.model,
        family=family_of(model),
        x=place[0],
        y=place[1],
        tokens=rounded(used.completion_tokens / len(own)) if turns else None,
        usd=rounded(price.of(used) / len(own)) if turns and price is not None else None,
    )


def unpriced(tournament: Tournament) -> tuple[str, ...]:
    """Return the hosted models of a definition of which no price is known, by name."""
    asked = [*tournament.models, *tournament.judging_models, *tournament.examiners, tournament.reference]
    hosted = {model.name: model for model in asked if model is not None and model.kind == "hosted"}
    return tuple(name for name, model in sorted(hosted.items()) if price_of(model) is None)


def meetings(result: Result, ranked: Sequence[str]) -> tuple[Meeting, ...]:
    """Return how every two models that met did against each other, the better-rated one first."""
    met = {battle.pair for battle in result.leading}
    pairs = [(a, b) for a, b in combinations(ranked, 2) if (min(a, b), max(a, b)) in met]
    table = RatingInput.from_battles(result.leading, models=ranked)
    return tuple(
        Meeting(
            a=score.a,
            b=score.b,
            wins=score.wins,
            losses=score.losses,
            ties=score.ties,
            questions=score.questions,
            share=rounded(score.share),
            low=rounded(score.low),
            high=rounded(score.high),
        )
        for score in scores_of(table, pairs)
    )


def domains(result: Result, ranked: Sequence[str]) -> tuple[Domain, ...]:
    """Return how models did in every domain; they are rated only where it has `FEWEST_IN_DOMAIN` rated battles."""
    asked = Counter(question.domain for question in result.questions)
    found = []
    for domain, questions in asked.items():
        own = [battle for battle in result.leading if battle.domain == domain and battle.decision.verdict is not None]
        ratings = None
        if len(own) >= FEWEST_IN_DOMAIN:
            ratings = rate(RatingInput.from_battles(own, models=ranked), prior=PRIOR)
        models = tuple(_in_domain(name, own, ratings) for name in ranked)
        found.append(
            Domain(domain=domain, questions=questions, battles=len(own), shown=ratings is not None, models=models)
        )
    return tuple(found)


def _in_domain(name: str, battles: Sequence[Battle], ratings: Ratings | None) -> DomainRating:
    own = sum(name in (battle.a, battle.b) for battle in battles)
    if ratings is None:
        return DomainRating(model=name, battles=own, rating=None, low=None, high=None)
    at = ratings.names.index(name)
    return DomainRating(
        model=name,
        battles=own,
        rating=rounded(ratings.ratings[at]),
        low=rounded(ratings.low[at]),
        high=rounded(ratings.high[at]),
    )
