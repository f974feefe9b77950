"""A simulated examiner: writes questions that differ by domain, request and world, and knows the answers."""

import re
from hashlib import blake2b

from coupled_arena.models.simulated.wording import Wording
from coupled_arena.models.simulated.world import World

MOST_QUESTIONS = 200
"""Most questions written in one reply."""
POINTS = 3
"""Claims of a reference answer."""

_NUMBER = re.compile(r"\d+")
_LEAST, _SPREAD = 3, 90


def requested(prompt: str) -> int | None:
    """Return how many questions a prompt asks for, the first number in it; None if there is none.

    >>> requested("Write 5 questions about mathematics.")
    5
    """
    found = _NUMBER.search(prompt)
    return min(int(found[0]), MOST_QUESTIONS) if found else None


def questions(count: int, prompt: str, key: bytes, world: int, wording: Wording) -> str:
    """Return numbered lines, one question each, all different.

    Args:
        count: how many are wanted.
        prompt: everything the examiner read; it holds the domain and what is known already.
        key: its dice, 16 bytes.
        world: number of its world.
        wording: the language to write.
    """
    seed = blake2b(f"{world}\n{prompt}".encode("utf-8", "surrogatepass"), digest_size=16, key=key).digest()
    places, objects, tasks = wording.places, wording.objects, wording.tasks
    # Neighbours in this walk share neither place nor object nor form, so no two look alike; it returns after all pairs.
    start = int.from_bytes(blake2b(seed, digest_size=6).digest())
    lines = []
    for number in range(count):
        step = start + number
        task = tasks[step % len(tasks)]
        amount = _LEAST + blake2b(number.to_bytes(4), digest_size=1, key=seed).digest()[0] % _SPREAD
        text = task.format(number=amount, place=places[step % len(places)], object=objects[step % len(objects)])
        lines.append(f"{number + 1}. {text}")
    return "\n".join(lines)


def reference(question: str, world: int, wording: Wording) -> str:
    """Return the reference answer to a question: its best claims."""
    return wording.join(wording.sentence(claim) for claim in World(world).ranked(question)[:POINTS])
