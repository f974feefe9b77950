"""A small run on disk, for tests that break what it is stored in."""

from pathlib import Path

from coupled_arena.config import load

TOML = """
name = "small"
models = ["sim/ada?skill=1", "sim/bob?skill=0", "sim/cleo?skill=-1"]
judges = ["sim/j1", "sim/j2", "sim/j3"]
examiner = "sim/examiner"
domains = ["math", "writing"]
questions_per_domain = 1
schedule = "round_robin"
seed = 7
"""


def small(folder: Path) -> Path:
    """Write a definition into a folder, play it, and return its store."""
    (folder / "small.toml").write_text(TOML, encoding="utf-8")
    load(folder / "small.toml").run(folder / "runs.db")
    return folder / "runs.db"
