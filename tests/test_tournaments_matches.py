"""Who speaks first is balanced, and a rematch rolls new dice."""

from collections import Counter
from typing import Literal

from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.records import Question
from coupled_arena.tournaments.playing.matches import Fixture, fixtures


def questions(*counts: int) -> tuple[Question, ...]:
    return tuple(
        Question(id=f"d{domain}-{n}", domain=f"d{domain}", language="en", text=f"question {n}", author="x")
        for domain, count in enumerate(counts)
        for n in range(count)
    )


SIZES = st.lists(st.integers(1, 7), min_size=1, max_size=6)


@given(SIZES, st.integers(0, 2**40))
def test_each_model_speaks_first_on_half_of_every_domain_and_of_the_match(sizes: list[int], seed: int) -> None:
    match = fixtures(("y", "x"), questions(*sizes), round_=1, played={}, sides="balanced", replicates=1, seed=seed)
    first = Counter((f.question.domain, f.a) for f in match)
    for domain, size in enumerate(sizes):
        assert {first[f"d{domain}", "x"], first[f"d{domain}", "y"]} == {size // 2, size - size // 2}
    total = Counter(f.a for f in match)
    assert abs(total["x"] - total["y"]) <= 1


def test_the_order_of_the_pair_does_not_matter() -> None:
    one, two = (
        fixtures(pair, questions(3, 4), round_=1, played={}, sides="balanced", replicates=1, seed=5)
        for pair in (("x", "y"), ("y", "x"))
    )
    assert one == two


def test_which_model_gets_the_odd_question_depends_on_the_seed() -> None:
    def odd(seed: int) -> str:
        (only,) = fixtures(("x", "y"), questions(1), round_=1, played={}, sides="balanced", replicates=1, seed=seed)
        return only.a

    assert {odd(seed) for seed in range(20)} == {"x", "y"}


def test_both_sides_are_played_at_half_weight() -> None:
    match = fixtures(("x", "y"), questions(2), round_=1, played={}, sides="both", replicates=1, seed=0)
    assert Counter((f.a, f.question.id, f.weight) for f in match) == Counter(
        (side, f"d0-{n}", 0.5) for side in "xy" for n in range(2)
    )


def test_a_rematch_plays_the_next_replicates() -> None:
    first, again = (
        fixtures(("x", "y"), questions(2), round_=1, played=played, sides="balanced", replicates=2, seed=0)
        for played in ({}, {"d0-0": 2, "d0-1": 2})
    )
    assert {f.replicate for f in first} == {0, 1}
    assert {f.replicate for f in again} == {2, 3}
    assert len({f.id for f in (*first, *again)}) == 8


NAMES = st.text("ab~:%/0\n7E", min_size=1, max_size=6)
BATTLES = st.tuples(st.integers(1, 12), NAMES, NAMES, NAMES, st.integers(0, 12))


def id_of(battle: tuple[int, str, str, str, int]) -> str:
    round_, a, b, name, replicate = battle
    question = Question(id="q", domain="math", language="en", text="?", author="x").model_copy(update={"id": name})
    return Fixture(round_, question, replicate, a, b, 1.0).id


@given(BATTLES, BATTLES)
def test_no_two_battles_have_one_id_whatever_the_names(
    one: tuple[int, str, str, str, int], other: tuple[int, str, str, str, int]
) -> None:
    assert (id_of(one) == id_of(other)) == (one == other)


def test_names_with_separators_keep_their_ids_apart_and_ordinary_ones_readable() -> None:
    assert id_of((1, "a", "b~c", "q:1", 0)) == "r1:a~b%7Ec:q%3A1:0"
    assert id_of((1, "a~b", "c", "q:1", 0)) == "r1:a%7Eb~c:q%3A1:0"
    assert id_of((2, "sim/ada", "日本 x", "math-1", 3)) == "r2:sim/ada~日本 x:math-1:3"
    assert id_of((1, "50%", "a\nb", "\ud800", 0)) == "r1:50%25~a%0Ab:%ED%A0%80:0"


@given(SIZES, st.integers(0, 2**40), st.sampled_from(["balanced", "both"]), st.data())
def test_matches_over_some_questions_play_each_once_before_any_is_played_again(
    sizes: list[int], seed: int, sides: Literal["balanced", "both"], data: st.DataObject
) -> None:
    asked = questions(*sizes)
    played: dict[str, int] = {}
    whole = fixtures(("x", "y"), asked, round_=1, played={}, sides=sides, replicates=1, seed=seed)
    parts: list[Fixture] = []
    while len(played) < len(asked):
        most = data.draw(st.integers(1, 5))
        part = fixtures(("y", "x"), asked, round_=1, played=played, sides=sides, replicates=1, seed=seed, most=most)
        fresh = {fixture.question.id for fixture in part}
        assert len(fresh) == min(most, len(asked) - len(played))
        assert not fresh & set(played)
        played |= dict.fromkeys(fresh, 1)
        parts += part
    assert sorted(parts, key=repr) == sorted(whole, key=repr)
    again = fixtures(("x", "y"), asked, round_=2, played=played, sides=sides, replicates=1, seed=seed, most=1)
    assert {fixture.replicate for fixture in again} == {1}


def test_a_match_over_some_questions_is_balanced_and_touches_every_domain() -> None:
    match = fixtures(
        ("x", "y"), questions(6, 6, 6, 6), round_=1, played={}, sides="balanced", replicates=1, seed=3, most=8
    )
    assert Counter(f.a for f in match) == {"x": 4, "y": 4}
    assert {f.question.domain for f in match} == {"d0", "d1", "d2", "d3"}


def test_pairs_begin_with_different_questions() -> None:
    asked = questions(*(5,) * 8)
    begun = {
        frozenset(
            fixture.question.id
            for fixture in fixtures(pair, asked, round_=1, played={}, sides="balanced", replicates=1, seed=1, most=8)
        )
        for pair in (("v", "x"), ("v", "y"), ("w", "x"), ("w", "y"))
    }
    assert len(begun) == 4
    assert len(frozenset.union(*begun)) > 16
