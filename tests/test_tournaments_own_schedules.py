"""A schedule of the user's own is a function of a few lines, and what it answers is checked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import coupled_arena as ca

RULES = {
    "models": ["sim/a?skill=2", "sim/b", "sim/c", "sim/d"],
    "judges": ["sim/j"],
    "domains": ["math"],
    "questions_per_domain": 2,
    "script": "single",
}


def ladder(standings: ca.Standings) -> list[ca.Pairing]:
    """The best of the others challenges the first model, on one question, three times."""
    if len(standings.rounds) == 3:
        return []
    first, *others = standings.models
    ratings = standings.ratings or {}
    unmet = [model for model in others if not standings.met(first, model)]
    return [ca.Pairing(first, max(unmet, key=lambda model: ratings.get(model, 0.0)), questions=1)]


def forever(_: ca.Standings) -> list[ca.Pairing]:
    return [ca.Pairing("sim/a", "sim/b", questions=1)]


def nothing(_: ca.Standings) -> None:
    return


def empty(_: ca.Standings) -> list[ca.Pairing]:
    return []


def failing(_: ca.Standings) -> list[ca.Pairing]:
    raise KeyError("oops")


def endless(_: ca.Standings) -> Iterator[ca.Pairing]:
    while True:
        yield ca.Pairing("sim/a", "sim/b")


def failing_inside(_: ca.Standings) -> Iterator[ca.Pairing]:
    yield ca.Pairing("sim/a", "sim/b")
    raise KeyError("oops")


def stranger_later(standings: ca.Standings) -> list[ca.Pairing]:
    return [ca.Pairing("sim/a", "sim/x" if standings.rounds else "sim/b")]


@dataclass(frozen=True)
class Twice:
    """Two models meet so many times."""

    times: int = 2
    told: Any = (2, 2)

    def next_round(self, standings: ca.Standings) -> Sequence[ca.Pairing]:
        """Return the one match."""
        return [ca.Pairing("sim/a", "sim/b")] if len(standings.rounds) < self.times else []

    def matches(self, models: int) -> Any:
        """Return what was told."""
        return self.told


@dataclass(frozen=True)
class Uncounted(Twice):
    """Fails where it should count its matches."""

    def matches(self, models: int) -> Any:
        """Fail."""
        raise KeyError("oops")


class Unnamed(Twice):
    """Says nothing of itself."""

    __repr__ = object.__repr__


def test_a_function_decides_who_meets_and_another_run_of_it_is_the_same(tmp_path: Path) -> None:
    tournament = ca.Tournament(**RULES, schedule=ladder)
    result = tournament.run(tmp_path / "runs.db")
    assert [set(battle.pair) for battle in result.battles] == [
        {"sim/a", other} for other in ("sim/b", "sim/c", "sim/d")
    ]
    assert tournament.run(tmp_path / "runs.db").counts.made == 0
    kept = ca.Tournament.stored(tournament.document())
    assert kept.digest() == tournament.digest() != ca.Tournament(**RULES, schedule=forever).digest()
    with pytest.raises(ca.ConfigurationError, match=r"ladder, round 1: is not at hand: a store keeps only its name"):
        kept.schedule.next_round(ca.Standings(("sim/a",), seed=0))


def test_preflight_counts_a_function_as_a_round_robin_and_says_so() -> None:
    seen = ca.Tournament(**RULES, schedule=ladder).preflight(probe=False)
    assert seen.battles == 12
    assert any("ladder says nothing of how long it goes on" in note for note in seen.notes)


def test_a_function_that_never_ends_is_stopped_where_a_round_robin_would() -> None:
    with pytest.raises(ca.ConfigurationError) as caught:
        ca.Tournament(**RULES, schedule=forever).run()
    assert "forever, round 7: lets sim/a play more than the 3 matches that a round robin has" in str(caught.value)


def test_an_object_says_itself_how_many_matches_it_plays() -> None:
    assert len(ca.Tournament(**RULES, schedule=Twice()).run().battles) == 4
    with pytest.raises(ca.ConfigurationError, match="round 3: lets sim/a play more than the 2 matches that its"):
        ca.Tournament(**RULES, schedule=Twice(times=3)).run()
    assert ca.Tournament(**RULES, schedule=Twice()).digest() != ca.Tournament(**RULES, schedule=Twice(times=1)).digest()


@pytest.mark.parametrize(
    ("schedule", "problem"),
    [
        (nothing, "nothing, round 1: returned None; return a list of pairings, an empty list when"),
        (empty, "empty asks for no match in its first round"),
        (failing, "failing, round 1: raised KeyError: 'oops'"),
        (failing_inside, "failing_inside, round 1: raised KeyError: 'oops'"),
        (endless, "endless, round 1: lets sim/a and sim/b meet twice in one round"),
        (Uncounted(), "Uncounted: matches(4): raised KeyError: 'oops'"),
        (Twice(told=3), "Twice: matches(4) returned 3; it has to be two whole numbers"),
        (Unnamed(), "Unnamed needs a repr that says what it is"),
        (lambda _: [], "a schedule needs a name, which identifies the run; write a function instead of a lambda"),
        (ca.Swiss, "Swiss is a class; write Swiss(...)"),
        ({"kind": "own", "name": "x", "digest": "y"}, "no schedule named 'own'"),
    ],
)
def test_what_cannot_be_a_schedule_is_a_problem_before_the_first_call(schedule: Any, problem: str) -> None:
    with pytest.raises(ca.ConfigurationError) as caught:
        ca.Tournament(**RULES, schedule=schedule).preflight(probe=False)
    assert f"Tournament: schedule: {problem}" in str(caught.value).replace(f"{__name__}.", "")


@pytest.mark.parametrize(
    ("pairings", "problem"),
    [
        ([ca.Pairing("sim/a", "sim/x")], "'sim/x' does not play; the models are sim/a, sim/b, sim/c, sim/d"),
        ([ca.Pairing("sim/a", "sim/a")], "lets sim/a meet itself; a bye is Pairing('sim/a', None)"),
        ([ca.Pairing("sim/a", "sim/b"), ca.Pairing("sim/b", "sim/a")], "meet twice in one round"),
        ([ca.Pairing("sim/a", None), ca.Pairing("sim/a", "sim/b")], "gives sim/a a bye and a match in one round"),
        ([ca.Pairing("sim/a", None), ca.Pairing("sim/a", None)], "gives sim/a two byes in one round"),
        ([ca.Pairing("sim/a", None)], "returned byes alone; return an empty list when the tournament is over"),
        ([ca.Pairing("sim/a", "sim/b", 0)], "has to be over at least one question, or None for all"),
        ([("sim/a", "sim/b")], "a match is Pairing(a, b), a bye Pairing(a, None)"),
        ("sim/a", "returned 'sim/a'; return a list of pairings"),
    ],
)
def test_an_answer_that_cannot_be_played_is_refused(pairings: Any, problem: str) -> None:
    def answering(_: ca.Standings) -> Any:
        return pairings

    with pytest.raises(ca.ConfigurationError) as caught:
        ca.Tournament(**RULES, schedule=answering).preflight(probe=False)
    assert "answering, round 1: " in str(caught.value)
    assert problem in str(caught.value)


def test_a_later_answer_is_checked_too_and_named_with_its_round() -> None:
    with pytest.raises(ca.ConfigurationError, match=r"stranger_later, round 2: 'sim/x' does not play"):
        ca.Tournament(**RULES, schedule=stranger_later).run()
