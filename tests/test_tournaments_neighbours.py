"""What neighbours on a leaderboard shared, and what it saved."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import coupled_arena as ca
from coupled_arena.ratings.settled import Settled
from coupled_arena.records import Battle, Decision, Sharing, Turn, Verdict
from coupled_arena.reports.console import leaderboard
from coupled_arena.tournaments.results.leaderboard import LEADERBOARD_COLUMNS
from coupled_arena.tournaments.results.neighbours import Neighbours, neighbours
from tests.test_tournaments_play import SMALL

PAIR = Settled("ada", "bob", 80.0, -10.0, 170.0, resolved=False, more_questions=9, multiplicity="one pair")
ARMS = ("coupled", "independent")


def test_an_end_that_rounds_to_nothing_has_no_sign() -> None:
    assert "bob by 80 [0, 170]:" in replace(PAIR, low=-0.3).line
    assert "bob by 80 [0, 170]:" in replace(PAIR, low=0.3).line


def battle(
    question: int, verdict: Verdict | None, arm: str = "coupled", sharing: Sharing = "shared", **facts: Any
) -> Battle:
    turns = tuple(
        Turn(step=1, round=1, speaker=side, model=side, sections=(), outcome="ok", sharing=sharing) for side in "AB"
    )
    decision = Decision(status="decided" if verdict else "void", verdict=verdict)
    given = {"id": f"{arm} {question}", "a": "ada", "b": "bob", "replicate": 0, **facts}
    return Battle(round=1, question=f"q{question:03d}", domain="math", arm=arm, turns=turns, decision=decision, **given)


def of(battles: list[Battle], arms: tuple[str, ...] = ARMS) -> Neighbours:
    (found,) = neighbours([PAIR], battles, arms)
    return found


def test_the_line_ends_with_what_the_battles_of_the_two_shared() -> None:
    battles = [battle(n, "A") for n in range(4)] + [battle(4, "B", sharing="seed-only"), battle(5, None)]
    found = of([*battles, battle(6, "A", a="ada", b="eve")], ("coupled",))
    assert found.line.endswith("about 9 more questions; dice seed-only in 1, shared in 4 of 5 battles")
    assert (found.battles, found.sharing, found.saved) == (5, {"seed-only": 1, "shared": 4}, None)


@pytest.mark.parametrize("arm", ["coupled", "independent"])
def test_without_shared_dice_the_line_says_so_and_nothing_was_saved(arm: str) -> None:
    found = of([battle(n, "A", arm=arm, sharing="none") for n in range(3)], (arm,))
    assert found.line.endswith("; no shared dice")
    assert found.saved is None


def test_neighbours_that_never_met_have_no_battle_of_their_own() -> None:
    assert of([battle(1, "A", a="eve")]).line.endswith("; no battle of their own")


def test_two_arms_tell_what_coupling_saved() -> None:
    """Half of the coupled battles are ties, which takes about half of the variance away."""
    rng = np.random.default_rng(3)
    battles = []
    for question in range(300):
        won: Verdict = "A" if rng.random() < 0.5 else "B"
        battles.append(battle(question, "tie" if rng.random() < 0.5 else won))
        battles.append(battle(question, "A" if rng.random() < 0.5 else "B", arm="independent", sharing="none"))
    found = of(battles)
    assert found.saved is not None and found.saved.saved is not None
    assert found.saved.low is not None and found.saved.high is not None
    assert found.saved.low < 0.5 < found.saved.high
    assert found.saved.saved == pytest.approx(0.5, abs=0.1)
    assert f"of 300 battles, which saved {100 * found.saved.saved:.0f} % of the questions [" in found.line


def test_battles_that_never_differ_cannot_tell_what_was_saved() -> None:
    both = [battle(n, "A", arm=arm) for n in range(5) for arm in ARMS]
    assert of(both).line.endswith("dice shared in 5 of 5 battles, what that saved cannot be told")


def test_half_of_a_battle_on_both_sides_is_no_outcome() -> None:
    halves = [
        battle(n, ("A", "B")[n % 2], arm=arm, id=f"{arm} {n} {a}", a=a, b=b, weight=0.5)
        for n in range(8)
        for arm in ARMS
        for a, b in (("ada", "bob"), ("bob", "ada"))
        if (n, a) != (7, "bob")
    ]
    found = of(halves)
    assert found.saved is not None
    assert found.saved.questions == 7


def test_leaderboard_and_document_end_with_lines_and_ranks() -> None:
    result = ca.Tournament(**{**SMALL, "coupling": "both", "questions_per_domain": 8}).run()
    document = result.document()
    lines = [row["line"] for row in document["settled"]]
    assert [row["sharing"] for row in document["settled"]] == [{"shared": 16}] * 2
    assert all(" of 16 battles, which saved " in line for line in lines)
    assert all(isinstance(row["saved"], float) for row in document["settled"])
    ranks = [(row["rank_low"], row["rank_high"]) for row in document["leaderboard"]]
    assert all(low <= row.rank <= high for row, (low, high) in zip(result.rows, ranks, strict=True))
    assert result.leaderboard()["rank_high"].tolist() == [high for _, high in ranks]
    shown = [str(part) for part in leaderboard(result).renderables]  # type: ignore[union-attr]
    assert set(lines) <= set(shown)


def test_every_column_of_a_leaderboard_is_explained() -> None:
    page = (Path(__file__).parents[1] / "docs" / "ratings.md").read_text(encoding="utf-8")
    explained = {name for line in page.splitlines() if line.startswith("| `") for name in line.split("`")[1::2]}
    assert set(LEADERBOARD_COLUMNS) <= explained
