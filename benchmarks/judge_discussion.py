"""What does discussion do to a committee: to how far its judges agree, and to how often they are right?

Plays debates of simulated models once, and has them judged by panels of five in a grid of conformities
(`ca.JudgeStudy`): the lead that a judge adds when all others are of one opinion. The truth of every battle is the
world's. Lone opinions are the same at every conformity, so all changes are paired.

Panels: `unbiased` judges; judges that share a bias for the side they are shown first (`position`, `strong position`) or
for longer texts (`length`); `taste`: three of five like what their family likes; `one keen`: one judge sees clearly,
four hardly at all.

    python benchmarks/judge_discussion.py [--questions 60] [--panels NAME ...] [--store FILE] [--json]

Agreement is the share of pairs of judges that say the same; being right counts half for a tie. `gain` is what
discussion adds to how often judges are right, with its interval clustered by question; `majority right` and `majority
wrong` are the same where most judges alone were right and where they were not.
"""

import argparse
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import coupled_arena as ca
from coupled_arena.analysis.judges import Opinions, agreement, opinions_of
from coupled_arena.analysis.judges.company import counted, majority_of
from coupled_arena.analysis.judges.estimate import Estimate, mean_of

CONFORMITY = (0.3, 1.0, 2.0, 5.0)
JUDGES = 5
LEVEL = 0.95
PANELS: dict[str, list[str]] = {
    "unbiased": ["position=0"] * JUDGES,
    "position": ["position=0.6"] * JUDGES,
    "strong position": ["position=1.1"] * JUDGES,
    "length": ["position=0&length=1"] * JUDGES,
    "taste": ["position=0&family=1.4&taste=f"] * 3 + ["position=0"] * 2,
    "one keen": ["position=0&acuity=4"] + ["position=0&acuity=0.2"] * 4,
}
"""Dials of the five judges of every panel, but for their conformity."""
MODELS = (
    "sim/ada?skill=0.9&verbosity=2",
    "sim/bob?skill=0.3&verbosity=5&taste=f",
    "sim/cleo?skill=-0.3&verbosity=3",
    "sim/dan?skill=-0.9&verbosity=6&taste=f",
)
Floats = NDArray[np.float64]


def debates(questions: int, store: ca.Store) -> ca.Result:
    """Play everybody against everybody."""
    return ca.Tournament(
        name="debates",
        models=list(MODELS),
        judges=["sim/nobody"],
        discussion_rounds=0,
        examiner="sim/examiner",
        domains=["math", "writing", "coding", "stem"],
        questions_per_domain=questions // 4,
        schedule="round_robin",
        references=False,
        seed=8,
    ).run(store)


def panels(names: Sequence[str]) -> dict[str, list[str]]:
    """Return every panel at every conformity."""
    return {
        f"{name}/{conformity:g}": [
            f"sim/j{number}?{dials}&conformity={conformity}" for number, dials in enumerate(PANELS[name], 1)
        ]
        for name in names
        for conformity in CONFORMITY
    }


def right(score: Floats, truth: Floats) -> Floats:
    """Return how right scores are, half for a tie."""
    return 1 - np.abs(score - truth)


def row(name: str, table: Opinions) -> dict[str, Any]:
    """Return what discussion did in one cell."""
    looks = table.looks
    truth = table.truth[looks.battle]
    before, after = right(looks.alone, truth), right(looks.last, truth)
    committee = [majority_of(counted(looks, score))[looks.item] for score in (looks.alone, looks.last)]
    majority = right(committee[0], truth)
    chosen = {"gain": majority >= 0, "majority right": majority == 1, "majority wrong": majority == 0}
    changes = {key: _mean((after - before)[rows], looks.question[rows], -1.0) for key, rows in chosen.items()}
    one_each = np.unique(looks.item, return_index=True)[1]
    verdicts = [right(score, truth)[one_each] for score in committee]
    changes["committee gain"] = _mean(verdicts[1] - verdicts[0], looks.question[one_each], -1.0)
    panel, conformity = name.rsplit("/", 1)
    return {
        "panel": panel,
        "conformity": float(conformity),
        "battles": table.battles,
        "agreement before": agreement(table).value,
        "agreement after": agreement(table, when="last").value,
        "right before": float(before.mean()),
        "right after": float(after.mean()),
        "committee before": float(verdicts[0].mean()),
        "committee after": float(verdicts[1].mean()),
        "majority was wrong": float((majority == 0).mean()),
        **{key: [found.value, found.low, found.high] for key, found in changes.items()},
    }


def _mean(values: Floats, questions: NDArray[np.intp], least: float) -> Estimate:
    return mean_of(values, questions, level=LEVEL, none="no battle", bounds=(least, 1.0))


def rows(questions: int, names: Sequence[str], store: ca.Store) -> list[dict[str, Any]]:
    """Play, judge and measure."""
    played = debates(questions, store)
    frame = ca.JudgeStudy(panels=panels(names), discussion_rounds=1).run(store, played.run).opinions
    return [row(name, opinions_of(frame[frame["panel"] == name])) for name in frame["panel"].unique()]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=60, help="questions; each is battled over by six pairs")
    parser.add_argument("--panels", nargs="+", choices=sorted(PANELS), default=list(PANELS))
    parser.add_argument("--store", default=":memory:", help="a file in which a study that was stopped goes on")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with ca.Store(options.store) as store:
        found = rows(options.questions, options.panels, store)
    if options.json:
        print(json.dumps(found, indent=1))
        return
    keys = [key for key in found[0] if key not in ("panel", "conformity", "battles")]
    print(" | ".join(("panel", "conformity", *keys)))
    for line in found:
        print(" | ".join((line["panel"], f"{line['conformity']:g}", *(_shown(line[key]) for key in keys))))


def _shown(value: Any) -> str:
    if isinstance(value, list):
        middle, low, high = value
        return "-" if middle is None else f"{100 * middle:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"
    return "-" if value is None else f"{100 * value:.1f}"


if __name__ == "__main__":
    main()
