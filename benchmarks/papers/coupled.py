"""Do the published numbers on coupled generation (arXiv 2502.01754) follow from its public files?

Reads the result files of a clone of the authors' repository, or the compact ones. Every pair of models gets three
answers to what shared dice save: from the coupled run alone, from the coupled and the independent run, and by the
paper's rule, which reads it off two resampled curves (replayed with the same draws). Errors and savings that the paper
prints stand beside. Its comparisons by a judge were not published by question: what needs them is listed, and cannot
be recomputed.

    python benchmarks/papers/coupled.py DIR [--json]
"""

import argparse
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks.papers._coupled_files import DATASETS, Results, read
from benchmarks.papers._coupled_printed import EXAMPLE, LMSYS, MOST_SAVED, POINTS, SUBJECTS, TIES
from benchmarks.papers._rows import Row, agree, show
from coupled_arena.analysis.curves import error_curves, largest_gain
from coupled_arena.analysis.moments import Floats
from coupled_arena.analysis.paired import paired
from coupled_arena.analysis.two_runs import two_runs
from coupled_arena.coupling.laws import win_rates

ABSENT = "cannot follow from its files"
NO_COMPARISONS = f"{ABSENT}: comparisons on LMSYS questions were not published one by one"
MARKED = "v1 fig. 2, 4, 5: MMLU"
READ_OFF = "read off curves in steps of 20, where 2.4 % of chance in an error is 5 % of the samples"

THRESHOLD = 0.01
"""How level two errors have to be for the paper's rule."""
THRESHOLD_MMLU = 0.005
THRESHOLD_COLLEGE = 0.05
"""What its code takes on MMLU: the second in college computer science and for the two smallest models."""

LARGE = "Llama-3.1-8B-Instruct"
SMALL = ("Llama-3.2-3B-Instruct", "Llama-3.2-1B-Instruct")
COLLEGE = "college_computer_science"


def pair_rows(results: Results, area: str | None = None) -> Iterator[Row]:
    """Yield a row for every pair of models."""
    chosen = results if area is None else results.of(area)
    pairs = list(combinations(chosen.models, 2))
    curves = error_curves([differences(arm, pairs) for arm in (chosen.coupled, chosen.independent)], method="replay")
    dataset = results.dataset if area is None else f"{results.dataset} {area}"
    for place, (a, b) in enumerate(pairs):
        found = paired(chosen.coupled[a], chosen.coupled[b])
        both = two_runs((chosen.coupled[a], chosen.coupled[b]), (chosen.independent[a], chosen.independent[b]))
        threshold = threshold_of(results, area, a, b)
        rule = largest_gain(*curves[:, :, place], threshold=threshold)
        yield Row(
            table=f"saved, {dataset}, {results.family}",
            what=f"{a} vs {b}: saved %",
            n=chosen.questions,
            recomputed=percent(found.saved),
            low=percent(found.saved_low),
            high=percent(found.saved_high),
            note=(
                f"two runs {shown(both.saved)} [{shown(both.low)}, {shown(both.high)}], "
                f"by the paper's rule at {threshold:g} {shown(rule)}"
            ),
            dataset=dataset,
            family=results.family,
            a=a,
            b=b,
            saved=found.saved,
            saved_low=found.saved_low,
            saved_high=found.saved_high,
            saved_two_run=both.saved,
            reference_rule=rule,
        )


def differences(arm: dict[str, Floats], pairs: list[tuple[str, str]]) -> Floats:
    """Return the differences of all pairs, shape (rows, pairs), in the order of the rows of the authors' files."""
    return np.column_stack([(arm[a] - arm[b]).ravel() for a, b in pairs])


def threshold_of(results: Results, area: str | None, a: str, b: str) -> float:
    """Return how level the paper's code wants two errors to be for this pair."""
    if (results.dataset, results.family) != ("MMLU", "llama"):
        return THRESHOLD
    if area == COLLEGE or {a, b} == set(SMALL):
        return THRESHOLD_COLLEGE
    return THRESHOLD_MMLU


def point_rows(mmlu: Results) -> Iterator[Row]:
    """Yield the errors that the figures mark, and the savings they show."""
    for area, a, b, error, few, many in POINTS:
        chosen = mmlu.of(area)
        arms = [differences(arm, [(a, b)])[:, 0] for arm in (chosen.coupled, chosen.independent)]
        sizes = np.array([few, many])
        shared, own = error_curves(arms, sizes=sizes, method="replay")
        short = f"{area}, {a.split('-')[2]} vs {b.split('-')[2]}"
        yield Row(
            table=MARKED,
            what=f"{short}: error of {few}, shared dice",
            n=few,
            recomputed=float(shared[0]),
            published=error,
            match=agree(float(shared[0]), error, 4),
            note="" if agree(float(shared[0]), error, 4) else "1000 draws leave about 2.4 % of an error to chance",
        )
        apart = f"{float(own[1] / shared[0] - 1):+.1%} from the other: the figure marks both with one error"
        yield Row(
            table=MARKED, what=f"{short}: error of {many}, own dice", n=many, recomputed=float(own[1]), note=apart
        )
        found = paired(chosen.coupled[a], chosen.coupled[b])
        low, high, printed = percent(found.saved_low), percent(found.saved_high), round(100 * (1 - few / many), 1)
        held = low is not None and high is not None and low <= printed <= high
        yield Row(
            table=MARKED,
            what=f"{short}: saved %",
            n=chosen.questions,
            recomputed=percent(found.saved),
            low=low,
            high=high,
            published=printed,
            match=held,
            note=f"{few} for {many} samples, " + ("which the interval holds" if held else READ_OFF),
        )


def mmlu_rows(mmlu: Results) -> Iterator[Row]:
    """Yield what the paper says of MMLU as a whole: its subjects, the sign of covariances, proposition 1."""
    if len(mmlu.areas) > len({area for area, *_ in POINTS}):
        subjects = len(mmlu.areas)
        note = "the files hold 57, as MMLU has"
        yield Row(
            table="v1 app. C",
            what="subjects of MMLU",
            n=mmlu.questions,
            recomputed=subjects,
            published=SUBJECTS,
            match=subjects == SUBJECTS,
            note=note,
        )
        for a, b in combinations(mmlu.models, 2):
            by_area = [
                paired(mmlu.coupled[a][rows], mmlu.coupled[b][rows], resamples=100) for rows in mmlu.areas.values()
            ]
            table, pair = "v1 fig. 2: covariance within questions, by subject", f"{a} vs {b}"
            positive = sum((found.covariance or 0) > 0 for found in by_area)
            yield Row(table=table, what=f"{pair}: subjects above 0", n=subjects, recomputed=positive)
            median = float(np.median([found.saved for found in by_area if found.saved is not None]))
            yield Row(table=table, what=f"{pair}: median saved %", n=subjects, recomputed=100 * median)
    large, small = LARGE, SMALL[0]
    first, second = mmlu.coupled[large], mmlu.coupled[small]
    found, pair = paired(first, second), f"{large} vs {small}"
    own = paired(mmlu.independent[large], mmlu.independent[small], shared=False).variance
    whole = float(np.cov(first.ravel(), second.ravel())[0, 1])
    variance, covariance = found.variance or 0.0, found.covariance or 0.0
    for what, value, note in (
        ("variance with own dice", own, "of another run"),
        (
            "variance with shared dice + 2 covariance within questions",
            variance + 2 * covariance,
            "the proposition holds",
        ),
        ("variance with shared dice + 2 covariance over all", variance + 2 * whole, "as printed: it does not"),
    ):
        yield Row(table="v1 proposition 1, on MMLU", what=f"{pair}: {what}", n=len(first), recomputed=value, note=note)


def example_rows() -> Iterator[Row]:
    """Yield the example of three models, by the exact joint law."""
    right = np.array([chances for _, chances, *_ in EXAMPLE])
    laws, worth = np.stack([right, 1 - right], axis=-1), [[1, 0], [1, 0]]
    own, shared = (win_rates(laws, worth, coupled=coupled).averages for coupled in (False, True))
    for place, (model, chances, accuracy, *printed) in enumerate(EXAMPLE):
        values = (float(np.mean(chances)), float(own[place]), float(shared[place]))
        names = ("accuracy", "win rate, own dice", "win rate, shared dice")
        for name, value, published in zip(names, values, (accuracy, *printed), strict=True):
            yield Row(
                table="v1 section 1, three models",
                what=f"{model}: {name}",
                n=2,
                recomputed=value,
                published=published,
                match=agree(value, published, 5),
            )


def absent_rows(folder: Path, held: list[Results], rows: list[Row]) -> Iterator[Row]:
    """Yield what the paper prints and its files do not hold."""
    ruled = [row for row in rows if row.reference_rule is not None]
    best = max(ruled, key=lambda row: row.reference_rule or 0.0, default=None)
    reached = "its rule finds nothing in these files"
    if best is not None:
        reached = (
            f"the most its rule finds here is {shown(best.reference_rule)} % ({best.dataset}, {best.a} vs {best.b})"
        )
    for version, most in MOST_SAVED:
        note = reached if version == "v1" else f"{ABSENT}: MMLU with quantised models is missing; {reached}"
        yield Row(
            table=f"abstract of {version}", what="saved up to %", n=None, recomputed=None, published=most, note=note
        )
    for dataset in sorted(set(DATASETS.values()) - {results.dataset for results in held}):
        yield Row(
            table=f"saved, {dataset}", what="all pairs", n=None, recomputed=None, note="no such file in the folder"
        )
    for path in sorted(folder.glob("outputs/mmlu/*/responses_*.csv")):
        note = f"{ABSENT}: these are replies without the right letters, which are MMLU's"
        yield Row(table="saved, MMLU", what=path.parent.name, n=None, recomputed=None, note=note)
    note = f"{ABSENT}: only answers at T 0.7 were published"
    yield Row(table="v3, MMLU", what="T 0.5, T 0.9, top-p 0.9", n=None, recomputed=None, note=note)
    for family, printed in LMSYS.items():
        for model, rates in printed.items():
            for name, rate in zip(("shared", "own"), rates, strict=True):
                yield Row(
                    table=f"v1 table 1, LMSYS, {family}",
                    what=f"{model}: win rate, {name} dice",
                    n=None,
                    recomputed=None,
                    published=rate,
                    note=NO_COMPARISONS,
                )
    for a, b, more in TIES:
        what = f"{a} vs {b}: more ties %"
        yield Row(table="v1 fig. 3, LMSYS", what=what, n=None, recomputed=None, published=more, note=NO_COMPARISONS)


def percent(share: float | None) -> float | None:
    """Return a share in percent."""
    return None if share is None else 100 * share


def shown(share: float | None) -> str:
    """Return a share in percent with one digit."""
    return "none" if share is None else f"{100 * share:.1f}"


def recompute(folder: Path) -> list[Row]:
    """Return all rows that the files of a folder lead to.

    Raises:
        FileNotFoundError: it holds no results.
    """
    held = read(folder)
    rows: list[Row] = []
    for results in held:
        rows += pair_rows(results)
        if (results.dataset, results.family) == ("MMLU", "llama"):
            for area in dict.fromkeys(area for area, *_ in POINTS):
                rows += pair_rows(results, area)
            rows += [*point_rows(results), *mmlu_rows(results)]
    return [*rows, *example_rows(), *absent_rows(folder, held, rows)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Recompute the published numbers on coupled generation.")
    parser.add_argument("folder", type=Path, help="a clone of the authors' files, or the compact files")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of tables")
    chosen = parser.parse_args()
    show(recompute(chosen.folder), chosen.json)
