"""Questions, rejected texts and battles come back as they went in, in an order of their own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.errors import StoreError
from coupled_arena.models.calls import Reply
from coupled_arena.protocols.examination import Rejected
from coupled_arena.records import Battle, Decision, Opinion, Section, Turn, Usage
from coupled_arena.tournaments.storage.store import Store
from tests.store_scene import CALL, KEY, battle, opened, question


def test_lone_surrogates_are_written_as_escapes() -> None:
    with Store(":memory:") as store, opened(store) as run:
        run.remember(KEY, CALL, Reply(text="a\udc80", outcome="ok"))
        recalled = run.recall(KEY)
        run.save_question(question(text="\ud800?"))
        run.save_battle(battle("\udc80", a="\udc81"))
        run.drop_unsaved()
        (loaded,) = run.reader.load_questions()
        (played,) = run.reader.load_battles()
    assert recalled is not None
    assert (recalled.text, loaded.text) == ("a\\udc80", "\\ud800?")
    assert (played.id, played.a) == ("\\udc80", "\\udc81")


def test_questions_come_back_in_the_order_of_their_numbers() -> None:
    written = [question(id=f"math-{number}", reference=str(number)) for number in (10, 2, 1)]
    with Store(":memory:") as store, opened(store) as run:
        for each in written:
            run.save_question(each)
        assert run.reader.load_questions() == tuple(reversed(written))


TEXT = st.text(max_size=20)
COUNT = st.integers(0, 2**40)
USAGES = st.builds(Usage, prompt_tokens=COUNT, completion_tokens=COUNT)
TURNS = st.builds(
    Turn,
    step=COUNT,
    round=COUNT,
    speaker=TEXT,
    model=TEXT,
    sections=st.lists(st.builds(Section, tag=TEXT, text=TEXT), max_size=3).map(tuple),
    missing=st.lists(TEXT, max_size=2).map(tuple),
    requests=COUNT,
    usage=USAGES,
    detail=TEXT,
)
OPINIONS = st.builds(
    Opinion,
    judge=TEXT,
    stage=COUNT,
    reasons=TEXT,
    probabilities=st.dictionaries(TEXT, st.floats(0, 1), max_size=3),
    repairs=COUNT,
    usage=USAGES,
    detail=TEXT,
)
VERDICTS = st.sampled_from(["A", "B", "tie", None])
DECISIONS = st.builds(
    Decision,
    verdict=VERDICTS,
    votes=st.dictionaries(st.sampled_from(["A", "B", "tie"]), COUNT),
    stages=st.lists(VERDICTS, max_size=3).map(tuple),
    reason=TEXT,
)
BATTLES = st.builds(
    Battle,
    id=TEXT,
    round=COUNT,
    question=TEXT,
    domain=TEXT,
    replicate=COUNT,
    a=TEXT,
    b=TEXT,
    arm=TEXT,
    turns=st.lists(TURNS, max_size=3).map(tuple),
    opinions=st.lists(OPINIONS, max_size=3).map(tuple),
    decision=DECISIONS,
    weight=st.floats(0, 1),
)


@given(BATTLES)
def test_a_battle_comes_back_exactly(battle: Battle) -> None:
    with Store(":memory:") as store, opened(store) as run:
        run.save_battle(battle)
        (loaded,) = run.reader.load_battles()
    assert loaded == battle
    assert loaded.model_dump_json() == battle.model_dump_json()


def test_a_later_execution_replaces_what_an_earlier_one_saved() -> None:
    void = battle(decision=Decision(status="void", reason="no quorum"))
    with Store(":memory:") as store:
        for each, text in ((void, "?"), (battle(), "!"), (battle(), "!")):
            with opened(store) as run:
                run.save_battle(each)
                run.save_question(question(text=text))
        assert store.run().load_battles() == (battle(),)
        assert store.run().load_questions() == (question(text="!"),)
        assert len(store.run().rows("turns")) == 2


def test_two_records_of_one_id_are_refused_instead_of_losing_one() -> None:
    with Store(":memory:") as store, opened(store) as run:
        run.save_battle(battle("\udc80"))
        run.save_question(question())
        with pytest.raises(StoreError, match=r"demo-3f2a91 holds two battles of the id '.*udc80'"):
            run.save_battle(battle("\\udc80", round=2))
        with pytest.raises(StoreError, match="holds two questions of the id 'math-1'"):
            run.save_question(question(text="another"))
        assert [each.round for each in run.reader.load_battles()] == [1]
        assert run.reader.load_questions() == (question(),)


def test_what_an_earlier_execution_played_and_this_one_did_not_can_be_dropped() -> None:
    with Store(":memory:") as store:
        with opened(store) as run:
            run.save_question(question())
            run.save_battle(battle("b1"))
            run.save_battle(battle("b2", round=2))
            run.remember(KEY, CALL, Reply(text="yes", outcome="ok"))
        with opened(store) as run:
            run.save_question(question())
            run.save_battle(battle("b1"))
            run.save_battle(battle("b3", round=2))
            run.drop_unsaved()
            assert [each.id for each in run.reader.load_battles()] == ["b1", "b3"]
            assert len(run.reader.rows("turns")) == len(run.reader.rows("opinions")) * 2 == 4
            assert run.reader.load_questions() == (question(),)
            assert run.recall(KEY) is not None


def test_rejected_texts_are_written_anew_by_every_execution() -> None:
    first = [
        Rejected(domain="writing", text="ok then", reason="no question", author="sim/x"),
        Rejected(domain="math", text="\ud800?", reason="cut off"),
        Rejected(domain="math", text="ok then", reason="no question"),
    ]
    kept = [
        ("writing", "ok then", "no question", "sim/x"),
        ("math", "\\ud800?", "cut off", None),
        ("math", "ok then", "no question", None),
    ]
    with Store(":memory:") as store:
        with opened(store) as run:
            run.save_rejected(first)
            run.save_rejected(first)
            run.drop_unsaved()
            assert [row[1:] for row in run.reader.rows("rejected")] == kept
        with opened(store) as run:
            run.save_rejected(first[:1])
            run.drop_unsaved()
            assert [row[1:] for row in run.reader.rows("rejected")] == kept[:1]
        with opened(store) as run:
            run.drop_unsaved()
            assert run.reader.rows("rejected") == []


def test_battles_come_back_by_round_and_number_in_whatever_order_they_ended() -> None:
    names = [(2, "b1"), (1, "b10"), (1, "b9")]
    with Store(":memory:") as store, opened(store) as run:
        for number, name in names:
            run.save_battle(battle(name, round=number))
        assert [each.id for each in run.reader.load_battles()] == ["b9", "b10", "b1"]
        assert [row[1] for row in run.reader.rows("decisions")] == ["b9", "b10", "b1"]
