"""Battles with the scores of the judges, some of them with a label too."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coupled_arena.analysis.correction.likelihood import mean_free
from coupled_arena.analysis.judges.estimate import Floats
from coupled_arena.analysis.judges.table import Opinions
from coupled_arena.analysis.labels import Codes
from coupled_arena.ratings import RatingInput


@dataclass(frozen=True, slots=True, eq=False)
class Slice:
    """Battles that judges have scored, one a row, and which of them are labelled."""

    models: tuple[str, ...]
    """Models by code, each with a battle."""
    a: Codes
    """Model on side A, shape (battles,)."""
    b: Codes
    """Model on side B, shape (battles,)."""
    question: Codes
    """Question, from 0 without a gap, shape (battles,)."""
    judged: Floats
    """Mean score of A by the judges' last verdicts, in [0, 1], shape (battles,)."""
    label: Floats
    """Score of A by the label: 1, 1/2, 0; NaN without one, shape (battles,)."""
    traits: Mapping[str, Floats]
    """What a random slice must be alike in, by name, each of shape (battles,)."""

    @classmethod
    def of(cls, opinions: Opinions, label: Floats, traits: Mapping[str, Floats]) -> tuple["Slice", RatingInput]:
        """Return the battles that a judge has scored, and the judges' last verdicts on them as a table to rate.

        Args:
            opinions: of any judges.
            label: score of A by the label of every battle, NaN without one, shape (battles,).
            traits: of every battle, by name, each of shape (battles,).
        """
        looks = opinions.looks
        score = np.where(np.isnan(looks.last), looks.alone, looks.last)
        rows = np.flatnonzero(~np.isnan(score))
        battle, score = looks.battle[rows], score[rows]
        number = np.bincount(battle, minlength=opinions.battles)
        kept = np.flatnonzero(number)
        played = np.unique(np.concatenate([opinions.a[kept], opinions.b[kept]]))
        names = tuple(opinions.models[model] for model in played)
        a, b = (np.searchsorted(played, side) for side in (opinions.a, opinions.b))
        question = np.full(opinions.battles, -1)
        question[kept] = np.unique(opinions.question[kept], return_inverse=True)[1].reshape(-1)
        table = RatingInput(names, a[battle], b[battle], score, 1 / number[battle], question[battle])
        judged = np.bincount(battle, score, opinions.battles)[kept] / number[kept]
        own = {name: values[kept] for name, values in traits.items()}
        return cls(names, a[kept], b[kept], question[kept], judged, label[kept], own), table

    def __len__(self) -> int:
        return len(self.a)

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Which battles have a label, shape (battles,)."""
        return ~np.isnan(self.label)

    @property
    def labelled_questions(self) -> int:
        """How many questions have a labelled battle."""
        return len(np.unique(self.question[self.labelled]))

    @property
    def design(self) -> Floats:
        """What the coordinates of strengths of mean 0 add to every battle, shape (battles, models - 1)."""
        basis = mean_free(len(self.models))
        return basis[self.a] - basis[self.b]

    def labels(self) -> RatingInput:
        """Return the labelled battles, with their labels, as a table to rate."""
        rows = np.flatnonzero(self.labelled)
        question = np.unique(self.question[rows], return_inverse=True)[1].reshape(-1)
        return RatingInput(self.models, self.a[rows], self.b[rows], self.label[rows], np.ones(len(rows)), question)
