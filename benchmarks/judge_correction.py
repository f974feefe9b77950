"""Do ratings come closer to the truth once they are freed of the judges' biases?

Eight models in four families (skills from N(0, 1), from 1.5 to 6 claims a statement) meet in all pairs on every
question, with one statement each. Three judges of two of the families prefer their family's taste and longer texts at
the given dials; all other dials have their defaults. Statements and opinions are drawn from the equations of simulated
models (docs/world.md), or with --played held word for word. Compares the rank correlation of skills with raw and with
corrected ratings of the same opinions. With both dials at 0 it shows what it costs to correct judges that need none.

    python benchmarks/judge_correction.py [--seeds 100] [--first 0] [--questions 12] [--family 0.7] [--length 1]
"""

import argparse
import math
import statistics
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import coupled_arena as ca
from coupled_arena.analysis.correction import correct
from coupled_arena.analysis.judges import Opinions
from coupled_arena.models.simulated.debater import MOST, SLOPE, URGE
from coupled_arena.models.simulated.dials import Dials
from coupled_arena.models.simulated.world import CLAIMS
from coupled_arena.ratings.rank_agreement import compare
from coupled_arena.ratings.student import t_reach

Floats = NDArray[np.float64]

FAMILIES = "xyzw"
MODELS = 8
JUDGES = "xxy"
"""Families of the judges."""


class Model(NamedTuple):
    """A debater."""

    name: str
    skill: float
    claims: float
    family: str


class Seed(NamedTuple):
    """Spearman's correlation with the skills."""

    raw: float
    corrected: float


def models_of(seed: int) -> list[Model]:
    """Draw the debaters of a seed."""
    rng = np.random.default_rng(seed)
    return [
        Model(f"m{number}", float(rng.normal()), float(rng.uniform(1.5, 6)), FAMILIES[number % len(FAMILIES)])
        for number in range(MODELS)
    ]


def statements(rng: np.random.Generator, models: Sequence[Model], quality: Floats, liking: dict[str, Floats]) -> Floats:
    """Draw what every model says on every question: 1 for a claim that it makes, shape (models, questions, CLAIMS)."""
    questions = len(quality)
    said = np.zeros((len(models), questions, CLAIMS))
    for place, model in enumerate(models):
        logits = SLOPE * model.skill * quality + liking[model.family]
        # Claims drawn one by one without replacement are the order of perturbed logits (Yellott 1977).
        order = np.argsort(-(logits + rng.gumbel(size=logits.shape)), axis=1)
        ends = 1 / (1 + np.exp(-URGE * (np.arange(1, MOST) + 0.5 - model.claims)))
        stops = rng.random((questions, MOST - 1)) < ends
        made = np.where(stops.any(axis=1), stops.argmax(axis=1) + 1, MOST)
        for question in range(questions):
            said[place, question, order[question, : made[question]]] = 1.0
    return said


def drawn(seed: int, *, questions: int, family: float, length: float) -> Opinions:
    """Draw statements and opinions from the equations of simulated models."""
    rng, models, usual = np.random.default_rng([seed, 1]), models_of(seed), Dials()
    quality = rng.normal(size=(questions, CLAIMS))
    liking = {name: rng.normal(size=(questions, CLAIMS)) for name in FAMILIES}
    said = statements(rng, models, quality, liking)
    made = said.sum(axis=2)
    pairs = np.array(list(combinations(range(MODELS), 2)))
    question, met = np.repeat(np.arange(questions), len(pairs)), np.tile(pairs, (questions, 1))
    turned = rng.random(len(met)) < 0.5
    a, b = np.where(turned, met[:, 1], met[:, 0]), np.where(turned, met[:, 0], met[:, 1])
    longer = np.log(made[a, question] / made[b, question])
    scores = []
    for own in JUDGES:
        # One view of every question's claims, whoever debates it.
        seen = usual.acuity * quality + family * liking[own] + rng.normal(size=quality.shape)
        value = (said * seen).sum(axis=2) / made
        lead = value[a, question] - value[b, question] + usual.position + length * longer
        scores.append(np.where(np.abs(lead) <= usual.tie, 0.5, (lead > 0).astype(np.float64)))
    size, judges = len(met), len(JUDGES)
    return Opinions.formed_alone(
        judges=[f"j{number}" for number in range(judges)],
        models=[model.name for model in models],
        battle=np.tile(np.arange(size), judges),
        judge=np.repeat(np.arange(judges), size),
        score=np.concatenate(scores),
        question=question,
        a=a,
        b=b,
        length=longer / math.log(2),
        judge_family=JUDGES,
        model_family=[model.family for model in models],
    )


def played(seed: int, *, questions: int, family: float, length: float) -> Opinions:
    """Hold the debates of a world of these models word for word, and draw the opinions."""
    debaters = [
        ca.Model(name, f"sim/{name}?skill={skill:.6f}&verbosity={claims:.4f}&taste={own}", family=own)
        for name, skill, claims, own in models_of(seed)
    ]
    judges = [
        ca.Model(f"j{number}", f"sim/j{number}?length={length}&family={family}&taste={own}", family=own)
        for number, own in enumerate(JUDGES)
    ]
    definition = ca.Tournament(
        models=debaters,
        judges=judges,
        examiner="sim/examiner",
        domains=["math"],
        schedule="round_robin",
        battle=ca.BattleRules(script=ca.SINGLE),
        committee=ca.CommitteeRules(recuse="none", discussion_rounds=0),
        seed=seed,
    )
    return ca.World(definition).truth(questions=questions, draws=1).opinions


def judged(seed: int, opinions: Opinions) -> Seed:
    """Correct the ratings and hold them against the skills."""
    found, skills = correct(opinions), {model.name: model.skill for model in models_of(seed)}
    raw, corrected = (compare(ratings, skills).spearman.value for ratings in (found.raw, found.ratings))
    return Seed(raw or 0.0, corrected or 0.0)


def line(rows: Sequence[Seed]) -> str:
    """Return the means, and the gain with its interval over seeds."""
    gains = [row.corrected - row.raw for row in rows]
    mean = statistics.fmean(gains)
    reach = t_reach(0.95, len(gains) - 1) * statistics.stdev(gains) / math.sqrt(len(gains))
    raw, corrected = (statistics.fmean(values) for values in zip(*rows, strict=True))
    better, worse = (sum(sign * gain > 1e-9 for gain in gains) for sign in (1, -1))
    return (
        f"{len(rows)} seeds: Spearman with the skills {raw:.3f} raw, {corrected:.3f} corrected; gain {mean:+.3f} "
        f"[{mean - reach:+.3f}, {mean + reach:+.3f}]; better in {better}, worse in {worse}"
    )


def main() -> None:
    """Judge all seeds and print what they show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--questions", type=int, default=12)
    parser.add_argument("--family", type=float, default=0.7)
    parser.add_argument("--length", type=float, default=1.0)
    parser.add_argument("--played", action="store_true", help="hold the debates word for word, which takes longer")
    options = parser.parse_args()
    dials = {"questions": options.questions, "family": options.family, "length": options.length}
    source = played if options.played else drawn
    seeds = range(options.first, options.first + options.seeds)
    print(line([judged(seed, source(seed, **dials)) for seed in seeds]))


if __name__ == "__main__":
    main()
