"""How fast battles are rated, clustered errors included, against other ways to get a point estimate.

All ways see the same battles in one run, so that the ratios hold on any machine. evalica and the plain loop give
ratings without errors; scikit-learn fits the usual logistic regression on counted pairs, where it is installed.

Times are processor times; give the linear algebra one thread, or its waiting counts as work.

    OPENBLAS_NUM_THREADS=1 python benchmarks/ratings_speed.py --repeats 3
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Callable
from itertools import combinations

import evalica
import numpy as np

from coupled_arena.ratings import RatingInput, rate
from coupled_arena.ratings.bootstrap import bootstrap

MODELS = (20, 100, 500)
BATTLES = (10_000, 100_000, 1_000_000)
VOTES = 5
"""Battles of one question, by a panel on one pair."""


def timed(work: Callable[[], object], repeats: int) -> float:
    """Return the least processor time of a few repeats, in seconds; busy neighbours slow the clock, not this."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def plain_loop(xs: list[str], ys: list[str], winners: list[str]) -> dict[str, float]:
    """Return strengths by Hunter's minorisation, in plain Python."""
    won: defaultdict[str, float] = defaultdict(float)
    met: defaultdict[tuple[str, str], int] = defaultdict(int)
    for x, y, winner in zip(xs, ys, winners, strict=True):
        met[x, y] += 1
        won[x] += {"A": 1.0, "B": 0.0, "tie": 0.5}[winner]
        won[y] += {"A": 0.0, "B": 1.0, "tie": 0.5}[winner]
    strength = dict.fromkeys(won, 1.0)
    for _ in range(20):
        share: defaultdict[str, float] = defaultdict(float)
        for (x, y), times in met.items():
            each = times / (strength[x] + strength[y])
            share[x] += each
            share[y] += each
        strength = {name: won[name] / share[name] for name in strength}
    return strength


def regression(table: RatingInput) -> Callable[[], object] | None:
    """Return a logistic regression of the counted pairs by scikit-learn, None where it is not installed."""
    try:
        from sklearn.linear_model import LogisticRegression  # type: ignore[import-not-found, unused-ignore]
    except ModuleNotFoundError:
        return None

    def work() -> object:
        wins = table.wins()
        pairs = [(i, j) for i, j in combinations(range(len(wins)), 2) if wins[i, j] + wins[j, i] > 0]
        design = np.zeros((len(pairs), len(wins)))
        for row, (i, j) in enumerate(pairs):
            design[row, i], design[row, j] = 1, -1
        weights = np.array([wins[pair] for pair in pairs] + [wins[pair[::-1]] for pair in pairs])
        answers = np.repeat([1, 0], len(pairs))
        model = LogisticRegression(C=1e6, fit_intercept=False)
        return model.fit(np.concatenate([design, design]), answers, sample_weight=weights)

    return work


def measure(models: int, battles: int, repeats: int) -> None:
    """Print the times of all ways for so many models and battles, and how much faster ours are than evalica."""
    rng = np.random.default_rng([models, battles])
    names = tuple(f"model-{index:03d}" for index in range(models))
    strength = rng.normal(size=models)
    questions = battles // VOTES
    first = rng.integers(0, models, questions)
    a = np.repeat(first, VOTES)
    b = np.repeat((first + rng.integers(1, models, questions)) % models, VOTES)
    odds = np.exp((strength[a] - strength[b]) / 2)
    drawn = rng.random(battles) * (odds + 1 / odds + 0.5)
    score = np.where(drawn < odds, 1.0, np.where(drawn < odds + 0.5, 0.5, 0.0))
    question, weight = np.repeat(np.arange(questions), VOTES), np.ones(battles)
    xs, ys = [names[code] for code in a], [names[code] for code in b]
    verdicts = [{1.0: "A", 0.0: "B", 0.5: "tie"}[value] for value in score.tolist()]
    theirs = {"A": evalica.Winner.X, "B": evalica.Winner.Y, "tie": evalica.Winner.Draw}
    winners = [theirs[verdict] for verdict in verdicts]
    table = RatingInput(names, a, b, score, weight, question)
    other = timed(lambda: evalica.bradley_terry(xs, ys, winners), repeats)
    by_name = timed(lambda: rate(RatingInput.from_columns(xs, ys, verdicts, question=question)), repeats)
    by_code = timed(lambda: rate(RatingInput(names, a, b, score, weight, question)), repeats)
    davidson = timed(lambda: rate(table, ties="davidson"), repeats)
    loop = timed(lambda: plain_loop(xs, ys, verdicts), 1)
    logistic = regression(table)
    theirs_too = "not installed" if logistic is None else f"{timed(logistic, repeats):.3f} s"
    print(
        f"{models:4d} models {battles:8d} battles: names {by_name:.4f} s ({other / by_name:.1f} x), "
        f"codes {by_code:.4f} s ({other / by_code:.1f} x), Davidson from codes {davidson:.4f} s; "
        f"evalica {other:.4f} s, "
        f"plain loop {loop:.3f} s ({loop / by_name:.0f} x), scikit-learn {theirs_too}"
    )
    if models == 100 and battles == max(BATTLES):
        ratings = rate(table)
        replicates = timed(lambda: bootstrap(table, ratings, replicates=100), 1)
        print(f"     100 replicates of a cluster bootstrap {replicates:.4f} s: {replicates / by_code:.1f} x the fit")


def main() -> None:
    """Measure every size."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--repeats", type=int, default=3, help="the shortest time of so many counts")
    parser.add_argument("--models", type=int, nargs="+", default=list(MODELS))
    parser.add_argument("--battles", type=int, nargs="+", default=list(BATTLES))
    arguments = parser.parse_args()
    for models in arguments.models:
        for battles in arguments.battles:
            measure(models, battles, arguments.repeats)


if __name__ == "__main__":
    main()
