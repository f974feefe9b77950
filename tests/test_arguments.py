"""What is given to a public function and cannot be: one problem that names the argument, whatever was given."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import coupled_arena as ca
from coupled_arena.errors import ArenaError

TOURNAMENT = ca.Tournament(
    models=["sim/ada?skill=2", "sim/bob"], judges=["sim/j1", "sim/j2", "sim/j3"],
    domains=["math"], questions_per_domain=2, script="single",
)  # fmt: skip
ROWS = ca.RatingInput.from_rows([("ada", "bob", 1.0, 1.0, "q")])
API: Any = ca
"""The package as a program without types sees it."""
WRONG: tuple[Any, ...] = (None, 3, 1.5, b"x", True, {}, [], object())
"""What is no path, no model, no tournament and no share."""


@pytest.fixture(scope="module")
def result() -> ca.Result:
    return TOURNAMENT.run()


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("path", API.load),
        ("path", API.read_battles),
        ("path", API.gsm8k),
        ("path", API.mmlu),
        ("path", API.own_task),
        ("path", API.Store),
        ("path", lambda value: API.report(TOURNAMENT.run(), value)),
        ("path", lambda value: API.add("sim/x", value)),
        ("path", API.rejudge),
        ("store", lambda value: API.Tournament.run(TOURNAMENT, 7 if value is None else value)),
        ("model", lambda value: API.add(7 if value == {} else value, ":memory:")),
        ("model", lambda value: API.compare(7 if value == {} else value, "sim/b", judges="sim/j")),
        ("tournament", lambda value: API.World(7 if value is None else value)),
        ("level", lambda value: API.rate(ROWS, level=value)),
        ("run", API.Result.of),
        ("plot.leaderboard: argument", API.plot.leaderboard),
        ("plot.history: argument", API.plot.history),
        ("plot.win_rates: argument", API.plot.win_rates),
        ("plot.match_graph: argument", API.plot.match_graph),
        ("plot.judges: argument", API.plot.judges),
        ("plot.coupling: argument", API.plot.coupling),
    ],
)
def test_what_cannot_be_is_refused_by_the_argument_s_name(name: str, call: Callable[[Any], Any]) -> None:
    for value in WRONG:
        with pytest.raises(ArenaError, match=name):
            call(value)


@pytest.mark.parametrize("name", ["level", "columns", "labels", "run"])
def test_a_study_of_judges_refuses_what_it_cannot_read(result: ca.Result, name: str) -> None:
    wrong: tuple[Any, ...] = (3, 1.5, [("a", "b")], object())
    for value in wrong:
        with pytest.raises(ArenaError, match=name):
            ca.judges(result, **{name: value})


@pytest.mark.parametrize("name", ["questions", "draws"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "", {}, [], True])
def test_a_truth_is_of_whole_numbers(name: str, value: Any) -> None:
    with pytest.raises(ca.ConfigurationError, match=f"truth: {name}: must be a whole number of at least 1, not"):
        ca.World(TOURNAMENT).truth(**{name: value})


def test_labels_of_a_calibration_and_battles_of_ratings_are_of_a_kind(result: ca.Result) -> None:
    wrong: tuple[Any, ...] = (None, 3, [], object())
    for value in wrong:
        with pytest.raises(ca.ConfigurationError, match="labels: source: must be a file, a data frame, or verdicts"):
            ca.calibrated(result, value)
    for other in wrong[:2] + wrong[3:]:
        with pytest.raises(ca.RatingError, match="rate takes the Battle records of a run, not"):
            ca.rate(other)


def test_a_path_that_is_a_folder_or_empty_says_so(tmp_path: Path) -> None:
    for path in ("", tmp_path):
        for read in (ca.load, ca.read_battles, ca.gsm8k, ca.own_task, ca.Store, ca.judges):
            with pytest.raises(ArenaError, match=str(tmp_path) if path else "must be a path, not ''"):
                read(path)
