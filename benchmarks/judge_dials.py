"""Are the dials of simulated judges read back: do 95 % intervals of the study cover the truth in 95 % of worlds?

One committee in which position, length, family and conformity are each turned by one judge and at zero in all others
judges the debates of three models over few questions, in many worlds. Each world is played as a tournament, or, with
`--drawn`, its debates are held in memory and its opinions drawn from the judges' equations, which is ten times as fast
and comes to the same law. The truth is that of `World.truth` over many further questions; it is one for all worlds,
since claims are drawn anew for every question.

    python benchmarks/judge_dials.py [--worlds 400] [--first 0] [--questions 30] [--drawn] [--json]
    python benchmarks/judge_dials.py --merge piece1.json piece2.json

`covered` counts intervals that hold the truth, `none` worlds in which there was no interval; these count as misses.
"""

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import coupled_arena as ca
from coupled_arena.analysis.judges import Opinions, opinions_of
from coupled_arena.studies.judging.measures import JUDGES

LEVEL = 0.95
LEAST, MOST = 0.915, 0.985
"""Shares of worlds between which coverage is as good as 400 worlds can tell."""
ZERO = "position=0&length=0&family=0&conformity=0&waver=0.5"
COMMITTEE = {
    "position": "position=1",
    "length": "length=1",
    "family": "family=1&taste=x",
    "conformity": "conformity=1",
    "zero": "taste=x",
}
"""What differs from `ZERO` in every judge, by its name; the last is of a debater's family and favours nobody."""
MODELS = ("sim/ada?taste=x&verbosity=3", "sim/bob?skill=0.5&taste=y&verbosity=5", "sim/cy?skill=1&taste=z")
MEASURES = ("position_effect", "flip_rate", "length_effect", "family_preference", "conformity", "kappa_before", "moved")
_OF = {measure.name: measure.of for measure in JUDGES if measure.name in MEASURES}
Row = dict[str, Any]


def world(number: int, questions: int) -> ca.World:
    """Return one world and its tournament."""
    return ca.World(
        models=list(MODELS),
        judges=[f"sim/{name}?{_dials(changes)}" for name, changes in COMMITTEE.items()],
        examiner="sim/examiner",
        domains=["writing"],
        questions_per_domain=questions,
        schedule="round_robin",
        script="single",
        orders="both",
        recuse="none",
        references=False,
        seed=number,
    )


def _dials(changes: str) -> str:
    dials = dict(part.split("=") for part in (*ZERO.split("&"), *changes.split("&")))
    return "&".join(f"{name}={value}" for name, value in dials.items())


def opinions(number: int, questions: int, *, drawn: bool) -> Opinions:
    """Return the opinions of one world: drawn from equations, or those of a tournament that is played."""
    own = world(number, questions)
    if drawn:
        return own.truth(questions=questions, draws=1).opinions
    return opinions_of(own.play().frame("opinions"))


def truths(questions: int) -> dict[tuple[str, str], float]:
    """Return the truth of every judge's measures that have one."""
    rows = world(0, 1).truth(questions=questions).judges.to_dict("records")
    return {
        (str(row["judge"]), name): float(row[name])
        for row in rows
        for name in MEASURES
        if row[name] == row[name]
    }  # fmt: skip


def measured(numbers: Iterable[int], questions: int, truth: dict[tuple[str, str], float], *, drawn: bool) -> list[Row]:
    """Return how often the intervals of some worlds hold the truth, a row for every judge and measure."""
    rows: dict[tuple[str, str], Row] = {
        (judge, name): {"judge": judge, "measure": name, "truth": value, "worlds": 0, "covered": 0, "none": 0,
                        "sum": 0.0, "width": 0.0}
        for (judge, name), value in truth.items()
    }  # fmt: skip
    for number in numbers:
        table = opinions(number, questions, drawn=drawn)
        found = {name: of(table, LEVEL) for name, of in _OF.items()}
        for (judge, name), row in rows.items():
            one = found[name][judge]
            row["worlds"] += 1
            row["sum"] += one.value or 0.0
            if one.low is None or one.high is None:
                row["none"] += 1
            else:
                row["covered"] += one.low <= row["truth"] <= one.high
                row["width"] += one.high - one.low
    return list(rows.values())


def merged(paths: Iterable[Path]) -> list[Row]:
    """Return the rows of several pieces as those of one."""
    whole: dict[tuple[str, str], Row] = {}
    for path in paths:
        for row in json.loads(path.read_text("utf-8")):
            into = whole.setdefault((row["judge"], row["measure"]), {**row, **dict.fromkeys(_ADDED, 0)})
            into.update({name: into[name] + row[name] for name in _ADDED})
    return list(whole.values())


_ADDED = ("worlds", "covered", "none", "sum", "width")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=400)
    parser.add_argument("--first", type=int, default=0, help="number of the first world")
    parser.add_argument("--questions", type=int, default=30, help="questions of each world")
    parser.add_argument("--truth", type=int, default=2000, help="further questions that the truth rests on")
    parser.add_argument("--drawn", action="store_true")
    parser.add_argument("--merge", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.merge:
        rows = merged(options.merge)
    else:
        # Worlds are numbered from 1: the truth is that of world 0.
        numbers = range(options.first + 1, options.first + options.worlds + 1)
        rows = measured(numbers, options.questions, truths(options.truth), drawn=options.drawn)
    if options.json:
        print(json.dumps(rows))
        return
    print("judge | measure | truth | mean | width | covered | without interval")
    for row in rows:
        worlds, known = row["worlds"], max(1, row["worlds"] - row["none"])
        print(
            f"{row['judge']} | {row['measure']} | {row['truth']:.3f} | {row['sum'] / worlds:.3f} | "
            f"{row['width'] / known:.3f} | {row['covered'] / worlds:.1%} | {row['none']}"
        )
    off = [row for row in rows if not LEAST <= row["covered"] / row["worlds"] <= MOST]
    print(f"{len(rows) - len(off)} of {len(rows)} between {LEAST:.1%} and {MOST:.1%}")


if __name__ == "__main__":
    main()
