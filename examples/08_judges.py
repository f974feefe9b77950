"""How do my judges judge, and would others decide otherwise? A study over debates that are played once."""

from pathlib import Path
from tempfile import TemporaryDirectory

import coupled_arena as ca

tournament = ca.Tournament(
    models=["sim/ada?skill=1", "sim/bob?skill=0.4", "sim/eve?skill=-0.5"],
    judges=["sim/fair", "sim/first?position=1", "sim/long?length=1"],  # two with a bias that is known here
    domains=["math", "writing"],
    questions_per_domain=3,
    schedule="round_robin",
    orders="both",
    seed=7,
)
study = ca.JudgeStudy(
    panels={"as it was": None, "fair ones": ["sim/f1", "sim/f2"]}, orders="both", discussion_rounds=[0, 1]
)

if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        store = Path(folder, "runs.db")
        result = tournament.run(store)
        print(result.leaderboard()[["rank", "model", "rating"]].to_string(index=False))
        found = ca.judges(result)
        print(found.judges[["judge", "position_effect", "flip_rate", "moved"]].to_string(index=False))
        cells = study.run(store).cells
        print(cells[["panel", "discussion_rounds", "judged", "changed"]].to_string(index=False))
