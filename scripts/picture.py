"""Draws the picture of the README: a tournament of simulated models, played and plotted by the project itself."""

from pathlib import Path

import matplotlib as mpl
from matplotlib import pyplot
from matplotlib.figure import Figure

import coupled_arena as ca

TARGET = Path(__file__).parent.parent / "docs" / "images" / "tournament.svg"
SKILLS = {"ada": 1.2, "bob": 0.6, "cleo": 0.2, "dan": -0.2, "eve": -0.7, "fay": -1.2}


def tournament() -> ca.Tournament:
    """Return six models of known skill, in three Swiss rounds over sixteen questions."""
    return ca.Tournament(
        models=[ca.Model(name, f"sim/{name}?skill={skill}") for name, skill in SKILLS.items()],
        judges=["sim/j1", "sim/j2", "sim/j3"],
        domains=["math", "writing", "coding", "stem"],
        questions_per_domain=4,
        seed=7,
    )


def drawn(result: ca.Result) -> Figure:
    """Return the leaderboard, how it came about, and who scored what against whom."""
    figure, (board, rounds, matrix) = pyplot.subplots(1, 3, figsize=(12, 3.4), layout="constrained")
    ca.plot.leaderboard(result, ax=board)
    ca.plot.history(result, ax=rounds)
    ca.plot.win_rates(result, ax=matrix)
    return figure


if __name__ == "__main__":
    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "coupled-arena"
    TARGET.parent.mkdir(exist_ok=True)
    drawn(tournament().run()).savefig(TARGET, metadata={"Date": None})
    print(TARGET)
