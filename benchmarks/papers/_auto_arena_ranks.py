"""How well Auto-Arena and the benchmarks rank models as Chatbot Arena does, on the paper's models and on the same ones.

Intervals come from resampled models: they say how far the number would carry to other models like these.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise, permutations

import numpy as np
from numpy.typing import NDArray

from benchmarks.papers._auto_arena_files import NO_BATTLES, Files, number, percent
from benchmarks.papers._rows import Row, agree
from coupled_arena.ratings.rank_agreement import compare

Scores = Mapping[str, float]
Floats = NDArray[np.float64]

REPLICATES = 4000

COLUMNS = {
    "MT-Bench": "mtbench",
    "MMLU": "MMLU",
    "LC-AlpacaEval": "alpacaeval",
    "Arena-Hard": "mtbench_hard",
    "OpenLLM": "openllm_new",
    "GPQA": "GPQA Raw",
}
"""Columns of benchmarks in `all_baselines.csv`."""

FIRST_NINE = (
    "gpt-4-turbo-2024-04-09",
    "claude-3-haiku-20240307",
    "qwen1.5-72b-chat",
    "mixtral-8x7b-instruct-v0.1",
    "yi-34b-chat",
    "command-r-plus",
    "llama-2-70b-chat",
    "gpt-3.5-turbo-0125",
    "deepseek-llm-67b-chat",
)
"""The models of the first tournament of v4, by their names in Chatbot Arena."""

# What was published, in percent.
NINE = {"MT-Bench": 82.86, "MMLU": 56.36, "LC-AlpacaEval": 82.14, "Arena-Hard": 85.71, "OpenLLM": -15.39, "GPQA": 36.84}
FIFTEEN = {"MT-Bench": 88.73, "MMLU": 46.2, "LC-AlpacaEval": 76.32, "Arena-Hard": 45.36, "OpenLLM": 32.5, "GPQA": 62.86}
THIRTEEN = {"MMLU": 90.1, "OpenLLM": 85.7, "MT-Bench": 89.3, "Arena-Hard": 86.7, "LC-AlpacaEval": 90.3}
V1_COLUMNS = {
    "MMLU": "MMLU",
    "OpenLLM": "openllm",
    "MT-Bench": "mtbench",
    "Arena-Hard": "mtbench_hard",
    "LC-AlpacaEval": "lc_alpacaeval",
}


def nine(files: Files) -> Iterator[Row]:
    """Table 2 of v4: the first nine models."""
    table = "v4 table 2: Spearman with Chatbot Arena, 9 models"
    every = files.column("all_baselines.csv", "english_elos", "key")
    arena = {model: every[model] for model in FIRST_NINE}
    columns = {name: files.column("all_baselines.csv", column, "key") for name, column in COLUMNS.items()}
    for name, scores in columns.items():
        yield correlation(table, name, scores, arena, NINE[name])
    for what, said in (("Auto-Arena without peer battles", 86.67), ("Auto-Arena without discussion", 88.33)):
        yield Row(table=table, what=what, n=None, recomputed=None, published=said, note=NO_BATTLES)
    ours = files.column("ratings_en_v4_9models_fig4_readoff.csv", "elo_readoff", "arena_key")
    yield correlation(table, "Auto-Arena", ours, arena, 91.67, note=f"measured in figure 4: {orders(ours, arena)}")
    for name, scores in columns.items():
        yield from beside(table, name, scores, ours, arena)


def orders(ours: Scores, arena: Scores) -> str:
    """Return what the correlation can be if models within 2 points of their neighbour come in any order."""
    ranked = sorted(ours, key=ours.__getitem__)
    near = [(model, other) for model, other in pairwise(ranked) if ours[other] - ours[model] < 2]
    if not near:
        return "no two models lie within 2 points"
    group = sorted({model for pair in near for model in pair})
    numbers = [ours[model] for model in group]
    every = (compare({**ours, **dict(zip(group, order, strict=True))}, arena) for order in permutations(numbers))
    values = {round(100 * (found.spearman.value or 0), 2) for found in every}
    return f"{len(group)} models lie within 2 points, in other orders it is {', '.join(map(str, sorted(values)))}"


def fifteen(files: Files) -> Iterator[Row]:
    """Table 4 of v4: fifteen models."""
    table = "v4 table 4: Spearman with Chatbot Arena, 15 models"
    every = files.column("all_baselines.csv", "english_elos", "key")
    columns = {name: files.column("all_baselines.csv", column, "key") for name, column in COLUMNS.items()}
    other = "on the 15 best of Chatbot Arena that have the score, not on the 15 of Auto-Arena"
    for name, scores in columns.items():
        yield correlation(table, name, dict(list(scores.items())[:15]), every, FIFTEEN[name], note=other)
    file = "ratings_en_v4_15models.csv"
    arena = files.column(file, "arena_english_20240904", "arena_key")
    ours = files.column(file, "autoarena_elo_with_ties_fig5_readoff", "arena_key")
    dropped = files.column(file, "autoarena_elo_ties_dropped", "arena_key")
    note = f"ties counted, measured in figure 5: {orders(ours, arena)}"
    yield correlation(table, "Auto-Arena", ours, arena, 92.14, note=note)
    yield correlation(
        table, "Auto-Arena, ties dropped", dropped, arena, note="the ratings that the paper's table prints"
    )
    yield from other_measures(table, ours, arena)
    for name, scores in columns.items():
        yield from beside(table, name, scores, ours, arena)


def chinese(files: Files) -> Iterator[Row]:
    """The Chinese tournament: seven shared models."""
    table = "v4 Chinese: Spearman with Chatbot Arena, 7 models"
    file = "ratings_zh_11models.csv"
    ours, arena = files.column(file, "autoarena_elo_v4"), files.column(file, "arena_chinese_notebook")
    yield correlation(table, "Auto-Arena", ours, arena, 92.86)
    yield from other_measures(table, ours, arena, 90.5, 1)
    leaderboard = files.column(file, "arena_chinese_20240527_pickle")
    note = "the notebook has Llama-3 at 1070.88, the leaderboard file at 1174.39"
    yield correlation(table, "Auto-Arena, against the leaderboard file", ours, leaderboard, note=note)
    yield correlation(table, "Auto-Arena of v1", files.column(file, "autoarena_elo_v1"), arena)


def thirteen(files: Files) -> Iterator[Row]:
    """The 17 models of v1, of which 13 are in Chatbot Arena."""
    table = "v1: Spearman with Chatbot Arena, 13 models"
    file = "ratings_en_v1_17models.csv"
    ours, arena = files.column(file, "autoarena_elo"), files.column(file, "arena_english")
    yield correlation(table, "Auto-Arena", ours, arena, 94.5, 1)
    yield from other_measures(table, ours, arena, 92.3, 1, "published as a correlation in an article")
    columns = {name: files.column(file, column) for name, column in V1_COLUMNS.items()}
    for name, scores in columns.items():
        yield correlation(table, name, scores, arena, THIRTEEN[name], 1)
    for name, scores in columns.items():
        yield from beside(table, name, scores, ours, arena)


def seven(files: Files) -> Iterator[Row]:
    """The first seven models of v1."""
    table = "v1: Spearman with Chatbot Arena, 7 models"
    for what, said in (("Auto-Arena", 96.4), ("Auto-Arena without peer battles", 50.0)):
        note = "the ratings of the seven models were not published"
        yield Row(table=table, what=what, n=None, recomputed=None, published=said, note=note)
    file = "benchmarks_en_v1_7models.csv"
    arena = files.column(file, "arena_english_20240527")
    for name, column in V1_COLUMNS.items():
        yield correlation(table, name, files.column(file, column), arena)


def ratings(files: Files) -> Iterator[Row]:
    """The scale of the published ratings, and how far they follow the scores that seeded the pairing."""
    table = "ratings: published, not refitted"
    for file, column, what in (
        ("ratings_en_v4_15models.csv", "autoarena_elo_ties_dropped", "v4, 15 models: mean rating"),
        ("ratings_en_v1_18models.csv", "autoarena_elo_ties_dropped", "v1, 18 models: mean rating"),
    ):
        scores = files.column(file, column)
        mean = float(np.mean(list(scores.values())))
        note = f"{NO_BATTLES}; the code means to set Mixtral to 1000, which the printed tables do not"
        yield Row(table=table, what=what, n=len(scores), recomputed=mean, note=note)


def seeds(files: Files) -> Iterator[Row]:
    """The MMLU scores that seed the pairing."""
    table = "MMLU seeds of the pairing"
    current = {row["Model"]: number(row["MMLU"]) for row in files.rows("mmlu_seeds_v2.csv")}
    unknown = sum(value < 0 for value in current.values())
    note = "models without a score, which the code pairs as if it were -1"
    yield Row(table=table, what="unknown seeds", n=len(current), recomputed=unknown, note=note)
    earlier = {row["Model"]: number(row["MMLU"]) for row in files.rows("mmlu_seeds_v1.csv")}
    kept = sum(current.get(model) == value for model, value in earlier.items())
    yield Row(table=table, what="seeds of v1 that v2 keeps", n=len(earlier), recomputed=kept)
    file = "ratings_en_v4_15models.csv"
    known = {model: value for model, value in current.items() if value > 0}
    note = "what the pairing starts from, before any battle"
    arena = files.column(file, "arena_english_20240904")
    yield correlation(table, "seed and Chatbot Arena: Spearman", known, arena, note=note)
    ours = files.column(file, "autoarena_elo_with_ties_fig5_readoff")
    yield correlation(table, "seed and Auto-Arena: Spearman", known, ours)
    listed = files.column(file, "MMLU")
    equal = sum(abs(known[model] - 100 * value) < 0.05 for model, value in listed.items() if model in known)
    note = "seeds equal to the MMLU column of the same model in all_baselines.csv"
    yield Row(
        table=table, what="seeds equal to the column", n=len(listed.keys() & known.keys()), recomputed=equal, note=note
    )


def beside(table: str, name: str, scores: Scores, ours: Scores, arena: Scores) -> Iterator[Row]:
    """Yield the rows of a benchmark, of Auto-Arena and of their difference, all on the models that have both."""
    models = [model for model in scores if model in ours and model in arena]
    where = f"on the {len(models)} of {name}"
    yield correlation(table, f"{where}: {name}", {model: scores[model] for model in models}, arena)
    yield correlation(table, f"{where}: Auto-Arena", {model: ours[model] for model in models}, arena)
    x, y, z = (np.array([side[model] for model in models]) for side in (ours, scores, arena))
    value, low, high = difference(x, y, z)
    note = "resolved" if low is not None and high is not None and not low <= 0 <= high else "not resolved"
    yield Row(
        table=table,
        what=f"{where}: Auto-Arena less {name}",
        n=len(models),
        recomputed=value,
        low=low,
        high=high,
        note=note,
    )


def correlation(
    table: str,
    what: str,
    scores: Scores,
    arena: Scores,
    published: float | None = None,
    digits: int = 2,
    note: str = "",
) -> Row:
    """Return the row of a rank correlation, in percent, over the models that have both scores."""
    found = compare(scores, arena)
    value, low, high = map(percent, found.spearman)
    match = agree(value, published, digits)
    if match is False and published is not None and not note:
        note = f"{fewest(published, digits)} models or more are needed for the published value, without ties"
    return Row(
        table=table,
        what=what,
        n=len(found.models),
        recomputed=value,
        low=low,
        high=high,
        published=published,
        match=match,
        note=note,
    )


def other_measures(
    table: str, ours: Scores, arena: Scores, published: float | None = None, digits: int = 1, note: str = ""
) -> Iterator[Row]:
    """Yield Auto-Arena's rank correlation of Kendall and the share of pairs that it ranks as Chatbot Arena does."""
    found = compare(ours, arena)
    models = len(found.models)
    value, low, high = map(percent, found.kendall)
    yield Row(table=table, what="Auto-Arena: Kendall", n=models, recomputed=value, low=low, high=high)
    value, low, high = map(percent, found.pairwise)
    pairs = models * (models - 1) // 2
    counted = f"{round((found.pairwise.value or 0) * pairs)} of {pairs} pairs"
    yield Row(
        table=table,
        what="Auto-Arena: pairs ranked alike",
        n=models,
        recomputed=value,
        low=low,
        high=high,
        published=published,
        match=agree(value, published, digits),
        note=f"{counted}; {note}" if note else counted,
    )


def fewest(percent: float, digits: int) -> int:
    """Return with how many untied models at least a rank correlation can be this, printed with so many digits."""
    models = 2
    while True:
        models += 1
        unit = models * (models**2 - 1) / 6
        # The sum of squared rank differences is even.
        squares = 2 * round((1 - percent / 100) * unit / 2)
        if agree(100 * (1 - squares / unit), percent, digits):
            return models


def difference(ours: Floats, scores: Floats, arena: Floats) -> tuple[float, float | None, float | None]:
    """Return how much better, in percent, our scores are correlated with the arena's than others, and its interval.

    The interval redraws the models, the same for both correlations; it is None where a tail of them has no correlation.
    """
    models = len(ours)
    drawn = np.random.default_rng(models).integers(models, size=(REPLICATES, models))
    values = 100 * (spearman(ours[drawn], arena[drawn]) - spearman(scores[drawn], arena[drawn]))
    value = 100 * float(spearman(ours, arena) - spearman(scores, arena))
    known = values[~np.isnan(values)]
    if len(known) < 0.975 * REPLICATES:
        return value, None, None
    low, high = np.quantile(known, [0.025, 0.975])
    return value, float(low), float(high)


def spearman(x: Floats, y: Floats) -> Floats:
    """Return the rank correlation along the last axis; NaN where one side is constant."""
    first, second = (np.sign(side[..., :, np.newaxis] - side[..., np.newaxis, :]).sum(axis=-1) for side in (x, y))
    with np.errstate(invalid="ignore"):
        return np.asarray((first * second).sum(axis=-1) / np.sqrt((first**2).sum(axis=-1) * (second**2).sum(axis=-1)))
