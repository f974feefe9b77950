"""The rating input: battles as columns of codes."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from coupled_arena.errors import RatingError
from coupled_arena.records import Battle

Cluster = Literal["question", "battle"]
"""Which battles may depend on each other: all of one question, or none but themselves."""

Row = tuple[str, str, float, float, Hashable]
"""Names of A and B, score of A, weight, cluster."""

_SCORES = {"A": 1.0, "B": 0.0, "tie": 0.5}

_Value = TypeVar("_Value", bound=Hashable)


@dataclass(frozen=True, slots=True, eq=False)
class RatingInput:
    """Battles to rate, one a row; the columns are checked and made read-only.

    Raises `RatingError` where columns differ in length, a code has no name, a model meets itself, a score is none of
    0, 0.5 and 1, or a weight is not finite and positive.

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

    def __post_init__(self) -> None:
        columns = (self.a, self.b, self.score, self.weight, self.cluster)
        if any(column.shape != (len(self.a),) for column in columns):
            raise RatingError(f"columns must have one length, not {[column.shape for column in columns]}")
        if len(set(self.names)) != len(self.names):
            raise RatingError("two models have one name; give every model a name of its own")
        last = len(self.names) - 1
        checks = (
            ((self.a < 0) | (self.a > last), "the code of A has no name"),
            ((self.b < 0) | (self.b > last), "the code of B has no name"),
            (self.cluster < 0, "the code of the cluster is below 0"),
            (self.a == self.b, "a model cannot meet itself"),
            (~np.isin(self.score, (0.0, 0.5, 1.0)), "the score of A must be 0, 0.5 or 1"),
            (~(np.isfinite(self.weight) & (self.weight > 0)), "the weight must be finite and above 0"),
        )
        for wrong, message in checks:
            if wrong.any():
                raise RatingError(f"row {int(np.argmax(wrong)) + 1} of {len(wrong)}: {message}")
        for column in columns:
            column.setflags(write=False)

    @classmethod
    def from_rows(cls, rows: Iterable[Row], *, models: Iterable[str] = ()) -> "RatingInput":
        """Return the table of rows `(a, b, score of A, weight, cluster)`.

        Args:
            rows: battles in any order; a cluster is any hashable value.
            models: models that belong to the ratings even if they have no battle.
        """
        a, b, score, weight, cluster = tuple(zip(*rows, strict=True)) or ((),) * 5
        names = tuple(sorted({*a, *b, *models}))
        codes = {name: code for code, name in enumerate(names)}
        clusters = {value: code for code, value in enumerate(dict.fromkeys(cluster))}
        return cls(
            names=names,
            a=_encode(a, codes),
            b=_encode(b, codes),
            score=np.array(score, dtype=np.float64),
            weight=np.array(weight, dtype=np.float64),
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
        battles = tuple(battles)
        strangers = sorted({type(battle).__name__ for battle in battles} - {Battle.__name__})
        if strangers:
            raise RatingError(
                f"rate takes the Battle records of a run, not {', '.join(strangers)}; for others: RatingInput.from_rows"
            )
        rated: dict[tuple[str, int, str, str, str], Battle] = {}
        names: set[str] = set(models)
        for battle in battles:
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

    def __len__(self) -> int:
        return len(self.a)

    @property
    def clusters(self) -> int:
        """How many clusters the battles fall into."""
        return int(np.count_nonzero(np.bincount(self.cluster)))

    def wins(self) -> NDArray[np.float64]:
        """Return the weight of each row model's wins over each column model, a tie half a win for both."""
        size = len(self.names)
        pair = self.a * size + self.b
        wins = np.zeros((size, size))
        wins += np.bincount(pair, self.weight * self.score, size * size).reshape(size, size)
        wins += np.bincount(pair, self.weight * (1 - self.score), size * size).reshape(size, size).T
        return wins

    def among(self, members: NDArray[np.intp]) -> "RatingInput":
        """Return the battles that these models (codes, ascending) played with each other, coded anew."""
        if len(members) == len(self.names):
            return self
        code = np.full(len(self.names), -1, dtype=np.intp)
        code[members] = np.arange(len(members))
        a, b = code[self.a], code[self.b]
        rows = np.flatnonzero((a >= 0) & (b >= 0))
        return RatingInput(
            tuple(self.names[member] for member in members),
            a[rows],
            b[rows],
            self.score[rows],
            self.weight[rows],
            self.cluster[rows],
        )


def _encode(values: tuple[_Value, ...], codes: dict[_Value, int]) -> NDArray[np.intp]:
    return np.fromiter(map(codes.__getitem__, values), dtype=np.intp, count=len(values))


def _score(battle: Battle) -> float:
    if battle.decision.verdict is None:
        raise RatingError(f"battle {battle.id} is {battle.decision.status} but has no verdict; make it void")
    return _SCORES[battle.decision.verdict]
