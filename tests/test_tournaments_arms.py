"""Two arms of one tournament: the same pairings and questions, with shared dice and without."""

from pathlib import Path
from typing import Any

import pytest

import coupled_arena as ca
from coupled_arena.tournaments.preflight.extent import battles_of
from tests.test_tournaments_play import SMALL, comparable

BOTH: dict[str, Any] = {**SMALL, "coupling": "both", "questions_per_domain": 2}


@pytest.fixture(scope="module")
def played() -> ca.Result:
    return ca.Tournament(**BOTH).run()


def test_every_battle_is_played_once_in_each_arm(played: ca.Result) -> None:
    where = {arm: {(b.question, b.a, b.b, b.replicate) for b in played.battles if b.arm == arm} for arm in ARMS}
    assert where["coupled"] == where["independent"]
    assert len(played.battles) == 2 * len(where["coupled"]) == battles_of(ca.Tournament(**BOTH))[0]
    assert len({battle.id for battle in played.battles}) == len(played.battles)


ARMS = ("coupled", "independent")


@pytest.mark.parametrize("arm", ARMS)
def test_each_arm_is_what_a_tournament_of_that_coupling_is(played: ca.Result, arm: str) -> None:
    alone = ca.Tournament(**{**BOTH, "coupling": arm}).run()
    assert [b for b in played.battles if b.arm == arm] == list(alone.battles)
    if arm == "coupled":
        assert played.document()["leaderboard"] == alone.document()["leaderboard"]
        assert played.rows == alone.rows


def test_the_result_says_whether_the_arms_rank_differently(played: ca.Result) -> None:
    arms = played.document()["arms"]
    assert len(arms["pairs"]) == 3
    assert arms["sentence"].startswith("coupled and independent dice rank ")
    assert arms["differ"] is False


def test_only_the_coupled_arm_shares_dice(played: ca.Result) -> None:
    assert {(b.arm, b.sharing) for b in played.battles} == {("coupled", "shared"), ("independent", "none")}
    assert played.shared() == {"shared": len(played.leading), "none": len(played.leading)}


def test_a_stored_run_of_two_arms_is_read_back_as_it_was(tmp_path: Path) -> None:
    result = ca.Tournament(**BOTH).run(tmp_path / "runs.db")
    with ca.Store(tmp_path / "runs.db") as store:
        stored = type(result).of(store.run())
        assert comparable(stored.document()) == comparable(result.document())


def test_a_tournament_of_one_arm_has_none_to_compare() -> None:
    result = ca.Tournament(**SMALL).run()
    assert (result.arms, result.document()["arms"]) == (None, None)
    assert result.leading == result.battles
