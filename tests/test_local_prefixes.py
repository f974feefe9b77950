import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.models.local.prefixes import PrefixCache, as_tokens

CUT = 4


def snapshot(size: int, mark: int = 0) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    return np.full(size, mark, dtype=np.uint8)


def test_prefixes_are_shared_at_cuts_only() -> None:
    cache = PrefixCache(1000, CUT)
    cache.add(as_tokens([1, 2, 3, 4, 5, 6, 7, 8]), snapshot(10))
    assert cache.shared(as_tokens([1, 2, 3, 4, 5, 6, 9, 9])) == 4
    assert cache.shared(as_tokens([1, 2, 3, 4, 5, 6, 7, 8, 9])) == 8
    assert cache.shared(as_tokens([1, 2, 3])) == 0
    assert cache.find(as_tokens([9, 2, 3, 4])) is None


def test_the_longest_prefix_is_found_and_of_equals_the_smallest() -> None:
    cache = PrefixCache(1000, CUT)
    cache.add(as_tokens([1, 2, 3, 4, 9, 9, 9, 9]), snapshot(30, 3))
    cache.add(as_tokens([1, 2, 3, 4, 8, 8, 8, 8]), snapshot(10, 1))
    found = cache.find(as_tokens([1, 2, 3, 4, 7, 7, 7, 7]))
    assert found is not None
    assert (int(found[0][0]), found[1]) == (1, 4)
    found = cache.find(as_tokens([1, 2, 3, 4, 9, 9, 9, 9, 1]))
    assert found is not None
    assert (int(found[0][0]), found[1]) == (3, 8)


def test_the_least_recently_used_prefix_goes_first() -> None:
    cache = PrefixCache(20, CUT)
    first, second, third = ([number] * CUT for number in (1, 2, 3))
    cache.add(as_tokens(first), snapshot(10))
    cache.add(as_tokens(second), snapshot(10))
    assert cache.find(as_tokens(first)) is not None
    cache.add(as_tokens(third), snapshot(10))
    assert [cache.shared(as_tokens(tokens)) for tokens in (first, second, third)] == [CUT, 0, CUT]


def test_a_longer_prefix_replaces_what_it_contains() -> None:
    cache = PrefixCache(100, CUT)
    cache.add(as_tokens([1] * CUT), snapshot(10))
    cache.add(as_tokens([1] * 2 * CUT), snapshot(20))
    assert (len(cache), cache.held) == (1, 20)
    assert cache.shared(as_tokens([1] * CUT)) == CUT


def test_a_prefix_beyond_the_limit_displaces_nothing() -> None:
    cache = PrefixCache(15, CUT)
    cache.add(as_tokens([1] * CUT), snapshot(10))
    cache.add(as_tokens([2] * CUT), snapshot(16))
    assert (len(cache), cache.held) == (1, 10)


@given(st.lists(st.tuples(st.lists(st.integers(0, 1), min_size=CUT, max_size=12), st.integers(1, 40)), max_size=20))
def test_the_limit_holds_and_whatever_is_found_agrees_with_the_prompt(added: list[tuple[list[int], int]]) -> None:
    cache = PrefixCache(60, CUT)
    kept: dict[int, list[int]] = {}
    for mark, (tokens, size) in enumerate(added):
        whole = tokens[: len(tokens) // CUT * CUT]
        cache.add(as_tokens(whole), snapshot(size, mark))
        kept[mark] = whole
        assert cache.held <= 60
        found = cache.find(as_tokens(tokens))
        if found is not None:
            assert found[1] % CUT == 0
            assert kept[int(found[0][0])][: found[1]] == tokens[: found[1]]
        assert (found is None) == (cache.shared(as_tokens(tokens)) == 0)
