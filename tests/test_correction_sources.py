"""Corrections and calibrations of runs, frames and files, in Python and on the command line."""

import json
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import coupled_arena as ca
from coupled_arena.cli import main
from coupled_arena.errors import ConfigurationError, RatingError
from tests.judge_scene import opinions

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    before = signal.getsignal(signal.SIGTERM)

    def command(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["coupled-arena", "judges", *map(str, arguments)])
        with pytest.raises(SystemExit) as ending:
            main()
        found = capsys.readouterr()
        return int(ending.value.code or 0), found.out, found.err

    yield command
    signal.signal(signal.SIGTERM, before)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return pd.DataFrame(opinions(1, questions=40))


def truths(frame: pd.DataFrame, share: float = 0.5) -> pd.DataFrame:
    """Labels of a random part of the battles: what is true of them."""
    every = frame.drop_duplicates("battle")[["battle", "truth"]].rename(columns={"truth": "verdict"})
    return every[np.random.default_rng(0).random(len(every)) < share]


def test_a_frame_is_corrected_and_calibrated(frame: pd.DataFrame) -> None:
    found = ca.corrected(frame)
    assert {bias.term for bias in found.biases} >= {"position", "length", "family"}
    assert found.bias("j3", "family") is None
    labels = truths(frame)
    by_frame, by_id = (ca.calibrated(frame, one) for one in (labels, dict(labels.to_numpy().tolist())))
    assert by_frame.document() == by_id.document()
    assert by_frame.labels == len(labels) and not by_frame.notes


def test_labels_of_other_battles_are_left_out_or_refused(frame: pd.DataFrame) -> None:
    labels = dict(truths(frame).to_numpy().tolist())
    found = ca.calibrated(frame, {**labels, "elsewhere": "A"})
    assert found.notes == ("left out: 1 label of battles that are not among these",)
    with pytest.raises(RatingError, match="none of its battles is among these"):
        ca.calibrated(frame, {"elsewhere": "A"})
    with pytest.raises(ConfigurationError, match="'maybe' is no outcome"):
        ca.calibrated(frame, {**labels, frame["battle"][0]: "maybe"})


def test_several_labels_of_one_battle_count_as_their_majority(frame: pd.DataFrame) -> None:
    labels = truths(frame)
    other = labels.assign(verdict=labels["verdict"].map({"A": "B", "B": "A", "tie": "tie"}))
    twice = ca.calibrated(frame, pd.concat([labels, labels, other]))
    assert twice.document() == ca.calibrated(frame, labels).document()
    even = ca.calibrated(frame, pd.concat([labels, other]))
    assert set(even.labelled.counts[0]) == {even.labelled.counts[0].battles, 0}


def test_a_slice_of_one_domain_is_refused(frame: pd.DataFrame) -> None:
    number = frame["question"].str[1:].astype(int)
    known = frame.assign(domain=np.where(number < 14, "math", "writing"))
    rows = known[known["domain"] == "math"].drop_duplicates("battle")
    with pytest.raises(RatingError, match="more of battles in math than chance allows"):
        ca.calibrated(known, dict(rows[["battle", "truth"]].to_numpy().tolist()))


def test_a_run_is_corrected_by_its_lengths_and_families() -> None:
    models = [ca.Model("ada", "sim/ada?skill=0.6", family="x"), ca.Model("bob", "sim/bob", family="y")]
    judges = [ca.Model("j1", "sim/j1?position=0.7", family="x"), ca.Model("j2", "sim/j2", family="z")]
    result = ca.Tournament(
        models=models, judges=judges, examiner="sim/examiner", domains=["math"], questions_per_domain=14,
        battle=ca.BattleRules(script=ca.SINGLE),
        committee=ca.CommitteeRules(recuse="none", orders="both", discussion_rounds=0),
        seed=3,
    ).run()  # fmt: skip
    found = ca.corrected(result, terms=("position", "length", "family"))
    first, second = (found.bias(judge, "position") for judge in ("j1", "j2"))
    assert first is not None and second is not None and first.value > second.value
    assert found.bias("j1", "family") is not None
    assert [left.judge for left in found.unestimated] == ["j2"]


def test_the_command_prints_both_beside_the_study(frame: pd.DataFrame, tmp_path: Path, run: Run) -> None:
    frame.to_json(tmp_path / "opinions.jsonl", orient="records", lines=True)
    truths(frame).to_csv(tmp_path / "labels.csv", index=False)
    given = (tmp_path / "opinions.jsonl", "--corrected", "--calibrate", tmp_path / "labels.csv")
    code, text, errors = run(*given)
    assert (code, errors) == (0, "")
    assert "corrected" in text and "labels alone" in text and "weight of the judges" in text
    code, text, _ = run(*given, "--json")
    document = json.loads(text)
    assert code == 0 and document["why_not_rated"] == {}
    assert document["corrected"]["ratings"][0]["rank"] == 1 and document["calibrated"]["weight"] > 0
    assert document["corrected"]["biases"][0]["term"] == "position"


def test_the_command_says_why_there_are_no_ratings(frame: pd.DataFrame, tmp_path: Path, run: Run) -> None:
    frame.to_json(tmp_path / "opinions.jsonl", orient="records", lines=True)
    truths(frame).head(3).to_csv(tmp_path / "labels.csv", index=False)
    given = (tmp_path / "opinions.jsonl", "--calibrate", tmp_path / "labels.csv")
    code, text, errors = run(*given)
    assert code == 1 and "not calibrated: labels lie on" in errors and "position_effect" in text
    code, text, _ = run(*given, "--json")
    document = json.loads(text)
    assert code == 1 and document["calibrated"] is None and "labels lie on" in document["why_not_rated"]["calibrated"]
    assert "corrected" not in document and document["judges"]
