"""Do committees here agree as Auto-Arena's did (arXiv 2405.20267), before and after they discuss?

A line for every committee: the two that were published, from the public files; simulated ones on debates of nine models
over 40 questions, where the truth is known; and, with `--store`, the committee of a run of yours. Kappa among judges is
the mean of Cohen's kappas of all pairs, kappa with the majority the mean of every judge's kappa with the committee's
vote, of which it is a part; both as in the paper. Behind what could be computed from battles stands its 95 % interval
by the jackknife over questions; of the published committees only the kappas are public.

`outside` is the kappa of the committee with somebody who is no part of it: the paper's annotators, before they talked
to each other, on 24 battles; for a simulated committee a reader of the same dials who judges alone. `outsiders` is the
kappa of two of these with each other, and `truth` that of the committee with the truth.

    python benchmarks/papers/committees.py DIR [--store FILE [--run ID]] [--questions 40] [--json]
"""

import argparse
import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import coupled_arena as ca
from benchmarks.papers._auto_arena_files import Files, number
from coupled_arena.analysis.agreement import kappa
from coupled_arena.analysis.judges import Opinions, agreement, opinions_of
from coupled_arena.analysis.judges.company import counted, majority_of
from coupled_arena.analysis.judges.estimate import Estimate, by_question, jackknife
from coupled_arena.analysis.judges.table import When

if TYPE_CHECKING:
    import pandas as pd

PUBLISHED = {"v4": (53.0, 64.0), "v1": (48.0, 68.0)}
"""Printed agreement of judges, in percent: pairs of votes pooled (v4), mean over pairs of judges (v1)."""
SIMULATED = {
    "default dials": "",
    "dull": "?acuity=0.3",
    "dull, yielding": "?acuity=0.3&conformity=1",
}
"""Dials of every judge of a committee of five."""
SKILLS = np.random.default_rng(8).normal(0, 0.5, 9)
WHEN: tuple[When, ...] = ("alone", "last")
Floats = NDArray[np.float64]
Cell = tuple[float | None, float | None, float | None]


def published(files: Files) -> list[dict[str, Any]]:
    """Return the lines of the published committees."""
    lines = []
    people: list[Any] = [[cell or None for cell in line[1:]] for line in files.lines("human_eval_responses_raw.csv")]
    winners = [row["winner"].replace("tie", "Tie") for row in files.rows("human_eval_debates.csv")]
    for version, together in PUBLISHED.items():
        line: dict[str, Any] = {"committee": f"Auto-Arena {version}", "battles": None}
        for when, stage, share in zip(WHEN, ("before", "after"), together, strict=True):
            rows = files.rows(f"kappa_judges_{version}_{stage}.csv")
            names = [row["judge"] for row in rows]
            pairs = [number(row[name]) for place, row in enumerate(rows) for name in names[place + 1 :]]
            own = [row for row in files.rows("kappa_vs_majority.csv") if row["paper_version"] == version]
            majority = [number(row[f"kappa_with_majority_{stage}"]) for row in own]
            line |= {"judges": len(names), f"agreement {when}": (share / 100, None, None)}
            line |= {f"among {when}": (float(np.mean(pairs)), None, None)}
            line |= {f"majority {when}": (float(np.mean(majority)), None, None)}
        if version == "v4":
            line["outside"] = _of(kappa(people[1], winners))
            line["outsiders"] = _of(kappa(people[1], people[2]))
        lines.append(line)
    return lines


def simulated(questions: int) -> list[dict[str, Any]]:
    """Return the lines of the simulated committees."""
    models = [f"sim/m{place}?skill={skill:.3f}" for place, skill in enumerate(SKILLS, 1)]
    with ca.Store(":memory:") as store:
        played = ca.Tournament(
            name="debates",
            models=models,
            judges=["sim/nobody"],
            discussion_rounds=0,
            examiner="sim/examiner",
            references=False,
            questions_per_domain=max(1, questions // 8),
            schedule={"kind": "swiss", "rounds": 1},
            seed=8,
        ).run(store)
        readers = {f"{name} readers": [f"sim/r{place}{dials}" for place in (1, 2)] for name, dials in SIMULATED.items()}
        panels = {name: [f"sim/j{place}{dials}" for place in range(1, 6)] for name, dials in SIMULATED.items()}
        opinions = ca.JudgeStudy(panels={**panels, **readers}, discussion_rounds=1).run(store, played.run).opinions
    return [_simulated_line(name, opinions) for name in SIMULATED]


def _simulated_line(name: str, opinions: "pd.DataFrame") -> dict[str, Any]:
    own, read = (opinions[opinions["panel"] == panel] for panel in (name, f"{name} readers"))
    line = measured(f"simulated, {name}", own)
    verdicts = _decisions(own)
    alone = read[read["stage"] == 0].pivot(index="battle", columns="judge", values="verdict").loc[list(verdicts)]
    questions = own.drop_duplicates("battle").set_index("battle").loc[list(verdicts)]
    first, second = (alone[judge].tolist() for judge in sorted(alone.columns))
    groups, committee = questions["question"].tolist(), list(verdicts.values())
    line["outside"] = _of(kappa(first, committee, cluster=groups))
    line["outsiders"] = _of(kappa(first, second, cluster=groups))
    line["truth"] = _of(kappa(questions["truth"].tolist(), committee, cluster=groups))
    return line


def _decisions(opinions: "pd.DataFrame") -> dict[str, str]:
    """Return the committee's vote after discussion, by battle."""
    last = opinions[opinions["stage"] == opinions["stage"].max()]
    counts = last.groupby(["battle", "verdict"]).size().unstack(fill_value=0).reindex(columns=["B", "tie", "A"])
    scores = majority_of(counts.fillna(0).to_numpy(dtype=np.float64))
    return {battle: ("B", "tie", "A")[int(2 * score)] for battle, score in zip(counts.index, scores, strict=True)}


def measured(name: str, opinions: "pd.DataFrame") -> dict[str, Any]:
    """Return the line of a committee from its opinions."""
    table = opinions_of(opinions)
    line: dict[str, Any] = {"committee": name, "judges": len(table.judges), "battles": table.battles}
    for when in WHEN:
        line |= {
            f"agreement {when}": _of(agreement(table, when=when)),
            f"among {when}": _of(among(table, when)),
            f"majority {when}": _of(with_majority(table, when)),
        }
    return line


def among(table: Opinions, when: When) -> Estimate:
    """Return the mean of Cohen's kappas of all pairs of judges that judged battles in common."""
    scores, question = _items(table, when)
    return _mean_kappa([(scores[a], scores[b]) for a, b in combinations(range(len(scores)), 2)], question)


def with_majority(table: Opinions, when: When) -> Estimate:
    """Return the mean of every judge's kappa with the vote of the committee, its own verdict included."""
    scores, question = _items(table, when)
    majority = majority_of(counted(table.looks, table.looks.scores(when)))
    return _mean_kappa([(score, majority) for score in scores], question)


def _items(table: Opinions, when: When) -> tuple[Floats, NDArray[np.intp]]:
    """Return every judge's score of every item, NaN where it has none, and the items' questions."""
    looks = table.looks
    size = int(looks.item.max()) + 1
    scores, question = np.full((len(table.judges), size), np.nan), np.zeros(size, dtype=np.intp)
    scores[looks.judge, looks.item] = looks.scores(when)
    question[looks.item] = looks.question
    return scores, question


def _mean_kappa(pairs: Sequence[tuple[Floats, Floats]], question: NDArray[np.intp]) -> Estimate:
    columns = []
    for a, b in pairs:
        known = ~np.isnan(a) & ~np.isnan(b)
        cell = np.where(known, 6 * np.nan_to_num(a) + 2 * np.nan_to_num(b), -1)
        columns += [(cell == place).astype(np.float64) for place in range(9)]
    sums, _ = by_question(question, *columns)

    def mean(sums: Floats) -> Floats:
        tables = sums.reshape(*sums.shape[:-1], len(pairs), 3, 3)
        tables = tables / tables.sum(axis=(-2, -1), keepdims=True)
        observed = np.trace(tables, axis1=-2, axis2=-1)
        expected = (tables.sum(axis=-1) * tables.sum(axis=-2)).sum(axis=-1)
        found: Floats = np.nanmean((observed - expected) / (1 - expected), axis=-1)
        return found

    return jackknife(sums, mean, level=0.95, trials=len(question), none="no pair of judges has battles in common")


def _of(found: Any) -> Cell:
    return found.value, found.low, found.high


def local(store: Path, run: str | None) -> dict[str, Any]:
    """Return the line of the committee of a stored run."""
    with ca.Store(store, create=False) as opened:
        reader = opened.run(run) if run else opened.run()
        return measured(f"run {reader.id}", reader.frame("opinions"))


KEYS = [f"{what} {when}" for what in ("agreement", "among", "majority") for when in WHEN]
KEYS += ["outside", "outsiders", "truth"]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR", help="the compact files of Auto-Arena")
    parser.add_argument("--store", type=Path, help="a store with a run whose committee discussed")
    parser.add_argument("--run", help="id of the run; its newest by default")
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    lines = [*published(Files(options.folder)), *simulated(options.questions)]
    if options.store:
        lines.append(local(options.store, options.run))
    if options.json:
        print(json.dumps({"committees": lines}, allow_nan=False, indent=1))
        return
    print("| " + " | ".join(("committee", "judges", "battles", *KEYS)) + " |")
    print("|" + " --- |" * (len(KEYS) + 3))
    for line in lines:
        cells = [line["committee"], str(line["judges"]), str(line["battles"] or "")]
        print("| " + " | ".join((*cells, *(_shown(line.get(key)) for key in KEYS))) + " |")


def _shown(cell: Cell | None) -> str:
    if cell is None or cell[0] is None:
        return ""
    value, low, high = cell
    return f"{value:.2f}" if low is None or high is None else f"{value:.2f} [{low:.2f}, {high:.2f}]"


if __name__ == "__main__":
    main()
