"""The rating input: battles as columns of codes."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from coupled_arena.errors import RatingError
from coupled_arena.ratings.tally import Tally
from coupled_arena.records import SCORES, Battle

if TYPE_CHECKING:
    import pandas as pd

Cluster = Literal["question", "battle"]
"""Which battles may depend on each other: all of one question, or none but themselves."""

Row = tuple[str, str, float, float, Hashable]
"""Names of A and B, score of A, weight, cluster."""

SCORE_OF: Mapping[Hashable, float | None] = MappingProxyType(
    {**dict(SCORES.items()), 1: 1.0, 0: 0.0, 0.5: 0.5, "void": None}
)
"""The score of A by what stands in a column of verdicts; None for a battle that is not rated."""

_Value = TypeVar("_Value", bound=Hashable)


@dataclass(frozen=True, slots=True, eq=False)
class RatingInput:
    """Battles to rate, one a row; the columns are checked and made read-only.

    Raises `RatingError` where columns differ in length, a code has no name, a model meets itself, a score is none of
    0, 0.5 and 1, a weight is not finite and positive, or a covariate is not finite; the message names the row.

    Example:
        >>> table = RatingInput.from_rows([("ada", "bob", 1, 1, "math-1"), ("bob", "ada", 0.5, 1, "math-2")])
        >>> table.names, table.score.tolist(), table.clusters
        (('ada', 'bob'), [1.0, 0.5], 2)
    """

    names: tuple[str, ...]
    """Models by code, each once; a model may have no battle."""
    a: NDArray[np.intp]
    """Code of the model on side A, shape (battles,)."""
    b: NDArray[np.intp]
    """Code of the model on side B, shape (battles,)."""
    score: NDArray[np.float64]
    """1 where A won, 0 where B won, 0.5 for a tie, shape (battles,)."""
    weight: NDArray[np.float64]
    """Weight of the battle, above 0, shape (battles,)."""
    cluster: NDArray[np.intp]
    """Code of the cluster, from 0, shape (battles,); only battles of different clusters are independent."""
    covariates: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    """What else may have decided the battle, by name, each of shape (battles,): a fact of A less the same of B, such as
    the difference of lengths, so that it changes its sign when the sides are swapped."""

    def __post_init__(self) -> None:
        columns = (self.a, self.b, self.score, self.weight, self.cluster, *self.covariates.values())
        if any(column.shape != (len(self.a),) for column in columns):
            raise RatingError(f"columns must have one length, not {[column.shape for column in columns]}")
        if len(set(self.names)) != len(self.names):
            raise RatingError("two models have one name; give every model a name of its own")
        if len(self):
            self._check_rows()
        for column in columns:
            column.setflags(write=False)

    def _check_rows(self) -> None:
        last, score, weight = len(self.names) - 1, self.score, self.weight
        for code, side in ((self.a, "A"), (self.b, "B")):
            if code.min() < 0 or code.max() > last:
                self._refuse((code < 0) | (code > last), f"the code of {side} has no name")
        if self.cluster.min() < 0:
            self._refuse(self.cluster < 0, "the code of the cluster is below 0")
        self._refuse(self.a == self.b, "a model cannot meet itself")
        self._refuse(~((score == 0) | (score == 1) | (score == 0.5)), "the score of A must be 0, 0.5 or 1")
        # Comparisons with NaN are false, so that it is refused too.
        if not 0 < weight.min() <= weight.max() < np.inf:
            self._refuse(~(np.isfinite(weight) & (weight > 0)), "the weight must be finite and above 0")
        for name, column in self.covariates.items():
            self._refuse(~np.isfinite(column), f"the covariate {name} must be a finite number")

    def _refuse(self, wrong: NDArray[np.bool_], message: str) -> None:
        if wrong.any():
            raise RatingError(f"row {int(np.argmax(wrong)) + 1} of {len(wrong)}: {message}")

    @classmethod
    def from_rows(cls, rows: Iterable[Row], *, models: Iterable[str] = ()) -> "RatingInput":
        """Return the table of rows `(a, b, score of A, weight, cluster)`.

        Args:
            rows: battles in any order; a cluster is any hashable value.
            models: models that belong to the ratings even if they have no battle.

        Raises:
            RatingError: a row has not five parts, a score or weight is no number, or a row is not valid.
        """
        try:
            a, b, score, weight, cluster = tuple(zip(*rows, strict=True)) or ((),) * 5
            scores, weights = np.array(score, dtype=np.float64), np.array(weight, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise RatingError(
                f"rows are (a, b, score of A, weight, cluster), all five, numbers third and fourth: {error}"
            ) from None
        names = tuple(sorted({*a, *b, *models}))
        codes = {name: code for code, name in enumerate(names)}
        clusters = {value: code for code, value in enumerate(dict.fromkeys(cluster))}
        return cls(
            names=names,
            a=_encode(a, codes),
            b=_encode(b, codes),
            score=scores,
            weight=weights,
            cluster=_encode(cluster, clusters),
        )

    @classmethod
    def from_battles(
        cls, battles: Iterable[Battle], *, models: Iterable[str] = (), cluster: Cluster = "question"
    ) -> "RatingInput":
        """Return the table of played battles.

        Decided and forfeited battles enter, void ones never. A battle of weight below 1 is half of a pair played on
        both sides; it enters only together with the other half.

        Args:
            battles: battles in any order.
            models: models that belong to the ratings even if they have no battle.
            cluster: which battles may depend on each other.

        Raises:
            RatingError: two rated battles have one question, replicate, pair, side and arm, or a row is not valid.
        """
        given: Any = battles
        known: tuple[Any, ...] = tuple(given) if isinstance(given, Iterable) else (given,)
        strangers = sorted({type(battle).__name__ for battle in known} - {Battle.__name__})
        if strangers:
            raise RatingError(
                f"rate takes the Battle records of a run, not {', '.join(strangers)}; for others: "
                "RatingInput.from_rows, RatingInput.from_frame, read_battles"
            )
        rated: dict[tuple[str, int, str, str, str], Battle] = {}
        names: set[str] = set(models)
        for battle in known:
            names |= {battle.a, battle.b}
            if battle.decision.status == "void":
                continue
            key = (battle.question, battle.replicate, battle.a, battle.b, battle.arm)
            if key in rated:
                raise RatingError(
                    f"battles {rated[key].id} and {battle.id} are one: {battle.a} against {battle.b} on question "
                    f"{battle.question}, replicate {battle.replicate}, arm {battle.arm}; leave one out"
                )
            rated[key] = battle
        return cls.from_rows(
            (
                (battle.a, battle.b, _score(battle), battle.weight, question if cluster == "question" else battle.id)
                for (question, replicate, a, b, arm), battle in rated.items()
                if battle.weight >= 1 or (question, replicate, b, a, arm) in rated
            ),
            models=names,
        )

    @classmethod
    def from_columns(
        cls,
        a: "Sequence[str] | pd.Series[str] | NDArray[np.object_]",
        b: "Sequence[str] | pd.Series[str] | NDArray[np.object_]",
        verdict: "Sequence[Hashable] | pd.Series | NDArray[np.generic]",
        *,
        question: "Sequence[Hashable] | pd.Series | NDArray[np.generic] | None" = None,
        weight: "Sequence[float] | pd.Series[float] | NDArray[np.float64] | None" = None,
        covariates: "Mapping[str, Sequence[float] | pd.Series[float] | NDArray[np.float64]]" = MappingProxyType({}),
        verdicts: Mapping[Hashable, float | None] = SCORE_OF,
        models: Iterable[str] = (),
    ) -> "RatingInput":
        """Return the table of columns of names, the fast way in for many battles.

        Args:
            a: names of the models on side A.
            b: names of the models on side B.
            verdict: who won, in the words of `verdicts`.
            question: what battles share that may depend on each other; without it each battle stands for itself.
            weight: weights of the battles, 1 without them.
            covariates: columns for `RatingInput.covariates`.
            verdicts: the score of A by verdict, None for a void battle, which only names its models.
            models: models that belong to the ratings even if they have no battle.

        Raises:
            RatingError: a value is missing or unknown, or a row is not valid; the message names the row.

        Example:
            >>> table = RatingInput.from_columns(["ada", "bob"], ["bob", "ada"], ["A", "tie"])
            >>> table.names, table.score.tolist(), table.clusters
            (('ada', 'bob'), [1.0, 0.5], 2)
        """
        from coupled_arena.ratings.columns import table_of

        return table_of(a, b, verdict, question, weight, covariates, verdicts, models)

    @classmethod
    def from_frame(
        cls,
        frame: "pd.DataFrame",
        *,
        a: str = "a",
        b: str = "b",
        verdict: str = "verdict",
        question: str | None = None,
        weight: str | None = None,
        covariates: Iterable[str] = (),
        key: Iterable[str] = (),
        verdicts: Mapping[Hashable, float | None] = SCORE_OF,
        models: Iterable[str] = (),
    ) -> "RatingInput":
        """Return the table of a data frame, one battle a row.

        Args:
            frame: any index; rows are counted from 1 in messages.
            a: column of names of the models on side A.
            b: column of names of the models on side B.
            verdict: column of who won, in the words of `verdicts`.
            question: column of what battles share that may depend on each other; `question` if there is such a column.
            weight: column of weights; `weight` if there is such a column.
            covariates: columns for `RatingInput.covariates`.
            key: columns that together name a battle: two rows of one name are refused.
            verdicts: the score of A by verdict, None for a void battle, which only names its models.
            models: models that belong to the ratings even if they have no battle.

        Raises:
            RatingError: there is no such column, a value is missing or unknown, two rows are one battle, or a row is
                not valid; the message names the row.

        Example:
            >>> import pandas as pd
            >>> frame = pd.DataFrame({"a": ["ada", "ada"], "b": ["bob", "eve"], "verdict": ["A", "B"]})
            >>> RatingInput.from_frame(frame).names
            ('ada', 'bob', 'eve')
        """
        from coupled_arena.ratings.columns import columns_of, refuse_twice

        found = columns_of(frame, a, b, verdict, question, weight)
        refuse_twice(frame, tuple(key))
        extra = {name: columns_of(frame, name)[0] for name in covariates}
        return cls.from_columns(
            *found[:3], question=found[3], weight=found[4], covariates=extra, verdicts=verdicts, models=models
        )

    def __len__(self) -> int:
        return len(self.a)

    @property
    def clusters(self) -> int:
        """How many clusters the battles fall into."""
        return int(np.count_nonzero(np.bincount(self.cluster)))

    def tally(self) -> Tally:
        """Return the battles counted by pair and outcome."""
        return Tally.of(len(self.names), self.a, self.b, self.score, self.weight)

    def wins(self) -> NDArray[np.float64]:
        """Return the weight of each row model's wins over each column model, a tie half a win for both."""
        tally = self.tally()
        return tally.won + tally.tied / 2

    def among(self, members: NDArray[np.intp]) -> "RatingInput":
        """Return the battles that these models (codes, ascending) played with each other, coded anew."""
        if len(members) == len(self.names):
            return self
        code = np.full(len(self.names), -1, dtype=np.intp)
        code[members] = np.arange(len(members))
        a, b = code[self.a], code[self.b]
        rows = np.flatnonzero((a >= 0) & (b >= 0))
        left = self.take(rows)
        return replace(left, names=tuple(self.names[member] for member in members), a=a[rows], b=b[rows])

    def take(self, rows: NDArray[np.intp]) -> "RatingInput":
        """Return these rows, with all models."""
        return replace(
            self,
            a=self.a[rows],
            b=self.b[rows],
            score=self.score[rows],
            weight=self.weight[rows],
            cluster=self.cluster[rows],
            covariates={name: column[rows] for name, column in self.covariates.items()},
        )


def _encode(values: tuple[_Value, ...], codes: dict[_Value, int]) -> NDArray[np.intp]:
    return np.fromiter(map(codes.__getitem__, values), dtype=np.intp, count=len(values))


def _score(battle: Battle) -> float:
    if battle.decision.verdict is None:
        raise RatingError(f"battle {battle.id} is {battle.decision.status} but has no verdict; make it void")
    return SCORES[battle.decision.verdict]
