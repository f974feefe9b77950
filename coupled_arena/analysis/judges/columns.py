"""Columns by name, of a data frame or a file, made into the table of a study."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from coupled_arena.analysis.judges.estimate import Floats
from coupled_arena.analysis.judges.table import STATUSES, Flags, Opinions
from coupled_arena.analysis.labels import Codes, present, wrong
from coupled_arena.records import SCORES

NEEDED = ("battle", "judge", "verdict")
"""Columns without which there is nothing to study."""

LACKING: Mapping[str, str] = {
    "question": "every battle counts as a question of its own: intervals are too narrow if battles share questions",
    "a": "no preferences, rating gaps, intransitive triples or ratings, and length effects without those of pairs",
    "b": "as without `a`",
    "stage": "every opinion counts as one formed alone: nothing on discussion",
    "order": "every opinion counts as shown A first: position effects are leads of side A, and there are no flips",
    "status": "opinions without a verdict count as unparsable; refusals and failures are not told apart",
    "length_a": "no length effects",
    "length_b": "as without `length_a`",
    "family": "family preference is that for a judge's own name only",
    "truth": "nothing on who was right",
    "dice": "nothing on repeatability, unless judges state probabilities",
    "named": "nothing on preference for a side whose text names the judge",
}
"""What a study cannot tell without a column."""

OPTIONAL = (*LACKING, "run", "domain", "round", "replicate", "carried", "family_a", "family_b", "probability_a",
            "probability_b", "probability_tie")  # fmt: skip
"""All other columns that a study reads."""

_WHERE = "opinions"

_WITH_VERDICT = [STATUSES.index(status) for status in ("valid", "not asked")]
"""Statuses of opinions that hold a verdict from the first."""

_LARGEST = 1_000_000
"""Whole numbers above this are taken for a slip of the pen."""

_ROUNDING = 1e-6
"""By how much rounding may take a probability above 1."""


def opinions_of(columns: Any, *, where: str = _WHERE) -> Opinions:
    """Return the table of opinions given as columns by name.

    `verdict` and `truth` are `A`, `B`, `tie` or missing, in the frame of the battle; `order` is `AB` or `BA`; `named`
    is the side whose text names the judge. Columns that are left out are listed in `Opinions.absent`; `LACKING` says
    what a study cannot tell without them. Rows may come in any order. Battles are told apart by `battle`, and by `run`
    where there is one and no `dice`: new dice on one battle are rolled in a run of their own.

    Args:
        columns: a data frame, or sequences of one length by name; at least `NEEDED`, more are `OPTIONAL`.
        where: what problems name as their place.

    Raises:
        ConfigurationError: a column is missing or holds what it cannot, or two rows are one opinion.

    Example:
        >>> table = opinions_of({"battle": ["b1", "b1"], "judge": ["ada", "bob"], "verdict": ["A", "tie"]})
        >>> table.judges, table.score.tolist(), "order" in table.absent
        (('ada', 'bob'), [1.0, 0.5], True)
    """
    given = _Columns(columns, where)
    for name in NEEDED:
        if name not in given:
            raise wrong(where, name, f"is missing; a study of judges needs {', '.join(NEEDED)}")
    table = _table(given)
    _once(table, given)
    return table


def _table(given: "_Columns") -> Opinions:
    verdict = given.scores("verdict")
    judge, judges = given.coded("judge")
    battle, ids = _battles(given)
    status, stage, carried = _status(given, verdict)
    turned = given.places("order", ("AB", "BA")) == 1
    question = given.joined(("question",))[0] if "question" in given else battle
    models, a, b = given.pair()
    length_a, length_b = (np.maximum(given.numbers(name), 1) for name in ("length_a", "length_b"))
    each = _EachBattle(given, battle)
    return Opinions(
        judges=judges,
        models=models,
        battle=battle,
        judge=judge,
        score=verdict,
        stage=stage,
        turned=turned,
        dice=given.joined(("dice",))[0],
        status=status,
        carried=carried,
        named=np.where((named := given.scores("named")) == SCORES["tie"], np.nan, named),
        chances=np.stack([given.numbers(f"probability_{side}", most=1.0) for side in ("a", "tie", "b")], axis=1),
        question=each.said("question", question),
        draw=each.said("replicate", given.joined(("replicate",))[0]),
        a=each.said("a", a),
        b=each.said("b", b),
        length=each.said("length_a", np.log2(length_a / length_b)),
        truth=each.said("truth", given.scores("truth")),
        judge_family=given.families({"family": judge}, judges),
        model_family=given.families({"family_a": a, "family_b": b}, models),
        battle_ids=tuple(key[-1] for key in ids),
        absent=tuple(name for name in LACKING if name not in given),
    )


def _battles(given: "_Columns") -> tuple[Codes, tuple[tuple[str, ...], ...]]:
    """Return the code of every row's battle, and what tells each battle from others, its id last."""
    # A judge's new dice on one battle come from several runs.
    battle, ids = given.joined(("battle",) if "dice" in given else ("run", "battle"))
    if nameless := [code for code, key in enumerate(ids) if not key[-1]]:
        given.refuse(int(np.argmax(battle == nameless[0])), "battle", "is missing")
    return battle, ids


def _status(given: "_Columns", verdict: Floats) -> tuple[Codes, Codes, Flags]:
    """Return status, stage and whether the verdict was carried over; a status that contradicts these is refused."""
    status = given.places("status", STATUSES)
    stage, carried = given.whole("stage"), given.flags("carried")
    # In discussion a judge whose call fails keeps the verdict that it holds.
    given.require(np.isnan(verdict) | (stage > 0) | carried | np.isin(status, _WITH_VERDICT), "status",
                  "says that there is no verdict, and there is one")  # fmt: skip
    # Where nobody says why there is no verdict, none could be read.
    status[np.isnan(verdict) & (status == 0)] = STATUSES.index("unparsable")
    return status, stage, carried


class _EachBattle:
    """What rows say of their battles: all of one must say the same."""

    def __init__(self, given: "_Columns", battle: Codes) -> None:
        self.given = given
        self.battle = battle
        self.first = np.unique(battle, return_index=True)[1]

    def said(self, name: str, values: Any) -> Any:
        """Return a column by battle."""
        own = values[self.first]
        off = own[self.battle] != values
        if values.dtype.kind == "f":
            off &= ~(np.isnan(values) & np.isnan(own[self.battle]))
        if off.any():
            row = int(np.argmax(off))
            self.given.refuse(row, name, f"is not what row {self.first[self.battle[row]] + 1} says of the same battle")
        return own


def _once(table: Opinions, given: "_Columns") -> None:
    key = np.stack([table.battle, table.judge, table.stage, table.turned, table.dice])
    order = np.lexsort(key)
    same = (key[:, order[1:]] == key[:, order[:-1]]).all(axis=0)
    if same.any():
        at = int(np.argmax(same))
        row, other = sorted(order[at : at + 2].tolist(), reverse=True)
        given.refuse(
            row, "judge", f"has the opinion of row {other + 1} again: same battle, judge, stage, order and dice; "
            "leave one out, or number new dice of one judge in a column `dice`"
        )  # fmt: skip


class _Columns:
    """Columns by name, read as what they should hold; a column that is not there is all missing."""

    def __init__(self, columns: Any, where: str) -> None:
        self.columns = columns
        self.where = where
        self.rows = len(columns[NEEDED[0]]) if NEEDED[0] in columns else 0

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def refuse(self, row: int, name: str, message: str) -> NoReturn:
        raise wrong(f"{self.where}: row {row + 1}", name, message)

    def values(self, name: str) -> list[Any]:
        """Return a column as it was given, all None where there is none."""
        if name not in self:
            return [None] * self.rows
        column = self.columns[name]
        values = list(column.tolist() if hasattr(column, "tolist") else column)
        if len(values) != self.rows:
            raise wrong(self.where, name, f"has {len(values)} rows, {NEEDED[0]} {self.rows}")
        return values

    def texts(self, name: str) -> list[str]:
        """Return a column as text, empty where a value is missing."""
        known, values = _Known(_text, ""), self.values(name)
        try:
            return list(map(known.__getitem__, values))
        except (TypeError, ValueError):
            row = next(at for at, value in enumerate(values) if not known.takes(value))
            self.refuse(row, name, f"must be text that can be written, or a number, not {values[row]!r}")

    def read(self, name: str, what: str, meaning: Callable[[Any], float], missing: float) -> Floats:
        """Return a column as numbers; `meaning` raises `KeyError`, `TypeError` or `ValueError` for what is none."""
        known, values = _Known(meaning, missing), self.values(name)
        try:
            return np.fromiter(map(known.__getitem__, values), np.float64, self.rows)
        except (KeyError, TypeError, ValueError):
            row = next(at for at, value in enumerate(values) if not known.takes(value))
            self.refuse(row, name, f"must be {what}, not {values[row]!r}")

    def scores(self, name: str) -> Floats:
        return self.read(name, "A, B, tie or missing", SCORES.__getitem__, np.nan)

    def require(self, held: Any, name: str, message: str) -> None:
        """Refuse the first row in which something does not hold."""
        if not held.all():
            self.refuse(int(np.argmin(held)), name, message)

    def numbers(self, name: str, *, most: float = np.inf) -> Floats:
        found = self.read(name, "a number", finite, np.nan)
        beyond = "" if most == np.inf else f" and at most {most:g}"
        self.require(~((found < 0) | (found > most + _ROUNDING)), name, f"must be at least 0{beyond}")
        return found

    def whole(self, name: str) -> Codes:
        what = f"a whole number from 0 to {_LARGEST}"
        found = self.read(name, what, finite, 0.0)
        self.require((found >= 0) & (found <= _LARGEST) & (found == np.floor(found)), name, f"must be {what}")
        return found.astype(np.intp)

    def flags(self, name: str) -> Any:
        known = {True: 1.0, False: 0.0, "True": 1.0, "true": 1.0, "False": 0.0, "false": 0.0}
        return self.read(name, "true or false", known.__getitem__, 0.0) == 1

    def places(self, name: str, labels: Sequence[str]) -> Codes:
        found = self.read(name, ", ".join(labels), {label: float(at) for at, label in enumerate(labels)}.__getitem__, 0)
        return found.astype(np.intp)

    def coded(self, name: str) -> tuple[Codes, tuple[str, ...]]:
        """Return codes of a column of names that may not be missing, and the names in alphabetical order."""
        values = self.texts(name)
        names = tuple(sorted(set(values)))
        if "" in names:
            self.refuse(values.index(""), name, "is missing")
        place = {value: at for at, value in enumerate(names)}
        return np.fromiter(map(place.__getitem__, values), np.intp, self.rows), names

    def joined(self, names: Sequence[str]) -> tuple[Codes, tuple[tuple[str, ...], ...]]:
        """Return a code for every combination of values, in the order of first mention, and the combinations."""
        rows = list(zip(*map(self.texts, names), strict=True))
        known = {row: code for code, row in enumerate(dict.fromkeys(rows))}
        return np.fromiter(map(known.__getitem__, rows), np.intp, self.rows), tuple(known)

    def pair(self) -> tuple[tuple[str, ...], Codes, Codes]:
        """Return the models and their codes on either side; without columns there are two unknown ones."""
        if "a" not in self or "b" not in self:
            return ("A", "B"), np.zeros(self.rows, dtype=np.intp), np.ones(self.rows, dtype=np.intp)
        (a, first), (b, second) = self.coded("a"), self.coded("b")
        models = tuple(sorted({*first, *second}))
        place = {model: at for at, model in enumerate(models)}
        a, b = (
            np.array([place[model] for model in names], dtype=np.intp)[codes] if names else codes
            for codes, names in ((a, first), (b, second))
        )
        if (same := a == b).any():
            self.refuse(int(np.argmax(same)), "b", "is the model of side A; leave the row out")
        return models, a, b

    def families(self, columns: Mapping[str, Codes], names: Sequence[str]) -> tuple[str, ...]:
        """Return the family of every name, empty where no row says it; rows that say it must agree."""
        found: dict[int, str] = {}
        for column, codes in columns.items():
            said = list(zip(codes.tolist(), self.texts(column), strict=True))
            for code, family in dict.fromkeys(said):
                if family and found.setdefault(code, family) != family:
                    row, other = said.index((code, family)), found[code]
                    self.refuse(row, column, f"is {family!r} for {names[code]}, and {other!r} before; say one of them")
        return tuple(found.get(code, "") for code in range(len(names)))


def _text(value: Any) -> str:
    """Return a value as text; half of a pair of code units is none that anything can be written with."""
    text = value if isinstance(value, str) else str(value)
    text.encode()
    return text


class _Known(dict[Any, Any]):
    """What every value means, each asked for once; None, NaN, empty text and the like are missing."""

    def __init__(self, meaning: Callable[[Any], Any], missing: Any) -> None:
        super().__init__()
        self.meaning = meaning
        self.missing = missing

    def __missing__(self, value: Any) -> Any:
        found = self.meaning(value) if present(value) and value != "" else self.missing
        self[value] = found
        return found

    def takes(self, value: Any) -> bool:
        """Return whether a value means something."""
        try:
            self[value]
        except (KeyError, TypeError, ValueError):
            return False
        return True


def finite(value: Any) -> float:
    """Return a finite number; raises `TypeError` or `ValueError` for what is none."""
    number = float(value)
    if not np.isfinite(number):
        raise ValueError(value)
    return number
