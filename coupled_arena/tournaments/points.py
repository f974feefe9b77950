"""From battles to what schedules need: who met, on what, and with which points and scores."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from coupled_arena.records import Battle
from coupled_arena.tournaments.schedules import Pairing

BYE_POINTS = 1.0
"""Pairing points of a bye: those of a match won outright. A bye counts for nothing in ratings."""


def side_scores(battle: Battle) -> tuple[float, float]:
    """Return the points of A and B: a win is one, a tie half each; a void battle has none.

    A forfeit with a verdict counts as the win it is.
    """
    match battle.decision.verdict:
        case "A":
            return 1.0, 0.0
        case "B":
            return 0.0, 1.0
        case "tie":
            return 0.5, 0.5
        case _:
            return 0.0, 0.0


def points(models: Sequence[str], rounds: Sequence[Sequence[Pairing]], battles: Iterable[Battle]) -> dict[str, float]:
    """Return pairing points: a match is worth one, split as its battles were; one without a decided battle is even."""
    won: dict[tuple[int, tuple[str, str]], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for battle in battles:
        for model, score in zip((battle.a, battle.b), side_scores(battle), strict=True):
            won[battle.round, battle.pair][model] += score
    total = dict.fromkeys(models, 0.0)
    for number, pairings in enumerate(rounds, 1):
        for a, b, _ in pairings:
            if b is None:
                total[a] += BYE_POINTS
                continue
            first, second = sorted((a, b))
            match = won.get((number, (first, second)), {})
            played = sum(match.values())
            for model in (a, b):
                total[model] += match.get(model, 0.0) / played if played else 0.5
    return total


def question_scores(battles: Iterable[Battle]) -> dict[tuple[str, str], dict[str, float]]:
    """Return what the first model of each pair scored on each question, as `Standings.scores` has it.

    A battle that is half of one played on both sides counts, as in the ratings, only together with the other half.
    """
    decided = [battle for battle in battles if battle.decision.verdict is not None]
    halves = Counter((battle.pair, battle.question, battle.replicate) for battle in decided)
    found: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for battle in decided:
        if battle.weight >= 1 or halves[battle.pair, battle.question, battle.replicate] > 1:
            first, second = side_scores(battle)
            found[battle.pair][battle.question].append(first if battle.a == battle.pair[0] else second)
    return {
        pair: {question: sum(scores) / len(scores) for question, scores in asked.items()}
        for pair, asked in found.items()
    }


def replicates_of(battles: Iterable[Battle]) -> dict[tuple[str, str], dict[str, int]]:
    """Return how many replicates each pair of models, in order of names, has played of each question."""
    found: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for battle in battles:
        played = found[battle.pair]
        played[battle.question] = max(played.get(battle.question, 0), battle.replicate + 1)
    return dict(found)


def rounds_of(battles: Iterable[Battle]) -> list[tuple[Pairing, ...]]:
    """Return the pairings of the rounds that battles belong to; a round without battles is empty, byes are unknown."""
    found: dict[int, dict[tuple[str, str], None]] = defaultdict(dict)
    for battle in battles:
        found[battle.round][battle.pair] = None
    return [tuple(Pairing(*pair) for pair in found[number]) for number in range(1, max(found, default=0) + 1)]
