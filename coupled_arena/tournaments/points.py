"""From battles to the pairing points that schedules need."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from coupled_arena.records import Battle
from coupled_arena.tournaments.schedules import BYE_POINTS, Pairing


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
        for a, b in pairings:
            if b is None:
                total[a] += BYE_POINTS
                continue
            first, second = sorted((a, b))
            match = won.get((number, (first, second)), {})
            played = sum(match.values())
            for model in (a, b):
                total[model] += match.get(model, 0.0) / played if played else 0.5
    return total
