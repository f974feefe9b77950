"""What a leaderboard says of battles that broke off."""

import pytest

import coupled_arena as ca
from coupled_arena.tournaments.results.caveats import caveats
from tests.test_tournaments_play import SMALL


def void(number: int, a: str, b: str, reason: str) -> ca.Battle:
    name = f"r1:{a}~{b}:math-{number}:0"
    return ca.Battle(
        id=name,
        round=1,
        question=f"math-{number}",
        domain="math",
        replicate=0,
        a=a,
        b=b,
        arm="coupled",
        decision=ca.Decision(status="void", reason=f"{name}{reason}"),
    )


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([("x", "y"), ("x", "z")], "void because they broke off: 2 battles of x (ValueError: boom)"),
        ([("x", "y"), ("z", "w")], "void because they broke off: 2 battles of several models (ValueError: boom)"),
        ([], None),
    ],
)
def test_battles_that_broke_off_are_counted_with_their_model_and_reason(
    pairs: list[tuple[str, str]], said: str | None
) -> None:
    battles = [void(number, a, b, ": ValueError: boom") for number, (a, b) in enumerate(pairs)]
    assert caveats(ca.Tournament(**SMALL), lambda model: model.name, battles) == (() if said is None else (said,))


def test_a_committee_that_broke_off_is_told_like_a_debate() -> None:
    (said,) = caveats(ca.Tournament(**SMALL), lambda model: model.name, [void(1, "x", "y", ":committee: KeyError: 1")])
    assert said == "void because they broke off: 1 battle of x and y (KeyError: 1)"
