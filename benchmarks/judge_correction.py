"""Do ratings come closer to the truth once they are freed of the judges' biases?

Lets eight simulated models in four families debate (skills from N(0, 1), from 1.5 to 6 claims a statement): every pair
on every question. Three judges of two of the families prefer their family's taste and longer texts at the given dials;
all other dials have their defaults. The debates are those of a tournament, the opinions are drawn from the judges'
equations (docs/world.md). Compares the rank correlation of skills with raw and with corrected ratings of the same
opinions. With both dials at 0 it shows what it costs to correct judges that need no correction.

    python benchmarks/judge_correction.py [--seeds 100] [--first 0] [--questions 8] [--family 0.7] [--length 1] [--json]
    python benchmarks/judge_correction.py --join PIECE.json PIECE.json
"""

import argparse
import json
import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

import numpy as np

import coupled_arena as ca
from coupled_arena.analysis.correction import correct
from coupled_arena.ratings.rank_agreement import compare
from coupled_arena.ratings.student import t_reach

FAMILIES = "xyzw"
MODELS = 8
JUDGES = "xxy"
"""Families of the judges."""


class Seed(TypedDict):
    """What one tournament came to."""

    seed: int
    raw: float
    corrected: float
    lapses: bool


def world(seed: int, *, family: float, length: float) -> tuple[ca.World, dict[str, float]]:
    """Return a world and the skills of its models."""
    rng = np.random.default_rng(seed)
    skills = {f"m{number}": float(rng.normal()) for number in range(MODELS)}
    models = []
    for number, (name, skill) in enumerate(skills.items()):
        own, claims = FAMILIES[number % len(FAMILIES)], rng.uniform(1.5, 6)
        string = f"sim/{name}?skill={skill:.6f}&verbosity={claims:.4f}&taste={own}"
        models.append(ca.Model(name, string, family=own))
    judges = [
        ca.Model(f"j{number}", f"sim/j{number}?length={length}&family={family}&taste={own}", family=own)
        for number, own in enumerate(JUDGES)
    ]
    definition = ca.Tournament(
        models=models,
        judges=judges,
        examiner="sim/examiner",
        domains=["math"],
        schedule="round_robin",
        battle=ca.BattleRules(script="single"),
        committee=ca.CommitteeRules(recuse="none", discussion_rounds=0),
        seed=seed,
    )
    return ca.World(definition), skills


def judged(seed: int, *, questions: int, family: float, length: float) -> Seed:
    """Hold the debates of one world, have them judged, and correct the ratings."""
    place, skills = world(seed, family=family, length=length)
    found = correct(place.truth(questions=questions, draws=1).opinions)
    raw, corrected = (compare(ratings, skills).spearman.value for ratings in (found.raw, found.ratings))
    return {
        "seed": seed,
        "raw": raw or 0.0,
        "corrected": corrected or 0.0,
        "lapses": any(bias.term == "lapse" for bias in found.biases),
    }


def line(rows: Sequence[Seed]) -> str:
    """Return the means, and the gain with its interval over seeds."""
    gains = [row["corrected"] - row["raw"] for row in rows]
    mean = statistics.fmean(gains)
    reach = t_reach(0.95, len(gains) - 1) * statistics.stdev(gains) / math.sqrt(len(gains))
    raw, corrected = (statistics.fmean(row[key] for row in rows) for key in ("raw", "corrected"))
    better, worse = (sum(sign * gain > 1e-9 for gain in gains) for sign in (1, -1))
    return (
        f"{len(rows)} seeds: Spearman with the skills {raw:.3f} raw, {corrected:.3f} corrected; gain {mean:+.3f} "
        f"[{mean - reach:+.3f}, {mean + reach:+.3f}]; better in {better}, worse in {worse}"
    )


def main() -> None:
    """Play the tournaments and print what they show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--questions", type=int, default=8)
    parser.add_argument("--family", type=float, default=0.7)
    parser.add_argument("--length", type=float, default=1.0)
    parser.add_argument("--json", action="store_true", help="print the seeds, for --join")
    parser.add_argument("--join", type=Path, nargs="+", default=[], help="sum up what --json printed")
    options = parser.parse_args()
    rows: list[Seed] = [row for path in options.join for row in json.loads(path.read_text("utf-8"))]
    dials = {"questions": options.questions, "family": options.family, "length": options.length}
    if not options.join:
        rows = [judged(seed, **dials) for seed in range(options.first, options.first + options.seeds)]
    print(json.dumps(rows) if options.json else line(rows))


if __name__ == "__main__":
    main()
