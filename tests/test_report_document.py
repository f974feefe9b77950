"""What a page carries: as much as the result knows, packed small, and enough to play the run again."""

import gzip
import json
import random
from base64 import b64decode
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import coupled_arena as ca
from coupled_arena.errors import StoreError
from coupled_arena.records import Battle, Decision, Opinion, Section, Turn
from coupled_arena.reports.html.document import LINE_COLUMNS, line
from coupled_arena.reports.html.field import FEWEST_IN_DOMAIN, circles
from coupled_arena.reports.html.overview import overview
from coupled_arena.reports.html.report import pieces
from coupled_arena.reports.html.reproduction import toml_of
from tests.report_scene import prose

SMALL: dict[str, Any] = {
    "models": ["sim/ada?skill=2", "sim/bob", "sim/cyd?skill=-1"],
    "judges": ["sim/j1", "sim/j2", "sim/ada?skill=2"],
    "recuse": "none",
    "domains": ["math", "writing"],
    "questions_per_domain": 2,
    "schedule": "round_robin",
    "script": "single",
    "seed": 3,
}


@pytest.fixture(scope="module")
def small() -> ca.Result:
    return ca.Tournament(**SMALL).run()


def carried(text: str, name: str) -> Any:
    """Return what a page carries under a name."""
    return json.loads(gzip.decompress(b64decode(text.split(f'id="{name}">')[1].split("<", 1)[0])))


def test_a_page_carries_the_result_and_every_battle_as_it_was_stored(small: ca.Result) -> None:
    text = "".join(pieces(small))
    assert carried(text, "overview")["result"] == json.loads(json.dumps(small.document()))
    assert [Battle.model_validate(battle) for battle in carried(text, "chunk-0")] == list(small.battles)
    assert [row[0] for row in carried(text, "lines")["rows"]] == [battle.id for battle in small.battles]


def test_a_page_is_the_same_to_the_byte_each_time(small: ca.Result) -> None:
    assert "".join(pieces(small)) == "".join(pieces(small))


def test_a_line_tells_votes_changes_of_mind_and_what_was_cut() -> None:
    def opinion(judge: str, stage: int, verdict: str) -> Opinion:
        return Opinion(judge=judge, stage=stage, verdict=verdict, status="valid")  # type: ignore[arg-type]

    battle = Battle(
        id="b", round=2, question="q", domain="d", replicate=0, a="x", b="y", arm="coupled",
        turns=(Turn(step=1, round=1, speaker="A", model="x", cut=True, missing=("raise",)),),
        opinions=(opinion("j", 0, "A"), opinion("k", 0, "B"), opinion("j", 1, "B"), opinion("k", 1, "B")),
        decision=Decision(status="decided", verdict="B", votes={"B": 2}),
    )  # fmt: skip
    told = dict(zip(LINE_COLUMNS, line(battle), strict=True))
    assert (told["votes"], told["changed"], told["split"], told["judges"]) == ([0, 2, 0], 1, True, 2)
    assert (told["cut"], told["missing"], told["verdict"]) == (1, 1, "B")


def test_a_page_names_judges_that_play_and_domains_with_too_few_battles(small: ca.Result) -> None:
    found = overview(small)
    assert "these judges play themselves: sim/ada" in found.caveats
    assert [domain.shown for domain in found.domains] == [False, False]
    assert all(domain.battles < FEWEST_IN_DOMAIN for domain in found.domains)
    assert found.manifest["seed"] == 3 and found.manifest["versions"]["coupled-arena"] == ca.__version__


def test_an_unplayed_run_has_a_page_too() -> None:
    with ca.Store(":memory:") as store:
        with pytest.raises(ca.BudgetReached) as stopped:
            ca.Tournament(**SMALL, budget={"calls": 0}).run(store)
        found = overview(stopped.value.result)
    assert (found.finished, found.study, found.history) == (False, None, ())


def test_the_packed_page_is_at_most_half_of_what_was_said_and_two_megabytes(small: ca.Result) -> None:
    dice = random.Random(3)
    battles = tuple(
        battle.model_copy(
            update={
                "id": f"{battle.id}:{copy}",
                "replicate": copy,
                "turns": tuple(_long(turn, dice) for turn in battle.turns),
            }
        )
        for battle in small.battles
        for copy in range(30)
    )
    raw = sum(len(section.text) for battle in battles for turn in battle.turns for section in turn.sections)
    size = sum(map(len, pieces(replace(small, battles=battles))))
    assert raw > 1_000_000
    assert size <= raw / 2 + 2_000_000
    assert size - sum(map(len, pieces(small))) <= raw / 2


def _long(turn: Turn, dice: random.Random) -> Turn:
    return turn.model_copy(update={"sections": (Section(tag="respond", text=prose(dice, 500)),)})


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"models": [{"name": 'a "b" ü', "model": "sim/ada?skill=1"}, "sim/bob"], "examiner": "sim/x", "name": "é\\n"},
        {"schedule": {"kind": "swiss", "rounds": 3}, "judges": 3, "vote": "majority", "orders": "both"},
        {"schedule": "adaptive", "coupling": "both", "alignment": "context", "difficulty": {"math": "easy"}},
        {"judges_by_domain": {"math": ["sim/m1", "sim/m2?acuity=2"]}, "script": "peer-battle", "section_tokens": 90},
    ],
)
def test_a_run_can_be_defined_again_from_its_page(told: dict[str, Any], tmp_path: Path) -> None:
    tournament = ca.Tournament(**{**SMALL, "schedule": "swiss", **told})
    text = toml_of(ca.Tournament.stored(tournament.document()), tournament.document())
    assert text is not None
    (tmp_path / "run.toml").write_text(text, encoding="utf-8")
    again = ca.load(tmp_path / "run.toml").model_copy(update={"name": tournament.name})
    assert again.digest() == tournament.digest()


def test_models_of_separate_groups_stand_on_circles_of_their_own() -> None:
    places = circles([("a", "b", "c"), ("d", "e")], ["d", "a", "b", "c", "e"])
    assert len(set(places.values())) == 5
    assert max(places["d"][0], places["e"][0]) < min(places[name][0] for name in "abc")


def test_a_file_that_cannot_be_written_is_said_in_one_line(small: ca.Result, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"nowhere/report\.html: cannot be written"):
        ca.report(small, tmp_path / "nowhere" / "report.html")
    assert list(tmp_path.iterdir()) == []
