"""An export is a data set that others load: its card names the files, their types say what they hold."""

import re
from pathlib import Path

import pytest

import coupled_arena as ca
from coupled_arena.errors import ConfigurationError
from coupled_arena.tournaments.storage.columns import COLUMNS
from coupled_arena.tournaments.storage.dataset_card import HELD
from coupled_arena.tournaments.storage.export import export


@pytest.fixture(scope="module")
def result() -> ca.Result:
    models = ["sim/ada?skill=1", "sim/bob"]
    return ca.Tournament(
        name="of `--- a", models=models, judges=["sim/j"], domains=["math"], questions_per_domain=2
    ).run()


def configs(card: Path) -> dict[str, str]:
    head = card.read_text(encoding="utf-8").split("---\n")[1]
    return dict(re.findall(r"config_name: (\w+)\n  data_files: (\S+)", head))


def test_the_card_speaks_of_every_frame() -> None:
    assert set(HELD) == set(COLUMNS)


def test_the_card_points_to_parquet_where_there_is_some(result: ca.Result, tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet", reason="needs the extra `parquet`", exc_type=ImportError)
    with result.source() as run:
        files = export(run, tmp_path, ["csv", "jsonl", "parquet"])
    assert files[-1] == tmp_path / "README.md"
    found = configs(tmp_path / "README.md")
    assert found == {frame: f"{frame}.parquet" for frame in COLUMNS}
    for frame, name in found.items():
        for field in pq.read_schema(tmp_path / name):
            assert field.metadata[b"description"].decode() == COLUMNS[frame][field.name]


def test_lines_that_the_card_points_to_can_be_read_as_a_table(result: ca.Result, tmp_path: Path) -> None:
    reader = pytest.importorskip("pyarrow.json", reason="needs the extra `parquet`", exc_type=ImportError)
    with result.source() as run:
        export(run, tmp_path)
    found = configs(tmp_path / "README.md")
    assert "battles" in found
    assert "rejected" not in found, "an empty file cannot be loaded"
    for frame, name in found.items():
        assert reader.read_json(tmp_path / name).column_names == list(COLUMNS[frame])


def test_a_card_is_replaced_and_a_readme_of_ones_own_is_not(result: ca.Result, tmp_path: Path) -> None:
    with result.source() as run:
        first = export(run, tmp_path, ["csv"])
        assert export(run, tmp_path, ["csv"]) == first
        (tmp_path / "README.md").write_text("mine", encoding="utf-8")
        with pytest.raises(
            ConfigurationError, match=r"battles\.csv is there, and no README\.md says that it is of run"
        ):
            export(run, tmp_path, ["csv"])
        assert tmp_path / "README.md" not in export(run, tmp_path, ["csv"], force=True)
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == "mine"
