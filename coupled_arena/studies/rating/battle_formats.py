"""What one row of a file of battles says, in the formats that arenas and benchmarks publish."""

import math
from collections.abc import Callable, Collection, Hashable, Mapping
from typing import Any, NamedTuple

from coupled_arena.records import name_problem

QUESTIONS = ("question_id", "uid", "question", "qid", "prompt_id", "instruction", "id")
"""Columns that name the question of a row, the first one there being taken."""

_OUTCOMES = {
    **dict.fromkeys(("a", "model_a", "model_1", "left", "[[a]]", "a>b", "a>>b", "b<a", "b<<a"), 1.0),
    **dict.fromkeys(("b", "model_b", "model_2", "right", "[[b]]", "b>a", "b>>a", "a<b", "a<<b"), 0.0),
    **dict.fromkeys(("tie", "tie (bothbad)", "both_bad", "bothbad", "both", "draw", "[[c]]", "[[tie]]"), 0.5),
    **dict.fromkeys(("a=b", "b=a"), 0.5),
    **dict.fromkeys(("", "error", "void", "none", "null", "nan", "invalid"), None),
}

_SHOWN = ("model_a, A or the model's name; model_b, B; tie", "error, void or nothing where there is no decision")


class Wrong(Exception):
    """A row does not say what it should; holds the column and the reason."""

    def __init__(self, key: str, message: str) -> None:
        self.key = key
        self.message = message
        super().__init__(key, message)


class Judged(NamedTuple):
    """One judged battle of a row."""

    a: str
    """Model on side A."""
    b: str
    """Model on side B."""
    score: float | None
    """Score of A, in [0, 1]; None where there was no decision."""
    weight: float
    """Weight in the ratings."""
    together: Hashable = None
    """Names those that enter only together: one battle in both orders; None for a battle by itself."""
    parts: int = 1
    """How many of these there must be."""


class Choice(NamedTuple):
    """What a person says about the columns of a file."""

    a: str = "model_a"
    """Column of the model on side A."""
    b: str = "model_b"
    """Column of the model on side B."""
    winner: str = "winner"
    """Column of the outcome."""
    baseline: str | None = None
    """The model that all others met, where the file does not say it."""


class Format(NamedTuple):
    """A format, known by its columns."""

    name: str
    """Its name."""
    columns: tuple[str, ...]
    """Columns that a file must have."""
    judged: Callable[[Mapping[str, Any], Choice, Hashable], list[Judged]]
    """From a row, the choice and a key of the row to its judged battles; raises `Wrong`."""
    plain: bool = False
    """Whether its columns are anybody's, so that others beside them may mean something else."""


def score_of(key: str, value: Any, a: str, b: str) -> float | None:
    """Return the score of A that an outcome means; None where there was no decision.

    >>> score_of("winner", "tie (bothbad)", "ada", "bob"), score_of("winner", "bob", "ada", "bob")
    (0.5, 0.0)
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    text = value.strip() if isinstance(value, str) else value
    meanings = {score for name, score in ((a, 1.0), (b, 0.0)) if text == name}
    if isinstance(text, str) and text.lower() in _OUTCOMES:
        meanings.add(_OUTCOMES[text.lower()])  # type: ignore[arg-type]
    if len(meanings) != 1:
        what = "means both models" if meanings else "is no outcome"
        raise Wrong(key, f"{value!r} {what}; there are {'; '.join(_SHOWN)}")
    return meanings.pop()


def name_of(row: Mapping[str, Any], key: str) -> str:
    """Return the model that a column names."""
    value = row.get(key)
    if not isinstance(value, str):
        raise Wrong(key, "is missing" if value is None else f"must be a model's name, not {value!r}")
    if problem := name_problem(value):
        raise Wrong(key, problem)
    return value.strip()


def by_columns(row: Mapping[str, Any], choice: Choice, key: Hashable) -> list[Judged]:
    """Return the battle of a row with a column for each of the two models and one for the outcome."""
    a, b = name_of(row, choice.a), name_of(row, choice.b)
    return [Judged(a, b, score_of(choice.winner, row.get(choice.winner), a, b), 1.0)]


def _flags(row: Mapping[str, Any], choice: Choice, key: Hashable) -> list[Judged]:
    a, b = name_of(row, choice.a), name_of(row, choice.b)
    names = {"winner_model_a": 1.0, "winner_model_b": 0.0, "winner_tie": 0.5}
    found = [score for name, score in names.items() if str(row.get(name)) in ("1", "1.0", "True", "true")]
    if len(found) > 1:
        raise Wrong("winner_model_a", "two outcomes of one battle are marked; mark one of them")
    return [Judged(a, b, found[0] if found else None, 1.0)]


def _fastchat(row: Mapping[str, Any], choice: Choice, key: Hashable) -> list[Judged]:
    a, b = name_of(row, "model_1"), name_of(row, "model_2")
    # Both winners are named as in the row, whichever answer the judge read first.
    return [
        Judged(*sides, _turned(score_of(winner, row.get(winner), a, b), sides == (b, a)), 0.5, key, 2)
        for winner, sides in (("g1_winner", (a, b)), ("g2_winner", (b, a)))
    ]


def _arena_hard(row: Mapping[str, Any], choice: Choice, key: Hashable) -> list[Judged]:
    model = name_of(row, "model")
    baseline = name_of(row, "baseline") if row.get("baseline") is not None else choice.baseline
    if baseline is None:
        raise Wrong("baseline", "is missing; name the model that all others met with `baseline`")
    games = row["games"]
    if not isinstance(games, list) or not games:
        raise Wrong("games", "must be a list of judged games")
    found = []
    for number, game in enumerate(games):
        # The baseline is read first in the first game, and last in the next one.
        a, b = (baseline, model) if number % 2 == 0 else (model, baseline)
        score = score_of("games", game.get("score") if isinstance(game, dict) else None, a, b)
        found.append(Judged(a, b, score, 1 / len(games), key, len(games)))
    return found


def _alpaca_eval(row: Mapping[str, Any], choice: Choice, key: Hashable) -> list[Judged]:
    a, b, value = name_of(row, "generator_1"), name_of(row, "generator_2"), row.get("preference")
    if value is None or value == "":
        return [Judged(a, b, None, 1.0)]
    try:
        preference = float(value)
    except (TypeError, ValueError):
        preference = -1.0
    if math.isnan(preference):
        return [Judged(a, b, None, 1.0)]
    if preference != 0 and not 1 <= preference <= 2:
        raise Wrong("preference", f"must lie between 1 (the first answer) and 2, or be 0 for a tie, not {value!r}")
    return [Judged(a, b, 0.5 if preference == 0 else 2 - preference, 1.0)]


def _auto_arena(row: Mapping[str, Any], choice: Choice, key: Hashable) -> list[Judged]:
    told, winners = row["gamekey"], row["final_winner"]
    if not isinstance(told, list) or len(told) != 3:
        raise Wrong("gamekey", "must be a list of question, A and B")
    sides = {"gamekey.A": told[1], "gamekey.B": told[2]}
    a, b = (name_of(sides, side) for side in sides)
    # The last one is the decision after all discussion.
    last = winners[-1] if isinstance(winners, list) and winners else None
    return [Judged(a, b, score_of("final_winner", last, a, b), 1.0)]


def _coupled_arena(row: Mapping[str, Any], choice: Choice, key: Hashable) -> list[Judged]:
    a, b = name_of(row, "a"), name_of(row, "b")
    try:
        weight = float(row["weight"])
    except (TypeError, ValueError):
        raise Wrong("weight", f"must be a number, not {row['weight']!r}") from None
    both = (row.get("question"), row.get("replicate"), row.get("arm"), frozenset((a, b))) if weight < 1 else None
    return [Judged(a, b, score_of("verdict", row.get("verdict"), a, b), weight, both, 2 if both else 1)]


def _turned(score: float | None, turned: bool) -> float | None:
    return 1 - score if turned and score is not None else score


def _columns(name: str, a: str, b: str, winner: str, *, plain: bool = False) -> Format:
    """Return a format with a column for each of the two models and one for the outcome."""
    choice = Choice(a, b, winner)
    return Format(name, (a, b, winner), lambda row, _, key: by_columns(row, choice, key), plain)


FORMATS = (
    Format("Arena-Hard judgments", ("model", "games"), _arena_hard),
    Format("FastChat judgments", ("model_1", "model_2", "g1_winner", "g2_winner"), _fastchat),
    Format("AlpacaEval annotations", ("generator_1", "generator_2", "preference"), _alpaca_eval),
    Format("Auto-Arena records", ("gamekey", "final_winner"), _auto_arena),
    Format("Coupled Arena battles", ("battle", "a", "b", "weight", "verdict"), _coupled_arena),
    Format("LMArena votes", ("model_a", "model_b", "winner"), by_columns),
    Format("LMArena votes", ("model_a", "model_b", "winner_model_a", "winner_model_b", "winner_tie"), _flags),
    _columns("Auto-Arena table", "can_a", "can_b", "winner"),
    *(
        _columns("plain battles", a, b, winner, plain=True)
        for a, b, winner in (("a", "b", "winner"), ("a", "b", "verdict"), ("model_a", "model_b", "verdict"))
    ),
)
"""The known formats; the first one whose columns are there is taken."""

WANTED = frozenset(
    (*QUESTIONS, "gamekey", "baseline", "replicate", "arm", "stage", *(name for one in FORMATS for name in one.columns))
)
"""Every column that a known format reads, and that which shows that a file holds no battles but opinions."""


def unclear(known: Format, there: Collection[str]) -> str:
    """Return why a file with these columns may not be what it was recognised as, or nothing.

    >>> columns = ["a", "b", "winner", "verdict"]
    >>> unclear(next(one for one in FORMATS if one.plain), columns)
    'may be read by a, b, winner or by a, b, verdict; name them with `a`, `b` and `winner`'
    """
    if not known.plain:
        return ""
    if "stage" in there:
        return "are those of opinions, several on one battle; take a file of battles, or name `a`, `b` and `winner`"
    ways = [", ".join(one.columns) for one in FORMATS if one.plain and set(one.columns) <= set(there)]
    return f"may be read by {' or by '.join(ways)}; name them with `a`, `b` and `winner`" if len(ways) > 1 else ""
