"""Tasks that need no file: items made from a fixed seed, each with one right answer that a program knows."""

from collections.abc import Callable, Iterable
from functools import cache
from hashlib import blake2b
from typing import TypeVar

from coupled_arena.studies.bench.scoring import LETTERS, Exact, Reader, last_number, letter, yes_or_no
from coupled_arena.studies.bench.task import Item, Task

SIZE = 300
"""Items of every task."""

KINDS = {
    "animal": ("dog", "horse", "tiger", "rabbit", "eagle", "salmon", "sheep", "frog", "whale", "goat"),
    "colour": ("red", "blue", "green", "yellow", "purple", "brown", "black", "white", "pink", "grey"),
    "fruit": ("apple", "banana", "cherry", "grape", "lemon", "mango", "peach", "pear", "plum", "melon"),
    "country": ("France", "Japan", "Brazil", "Egypt", "Canada", "India", "Norway", "Kenya", "Spain", "Chile"),
    "instrument": ("piano", "violin", "trumpet", "flute", "drum", "guitar", "harp", "cello", "oboe", "organ"),
    "vehicle": ("car", "bicycle", "train", "ship", "truck", "tram", "plane", "canoe", "bus", "tractor"),
}
"""Words that are one kind of thing and none of the others."""

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

T = TypeVar("T")


class _Draws:
    """Whole numbers that follow from the name of an item: the same on every machine and in every version."""

    def __init__(self, name: str) -> None:
        self._key = name.encode()
        self._drawn = 0

    def below(self, bound: int) -> int:
        self._drawn += 1
        digest = blake2b(self._drawn.to_bytes(4), digest_size=8, key=self._key).digest()
        return int.from_bytes(digest) % bound

    def between(self, low: int, high: int) -> int:
        return low + self.below(high - low + 1)

    def some(self, values: tuple[T, ...], count: int) -> list[T]:
        left = list(values)
        return [left.pop(self.below(len(left))) for _ in range(count)]


Made = tuple[str, str, str]
"""Text, gold answer and subject of an item."""


def _sum(draws: _Draws) -> Made:
    match draws.below(3):
        case 0:
            a, b = draws.between(1, 40), draws.between(1, 40)
            return f"What is {a} + {b}?", str(a + b), "addition"
        case 1:
            a, b = sorted((draws.between(1, 40), draws.between(1, 40)), reverse=True)
            return f"What is {a} - {b}?", str(a - b), "subtraction"
        case _:
            a, b = draws.between(2, 12), draws.between(2, 12)
            return f"What is {a} * {b}?", str(a * b), "multiplication"


def _statement(draws: _Draws) -> Made:
    right = draws.below(2) == 1
    gold = "yes" if right else "no"
    match draws.below(4):
        case 0:
            a, b = sorted(draws.some(tuple(range(2, 100)), 2), reverse=right)
            return f"Is {a} greater than {b}?", gold, "comparison"
        case 1:
            number = 2 * draws.between(1, 499) + (not right)
            return f"Is {number} an even number?", gold, "parity"
        case 2:
            kind, other = draws.some(tuple(sorted(KINDS)), 2)
            (word,) = draws.some(KINDS[kind], 1)
            asked = kind if right else other
            return f"Is the word '{word}' the name of {_with_article(asked)}?", gold, "kinds"
        case _:
            day, shift = draws.below(7), 1 if right else 3
            return f"Is {DAYS[(day + shift) % 7]} the day after {DAYS[day]}?", gold, "days"


def _choice(draws: _Draws) -> Made:
    place = draws.below(4)
    match draws.below(3):
        case 0:
            numbers = draws.some(tuple(range(10, 1000)), 4)
            numbers.remove(largest := max(numbers))
            return _listed("Which of these numbers is the largest?", str(largest), map(str, numbers), place, "numbers")
        case 1:
            kind, *others = draws.some(tuple(sorted(KINDS)), 4)
            (right,) = draws.some(KINDS[kind], 1)
            wrong = (draws.some(KINDS[other], 1)[0] for other in others)
            return _listed(f"Which of these is {_with_article(kind)}?", right, wrong, place, "kinds")
        case _:
            a, b = draws.between(2, 49), draws.between(2, 49)
            near = draws.some((a + b - 10, a + b - 1, a + b + 1, a + b + 10), 3)
            return _listed(f"What is {a} + {b}?", str(a + b), map(str, near), place, "sums")


def _listed(question: str, right: str, wrong: Iterable[str], place: int, subject: str) -> Made:
    options = list(wrong)
    options.insert(place, right)
    lines = (f"{name}. {option}" for name, option in zip(LETTERS, options, strict=True))
    return "\n".join((question, *lines)), LETTERS[place], subject


def _with_article(word: str) -> str:
    return f"an {word}" if word[0] in "aeiou" else f"a {word}"


_MAKERS: dict[str, tuple[Callable[[_Draws], Made], Reader, str, int]] = {
    "arithmetic": (_sum, last_number, "Answer with the number only.", 16),
    "yes-no": (_statement, yes_or_no, "Answer yes or no.", 8),
    "multiple-choice": (_choice, letter, "Answer with the letter only.", 8),
}
"""What makes an item, what reads a reply, what is asked beside the question, and most tokens of a reply."""

OFFLINE = tuple(_MAKERS)
"""Names of the tasks that need no file."""


@cache
def offline_task(name: str) -> Task:
    """Return a task that needs no file: `arithmetic`, `yes-no` or `multiple-choice`, always with the same items.

    Example:
        >>> task = offline_task("arithmetic")
        >>> len(task.items), task.items[0].id
        (300, 'arithmetic-0')
    """
    make, read, request, most = _MAKERS[name]
    made: dict[str, Made] = {}
    attempt = 0
    while len(made) < SIZE:
        text, gold, subject = make(_Draws(f"{name} {attempt}"))
        made.setdefault(text, (text, gold, subject))
        attempt += 1
    items = (Item(f"{name}-{number}", *parts) for number, parts in enumerate(made.values()))

    def prompt(item: Item) -> str:
        return f"{item.text}\n{request}"

    return Task(name, tuple(items), Exact(read), prompt, most)
