"""Opinions of judges whose biases are known, drawn from the model that a correction fits."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from coupled_arena.analysis.judges.table import Opinions

Floats = NDArray[np.float64]

STRENGTH = np.array([0.9, 0.5, 0.0, -0.5, -0.9])
"""Log strengths of m0 to m4."""

FAMILIES = ("x", "y", "x", "y", "z")
"""Families of m0 to m4."""


def drawn(
    seed: int = 1,
    *,
    questions: int = 60,
    pairs: int = 5,
    judges: int = 3,
    position: float = 0.0,
    length: float = 0.0,
    family: float = 0.0,
    lapse: float = 0.0,
    ties: float = 0.0,
    spread: float = 0.0,
    wordy: float = 0.7,
    strength: Floats = STRENGTH,
) -> Opinions:
    """Draw opinions: so many pairs meet on every question, every judge in both orders; judges are of family x, y, z, w.

    Effects are log odds, `length` per doubling; `spread` is how far battles differ beyond the models, `wordy` by how
    many doublings m0 and m1 write more than the others.
    """
    rng = np.random.default_rng(seed)
    models = len(strength)
    every = np.array([(a, b) for a in range(models) for b in range(models) if a != b])
    met = np.concatenate([every[rng.choice(len(every), pairs, replace=False)] for _ in range(questions)])
    a, b = met.T
    battles = len(met)
    long = rng.normal(0, 0.5, battles) + wordy * ((a < 2).astype(float) - (b < 2))
    kin = np.array(
        [[own == other for other in FAMILIES[:models]] for own in ("x", "y", "z", "w")[:judges]], dtype=float
    )
    battle, judge, turned = (
        grid.ravel() for grid in np.meshgrid(np.arange(battles), np.arange(judges), [0, 1], indexing="ij")
    )
    lead = (strength[a] - strength[b] + length * long + rng.normal(0, spread, battles))[battle]
    lead += position * (1 - 2 * turned) + family * (kin[judge, a[battle]] - kin[judge, b[battle]])
    chance = lapse / 2 + (1 - lapse) / (1 + np.exp(-lead))
    score = (rng.random(len(lead)) < chance).astype(float)
    score[rng.random(len(lead)) < ties] = 0.5
    return opinions_from(score, battle, judge, turned.astype(bool), np.repeat(np.arange(questions), pairs), a, b, long)


def opinions_from(
    score: Floats,
    battle: NDArray[np.intp],
    judge: NDArray[np.intp],
    turned: NDArray[np.bool_],
    question: NDArray[np.intp],
    a: NDArray[np.intp],
    b: NDArray[np.intp],
    length: Floats,
) -> Opinions:
    """Return opinions formed alone, of models and judges with the names and families of `drawn`."""
    models, judges = int(max(a.max(), b.max())) + 1, int(judge.max()) + 1
    return Opinions.formed_alone(
        judges=[f"j{number}" for number in range(judges)],
        models=[f"m{number}" for number in range(models)],
        battle=battle,
        judge=judge,
        score=score,
        turned=turned,
        question=question,
        a=a,
        b=b,
        length=length,
        judge_family=("x", "y", "z", "w")[:judges],
        model_family=FAMILIES[:models],
    )


def rows_of(opinions: Opinions, keep: NDArray[np.bool_] | NDArray[np.intp]) -> Opinions:
    """Return some of the opinions, or all in another order, with all battles."""
    names = ("battle", "judge", "score", "stage", "turned", "dice", "status", "carried", "named", "chances")
    return replace(opinions, **{name: getattr(opinions, name)[keep] for name in names})
