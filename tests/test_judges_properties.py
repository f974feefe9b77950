"""What must not change what a study of judges says: the order of rows, names, and which side is called A."""

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coupled_arena.analysis import judges as study
from coupled_arena.analysis.judges import Estimate, Opinions, opinions_of
from coupled_arena.studies.judging.measures import JUDGES, PANEL
from tests.judge_scene import Rows, exchanged, opinions, permuted

few = settings(max_examples=6, deadline=None)
seeds = st.integers(0, 10_000)


def everything(table: Opinions) -> dict[str, Estimate]:
    found = {m.name: m.of(table, 0.95) for m in PANEL}
    for measure in JUDGES:
        found |= {f"{measure.name} of {judge}": one for judge, one in measure.of(table, 0.95).items()}
    return found


def same(first: Mapping[str, Estimate], second: Mapping[str, Estimate]) -> None:
    assert first.keys() == second.keys()
    for name, one in first.items():
        other = second[name]
        for end in ("value", "low", "high", "se"):
            assert getattr(one, end) == pytest.approx(getattr(other, end), abs=1e-9), (name, end)
        assert (one.trials, one.questions, one.reason) == (other.trials, other.questions, other.reason), name


def scenes(seed: int) -> Rows:
    rng = np.random.default_rng(seed)
    return opinions(
        seed,
        questions=int(rng.integers(1, 7)),
        judges=int(rng.integers(1, 5)),
        orders=(("AB",), ("AB", "BA"))[rng.integers(2)],
        stages=int(rng.integers(1, 3)),
        missing=float(rng.choice([0.0, 0.2, 0.6])),
        dice=int(rng.integers(1, 3)),
    )


@few
@given(seeds)
def test_the_order_of_rows_changes_nothing(seed: int) -> None:
    rows = scenes(seed)
    order = np.random.default_rng(seed).permutation(len(rows["battle"]))
    same(everything(opinions_of(rows)), everything(opinions_of(permuted(rows, order))))


@few
@given(seeds)
def test_which_side_of_a_battle_is_called_a_changes_nothing(seed: int) -> None:
    rows = scenes(seed)
    battles = {battle for place, battle in enumerate(sorted({*rows["battle"]})) if (seed >> place % 13) % 2}
    table = opinions_of(rows)
    before = everything(table)
    same(everything(table.swapped()), before)
    # Chance agreement depends on how often A is said, and speaking first is an effect of its own beside length.
    told = {name for name in before if not name.startswith(("fleiss", "alpha", "kappa", "length"))}
    after = everything(opinions_of(exchanged(rows, battles)))
    same({name: after[name] for name in told}, {name: before[name] for name in told})


@few
@given(seeds)
def test_what_judges_and_questions_are_called_changes_nothing(seed: int) -> None:
    rows = scenes(seed)
    names = {"j1": "z9", "j2": "k", "j3": "b0", "ada": "ada"}
    renamed = {
        **rows,
        "judge": [names[name] for name in rows["judge"]],
        "question": [f"other {name}" for name in rows["question"]],
    }
    before, after = everything(opinions_of(rows)), everything(opinions_of(renamed))
    moved = {name.replace(f"of {old}", f"of {new}"): before[name] for name in before for old, new in names.items()
             if name.endswith(f"of {old}")}  # fmt: skip
    same({**moved, **{m.name: before[m.name] for m in PANEL}}, after)


@few
@given(seeds)
def test_shares_and_their_intervals_stay_between_0_and_1(seed: int) -> None:
    table = opinions_of(scenes(seed))
    for of in (study.flip_rate, study.ties, study.accuracy, study.agreement_with_others, study.moved):
        for found in of(table).values():
            if found.value is not None:
                assert 0 <= found.value <= 1
            if found.low is not None and found.high is not None and found.value is not None:
                assert 0 <= found.low <= found.value <= found.high <= 1
