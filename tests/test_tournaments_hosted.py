"""A whole tournament of hosted models over HTTP: passing faults change nothing, lasting ones void and are named."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

import coupled_arena as ca
from coupled_arena.models.hosted.backend import HostedBackend
from coupled_arena.testing import FakeProvider, Faults, behaviours

SKILLS = (1.4, 1.0, 0.6, 0.2, -0.2, -0.6, -1.0, -1.4)
DEBATERS = {f"m{number}": f"sim/m{number}?skill={skill}&world=7" for number, skill in enumerate(SKILLS, 1)}
OTHERS = {name: f"sim/{name}?world=7" for name in ("j1", "j2", "j3", "examiner")}
ATTEMPTS_OF_A_BROKEN_CALL = 4
Start = Callable[..., FakeProvider]


async def at_once(seconds: float) -> None:
    await asyncio.sleep(0)


def play(provider: FakeProvider, **changes: Any) -> ca.Result:
    """Play eight hosted models, three judges and an examiner against a provider."""
    definition: dict[str, Any] = {
        "name": "eight",
        "models": [provider.model(name) for name in DEBATERS],
        "judges": [provider.model(name) for name in ("j1", "j2", "j3")],
        "examiner": provider.model("examiner"),
        "domains": ["math", "writing"],
        "questions_per_domain": 1,
        "seed": 7,
    }
    backends = {"hosted": HostedBackend(sleep=at_once)}
    return ca.Tournament(**(definition | changes)).run(backends=backends, preflight=False)


def test_passing_faults_on_a_third_of_the_calls_change_no_leaderboard(fake_provider: Start) -> None:
    calm = fake_provider({**DEBATERS, **OTHERS}, keep=0)
    undisturbed = play(calm)
    stormy = fake_provider({**DEBATERS, **OTHERS}, keep=0, faults=Faults(share=0.3, most_in_a_row=2, seed=1))
    result = play(stormy)
    assert result.document()["leaderboard"] == undisturbed.document()["leaderboard"]
    assert result.document()["settled"] == undisturbed.document()["settled"]
    assert (result.counts.made, result.counts.failed) == (undisturbed.counts.made, 0)
    assert (calm.received, undisturbed.counts.retries) == (undisturbed.counts.made, 0)
    assert stormy.received == result.counts.made + result.counts.retries
    assert result.counts.retries > 0.25 * result.counts.made
    assert result.counted() == {"decided": len(result.battles), "void": 0, "forfeited": 0}


def test_a_model_that_never_answers_voids_its_own_battles_and_no_other(fake_provider: Start) -> None:
    provider = fake_provider({**DEBATERS, **OTHERS, "m4": behaviours.error(503, "the engine is on fire")}, keep=0)
    result = play(provider)
    void = {battle.id for battle in result.battles if battle.decision.status == "void"}
    assert void == {battle.id for battle in result.battles if "m4" in battle.pair}
    assert {battle.decision.status for battle in result.battles} == {"decided", "void"}
    row = next(row for row in result.rows if row.model == "m4")
    assert (row.wins, row.losses, row.ties, row.forfeited, row.availability) == (0, 0, 0, 0, 0.0)
    (caveat,) = [caveat for caveat in result.caveats if caveat.startswith("m4: ")]
    assert caveat.startswith(f"m4: {row.void} of its {row.void} battles are void, because it gave no answer (failed: ")
    assert "the engine is on fire" in caveat
    assert result.counts.retries == result.counts.failed * (ATTEMPTS_OF_A_BROKEN_CALL - 1)


def test_a_judge_that_never_answers_is_named_and_the_others_decide(fake_provider: Start) -> None:
    provider = fake_provider({**DEBATERS, **OTHERS, "j2": behaviours.error(500, "no judge at home")}, keep=0)
    result = play(provider)
    assert {battle.decision.status for battle in result.battles} == {"decided"}
    (caveat,) = [caveat for caveat in result.caveats if caveat.startswith("judge j2: ")]
    assert "opinions failed (" in caveat
    assert "no judge at home" in caveat


def test_a_debater_that_refuses_forfeits_and_a_filtered_one_too(fake_provider: Start) -> None:
    silent_models = {"m4": behaviours.refusal("I would rather not."), "m5": behaviours.filtered()}
    provider = fake_provider({**DEBATERS, **OTHERS, **silent_models}, keep=0)
    result = play(provider)
    for battle in result.battles:
        silent = {"m4", "m5"} & set(battle.pair)
        expected = ("decided", "forfeited", "void")[len(silent)]
        assert battle.decision.status == expected, battle.id
        if len(silent) == 1:
            assert battle.model(battle.decision.verdict or "") not in silent


@pytest.mark.parametrize("secret", ["sk-proj-0123456789abcdef", "plain-words-as-a-key"])
def test_no_secret_reaches_store_logs_errors_or_reprs(
    fake_provider: Start, secret: str, caplog: pytest.LogCaptureFixture, tmp_path: Any, capfd: Any
) -> None:
    provider = fake_provider(
        {**DEBATERS, **OTHERS, "m4": behaviours.error(400, "bad request", echo_key=True)}, key=secret, keep=0
    )
    caplog.set_level("DEBUG")
    tournament = ca.Tournament(
        models=[provider.model(name) for name in ("m1", "m2", "m4")],
        judges=[provider.model("j1")],
        domains=["math"],
        questions_per_domain=1,
        schedule="round_robin",
        script="single",
        seed=7,
    )
    store = tmp_path / "runs.db"
    result = tournament.run(store, backends={"hosted": HostedBackend(sleep=at_once)}, preflight=False)
    frames = [result.frame(name).to_csv() for name in ("calls", "turns", "battles", "opinions")]
    seen = [repr(tournament), repr(result), json.dumps(result.document()), caplog.text, *capfd.readouterr(), *frames]
    assert [text for text in seen if secret in text] == []
    assert [file.name for file in tmp_path.iterdir() if secret.encode() in file.read_bytes()] == []
    assert any("bad request" in text for text in seen)
