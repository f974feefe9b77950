"""Scores that seed a schedule come from a mapping or a file; what is wrong with a file is said with its line."""

from pathlib import Path

import pytest

import coupled_arena as ca
from coupled_arena.tournaments.schedules.scores import load_scores

FORMS = {
    "mmlu.csv": "name,score\nsim/ada,71.5\nsim/bob,-2\n",
    "mmlu.jsonl": '{"name": "sim/ada", "score": 71.5}\n\n{"name": "sim/bob", "score": -2}\n',
    "mmlu.json": '{"sim/ada": 71.5, "sim/bob": -2}',
}


@pytest.mark.parametrize("name", FORMS)
def test_every_form_of_a_file_gives_the_same_scores(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(FORMS[name], encoding="utf-8")
    assert load_scores(tmp_path / name) == {"sim/ada": 71.5, "sim/bob": -2.0}
    for kind in ({"kind": "swiss"}, {"kind": "insertion", "newcomer": "sim/bob"}):
        schedule = {**kind, "scores": str(tmp_path / name)}
        tournament = ca.Tournament(models=["sim/ada", "sim/bob"], schedule=schedule)
        assert tournament.document()["schedule"]["scores"] == {"sim/ada": 71.5, "sim/bob": -2.0}


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("s.csv", "name,score\na,1\na,2\n", "s.csv:3: name: 'a' has a score already"),
        ("s.csv", "name,score\na,high\n", "s.csv:2: score: of 'a' is no finite number: 'high'"),
        ("s.csv", "name,score\na,nan\n", "s.csv:2: score: of 'a' is no finite number: 'nan'"),
        ("s.csv", "name,mmlu\na,1\nb,2\n", "s.csv:1: mmlu: is unknown; there are name, score"),
        ("s.csv", "name,score,\na,1,\n", "s.csv:1: a column without a name: is unknown; there are name, score"),
        ("s.csv", "name,score\n,1\n", "s.csv:2: name: is missing"),
        ("s.csv", "name,score\n", "s.csv: schedule.scores: holds no scores"),
        ("s.csv", "name,score\na,1,2\n", "s.csv:2: schedule.scores: has 3 fields where the header has 2"),
        ("s.jsonl", '{"name": "a", "score": true}\n', "s.jsonl:1: score: of 'a' is no finite number: True"),
        ("s.json", '{"a": 1, "a": 2}', "s.json: schedule.scores: has the field 'a' twice"),
        ("s.json", "[1]", "s.json: schedule.scores: is not a JSON object"),
        ("s.json", '{"a": 1e999}', "s.json: score: of 'a' is no finite number: inf"),
        ("s.txt", "a 1", "s.txt: schedule.scores: is neither .csv nor .jsonl nor .json"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_place(tmp_path: Path, name: str, text: str, problem: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ca.ConfigurationError) as caught:
        load_scores(tmp_path / name)
    assert str(caught.value) == str(tmp_path / problem)


def test_a_definition_finds_its_scores_beside_it_and_keeps_what_they_say(tmp_path: Path) -> None:
    (tmp_path / "mmlu.csv").write_text(FORMS["mmlu.csv"], encoding="utf-8")
    file = tmp_path / "t.toml"
    file.write_text(
        'models = ["sim/ada", "sim/bob"]\njudges = ["sim/j"]\nschedule = {kind = "swiss", scores = "mmlu.csv"}\n',
        encoding="utf-8",
    )
    tournament = ca.load(file)
    assert tournament.document()["schedule"]["scores"] == {"sim/ada": 71.5, "sim/bob": -2.0}
    (tmp_path / "mmlu.csv").write_text("name,score\nsim/ada,?\n", encoding="utf-8")
    with pytest.raises(ca.ConfigurationError, match=r"mmlu\.csv:2: score: of 'sim/ada' is no finite number"):
        ca.load(file)
