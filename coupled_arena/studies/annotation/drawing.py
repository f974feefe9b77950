"""Which text comes next, and which side an annotator sees first: drawn from a seed, never from what was voted.

All annotators are given the texts in one order, so that several of them label the same ones first. Any beginning of the
order is a random sample of the texts, whatever else is played meanwhile: the place of a text follows from itself alone.
"""

from coupled_arena.coupling import noise_key
from coupled_arena.records import Order

_ROLE = ("annotation",)


def place_of(seed: int, shown: str) -> bytes:
    """Return the place of a text in the order of a seed: 16 bytes, uniform and independent between texts.

    Args:
        seed: any integer; another one is another order.
        shown: digest of the text.

    Example:
        >>> sorted(["aa", "bb", "cc"], key=lambda shown: place_of(7, shown))
        ['cc', 'aa', 'bb']
    """
    return noise_key(seed=seed, scope=(shown,), role=_ROLE, label=("place",), part="whole")


def order_of(seed: int, annotator: str, shown: str) -> Order:
    """Return which side an annotator sees first: `AB` or `BA`, one half each, the same whenever it is asked.

    Example:
        >>> [order_of(seed, "me", "aa") for seed in range(6)]
        ['BA', 'AB', 'BA', 'AB', 'BA', 'BA']
    """
    key = noise_key(seed=seed, scope=(shown,), role=(*_ROLE, annotator), label=("order",), part="whole")
    return "BA" if key[0] % 2 else "AB"
