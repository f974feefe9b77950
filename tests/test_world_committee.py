"""Opinions drawn from the judges' equations have the law of those that simulated judges form on their prompts."""

import math
from functools import cache
from statistics import NormalDist

import numpy as np
import pytest

import coupled_arena as ca
from coupled_arena.analysis.judges import Opinions, flip_rate, opinions_of, position_effect
from coupled_arena.analysis.judges.estimate import Floats
from coupled_arena.analysis.judges.table import STATUSES
from coupled_arena.models.simulated.dials import read_dials
from coupled_arena.models.simulated.world import ClaimBook
from coupled_arena.records import VERDICT_OF
from coupled_arena.studies.world import World
from coupled_arena.studies.world.committee import opinions_of as drawn_opinions
from coupled_arena.studies.world.debates import Debates, debates_of
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.results.result import Result

DRAWS = 60
PHI = NormalDist().cdf

JUDGES = (
    "sim/bold?position=0.6&length=1&conformity=1&waver=0.5&tie=0.3",
    "sim/kin?taste=oak&family=1&refusal=0.15&error=0.1&acuity=1.5",
    "sim/meek?conformity=2&acuity=0.3",
    "sim/sly?brand=Acme&name=1.5&lapse=0.2&malformed=0.4",
)


def tournament(judges: tuple[str, ...] = JUDGES, **changes: object) -> Tournament:
    given: dict[str, object] = {
        "models": ["sim/ada?skill=1&taste=oak&brand=Acme", "sim/bob?skill=0.3&verbosity=6", "sim/eve?refusal=0.05"],
        "judges": list(judges),
        "examiner": "sim/examiner?difficulty=1.5",
        "domains": ["math", "writing"],
        "questions_per_domain": 8,
        "schedule": "round_robin",
        "script": "single",
        "orders": "both",
        "discussion_rounds": 2,
        "references": False,
        "seed": 11,
    }
    return Tournament(**{**given, **changes})


@cache
def played() -> tuple[Result, Debates]:
    result = World(tournament()).play()
    return result, debates_of(result.tournament, ClaimBook(11), result.questions, "coupled")


def drawn(judges: tuple[str, ...] = JUDGES, draws: int = DRAWS, seed: int = 1) -> Opinions:
    """Draw opinions of other judges, of the same names, on the debates that were played."""
    return drawn_opinions(
        tournament(judges), ClaimBook(11), played()[1], lambda model: model.name, draws=draws, seed=seed
    )


def statistics_of(table: Opinions, number: int) -> Floats:
    """Return shares that describe a table, of each of so many draws, shape (draws, shares)."""
    found = []
    looks = table.looks
    # Looks of equal place in different draws are the same judge, battle and order.
    for judge in range(len(table.judges)):
        for stage in range(3):
            own = (table.judge == judge) & (table.stage == stage)
            flags = [own & (table.status == code) for code, name in enumerate(STATUSES) if name != "truncated"]
            flags += [own & table.carried]
            flags += [
                own & (table.score == score) & (table.turned == turned) for score in (0, 0.5, 1) for turned in (0, 1)
            ]
            found += [np.bincount(table.dice[flag], minlength=number) for flag in flags]
        seen = looks.judge == judge
        found.append(np.bincount(looks.dice[seen & (looks.alone != looks.last)], minlength=number))
        found.append(np.bincount(looks.dice[seen & (looks.alone == table.truth[looks.battle])], minlength=number))
    return np.stack(found, axis=1).astype(np.float64)


def surprise(real: Opinions, table: Opinions) -> Floats:
    """Return by how many standard deviations of one draw each real share is off, infinitely many where none varies."""
    many, one = statistics_of(table, DRAWS), statistics_of(real, 1)[0]
    spread = many.std(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        off: Floats = np.where(one == many.mean(axis=0), 0, (one - many.mean(axis=0)) / spread)
    varied: Floats = off[(spread > 0) | (off != 0)]
    return varied


def test_shares_of_real_opinions_are_what_the_equations_say() -> None:
    off = surprise(opinions_of(played()[0].frame("opinions")), drawn())
    assert len(off) > 80
    assert np.abs(off).max() < 4.5
    assert (off**2).mean() < 1.5


@pytest.mark.parametrize(
    ("place", "other"),
    [
        (0, "sim/bold?position=-0.6&length=1&conformity=1&waver=0.5&tie=0.3"),
        (2, "sim/meek?conformity=0&acuity=0.3"),
        (3, "sim/sly?brand=Acme&name=1.5&lapse=0.2&malformed=0"),
    ],
)
def test_a_judge_with_another_dial_would_be_noticed(place: int, other: str) -> None:
    judges = (*JUDGES[:place], other, *JUDGES[place + 1 :])
    assert np.abs(surprise(opinions_of(played()[0].frame("opinions")), drawn(judges))).max() > 4.5


def test_debates_in_memory_are_those_of_a_run() -> None:
    result, debates = played()
    frame = result.frame("opinions").drop_duplicates("battle")
    stored = {(row.question, row.a, row.b): row for row in frame.itertuples()}
    ended = {(battle.question, battle.a, battle.b): battle.decision.status for battle in result.battles}
    assert len(ended) == len(debates.question)
    for row in range(len(debates.question)):
        key = (
            debates.questions[debates.question[row]].id,
            debates.models[debates.a[row]],
            debates.models[debates.b[row]],
        )
        assert debates.judged[row] == (ended[key] == "decided")
        if debates.judged[row]:
            assert VERDICT_OF[debates.score[row]] == stored[key].truth
            assert (debates.length_a[row], debates.length_b[row]) == (stored[key].length_a, stored[key].length_b)
    assert set(ended.values()) == {"decided", "forfeited"}


@pytest.mark.parametrize(("coupling", "alike"), [("coupled", True), ("independent", False)])
def test_equal_debates_over_one_question_are_judged_alike_where_dice_are_shared(coupling: str, alike: bool) -> None:
    twins = [ca.Model("one", "sim/ada?skill=1"), ca.Model("two", "sim/ada?skill=1"), "sim/eve"]
    truth = World(tournament(("sim/j",), models=twins, sides="both", coupling=coupling)).truth(questions=12, draws=5)
    table = truth.opinions
    scores: dict[tuple[int, int, bool], list[float]] = {}
    for row in np.flatnonzero((table.stage == 0) & (table.b[table.battle] == 2)):
        battle = table.battle[row]
        key = (int(table.question[battle]), int(table.dice[row]), bool(table.turned[row]))
        scores.setdefault(key, []).append(float(table.score[row]))
    assert len(scores) == 12 * 5 * 2
    assert all(first == second for first, second in scores.values()) == alike


def law(debates: Debates, judge: str, turned: bool) -> Floats:
    """Return the probabilities of B, a tie and A for every judged debate by the closed form of docs/world.md."""
    dials = read_dials(judge)
    rows = []
    for row in np.flatnonzero(debates.judged):
        subject = ClaimBook(11).subject(debates.questions[debates.question[row]].text)
        weights = debates.claims[row]
        mean = float(weights @ subject.quality) * dials.acuity + debates.silent[row] * dials.acuity * subject.silent
        mean += dials.length * math.log(debates.length_a[row] / debates.length_b[row])
        mean, spread = (-mean if turned else mean) + dials.position, math.sqrt(float(weights @ weights)) or 1e-9
        edge = dials.tie + 0.005
        first, second = 1 - PHI((edge - mean) / spread), PHI((-edge - mean) / spread)
        rows.append((first, 1 - first - second, second) if turned else (second, 1 - first - second, first))
    return np.array(rows)


def of_scores(probabilities: Floats) -> Floats:
    mean: Floats = probabilities @ [0.0, 0.5, 1.0]
    return mean


@pytest.mark.parametrize("judge", ["sim/j?position=0.4&length=0.5&tie=0.2", "sim/j?position=0&acuity=2"])
def test_the_drawn_estimates_are_their_closed_forms(judge: str) -> None:
    ab, ba = (law(played()[1], judge, turned) for turned in (False, True))
    table = drawn((judge,), draws=200)
    effect, flips = (measure(table)["sim/j"].value for measure in (position_effect, flip_rate))
    # Given the debates, what is left is the noise of 200 draws on each.
    reach = 4 * 0.5 / math.sqrt(200 * len(ab))
    assert effect == pytest.approx(float((of_scores(ab) - of_scores(ba)).mean() / 2), abs=reach)
    assert flips == pytest.approx(float(1 - (ab * ba).sum(axis=1).mean()), abs=reach)
