"""Whether an examiner's questions suit its own family: differences in differences over questions."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coupled_arena.analysis.levels import require_level
from coupled_arena.ratings.student import t_reach
from coupled_arena.records import Battle

FEWEST_QUESTIONS = 2
"""Questions of its own, and of others, that an examiner needs."""

_NOTHING = 1e-18
_SCORES = {"A": (1.0, 0.0), "B": (0.0, 1.0), "tie": (0.5, 0.5)}

_Row = tuple[str, str, float, float]
"""Question, pair, score of the relative and weight of a battle."""


@dataclass(frozen=True, slots=True)
class Advantage:
    """How much better an examiner's family does on the examiner's questions than on others'."""

    author: str
    """Name of the examiner."""
    relatives: tuple[str, ...]
    """The debaters of its family, itself included if it plays, by name."""
    own_questions: int
    """Questions of its own with a battle of a relative against another model."""
    other_questions: int
    """Such questions of other authors."""
    advantage: float | None
    """By how much the relatives' mean score against other models is higher on its questions, in [-1, 1]; None where
    nothing can be said."""
    low: float | None
    """Lower end of the question-clustered interval; None as `advantage`, or where nothing varies."""
    high: float | None
    """Upper end of the interval; None as `low`."""
    why: str
    """Why nothing can be said, or nothing."""

    @property
    def shown(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)

    @property
    def line(self) -> str:
        """What is known, as a sentence.

        >>> Advantage("gpt", ("gpt-mini",), 9, 9, 0.12, -0.05, 0.29, "").line
        'questions of gpt: gpt-mini scores 0.12 more on them than on others [-0.05, 0.29]: no advantage shown'
        """
        names, score = " and ".join(self.relatives), "scores" if len(self.relatives) == 1 else "score"
        if self.advantage is None:
            return f"questions of {self.author}: {self.why}"
        more = "more" if self.advantage >= 0 else "less"
        line = f"questions of {self.author}: {names} {score} {abs(self.advantage):.2f} {more} on them than on others"
        if self.low is None or self.high is None:
            return f"{line}: no interval, as nothing varies"
        verdict = "no advantage shown"
        if self.shown:
            verdict = "they suit its family" if self.low > 0 else "they do not suit its family"
        return f"{line} [{self.low:.2f}, {self.high:.2f}]: {verdict}"


def advantage_of(
    author: str,
    relatives: Collection[str],
    battles: Iterable[Battle],
    authors: Mapping[str, str],
    *,
    level: float = 0.95,
) -> Advantage:
    """Return how much better an examiner's relatives do on its questions than on those of others.

    Only battles of a relative against another model count, so that a question that is easier for everybody favours
    nobody: the score is a difference between the two already, and its change from others' questions to the examiner's
    is a difference of differences. It is the coefficient of "written by the examiner" in a regression of the score on
    it and on the pair of models, so that pairs that met on more questions of one kind do not matter. The interval is
    clustered by question, with the correction `n / (n - 1)` in each of the two groups of questions and the degrees of
    freedom of Welch and Satterthwaite: where every pair meets on every question it is Welch's interval of the mean
    scores of the questions.

    Args:
        author: name of the examiner.
        relatives: the debaters of its family.
        battles: of one arm; void ones do not count.
        authors: author of every question, by its id.
        level: coverage of the interval, between 0 and 1.

    Raises:
        ConfigurationError: the level is out of range.

    Example:
        >>> from coupled_arena.records import Decision
        >>> def battle(question, verdict):
        ...     return Battle(id=question, round=1, question=question, domain="math", replicate=0, a="mini", b="bob",
        ...                   arm="coupled", decision=Decision(status="decided", verdict=verdict))
        >>> played = [battle(f"q{number}", verdict) for number, verdict in enumerate(["A", "A", "A", "tie", "B", "A"])]
        >>> authors = {f"q{number}": "gpt" if number < 3 else "claude" for number in range(6)}
        >>> found = advantage_of("gpt", ["mini"], played, authors)
        >>> round(found.advantage, 2), round(found.low, 2), round(found.high, 2)
        (0.5, -0.74, 1.0)
    """
    require_level("advantage_of", level)
    names = tuple(sorted(relatives))
    if not names:
        return Advantage(author, (), 0, 0, None, None, None, "no model of its family plays")
    rows = [row for battle in battles if (row := _row(battle, names)) is not None]
    own = {question for question, *_ in rows if authors.get(question) == author}
    others = {question for question, *_ in rows} - own
    if why := _why_not(author, rows=len(rows), own=len(own), others=len(others), authors=authors):
        return Advantage(author, names, len(own), len(others), None, None, None, why)
    found = _difference(rows, own, level)
    if found is None:
        why = "no pair of models met on its questions and on others"
        return Advantage(author, names, len(own), len(others), None, None, None, why)
    return Advantage(author, names, len(own), len(others), *found, "")


def _difference(
    rows: Sequence[_Row], own: Collection[str], level: float
) -> tuple[float, float | None, float | None] | None:
    """Return the coefficient of "written by the examiner" with its interval, None where no pair met on both kinds."""
    pairs = np.unique([pair for _, pair, _, _ in rows], return_inverse=True)[1]
    questions, clusters = np.unique([question for question, *_ in rows], return_inverse=True)
    score, weight = (np.array([row[place] for row in rows]) for place in (2, 3))
    written = np.array([question in own for question in questions], dtype=np.float64)
    regressor = _within(written[clusters], pairs, weight)
    size = float(weight @ regressor**2)
    if not size:
        return None
    centred = _within(score, pairs, weight)
    value = float(weight @ (regressor * centred)) / size
    moment = np.bincount(clusters, weight * regressor * (centred - value * regressor)) / size
    sizes = np.array([len(own), len(questions) - len(own)])
    variances = np.array([(moment[written == kind] ** 2).sum() for kind in (1.0, 0.0)]) * sizes / (sizes - 1)
    if (total := float(variances.sum())) <= _NOTHING:
        return value, None, None
    degrees = math.floor(total**2 / float((variances**2 / (sizes - 1)).sum()))
    reach = t_reach(level, max(1, degrees)) * math.sqrt(total)
    return value, max(-1.0, value - reach), min(1.0, value + reach)


def _row(battle: Battle, relatives: Collection[str]) -> _Row | None:
    """Return the row of a rated battle of a relative against another model, None for any other battle."""
    if battle.decision.verdict is None or (battle.a in relatives) == (battle.b in relatives):
        return None
    score = _SCORES[battle.decision.verdict][battle.b in relatives]
    return battle.question, "\0".join(battle.pair), score, battle.weight


def _why_not(author: str, *, rows: int, own: int, others: int, authors: Mapping[str, str]) -> str:
    if set(authors.values()) <= {author}:
        return "all questions are its own, so there are none to compare them with"
    if not rows:
        return "no model of its family met one of another family"
    if own < FEWEST_QUESTIONS or others < FEWEST_QUESTIONS:
        return f"battles over {own} of its own and {others} other questions are too few to compare"
    return ""


def _within(values: NDArray[np.float64], pairs: NDArray[np.intp], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values less the weighted mean of their pair."""
    means = np.bincount(pairs, weight * values) / np.bincount(pairs, weight)
    return values - means[pairs]
