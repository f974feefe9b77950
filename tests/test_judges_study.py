"""The study of judges on runs, files and folders, from Python and the command line."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import coupled_arena as ca
from coupled_arena.analysis.judges import LACKING
from coupled_arena.cli import app
from coupled_arena.errors import ConfigurationError
from coupled_arena.studies.judging import JudgeReport, judges
from coupled_arena.studies.judging.labels import read_labels
from coupled_arena.studies.judging.measures import JUDGES, PANEL
from coupled_arena.studies.judging.reading import read_opinions
from tests.judge_scene import Rows, opinions

JUDGE_KEYS = (
    "judge", "opinions", "abstained", "refused", "unparsable", "failed", "position_effect", "position_low",
    "position_high", "flip_rate", "length_effect", "length_low", "length_high", "family_preference", "family_low",
    "family_high", "agreement_with_others", "kappa_before", "kappa_after", "moved", "moved_to_truth",
)  # fmt: skip
PANEL_KEYS = (
    "agreement_before", "agreement_after", "fleiss_before", "fleiss_after", "alpha_before", "alpha_after",
    "effective_judges", "intransitive_triples",
)  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "runs.db"
    ca.Tournament(
        models=["sim/ada?skill=1&taste=x&brand=Acme", "sim/bob?taste=y", "sim/cy?skill=-1"],
        judges=["sim/first?position=1.5", "sim/kin?taste=x&family=1&brand=Acme&name=1", "sim/fair?conformity=1"],
        domains=["math"], questions_per_domain=6, schedule="round_robin", orders="both", recuse="none", seed=5,
    ).run(path)  # fmt: skip
    return path


@pytest.fixture(scope="module")
def found(store: Path) -> JudgeReport:
    return judges(store)


def written(path: Path, rows: Rows) -> Path:
    lines = [dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True)]
    if path.suffix == ".csv":
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(rows))
            writer.writeheader()
            writer.writerows(lines)
    else:
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def test_the_study_of_a_run_finds_whom_the_dials_favour(found: JudgeReport) -> None:
    frame = found.judges
    rows = {row["judge"]: row for row in frame.to_dict("records")}
    assert rows["sim/first"]["position_low"] > 0
    assert rows["sim/kin"]["family_preference"] > 0
    assert rows["sim/kin"]["name_preference"] > 0
    assert frame["accuracy_before"].notna().all()
    assert found.panel["judges"].tolist() == [3]


def test_the_document_has_every_key_and_says_why_a_number_is_missing(found: JudgeReport) -> None:
    document = found.document()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    for row in document["judges"]:
        assert set(JUDGE_KEYS) <= row.keys()
        missing = {measure.name for measure in JUDGES if row[measure.name] is None}
        assert missing <= row["why"].keys()
    assert set(PANEL_KEYS) <= document["panel"].keys()
    assert {m.name for m in PANEL if document["panel"][m.name] is None} <= document["panel"]["why"].keys()
    assert "nothing on repeatability" in " ".join(document["notes"])


@pytest.mark.parametrize("format_", ["jsonl", "csv", "parquet"])
def test_an_exported_folder_says_what_the_run_says(
    store: Path, found: JudgeReport, tmp_path: Path, format_: str
) -> None:
    with ca.Store(store, create=False) as opened:
        from coupled_arena.tournaments.storage.export import export

        export(opened.run(), tmp_path, [format_])
    again = judges(tmp_path)
    assert again.source == str(tmp_path / f"opinions.{format_}")
    expected, seen = found.document(), again.document()
    assert {**seen, "source": ""} == {**expected, "source": ""}


def test_a_result_and_its_frame_are_sources_too(store: Path, found: JudgeReport) -> None:
    with ca.Store(store, create=False) as opened:
        result = ca.Result.of(opened.run())
        assert judges(result).document() == found.document()
        assert judges(opened).document() == found.document()
        assert judges(result.frame("opinions")).document()["judges"] == found.document()["judges"]


def test_a_file_without_columns_is_studied_and_says_what_it_cannot_tell(tmp_path: Path) -> None:
    rows = {name: values for name, values in opinions(1, stages=1, orders=("AB",)).items()
            if name in ("battle", "judge", "verdict")}  # fmt: skip
    report = judges(written(tmp_path / "votes.csv", rows))
    notes = "\n".join(report.notes)
    for column in ("question", "a", "stage", "order", "status", "length_a", "family", "truth", "dice", "named"):
        assert f"`{column}` is not given: " in notes
    assert "column" not in notes
    row = report.document()["judges"][0]
    assert (row["position_basis"], row["agreement_with_others"] is None) == ("one order", False)
    assert row["why"]["length_effect"] == "the lengths of texts are not known"


def test_columns_of_published_files_are_known_and_others_can_be_named(tmp_path: Path) -> None:
    rows: Rows = {
        "question_id": ["q1", "q1", "q2", "q2"],
        "model_a": ["ada"] * 4,
        "model_b": ["bob"] * 4,
        "annotator": ["x", "y", "x", "y"],
        "winner": ["model_a", "ada", "tie (bothbad)", "model_b"],
    }
    report = judges(written(tmp_path / "votes.jsonl", rows), columns={"judge": "annotator"})
    assert report.table.score.tolist() == [1.0, 1.0, 0.5, 0.0]
    assert (report.table.battles, report.table.questions) == (2, 2)
    with pytest.raises(ConfigurationError, match="'grader' is not there"):
        judges(tmp_path / "votes.jsonl", columns={"judge": "grader"})
    with pytest.raises(ConfigurationError, match="jury: is no column of opinions"):
        judges(tmp_path / "votes.jsonl", columns={"jury": "annotator"})


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("verdict", ["A"], "row 2: verdict: must be text or a number, not ['A']"),
        ("a", {"name": "ada"}, "row 2: a: must be text or a number, not {'name': 'ada'}"),
        ("round", "late", "row 2: round: must be a number, not 'late'"),
    ],
)
def test_a_value_that_its_column_cannot_hold_is_refused_with_its_row(
    tmp_path: Path, column: str, value: Any, words: str
) -> None:
    row = {"battle": 1, "judge": "j", "verdict": "A", "a": "ada", "b": "bob", "round": 1}
    path = tmp_path / "votes.json"
    path.write_text(json.dumps([row, {**row, "battle": 2, column: value}]))
    with pytest.raises(ConfigurationError) as caught:
        judges(path)
    assert str(caught.value) == f"{path}: {words}"


def test_what_only_files_or_only_stores_take_is_refused_elsewhere(store: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="run: x: names a run of a store"):
        judges(written(tmp_path / "o.jsonl", opinions(2)), run="x")
    with pytest.raises(ConfigurationError, match="columns: judge: is for a file or a data frame"):
        judges(store, columns={"judge": "grader"})
    with pytest.raises(ConfigurationError, match="cannot be read: File name too long"):
        judges("x" * 5000 + ".csv")


def test_one_annotator_labels_a_battle_once(tmp_path: Path) -> None:
    rows = {"battle": [1, 1, 2], "judge": ["j", "k", "j"], "verdict": ["A", "B", "A"]}
    several: Rows = {"battle": [1, 1, 1, 1, 2], "verdict": list("ABABA"), "annotator": ["ann", "ben", "", "", "ann"]}
    path = written(tmp_path / "labels.csv", several)
    (committee, *_) = judges(rows, labels=path).people
    assert committee.agreement.trials == 5
    again = {name: [*values, values[0]] for name, values in several.items()}
    with pytest.raises(ConfigurationError, match=r"labels\.csv:7: annotator: 'ann' labels '1' a second time"):
        judges(rows, labels=written(path, again))


@pytest.mark.parametrize(
    ("one", "none"), [(7.0, np.nan), (0.0, None), ("ann", np.nan), ("ann", pd.NA)], ids=["7.0", "0.0", "NaN", "NA"]
)
def test_annotators_of_a_data_frame_may_be_numbers_and_be_missing(one: Any, none: Any) -> None:
    rows = {"battle": [1, 1, 2], "judge": ["j", "k", "j"], "verdict": ["A", "B", "A"]}
    labels = pd.DataFrame({"battle": [1, 1, 1, 2], "verdict": list("ABBA"), "annotator": [one, none, none, one]})
    table = read_opinions(rows).table
    assert read_labels(labels, table).score.tolist() == [1.0, 0.0, 0.0, 1.0]
    with pytest.raises(ConfigurationError, match=f"row 5: annotator: '{one}' labels 1 a second time"):
        read_labels(pd.concat([labels, labels[:1]]), table)


def test_labels_of_people_are_compared_with_judges_and_committee(tmp_path: Path) -> None:
    rows = opinions(3, missing=0.0, orders=("AB",))
    truth = dict(zip(rows["battle"], rows["truth"], strict=True))
    labels: Rows = {
        "battle": [*truth, *truth, "another"],
        "annotator": ["p"] * len(truth) + ["q"] * (len(truth) + 1),
        "verdict": [*truth.values(), *truth.values(), "A"],
    }
    path = written(tmp_path / "labels.csv", labels)
    report = judges(rows, labels=path)
    people = {one.rater: one for one in report.people}
    assert set(people) == {"committee", "j1", "j2", "j3"}
    right = report.stages[-1].decision_accuracy
    assert people["committee"].agreement.value == pytest.approx(right.value)
    assert report.among_people is not None
    assert report.among_people.value == 1.0
    assert "left out: 1 label of battles that are not among these" in report.notes
    with pytest.raises(ConfigurationError, match=r"labels\.csv:2: verdict: .*is no outcome"):
        judges(rows, labels=written(path, {"battle": ["0-01"], "verdict": ["maybe"]}))


def test_votes_against_the_decision_are_listed_with_the_truth(found: JudgeReport) -> None:
    assert found.minority
    for report in found.minority:
        assert report.vote != report.decision
        assert report.truth in ("A", "B", "tie")


def test_leaving_out_a_judge_moves_ratings(found: JudgeReport) -> None:
    assert [one.judge for one in found.left_out] == ["sim/fair", "sim/first", "sim/kin"]
    assert all(abs(sum(one.shifts.values())) < 1 for one in found.left_out)
    assert any(one.changed.value for one in found.left_out)


def command(*words: Any) -> Any:
    return CliRunner().invoke(app, ["judges", *map(str, words)])


def test_the_command_prints_json_of_a_run_and_tables_of_a_file(store: Path, found: JudgeReport, tmp_path: Path) -> None:
    told = command("--store", store, "--json")
    assert told.exit_code == 0
    assert json.loads(told.stdout) == found.document()
    shown = command(written(tmp_path / "o.jsonl", opinions(2)))
    assert shown.exit_code == 0
    assert "position_effect" in shown.stdout
    assert "agreement_before" in shown.stdout


def test_the_command_exits_1_where_there_is_no_verdict_and_2_on_wrong_use(tmp_path: Path) -> None:
    rows = opinions(2)
    nothing = written(tmp_path / "none.csv", {**rows, "verdict": [""] * len(rows["verdict"])})
    assert command(nothing).exit_code == 1
    assert command(nothing, "--run", "x").exit_code == 2
    assert command(nothing, "--level", "95").exit_code == 2
    assert command(nothing, "--column", "judge").exit_code == 2
    twice = command(nothing, "--column", "judge=x", "--column", "judge=y")
    assert (twice.exit_code, "says twice what judge is called" in " ".join(twice.output.split())) == (2, True)
    with pytest.raises(ConfigurationError, match=r"holds no opinions\.parquet"):
        judges(tmp_path)


def test_the_page_says_what_every_number_means_and_what_every_column_is_for() -> None:
    page = (Path(__file__).parent.parent / "docs" / "judges.md").read_text("utf-8")
    for judge in JUDGES:
        assert f"| `{judge.name}` | `{judge.ends}_low`, `{judge.ends}_high` | {judge.meaning} |" in page
    for panel in PANEL:
        assert f"| `{panel.name}` | {panel.meaning} |" in page
    for column, cost in LACKING.items():
        assert f"| `{column}` | {cost} |" in page


def test_a_report_says_in_lines_what_could_be_told(found: JudgeReport) -> None:
    head, names, *lines = repr(found).splitlines()
    assert head == f"judges of {found.source}" and names.split() == [row.judge for row in found.rows]
    notes = [line for line in lines if line.startswith("note: ")]
    measured = [line.split() for line in lines if line not in notes]
    assert len(notes) == len(found.notes) and [row[0] for row in measured[:2]] == ["position_effect", "flip_rate"]
    assert [float(value) for value in measured[0][1:]] == pytest.approx(
        list(found.judges["position_effect"]), abs=0.006
    )
