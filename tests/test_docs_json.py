"""What commands print with `--json` is described, key by key."""

from pathlib import Path
from typing import Any

import pytest

import coupled_arena as ca

PAGE = (Path(__file__).parent.parent / "docs" / "json.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def undescribed(title: str, document: dict[str, Any]) -> list[str]:
    return [key for key in document if f"`{key}`" not in section(title)]


TOURNAMENT = ca.Tournament(
    models=["sim/ada?skill=2", "sim/bob"],
    judges=["sim/j1", "sim/j2", "sim/j3"],
    domains=["math"],
    questions_per_domain=2,
    script="single",
    schedule=ca.Adaptive(),
)


def test_every_key_of_a_result_is_described() -> None:
    document = TOURNAMENT.run().document()
    parts = [document[key] for key in ("battles", "calls", "cost", "resolution", "questions")]
    parts += [document["resolution"]["pairs"][0]]
    for part in (document, *parts):
        assert undescribed("run, leaderboard, demo", part) == []


def test_every_key_of_a_comparison_is_described() -> None:
    document = ca.compare("sim/ada?skill=2", "sim/bob", judges="sim/j", domains=["math"], script="single").document()
    assert undescribed("compare", document) == []
    assert undescribed("compare", document["domains"][0]) == []


def test_every_key_of_a_bench_is_described() -> None:
    assert undescribed("bench", ca.bench(["sim/ada", "sim/bob"], "arithmetic", items=2, repeats=2).document()) == []


def test_every_key_of_a_preflight_is_described() -> None:
    assert undescribed("With --dry-run", TOURNAMENT.preflight().document()) == []


@pytest.mark.parametrize("kind", [0, -1])
def test_a_model_of_a_preflight_has_its_figures_once(kind: int) -> None:
    line = TOURNAMENT.preflight().document()["models"][kind]
    assert "spending" not in line and line["most_calls"] >= line["calls"] > 0
