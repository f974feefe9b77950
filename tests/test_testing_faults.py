"""Seeded faults: how many calls they strike, how often, and that nothing but the seed and the call decides."""

import hashlib
import random
from collections import Counter

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.errors import ConfigurationError
from coupled_arena.testing import FakeProvider, Faults, behaviours
from tests.testing_scene import ask

digests = st.binary(min_size=16, max_size=16)
seeds = st.integers(-(2**70), 2**70)
some_faults = st.builds(Faults, share=st.floats(0, 1), most_in_a_row=st.integers(1, 6), seed=seeds)


def calls(count: int) -> list[bytes]:
    return [hashlib.blake2b(str(number).encode(), digest_size=16).digest() for number in range(count)]


def in_a_row(faults: Faults, call: bytes) -> int:
    """How many attempts of a call fail before one passes."""
    return next(attempt for attempt in range(1, 100) if faults.fault(call, attempt) is None) - 1


@given(some_faults, digests)
def test_a_call_fails_at_most_so_often_in_a_row_and_never_again(faults: Faults, call: bytes) -> None:
    failed = in_a_row(faults, call)
    assert failed <= faults.most_in_a_row
    assert all(faults.fault(call, attempt) is None for attempt in range(failed + 1, failed + 20))


@given(some_faults, st.lists(digests, unique=True, min_size=2, max_size=20), st.randoms())
def test_neither_order_nor_other_calls_matter(faults: Faults, asked: list[bytes], order: random.Random) -> None:
    alone = {call: faults.fault(call, 1) for call in asked}
    order.shuffle(asked)
    assert {call: faults.fault(call, 1) for call in asked} == alone


@given(digests, seeds)
def test_no_share_strikes_nothing_and_a_whole_share_everything(call: bytes, seed: int) -> None:
    assert Faults(share=0, seed=seed).fault(call, 1) is None
    assert Faults(share=1, seed=seed).fault(call, 1) is not None


@given(digests, seeds, st.floats(0, 1), st.floats(0, 1))
def test_a_larger_share_strikes_the_same_calls_and_more(call: bytes, seed: int, one: float, other: float) -> None:
    less, more = sorted((one, other))
    if Faults(share=less, seed=seed).fault(call, 1) is not None:
        assert Faults(share=more, seed=seed).fault(call, 1) is not None


def test_the_share_is_what_was_asked_for_and_every_length_and_kind_occurs() -> None:
    faults = Faults(share=0.3, most_in_a_row=3, seed=5)
    lengths = Counter(in_a_row(faults, call) for call in calls(4000))
    assert sum(lengths[length] for length in (1, 2, 3)) / 4000 == pytest.approx(0.3, abs=0.03)
    assert [lengths[length] / 4000 for length in (1, 2, 3)] == pytest.approx([0.1] * 3, abs=0.02)
    kinds = {faults.fault(call, 1) for call in calls(4000)}
    assert kinds == {None, *faults.kinds}


def test_another_seed_strikes_other_calls() -> None:
    struck = [{call for call in calls(400) if Faults(seed=seed).fault(call, 1)} for seed in (1, 2)]
    assert struck[0] != struck[1]
    assert all(60 < len(calls) < 180 for calls in struck)


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ({"share": 1.1}, "share"),
        ({"share": float("nan")}, "share"),
        ({"most_in_a_row": 0}, "most_in_a_row"),
        ({"kinds": ()}, "kinds"),
        ({"kinds": (behaviours.drip(pieces=0),)}, "kinds"),
    ],
)
def test_what_cannot_be_drawn_is_refused(settings: dict[str, object], key: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        Faults(**settings)  # type: ignore[arg-type]
    assert [problem.key for problem in refused.value.problems] == [key]


async def test_a_provider_strikes_the_same_calls_whatever_their_order() -> None:
    faults = Faults(share=0.5, most_in_a_row=2, seed=3, kinds=(behaviours.error(503), behaviours.reset()))

    async def told(provider: FakeProvider, text: str) -> int:
        try:
            return (await ask(provider, text=text)).status
        except aiohttp.ClientError:
            return 0

    texts = [f"question {number}" for number in range(12)]
    seen = []
    for order in (texts, texts[::-1]):
        with FakeProvider({"ada": "hello"}, faults=faults) as provider:
            first = {text: await told(provider, text) for text in order}
            second = {text: await told(provider, text) for text in order}
            third = [await told(provider, text) for text in order]
            seen.append((first, second))
            assert third == [200] * len(texts)
    assert seen[0] == seen[1]
    assert set(seen[0][0].values()) == {0, 200, 503}


async def test_faults_do_not_hide_what_any_provider_would_refuse() -> None:
    with FakeProvider({"ada": "hello"}, faults=Faults(share=1), contexts={"ada": 1}) as provider:
        assert (await ask(provider, key="wrong")).status == 401
        assert (await ask(provider, "nobody")).status == 404
        assert (await ask(provider, text="too long for it")).status == 400
