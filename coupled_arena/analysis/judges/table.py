"""The opinions that a study of judges rests on, as columns of codes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from coupled_arena.analysis.judges.estimate import Floats
from coupled_arena.analysis.labels import Codes
from coupled_arena.records import OpinionStatus

Flags = NDArray[np.bool_]

When = Literal["alone", "last"]
"""Which opinion of a look is meant: the one before any discussion, or the one after all of it."""

STATUSES: tuple[OpinionStatus, ...] = get_args(OpinionStatus)
"""What a status may be, by code."""

NO_DISCUSSION = "there was no discussion"


@dataclass(frozen=True, eq=False, kw_only=True)
class Opinions:
    """Opinions, one a row, and what is known of their battles, judges and models.

    A *look* is one judge before one battle, in one order, with one draw of its dice: it has an opinion alone and, after
    discussion, others. An *item* is what a committee judges together: the looks at one battle in one order with one
    draw. Scores are those of side A: 1, 1/2 for a tie, 0; NaN where there is no verdict.

    `opinions_of` makes it of columns by name; who draws opinions from equations makes it of arrays (`formed_alone`).
    """

    judges: tuple[str, ...]
    """Judges by code, each once."""
    models: tuple[str, ...]
    """Debaters by code, each once."""
    battle: Codes
    """Code of the battle, shape (opinions,)."""
    judge: Codes
    """Code of the judge, shape (opinions,)."""
    score: Floats
    """Score of A, shape (opinions,)."""
    stage: Codes
    """0 alone, 1.. after so many rounds of discussion, shape (opinions,)."""
    turned: Flags
    """Whether the judge was shown side B first, shape (opinions,)."""
    dice: Codes
    """Draw of the judge's dice on the same battle, shape (opinions,)."""
    status: Codes
    """Place in `STATUSES`, shape (opinions,)."""
    carried: Flags
    """Whether the verdict is that of the stage before, shape (opinions,)."""
    named: Floats
    """Score of A at which the side whose text names the judge wins: 1 or 0; NaN where not exactly one does, shape
    (opinions,)."""
    chances: Floats
    """The judge's own probabilities of A, tie and B, NaN where unknown, shape (opinions, 3)."""
    question: Codes
    """Question of every battle, shape (battles,)."""
    draw: Codes
    """Replicate of every battle, shape (battles,)."""
    a: Codes
    """Model on side A, shape (battles,)."""
    b: Codes
    """Model on side B, shape (battles,)."""
    length: Floats
    """Binary logarithm of the length of A's text over B's, NaN where unknown, shape (battles,)."""
    truth: Floats
    """Score of A that a perfect judge would give, NaN where unknown, shape (battles,)."""
    judge_family: tuple[str, ...]
    """Family of every judge, empty where unknown."""
    model_family: tuple[str, ...]
    """Family of every model, empty where unknown."""
    battle_ids: tuple[str, ...] = ()
    """Id of every battle; empty where nobody gave them names."""
    absent: tuple[str, ...] = ()
    """Columns that were not given; what they would say is missing in every estimate."""

    @classmethod
    def formed_alone(
        cls,
        *,
        judges: Sequence[str],
        models: Sequence[str],
        battle: Codes,
        judge: Codes,
        score: Floats,
        question: Codes,
        a: Codes,
        b: Codes,
        turned: Flags | None = None,
        length: Floats | None = None,
        judge_family: Sequence[str] = (),
        model_family: Sequence[str] = (),
    ) -> "Opinions":
        """Return valid opinions formed alone, of which no more is known than this; arguments are the fields.

        >>> one, none = np.array([0]), np.array([0, 0])
        >>> table = Opinions.formed_alone(judges=["j", "k"], models=["ada", "bob"], battle=none, judge=np.array([0, 1]),
        ...     score=np.array([1.0, 0.5]), question=one, a=one, b=one + 1)
        >>> len(table.looks), table.looks.discussed, table.model_family
        (2, False, ('', ''))
        """
        rows, battles = len(score), len(question)
        return cls(
            judges=tuple(judges),
            models=tuple(models),
            battle=battle,
            judge=judge,
            score=score,
            stage=np.zeros(rows, dtype=np.intp),
            turned=np.zeros(rows, dtype=np.bool_) if turned is None else turned,
            dice=np.zeros(rows, dtype=np.intp),
            status=np.full(rows, STATUSES.index("valid"), dtype=np.intp),
            carried=np.zeros(rows, dtype=np.bool_),
            named=np.full(rows, np.nan),
            chances=np.full((rows, 3), np.nan),
            question=question,
            draw=np.zeros(battles, dtype=np.intp),
            a=a,
            b=b,
            length=np.full(battles, np.nan) if length is None else length,
            truth=np.full(battles, np.nan),
            judge_family=tuple(judge_family) or ("",) * len(judges),
            model_family=tuple(model_family) or ("",) * len(models),
        )

    @property
    def battles(self) -> int:
        """How many battles there are."""
        return len(self.question)

    @property
    def questions(self) -> int:
        """How many questions there are."""
        return len(np.unique(self.question))

    @property
    def stages(self) -> tuple[int, ...]:
        """The stages at which there are opinions, ascending."""
        return tuple(np.unique(self.stage).tolist())

    def chosen(self, rows: Flags) -> "Opinions":
        """Return a part of the opinions; battles, judges and models keep their codes."""
        names = ("battle", "judge", "score", "stage", "turned", "dice", "status", "carried", "named", "chances")
        return replace(self, **{name: getattr(self, name)[rows] for name in names})

    def at(self, stage: int) -> "Opinions":
        """Return the opinions of one stage, as if they had been formed alone."""
        found = self.chosen(self.stage == stage)
        return replace(found, stage=np.zeros_like(found.stage))

    @cached_property
    def looks(self) -> "Looks":
        """The opinions, put together by judge, battle, order and dice."""
        return Looks.of(self)

    def swapped(self) -> "Opinions":
        """Return the same opinions with sides A and B exchanged in every battle; nothing of a judge changes by it."""
        return replace(
            self,
            score=1 - self.score,
            turned=~self.turned,
            named=1 - self.named,
            chances=self.chances[:, ::-1],
            a=self.b,
            b=self.a,
            length=-self.length,
            truth=1 - self.truth,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Looks:
    """One judge before one battle, in one order, with one draw of dice, a row each; by judge, battle, dice, order."""

    judges: tuple[str, ...]
    """Judges by code."""

    battle: Codes
    """Code of the battle, shape (looks,)."""
    judge: Codes
    """Code of the judge, ascending, shape (looks,)."""
    turned: Flags
    """Whether side B was shown first, shape (looks,)."""
    dice: Codes
    """Draw of the judge's dice, shape (looks,)."""
    question: Codes
    """Question of the battle, shape (looks,)."""
    item: Codes
    """What the committee judged together: battle, order and dice, from 0 on, shape (looks,)."""
    named: Floats
    """As in `Opinions`, shape (looks,)."""
    chances: Floats
    """Probabilities of the opinion alone, as in `Opinions`, shape (looks, 3)."""
    alone: Floats
    """Score of A alone, shape (looks,)."""
    heard: Floats
    """Score of A after the first round of discussion; NaN without, or where it was carried, shape (looks,)."""
    last: Floats
    """Score of A after the last round of discussion; NaN without any, shape (looks,)."""
    carried: Flags
    """Whether the last verdict is that of the stage before, shape (looks,)."""

    @classmethod
    def of(cls, table: Opinions) -> "Looks":
        """Return the looks of a table."""
        rows = np.lexsort((table.stage, table.turned, table.dice, table.battle, table.judge))
        key = np.stack([table.judge, table.battle, table.turned, table.dice])[:, rows]
        new = np.ones(len(rows), dtype=np.bool_)
        new[1:] = (key[:, 1:] != key[:, :-1]).any(axis=0)
        look = np.cumsum(new) - 1
        size = int(new.sum())
        first, stage, score, carried = rows[new], table.stage[rows], table.score[rows], table.carried[rows]

        def at(wanted: Flags) -> Floats:
            # Rows of a look ascend by stage, so that the last one written stays.
            found = np.full(size, np.nan)
            found[look[wanted]] = score[wanted]
            return found

        held = np.zeros(size, dtype=np.bool_)
        held[look] = carried

        battle, turned, dice = table.battle[first], table.turned[first], table.dice[first]
        item = np.unique(np.stack([battle, turned, dice]), axis=1, return_inverse=True)[1].reshape(-1)
        chances = np.full((size, 3), np.nan)
        chances[look[stage == 0]] = table.chances[rows][stage == 0]
        return cls(
            judges=table.judges,
            battle=battle,
            judge=table.judge[first],
            turned=turned,
            dice=dice,
            question=table.question[battle],
            item=item,
            named=table.named[first],
            chances=chances,
            alone=at(stage == 0),
            heard=at((stage == 1) & ~carried),
            last=at(stage >= 1),
            carried=held,
        )

    def by_judge(self) -> Iterator[tuple[str, slice]]:
        """Yield every judge with the rows of its looks."""
        ends = np.searchsorted(self.judge, np.arange(len(self.judges) + 1)).tolist()
        for name, (start, end) in zip(self.judges, pairwise(ends), strict=True):
            yield name, slice(start, end)

    def scores(self, when: When) -> Floats:
        """Return the scores alone or after all discussion, shape (looks,)."""
        return self.alone if when == "alone" else self.last

    def shown(self, score: Floats) -> Floats:
        """Return scores of A, one for each look, as scores of the side that was shown first."""
        return np.where(self.turned, 1 - score, score)

    def pairs(self) -> tuple[Codes, Codes]:
        """Return the rows of looks of one judge at one battle with one draw of dice, in order AB and in order BA."""
        first = np.flatnonzero(
            (self.judge[1:] == self.judge[:-1])
            & (self.battle[1:] == self.battle[:-1])
            & (self.dice[1:] == self.dice[:-1])
        )
        return first, first + 1

    @property
    def discussed(self) -> bool:
        """Whether any look has an opinion after discussion."""
        return not bool(np.isnan(self.last).all())

    def why(self, when: When, otherwise: str) -> str:
        """Return why there is nothing to say of opinions: nobody discussed, or something else."""
        return NO_DISCUSSION if when == "last" and not self.discussed else otherwise

    def __len__(self) -> int:
        return len(self.battle)
