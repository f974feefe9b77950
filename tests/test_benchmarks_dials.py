"""The benchmarks of the study of judges, in the small."""

import json
from pathlib import Path

import pytest

from benchmarks import judge_dials, judge_speed


def test_dials_are_read_back_in_two_worlds_and_pieces_add_up(tmp_path: Path) -> None:
    truth = judge_dials.truths(12)
    assert truth["sim/position", "position_effect"] > truth["sim/zero", "position_effect"] + 0.15
    assert {judge for judge, name in truth if name == "family_preference"} == {"sim/family", "sim/zero"}
    whole = judge_dials.measured((1, 2), 8, truth, drawn=True)
    assert all(row["worlds"] == 2 for row in whole)
    assert sum(row["covered"] for row in whole) > len(whole)
    pieces = []
    for number in (1, 2):
        path = tmp_path / f"{number}.json"
        path.write_text(json.dumps(judge_dials.measured((number,), 8, truth, drawn=True)), "utf-8")
        pieces.append(path)
    for row, other in zip(judge_dials.merged(pieces), whole, strict=True):
        assert row == {**other, "sum": pytest.approx(other["sum"]), "width": pytest.approx(other["width"])}


def test_every_format_of_a_file_is_studied(tmp_path: Path) -> None:
    files = judge_speed.written(tmp_path, list(judge_speed.opinions(400)))
    assert [judge_speed.timed(file)["opinions"] for file in files] == [400, 400, 400]
