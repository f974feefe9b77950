"""What an annotator is given, what becomes of a vote, and how far people agree with those who judge."""

import http.client
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import coupled_arena as ca
from coupled_arena.analysis.agreement import kappa
from coupled_arena.errors import ConfigurationError, StoreError
from coupled_arena.protocols.voting import exchanged
from coupled_arena.reports.annotation.server import AnnotationServer
from coupled_arena.studies.annotation.agreement import human_agreement, table_rows
from coupled_arena.studies.annotation.desk import Choice, Desk
from coupled_arena.studies.annotation.drawing import order_of, place_of
from coupled_arena.tournaments.storage.store import Store
from tests.page_scene import NAMES, TOURNAMENT


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("played") / "runs.db"
    TOURNAMENT.run(path)
    return path


@pytest.fixture
def store(played: Path, tmp_path: Path) -> Iterator[Store]:
    copy = tmp_path / "runs.db"
    copy.write_bytes(played.read_bytes())
    with Store(copy) as opened:
        yield opened


@given(st.integers(), st.lists(st.text("0123456789abcdef", min_size=32, max_size=32), min_size=2, unique=True))
def test_the_order_of_texts_does_not_depend_on_what_else_is_there(seed: int, texts: list[str]) -> None:
    ordered = sorted(texts, key=lambda shown: place_of(seed, shown))
    assert [shown for shown in ordered if shown != texts[0]] == sorted(texts[1:], key=lambda s: place_of(seed, s))


def test_each_side_stands_left_half_of_the_time_and_not_for_everybody_alike() -> None:
    texts = [str(number) for number in range(4000)]
    mine, yours = ([order_of(7, name, shown) for shown in texts] for name in ("me", "you"))
    # Four standard errors of a fair coin.
    assert abs(Counter(mine)["AB"] - 2000) < 130
    assert abs(sum(a == b for a, b in zip(mine, yours, strict=True)) - 2000) < 130


def test_a_slip_names_nobody_and_shows_left_what_its_order_puts_first(store: Store) -> None:
    desk, questions = Desk(store, annotator="me"), set()
    battles = {battle.id: battle for battle in store.run().load_battles()}
    while slip := desk.next():
        document = slip.document()
        assert not [name for name in NAMES if name in str(document)]
        desk.vote(slip.shown, "left")
        vote = store.human_votes.load()[-1]
        side = "A" if vote.order == "AB" else "B"
        said = [part.text for turn in battles[vote.battle].turns for part in turn.sections if turn.speaker == side]
        turns = [turn for round_ in document["rounds"] for turn in round_["turns"] if turn["column"] == "left"]
        assert sorted(text for turn in turns for _, text in turn["sections"]) == sorted(said)
        assert vote.verdict == side
        questions.add(slip.question)
    assert len(questions) == 8 and desk.progress.voted == desk.progress.texts > 20


def test_a_vote_can_be_taken_back_and_passing_is_no_vote(store: Store) -> None:
    desk = Desk(store, annotator="me")
    first = desk.next()
    assert first is not None
    desk.vote(first.shown, "left")
    again = desk.last()
    assert again is not None and (again.shown, again.choice, again.rounds) == (first.shown, "left", first.rounds)
    desk.vote(first.shown, "pass")
    assert desk.progress[:2] == (0, 1)
    assert [vote.verdict for vote in store.human_votes.load()] == [None]
    following = desk.next()
    assert following is not None and following.shown != first.shown
    assert len(store.run().frame("human_votes")) == 0


@pytest.mark.parametrize(("shown", "choice"), [("0" * 32, "left"), (None, "better")])
def test_what_is_no_vote_is_refused(store: Store, shown: str | None, choice: Choice) -> None:
    desk = Desk(store)
    slip = desk.next()
    assert slip is not None
    with pytest.raises(ConfigurationError, match="annotate: "):
        desk.vote(shown or slip.shown, choice)
    assert store.human_votes.load() == ()


def test_one_annotator_at_two_desks_is_shown_nothing_twice(store: Store) -> None:
    assert store.path is not None
    first, others = Desk(store, annotator="me"), []
    with Store(store.path) as elsewhere:
        second = Desk(elsewhere, annotator="me")
        while (slip := first.next()) is not None:
            first.vote(slip.shown, "left")
            other = second.next()
            if other is None:
                break
            second.vote(other.shown, "right")
            others.append(other.shown)
            assert second.progress == first.progress._replace(voted=first.progress.voted + 1)
    votes = store.human_votes.load()
    assert first.next() is None and len(votes) == first.progress.texts == first.progress.voted
    assert len(set(others)) == len(others) > 10


def test_a_vote_into_a_store_that_was_moved_away_is_refused(store: Store) -> None:
    desk, path = Desk(store), store.path
    slip = desk.next()
    assert slip is not None and path is not None
    aside = path.rename(path.with_name("aside.db"))
    with pytest.raises(StoreError, match="was removed or replaced while votes were cast"):
        desk.vote(slip.shown, "left")
    assert (desk.progress.voted, store.human_votes.load()) == (0, ())
    aside.rename(path)
    desk.vote(slip.shown, "left")
    assert desk.progress.voted == 1


def test_a_page_of_another_sitting_casts_no_vote(store: Store) -> None:
    desk = Desk(store, annotator="ada", seed=1)

    def post(server: AnnotationServer, **vote: Any) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
        connection.request("POST", "/vote", json.dumps(vote), {"Content-Type": "application/json; charset=utf-8"})
        with closing(connection):
            return connection.getresponse().status

    slip = desk.next()
    assert slip is not None
    with AnnotationServer(desk, port=0) as server:
        for other in (Desk(store, annotator="bob", seed=1), Desk(store, annotator="ada", seed=2)):
            assert post(server, shown=slip.shown, choice="left", sitting=other.sitting) == 409
        assert post(server, shown=slip.shown, choice="left") == 400
        assert post(server, shown=slip.shown, choice=["left"], sitting=desk.sitting) == 400
        assert store.human_votes.load() == ()
        assert post(server, shown=slip.shown, choice="left", sitting=desk.sitting) == 200
    assert [vote.shown for vote in store.human_votes.load()] == [slip.shown]


def test_votes_count_for_a_rejudging_and_no_longer_for_a_battle_that_became_another_text(store: Store) -> None:
    desk = Desk(store)
    for _ in range(5):
        slip = desk.next()
        assert slip is not None
        desk.vote(slip.shown, "tie")
    judged = store.run().id
    # Two battles may be one text, whose vote counts for both.
    voted = human_agreement(store.run(), store.human_votes).voted
    ca.rejudge(store, judged, judges=["sim/new1", "sim/new2"])
    assert store.run().id != judged
    found = human_agreement(store.run(), store.human_votes)
    assert found.voted == voted >= 5 and {line.rater for line in found.judges} == {"sim/new1", "sim/new2"}
    assert Desk(store).progress.voted == 5
    told = store.run(judged)
    name = store.human_votes.load()[0].battle
    (battle,) = told.load_battles([name])
    changed = battle.turns[0].model_copy(update={"sections": (ca.Section(tag="respond", text="other"),)})
    with store.open_run(told.digest, told.name, told.definition, {}) as run:
        run.save_battle(battle.model_copy(update={"turns": (changed, *battle.turns[1:])}))
    assert human_agreement(store.run(judged), store.human_votes).voted == voted - 1
    assert name not in list(store.run(judged).frame("human_votes")["battle"])


def test_agreement_is_that_of_the_plurality_and_the_votes_as_they_were_cast(store: Store) -> None:
    verdicts = {battle.id: battle.decision.verdict for battle in store.run().load_battles()}
    for name, wrong in (("ann", 3), ("ben", 5), ("cay", 10_000)):
        desk, number = Desk(store, annotator=name), 0
        while slip := desk.next():
            battle, number = desk.battle_of(slip.shown), number + 1
            said = verdicts[battle]
            shown = exchanged(said) if order_of(0, name, slip.shown) == "BA" else said
            choices: dict[str | None, Choice] = {"A": "left", "B": "right", "tie": "tie"}
            desk.vote(slip.shown, "tie" if number % wrong == 0 else choices[shown])
    frame = store.run().frame("human_votes")
    found = human_agreement(store.run(), store.human_votes)
    assert found.annotators == dict.fromkeys(("ann", "ben", "cay"), found.battles) and len(frame) == 3 * found.battles
    # Two of three are right but where the first two are wrong together.
    both = found.battles // 15
    decided, last = list(verdicts), found.committee[-1]
    assert last.same.value == pytest.approx(1 - both / found.battles, abs=2 / found.battles)
    ann, ben = (
        [frame[frame["annotator"] == name].set_index("battle")["verdict"].get(b) for b in decided]
        for name in ("ann", "ben")
    )
    line = next(one for one in found.between if (one.rater, one.other) == ("ann", "ben"))
    assert line.kappa.value == pytest.approx(kappa(ann, ben, categories=("A", "B", "tie")).value)
    assert len(table_rows(found)) == 2 * (1 + 3) + 3
    assert set(found.document()) >= {"run", "battles", "voted", "annotators", "committee", "judges", "between"}
