"""How much faster are the two ways to error curves than the resampling rule as it is defined?

The table has the size of GSM8K: 1,319 questions, ten replicates, two kinds of dice. The definition draws a sample of n
rows of both by pandas for each of 659 sizes and 1,000 repetitions: 659,000 calls, hours. So a part of them is timed,
spread evenly over the sizes, and taken to stand for the rest; `replay` and `expected` are timed whole. That the replay
gives the numbers of the definition is checked on the part.

    python benchmarks/error_curves.py [--calls 400] [--json]
"""

import argparse
import json
import math
import time

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from coupled_arena.analysis.curves import REPETITIONS, error_curves, sample_sizes

QUESTIONS, REPEATS = 1319, 10
CALLS = 400
BAR = 1000
RUNS = 3
"""Runs of `replay` and `expected`, of which the median counts."""

Floats = NDArray[np.float64]


def arms(seed: int = 1) -> list[Floats]:
    """Return differences of right and wrong answers of two models, with shared and with own dice."""
    rng = np.random.default_rng(seed)
    first, second = rng.beta(0.6, 0.6, (2, QUESTIONS, 1))
    dice, other = rng.random((2, QUESTIONS, REPEATS))
    return [((dice < first).astype(float) - (dice_of < second)).ravel() for dice_of in (dice, other)]


def defined(table: pd.DataFrame, means: "pd.Series[float]", size: int, seed: int) -> Floats:
    """Return the absolute errors of one call of the definition."""
    sample = table.groupby("noise").sample(size, random_state=seed)
    return np.asarray((sample.groupby("noise")["difference"].mean() - means).abs(), dtype=np.float64)


def measure(calls: int) -> dict[str, float]:
    """Return seconds and ratios."""
    both = arms()
    noise = np.repeat(["coupled", "independent"], len(both[0]))
    table = pd.DataFrame({"noise": noise, "difference": np.concatenate(both)})
    means = table.groupby("noise")["difference"].mean()
    sizes = sample_sizes(len(both[0]))
    each = max(1, math.ceil(calls / len(sizes)))
    taken = sizes[np.linspace(0, len(sizes) - 1, calls // each).round().astype(int)]
    start = time.perf_counter()
    errors = np.array([[defined(table, means, int(size), seed) for seed in range(each)] for size in taken])
    part = time.perf_counter() - start
    replayed = error_curves(both, sizes=taken, method="replay", repetitions=each)
    off = float(np.abs(replayed.T - errors.mean(axis=1)).max())
    whole = part * len(sizes) * REPETITIONS / (len(taken) * each)
    seconds = {
        "calls": len(taken) * each,
        "calls_in_all": len(sizes) * REPETITIONS,
        "definition_s": whole,
        "off_by": off,
    }
    for method in ("replay", "expected"):
        times = []
        for _ in range(RUNS):
            start = time.perf_counter()
            error_curves(both, method="replay" if method == "replay" else "expected")
            times.append(time.perf_counter() - start)
        seconds[f"{method}_s"] = float(np.median(times))
        seconds[f"{method}_times_faster"] = whole / seconds[f"{method}_s"]
    return seconds


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Time error curves against the resampling definition.")
    parser.add_argument("--calls", type=int, default=CALLS, help="calls of the definition that are timed")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
    chosen = parser.parse_args()
    found = measure(chosen.calls)
    if chosen.json:
        print(json.dumps(found, indent=1))
    else:
        print(
            f"definition: {found['definition_s']:.0f} s for {found['calls_in_all']:.0f} calls, "
            f"from {found['calls']:.0f} of them; the replay is off by {found['off_by']:.1e}"
        )
        for name in ("replay", "expected"):
            print(f"{name}: {found[f'{name}_s']:.4f} s, {found[f'{name}_times_faster']:,.0f} x faster (bar: {BAR:,})")
