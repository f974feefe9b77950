"""Whether questions suit their author's family: right on what is known, and silent where nothing can be said."""

import numpy as np
import pytest

from coupled_arena.analysis.authors import advantage_of
from coupled_arena.errors import ConfigurationError
from coupled_arena.records import Battle, Decision, Verdict

MODELS = ("mini", "nano", "bob", "cyd")
PAIRS = [(a, b) for place, a in enumerate(MODELS) for b in MODELS[place + 1 :]]
FAMILY = ("mini", "nano")


def battle(question: str, pair: tuple[str, str], verdict: Verdict | None, weight: float = 1.0) -> Battle:
    decision = Decision(status="void" if verdict is None else "decided", verdict=verdict)
    return Battle(
        id=f"{question}:{pair}", round=1, question=question, domain="math", replicate=0, a=pair[0], b=pair[1],
        arm="coupled", decision=decision, weight=weight,
    )  # fmt: skip


def authors(own: int, others: int) -> dict[str, str]:
    return {f"q{number}": "gpt" if number < own else "claude" for number in range(own + others)}


def played(known: dict[str, str], more: float, seed: int, ease: float = 0.3) -> list[Battle]:
    """Return battles in which the family wins so much more often on its own examiner's questions.

    Questions differ in how often the first model wins, which is nobody's advantage.
    """
    dice = np.random.default_rng(seed)
    rows = []
    for question, author in known.items():
        shift = ease * (dice.random() - 0.5)
        for pair in PAIRS:
            relative = (pair[0] in FAMILY) - (pair[1] in FAMILY)
            chance = 0.5 + shift * relative + (more / 2 if author == "gpt" else -more / 2) * relative
            rows.append(battle(question, pair, "A" if dice.random() < chance else "B"))
    return rows


def test_an_advantage_is_found_and_its_interval_holds_as_often_as_it_says() -> None:
    known = authors(12, 12)
    for truth in (0.0, 0.3):
        found = [advantage_of("gpt", FAMILY, played(known, truth, seed), known) for seed in range(200)]
        values = [one.advantage for one in found if one.advantage is not None]
        assert len(values) == 200
        assert np.mean(values) == pytest.approx(truth, abs=0.02)
        held = sum(one.low <= truth <= one.high for one in found if one.low is not None and one.high is not None)
        assert 0.90 <= held / 200 <= 0.99


def test_where_nothing_varies_there_is_no_interval() -> None:
    known = authors(4, 4)
    same = [battle(question, pair, "tie") for question in known for pair in PAIRS]
    level = advantage_of("gpt", FAMILY, same, known)
    assert (level.advantage, level.low, level.high, level.shown) == (0.0, None, None, False)
    assert level.line.endswith("no interval, as nothing varies")


def test_where_every_pair_meets_on_every_question_the_interval_is_welchs() -> None:
    known = authors(5, 8)
    rows = played(known, 0.4, seed=3)
    scores: dict[str, list[float]] = {}
    for one in rows:
        if (one.a in FAMILY) != (one.b in FAMILY):
            scores.setdefault(one.question, []).append(float((one.decision.verdict == "A") == (one.a in FAMILY)))
    means = {question: np.mean(values) for question, values in scores.items()}
    own, others = ([means[q] for q, author in known.items() if (author == "gpt") is kind] for kind in (True, False))
    found = advantage_of("gpt", FAMILY, rows, known)
    error = np.sqrt(np.var(own, ddof=1) / 5 + np.var(others, ddof=1) / 8)
    assert found.advantage == pytest.approx(np.mean(own) - np.mean(others))
    assert found.high is not None
    assert found.low is not None
    assert (found.own_questions, found.other_questions) == (5, 8)
    assert 2.0 * error < (found.high - found.low) / 2 < 2.8 * error


def test_pairs_that_met_on_questions_of_one_author_only_do_not_matter() -> None:
    known = authors(6, 6)
    rows = [battle(q, ("mini", "bob"), "A" if int(q[1:]) % 2 else "B") for q in known]
    lopsided = [battle(f"q{number}", ("mini", "cyd"), "A") for number in range(6)]
    both = advantage_of("gpt", ["mini"], [*rows, *lopsided], known)
    assert both.advantage == pytest.approx(advantage_of("gpt", ["mini"], rows, known).advantage)
    alone = advantage_of("gpt", ["mini"], [*lopsided, *(battle(f"q{n}", ("mini", "dan"), "B") for n in (8, 9))], known)
    assert (alone.advantage, alone.why) == (None, "no pair of models met on its questions and on others")


@pytest.mark.parametrize(
    ("known", "relatives", "rows", "why"),
    [
        (authors(4, 0), ["mini"], PAIRS, "all questions are its own, so there are none to compare them with"),
        (authors(4, 4), [], PAIRS, "no model of its family plays"),
        (authors(4, 4), list(MODELS), PAIRS, "no model of its family met one of another family"),
        (authors(1, 4), ["mini"], PAIRS, "battles over 1 of its own and 4 other questions are too few to compare"),
        (authors(4, 4), ["mini"], [], "no model of its family met one of another family"),
    ],
)
def test_where_nothing_can_be_said_the_reason_is(
    known: dict[str, str], relatives: list[str], rows: list[tuple[str, str]], why: str
) -> None:
    found = advantage_of("gpt", relatives, [battle(question, pair, "A") for question in known for pair in rows], known)
    assert (found.advantage, found.low, found.high, found.why, found.shown) == (None, None, None, why, False)
    assert found.line == f"questions of gpt: {why}"


def test_void_battles_do_not_count_and_weights_do() -> None:
    known = authors(3, 3)
    rows = [battle(q, ("mini", "bob"), "A" if author == "gpt" else "B") for q, author in known.items()]
    void = [battle(q, ("mini", "bob"), None) for q in known]
    halves = [battle(q, ("bob", "mini"), "B" if author == "gpt" else "A", 0.5) for q, author in known.items()]
    assert advantage_of("gpt", ["mini"], [*rows, *void], known).advantage == 1.0
    assert advantage_of("gpt", ["mini"], [*rows, *halves], known).advantage == pytest.approx(1.0)
    worse = [battle(q, ("mini", "bob"), "B", 0.5) for q in known]
    assert advantage_of("gpt", ["mini"], [*rows, *worse], known).advantage == pytest.approx(2 / 3)


def test_a_level_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="level"):
        advantage_of("gpt", ["mini"], [], {}, level=1.0)
