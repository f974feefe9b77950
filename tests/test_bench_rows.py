"""Rows of a bench: how many more items would settle which of two models is better."""

from coupled_arena.studies.bench.asking import Answer, Place
from coupled_arena.studies.bench.planning import planned
from coupled_arena.studies.bench.rows import PairRow, pair_rows

ALIKE = 20
"""Items after which the same answers come again."""


def pair(first: str, second: str, items: int) -> PairRow:
    """Return the row of two models that are right where their pattern, over and over, has an `x`."""
    plan = planned(["sim/ada", "sim/bob"], "arithmetic", items=items, repeats=1)
    answers = {
        Place(0, model, item, 0): Answer("1", "ok", float(pattern[item % ALIKE] == "x"), True, "shared", "")
        for model, pattern in enumerate((first, second))
        for item in range(items)
    }
    (row,) = pair_rows(plan, answers)
    return row


def test_about_so_many_more_items_settle_it_and_half_as_many_do_not() -> None:
    first, second = "xxxxxxxxxxxxxxx.....", "xxxxxxxxxx........xx"
    now = pair(first, second, ALIKE)
    assert not now.resolved and now.more_items is not None
    then = ALIKE + now.more_items
    assert pair(first, second, -(-then // ALIKE) * ALIKE).resolved
    assert not pair(first, second, ALIKE + now.more_items // 2).resolved


def test_a_settled_pair_needs_no_more_items_and_of_level_ones_nothing_can_be_said() -> None:
    assert pair("x" * 19 + ".", "." * 20, ALIKE).more_items == 0
    assert pair("x." * 10, ".x" * 10, ALIKE).more_items is None
    assert pair("x" * 20, "." * 20, ALIKE).more_items is None
