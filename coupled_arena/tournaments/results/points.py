"""From battles to what schedules need: who met, on what, and with which points and scores."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from coupled_arena.records import Battle
from coupled_arena.tournaments.schedules import Pairing

BYE_POINTS = 1.0
"""Pairing points of a bye: those of a match won outright. A bye counts for nothing in ratings."""

Replicates = dict[tuple[str, str], dict[str, int]]
"""How many replicates each pair of models, in order of names, has played of each question."""


def scores_in(battle: Battle) -> dict[str, float]:
    """Return the points of both models: a win is one, a tie half each; a void battle has none.

    A forfeit with a verdict counts as the win it is.
    """
    verdict = battle.decision.verdict
    if verdict is None or verdict == "tie":
        return dict.fromkeys((battle.a, battle.b), 0.0 if verdict is None else 0.5)
    return {battle.a: float(verdict == "A"), battle.b: float(verdict == "B")}


def whole(battles: Iterable[Battle]) -> list[Battle]:
    """Return the decided battles; half of one that was played on both sides only together with the other half.

    Alone it says which side is easier, not which model is better.
    """
    decided = [battle for battle in battles if battle.decision.verdict is not None]
    halves = Counter((battle.pair, battle.question, battle.replicate) for battle in decided)
    return [b for b in decided if b.weight >= 1 or halves[b.pair, b.question, b.replicate] > 1]


def points(models: Sequence[str], rounds: Sequence[Sequence[Pairing]], battles: Iterable[Battle]) -> dict[str, float]:
    """Return pairing points: a match is worth one, split as its battles were; one without a decided battle is even."""
    won: dict[tuple[int, tuple[str, str]], dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for battle in battles:
        for model, score in scores_in(battle).items():
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
    """Return what the first model of each pair scored on each question, as `Standings.scores` has it."""
    found: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for battle in whole(battles):
        found[battle.pair][battle.question].append(scores_in(battle)[battle.pair[0]])
    return {
        pair: {question: sum(scores) / len(scores) for question, scores in asked.items()}
        for pair, asked in found.items()
    }


def replicates_of(battles: Iterable[Battle]) -> Replicates:
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
