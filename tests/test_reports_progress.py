"""What a running tournament says of the time that is left: nothing at first, and then about what it takes."""

import io
from collections.abc import Iterator

import pytest
from rich.console import Console

import coupled_arena as ca
from coupled_arena.models.calls import Reply
from coupled_arena.models.model import Model
from coupled_arena.records import Battle, Opinion, Turn
from coupled_arena.reports.progress import ENOUGH, AnswerProgress, Progress, calls_of
from coupled_arena.tournaments.playing.events import BattleEnded, CallAnswered, Event, RoundOpened, RunOpened
from tests.hosted_scene import call

AT_ONCE, BATTLES = 20, 60


@pytest.fixture(scope="module")
def battle() -> Battle:
    tournament = ca.Tournament(models=["sim/ada", "sim/bob"], judges=["sim/j1", "sim/j2"], domains=["math"],
                               questions_per_domain=1)  # fmt: skip
    result = tournament.run()
    assert calls_of(result.battles[0]) == result.counts.made
    return result.battles[0]


def answered(*, memoised: bool = False) -> Event:
    return CallAnswered(call(Model("sim/a")), Reply(outcome="ok", text="x", cost=0.0), memoised)


def waves(battle: Battle, now: list[float]) -> Iterator[Event]:
    """Yield the events of a run in which every call takes a second, and so many battles are played at once."""
    yield RunOpened("run", BATTLES)
    for _ in range(30):
        now[0] += 1
        yield answered()
    yield RoundOpened(1, ())
    for _ in range(BATTLES // AT_ONCE):
        for _ in range(calls_of(battle)):
            now[0] += 1
            for _ in range(AT_ONCE):
                yield answered()
        for _ in range(AT_ONCE):
            yield BattleEnded(battle)


def test_nothing_is_said_at_first_and_battles_under_way_are_counted(battle: Battle) -> None:
    now = [0.0]
    progress = Progress(Console(file=io.StringIO()), clock=lambda: now[0])
    whole = 30 + BATTLES // AT_ONCE * calls_of(battle)
    for event in waves(battle, now):
        progress(event)
        left = progress.seconds_left(now[0])
        assert (left is None) == (progress.done < ENOUGH)
        if left is not None:
            assert left == pytest.approx(whole - now[0], abs=3)


def test_what_the_memo_answers_takes_no_time(battle: Battle) -> None:
    now = [0.0]
    progress = Progress(Console(file=io.StringIO()), clock=lambda: now[0])
    progress(RunOpened("run", 10))
    progress(RoundOpened(1, ()))
    for _ in range(5):
        for _ in range(calls_of(battle)):
            progress(answered(memoised=True))
        progress(BattleEnded(battle))
    assert progress.seconds_left(now[0]) is None, "nothing was made from which to tell how long a call takes"
    for _ in range(calls_of(battle)):
        now[0] += 2
        progress(answered())
    progress(BattleEnded(battle))
    assert progress.seconds_left(now[0]) == pytest.approx(4 * calls_of(battle) * 2)


def test_sections_choices_and_repairs_are_calls_of_their_own() -> None:
    turn = Turn(step=1, round=1, speaker="A", model="a", requests=1)
    opinion = Opinion(judge="j", stage=0, status="valid", verdict="A")
    decided = ca.Decision(status="decided", verdict="A")
    battle = ca.Battle(
        id="b", round=1, question="q", domain="math", replicate=0, a="a", b="b", arm="coupled", decision=decided,
        turns=(turn, turn.model_copy(update={"by_section": True, "sections": (ca.Section(tag="x", text="y"),) * 3})),
        opinions=(
            opinion.model_copy(update={"repairs": 1}),
            opinion.model_copy(update={"probabilities": {"A": 1.0}}),
            opinion.model_copy(update={"status": "not asked"}),
        ),
    )  # fmt: skip
    assert calls_of(battle) == 2 + 4 + 2 + 2


def test_one_battle_and_one_answer_are_no_plural() -> None:
    said = io.StringIO()
    for kind in (Progress, AnswerProgress):
        kind(Console(file=said))(RunOpened("run", 1))
    assert said.getvalue() == "run run: at most 1 battle\nrun run: at most 1 answer\n"
