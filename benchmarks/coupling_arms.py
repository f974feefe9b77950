"""What do shared dice save in an arena, beside what theory says, and when do they change who wins?

Two near-variants (one taste, nearly one skill) and two unrelated models (tastes of their own, the same two skills) play
as many battles in three arms: `coupled` (all share their dice), `independent` (each model its own, the same in every
battle) and `fresh` (new ones for every opponent and side). Per arm and pair: the difference of their ratings with its
standard error, clustered by question, and how many battles give an interval of the same width, in percent of those of
the independent arm. `against` has everybody meet one baseline, `round-robin` everybody meet everybody.

Theory: with scores of correlation rho, shared dice leave `1 - rho` of the variance of their difference
(arXiv 2502.01754, proposition 1). `predicted` is that number from the coupled arm alone (`analysis.paired`, from two
replicates of every question), `measured` the ratio of the variances of two arms: of the values of the two openings by
the world's truth, and, against a baseline, of the scores of the battles.

The variance of n questions is itself known to about `sqrt(2 / n)`, a ratio of two arms to `sqrt(4 / n)`.

`three` is the paper's case of three models whose win rates rank differently with shared dice: exactly, from the joint
laws, and from as many battles drawn by the library's sampler.

    python benchmarks/coupling_arms.py [--parts against round-robin three] [--questions 320] [--script single] [--json]
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

import coupled_arena as ca
from coupled_arena.analysis.paired import paired
from coupled_arena.coupling import DiceTable, Sampler, Sampling, Vocabulary, win_rates
from coupled_arena.models.simulated.world import ClaimBook, position_of
from coupled_arena.records import SCORES
from coupled_arena.tournaments.results.leaderboard import rated

ARMS = ("coupled", "independent", "fresh")
PAIRS = {"near-variants": ("sim/v1", "sim/v2"), "unrelated": ("sim/w1", "sim/w2")}
BASELINE = "sim/base"
MODELS = (
    "sim/v1?skill=0.6&taste=f",
    "sim/v2?skill=0.5&taste=f",
    "sim/w1?skill=0.6&taste=g",
    "sim/w2?skill=0.5&taste=h",
)
ERRORS = ("rating se", "value se", "score se")
"""Standard errors whose squares are compared between arms."""
REPLICATES = 2
THREE = {"m1": (0.4, 1.0), "m2": (0.48, 0.9), "m3": (0.5, 0.89)}
"""Probability of a right answer to each of two prompts (arXiv 2502.01754, section 4)."""
Floats = NDArray[np.float64]


def play(arm: str, part: str, questions: int, script: str) -> ca.Result:
    """Play one arm."""
    against = part == "against"
    return ca.Tournament(
        name=f"{part} {arm}",
        models=[*MODELS, f"{BASELINE}?skill=0.55"] if against else list(MODELS),
        judges=["sim/j1?position=0", "sim/j2?position=0", "sim/j3?position=0"],
        discussion_rounds=0,
        examiner="sim/examiner",
        references=False,
        questions_per_domain=max(1, questions // 8),
        schedule={"kind": "against", "baseline": BASELINE} if against else "round_robin",
        script=script,
        replicates=REPLICATES,
        coupling=arm,
        seed=8,
    ).run()


def scores(result: ca.Result, model: str, of: Callable[[ca.Battle, str], float]) -> Floats:
    """Return what a model scored, the mean over its battles, shape (questions, replicates)."""
    found: defaultdict[tuple[str, int], list[float]] = defaultdict(list)
    for battle in result.battles:
        if model in battle.pair:
            found[battle.question, battle.replicate].append(of(battle, model))
    return np.array(
        [[np.mean(found[question.id, replicate]) for replicate in range(REPLICATES)] for question in result.questions]
    )


def decision(battle: ca.Battle, model: str) -> float:
    """Return a model's score of a battle."""
    score = SCORES[battle.decision.verdict or "tie"]
    return score if battle.a == model else 1 - score


def opening(result: ca.Result) -> Callable[[ca.Battle, str], float]:
    """Return what gives the true value of a model's opening."""
    book, texts = ClaimBook(result.tournament.seed), {question.id: question.text for question in result.questions}

    def value(battle: ca.Battle, model: str) -> float:
        sides = [position_of(battle.turns[:2], side) for side in ("A", "B")]
        return book.values(texts[battle.question], sides[0], sides[1])[battle.a != model]

    return value


def compared(part: str, questions: int, script: str) -> list[dict[str, Any]]:
    """Return a row for every pair and arm."""
    results = {arm: play(arm, part, questions, script) for arm in ARMS}
    measures = ("value", "score") if part == "against" else ("value",)
    rows = []
    for kind, pair in PAIRS.items():
        own = {arm: row(result, pair, measures) for arm, result in results.items()}
        for arm, found in own.items():
            ratios = {
                f"{name} ratio": _ratio(found[name], own["independent"][name]) for name in ERRORS if name in found
            }
            rows.append({"part": part, "pair": kind, "arm": arm, **found, **ratios})
    return rows


def row(result: ca.Result, pair: tuple[str, str], measures: Sequence[str]) -> dict[str, Any]:
    """Return how a pair differs in one arm: its ratings, then the values of its openings and its scores."""
    difference = rated(result.tournament, result.battles).difference(*pair)
    found: dict[str, Any] = {"battles": len(result.battles), "difference": difference.difference}
    found["rating se"] = difference.se
    shared = result.tournament.coupling == "coupled"
    for name in measures:
        of = opening(result) if name == "value" else decision
        first, second = (scores(result, model, of) for model in pair)
        compared = paired(first, second, shared=shared, resamples=500)
        found[f"{name} difference"] = compared.difference
        found[f"{name} se"] = compared.se_coupled if shared else compared.se_independent
        if shared:
            ends = (compared.saved, compared.saved_high, compared.saved_low)
            found[f"{name} predicted"] = [None if end is None else 1 - end for end in ends]
    return found


def _ratio(error: float | None, base: float | None) -> float | None:
    return None if error is None or not base else (error / base) ** 2


def three(draws: int) -> list[dict[str, Any]]:
    """Return the accuracies, win rates and ratings of the three models, exactly and drawn."""
    right = np.array(list(THREE.values()))
    laws = np.stack([right, 1 - right], axis=-1)
    rows = [_by_model("accuracy", right.mean(axis=1))]
    for mode in ("coupled", "independent"):
        exact = win_rates(laws, [[1, 0], [1, 0]], coupled=mode == "coupled").averages
        rows.append(_by_model(f"win rate, {mode}, exact", exact))
        answers = np.array([drawn(name, mode, draws) for name in THREE], dtype=np.int64)
        leads = answers[:, None] - answers[None, :]
        rates = (leads > 0).mean(axis=(2, 3)).sum(axis=1) / (len(THREE) - 1)
        rows.append(_by_model(f"win rate, {mode}, drawn", rates))
        battles = [
            (list(THREE)[a], list(THREE)[b], (1 + leads[a, b, prompt, draw]) / 2, 1.0, f"{prompt}-{draw}")
            for a, b in combinations(range(len(THREE)), 2)
            for prompt in range(2)
            for draw in range(draws)
        ]
        ratings = ca.rate(ca.RatingInput.from_rows(battles))
        rows.append({"what": f"rating, {mode}, drawn", **{name: ratings.rating(name) for name in THREE}})
    return rows


def _by_model(what: str, values: Floats) -> dict[str, Any]:
    return {"what": what, **dict(zip(THREE, values.tolist(), strict=True))}


def drawn(name: str, mode: str, draws: int) -> NDArray[np.bool_]:
    """Return whether a model's answers are right, shape (prompts, draws), by the library's dice and sampler."""
    table, sampler = DiceTable(8, mode), Sampler(Vocabulary([b"right", b"wrong", b""], end_tokens={2}))
    sampling = Sampling(temperature=1.0)
    found = np.zeros((2, draws), dtype=np.bool_)
    for prompt, p in enumerate(THREE[name]):
        with np.errstate(divide="ignore"):
            logits = np.log([p, 1 - p, 0.0])
        for draw in range(draws):
            key = table.answer(f"prompt {prompt}", draw, name).key("whole")
            found[prompt, draw] = sampler.draw(logits, sampling, key, 0).token == 0
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = ("against", "round-robin", "three")
    parser.add_argument("--parts", nargs="+", choices=parts, default=list(parts))
    parser.add_argument(
        "--questions", type=int, default=320, help="asked for; the examiner repeats itself now and then"
    )
    parser.add_argument("--script", choices=("single", "peer-battle"), default="single")
    parser.add_argument("--draws", type=int, default=4000, help="draws for each prompt of the three-model case")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for part in options.parts:
        rows += three(options.draws) if part == "three" else compared(part, options.questions, options.script)
    if options.json:
        print(json.dumps(rows, indent=1))
        return
    for line in rows:
        print("  ".join(f"{key} {_short(value)}" for key, value in line.items()))


def _short(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_short, value)) + "]"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
