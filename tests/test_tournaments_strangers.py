"""Models without a common token share no dice, and no result says that they do."""

import pytest

import coupled_arena as ca
from coupled_arena.tournaments.playing import play

MODELS = ("sim/ada", "sim/bob", "sim/eve")


def result(coupling: str = "coupled") -> ca.Result:
    return ca.Tournament(
        models=MODELS,
        judges=["sim/j1", "sim/j2", "sim/j3"],
        domains=["math"],
        questions_per_domain=1,
        schedule=ca.RoundRobin(),
        coupling=coupling,
    ).run()


@pytest.fixture
def strangers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play, "_strangers", lambda tournament: frozenset({frozenset(("sim/bob", "sim/ada"))}))


@pytest.mark.usefixtures("strangers")
def test_battles_of_strangers_share_nothing_and_the_result_says_so() -> None:
    found = result()
    assert {battle.pair: battle.sharing for battle in found.battles} == {
        ("sim/ada", "sim/bob"): "none",
        ("sim/ada", "sim/eve"): "shared",
        ("sim/bob", "sim/eve"): "shared",
    }
    assert "sim/ada and sim/bob have no token in common, and so shared no dice" in found.caveats
    assert found.shared() == {"none": 1, "shared": 2}


@pytest.mark.usefixtures("strangers")
def test_nothing_is_said_where_no_dice_were_to_be_shared() -> None:
    assert not any("token" in line for line in result("independent").caveats)
