"""`coupled-arena rate FILE`: a table or one JSON object, honest exit codes."""

import json
import signal
import sys
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from coupled_arena.cli import main
from tests.test_cli import arena

MODELS = ("ada", "bob", "cleo")


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Callable[..., Done]]:
    """Give the command without a process of its own, which takes longer to start than it runs."""
    before = signal.getsignal(signal.SIGTERM)

    def command(folder: Path, *arguments: str) -> Done:
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["coupled-arena", "rate", *arguments])
        with pytest.raises(SystemExit) as ending:
            main()
        return Done(int(ending.value.code or 0), *capsys.readouterr())

    yield command
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    """Write votes of which ada wins most, and cleo fewest."""
    generator = np.random.default_rng(4)
    rows = ["model_a,model_b,winner,question_id"]
    for question in range(40):
        for a, b in combinations(range(3), 2):
            draw = generator.random()
            winner = "tie" if draw < 0.1 else "model_a" if draw < 0.1 + 0.6 + 0.1 * (b - a) else "model_b"
            rows.append(f"{MODELS[a]},{MODELS[b]},{winner},{question}")
    rows.append("ada,cleo,,41")
    (tmp_path / "votes.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path


Run = Callable[..., Done]


def rated(run: Run, folder: Path, *options: str) -> dict[str, Any]:
    done = run(folder, "votes.csv", "--json", *options)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_json_holds_ratings_ranks_and_what_must_be_known(run: Run, votes: Path) -> None:
    document = rated(run, votes)
    rows = document["ratings"]
    assert [row["model"] for row in rows] == ["ada", "bob", "cleo"]
    assert set(rows[0]) == {"model", "rating", "low", "high", "se", "rank_low", "rank_high", "battles"}
    assert all(row["low"] < row["rating"] < row["high"] for row in rows)
    assert all(row["rank_low"] <= place <= row["rank_high"] for place, row in enumerate(rows, start=1))
    assert [row["battles"] for row in rows] == [80, 80, 80]
    assert document["components"] == [["ada", "bob", "cleo"]]
    assert (document["separated"], document["ties"], document["converged"]) == ([], "half", True)
    assert (document["battles"], document["void"], document["clusters"]) == (120, 1, 40)
    assert [pair["line"].split(" by ")[0] for pair in document["settled"]] == ["ada leads bob", "bob leads cleo"]


def test_options_change_what_they_name(run: Run, votes: Path) -> None:
    plain, apart = rated(run, votes), rated(run, votes, "--cluster", "model_b")
    assert apart["clusters"] == 2
    assert apart["ratings"][0]["low"] is None
    assert [row["rating"] for row in apart["ratings"]] == [row["rating"] for row in plain["ratings"]]
    wide = rated(run, votes, "--level", "0.99", "--prior", "weak", "--ties", "davidson")
    assert (wide["level"], wide["prior"], wide["ties"]) == (0.99, "weak", "davidson")
    assert wide["ratings"][0]["high"] > plain["ratings"][0]["high"]


def test_the_table_ends_in_whether_it_is_settled(run: Run, votes: Path) -> None:
    done = run(votes, "votes.csv")
    assert done.returncode == 0
    assert done.stdout.startswith("rank  model")
    assert "121 battles (LMArena votes): 120 decided, 1 void." in done.stdout
    assert "resolved" in done.stdout
    assert "Bonferroni over 2 neighbouring pairs" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--prior", "much"], "must be weak or a number"),
        (["--level", "1.5"], "must lie between 0 and 1"),
        (["--cluster", "topic"], "there is no column 'topic'; there are model_a"),
        (["--ties", "none"], "must be half or davidson, not none"),
    ],
)
def test_wrong_use_exits_2(run: Run, votes: Path, options: list[str], words: str) -> None:
    done = run(votes, "votes.csv", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


def test_wrong_rows_are_named_with_file_and_row(votes: Path) -> None:
    with (votes / "votes.csv").open("a", encoding="utf-8") as file:
        file.write("ada,ada,tie,1\nada,bob,\x1b[31mada,1\n")
    done = arena(votes, "rate", "votes.csv")
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == "votes.csv:123: models: 'ada' meets itself; leave the row out"
    assert "votes.csv:124: winner:" in done.stderr
    assert "\x1b" not in done.stderr


def test_where_nothing_is_decided_nothing_is_rated(run: Run, tmp_path: Path) -> None:
    (tmp_path / "v.jsonl").write_text('{"model_a": "a", "model_b": "b", "winner": "error"}\n', encoding="utf-8")
    done = run(tmp_path, "v.jsonl", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["ratings"][0]["rating"] is None
    assert "no battle could be rated: none of 1 has a decision" in done.stderr


def test_a_sweep_has_no_number_and_says_so(run: Run, tmp_path: Path) -> None:
    rows = [f"a,{b},model_a,{n}" for n in range(9) for b in "bc"] + [f"b,c,model_{'ab'[n % 2]},{n}" for n in range(9)]
    (tmp_path / "votes.csv").write_text("\n".join(["model_a,model_b,winner,qid", *rows, ""]), encoding="utf-8")
    document = rated(run, tmp_path)
    assert document["separated"] == ["a"]
    assert document["ratings"][-1] == {
        **dict.fromkeys(("rating", "low", "high", "se", "rank_low", "rank_high")),
        "model": "a",
        "battles": 18,
    }
    assert "note: a won every battle: it has no rating" in run(tmp_path, "votes.csv").stdout
