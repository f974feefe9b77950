"""The verdicts that a correction rests on, with what may have biased them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from coupled_arena.analysis.judges.table import Opinions
from coupled_arena.analysis.labels import Codes
from coupled_arena.errors import RatingError

Floats = NDArray[np.float64]

Term = Literal["position", "length", "family", "lapse"]
"""What is estimated of a judge: what it grants to the side shown first, to the longer text, to its own family, and how
often it votes at random."""

TERMS: tuple[Term, ...] = ("position", "length", "family", "lapse")
"""All terms, in the order in which they are shown."""

Per = Literal["judge", "panel"]
"""Whether every judge has effects of its own, or all share them."""

PANEL = "panel"
"""What stands for the judge where all share their effects."""


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """Verdicts of judges that nobody has talked to, one a row."""

    models: tuple[str, ...]
    """Debaters by code."""
    judges: tuple[str, ...]
    """Judges by code; `PANEL` alone where all share their effects."""
    a: Codes
    """Model on side A, shape (votes,)."""
    b: Codes
    """Model on side B, shape (votes,)."""
    judge: Codes
    """Whose verdict it is, shape (votes,)."""
    score: Floats
    """Score of A: 1, 1/2 for a tie, 0, shape (votes,)."""
    question: Codes
    """Question of the battle, from 0 without a gap, shape (votes,)."""
    traits: Mapping[Term, Floats]
    """By term but the lapse, what is 0 in a fair battle and turns its sign with the sides, shape (votes,): 1 where A is
    shown first, else -1; the binary logarithm of the length of A's text over B's; 1 where A alone is of the judge's
    family, -1 where B alone is. A term that nothing is known of is not there."""

    def __len__(self) -> int:
        return len(self.a)

    @property
    def questions(self) -> int:
        """How many questions there are."""
        return int(self.question.max(initial=-1)) + 1


def votes_of(opinions: Opinions, *, stage: int = 0, per: Per = "judge") -> Votes:
    """Return the verdicts of one stage.

    Raises:
        RatingError: there is none, or it is not known who debated.
    """
    if "a" in opinions.absent or "b" in opinions.absent:
        raise RatingError("the opinions do not say who debated: columns a and b are needed to rate anybody")
    rows = np.flatnonzero((opinions.stage == stage) & ~opinions.carried & ~np.isnan(opinions.score))
    if not len(rows):
        raise RatingError(f"no judge has a verdict of its own at stage {stage}, so there is nothing to rate")
    battle, judge = opinions.battle[rows], opinions.judge[rows]
    a, b = opinions.a[battle], opinions.b[battle]
    traits: dict[Term, Floats] = {}
    if "order" not in opinions.absent or not opinions.turned.any():
        traits["position"] = np.where(opinions.turned[rows], -1.0, 1.0)
    length = opinions.length[battle]
    if not np.isnan(length).any():
        traits["length"] = length
    kin = _kin(opinions)
    if any(opinions.judge_family) or kin.any():
        traits["family"] = kin[judge, a].astype(np.float64) - kin[judge, b]
    shared = per == "panel"
    return Votes(
        models=opinions.models,
        judges=(PANEL,) if shared else opinions.judges,
        a=a,
        b=b,
        judge=np.zeros_like(judge) if shared else judge,
        score=opinions.score[rows],
        question=np.unique(opinions.question[battle], return_inverse=True)[1].reshape(-1),
        traits=traits,
    )


def _kin(opinions: Opinions) -> NDArray[np.bool_]:
    """Return whether a model is the judge itself or of its family, shape (judges, models)."""
    found = [
        [
            judge == model or (bool(own) and own == other)
            for model, other in zip(opinions.models, opinions.model_family, strict=True)
        ]
        for judge, own in zip(opinions.judges, opinions.judge_family, strict=True)
    ]
    return np.array(found, dtype=np.bool_).reshape(len(opinions.judges), len(opinions.models))
