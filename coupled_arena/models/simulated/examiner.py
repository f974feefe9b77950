"""A simulated examiner: writes questions that differ by domain, request and world, and knows the answers."""

import re
from functools import cache
from hashlib import blake2b
from types import MappingProxyType

from coupled_arena.models.simulated.wording import Wording
from coupled_arena.models.simulated.world import ClaimBook
from coupled_arena.prompts import load_prompts, prompt_names

MOST_QUESTIONS = 200
"""Most questions written in one reply."""
POINTS = 3
"""Claims of a reference answer."""

GRADES = MappingProxyType({"hard": 1.0, "medium": 0.75, "easy": 0.5})
"""Share of an examiner's spread that the questions of a difficulty have."""

_NUMBER = re.compile(r"\d+")
_LEAST, _SPREAD = 3, 90


def requested(prompt: str) -> int | None:
    """Return how many questions a prompt asks for, the first number in it; None if there is none.

    >>> requested("Write 5 questions about mathematics.")
    5
    """
    found = _NUMBER.search(prompt)
    return min(int(found[0]), MOST_QUESTIONS) if found else None


def spread_for(prompt: str, difficulty: float) -> float:
    """Return the spread of qualities of the questions a prompt asks for, by the difficulty of an examiner's hard ones.

    Of several grades that a prompt names the one in the most words counts (`moderately hard` is not `hard`), then the
    first.
    """
    named = [(-len(words), prompt.find(words), share) for words, share in _grades() if words in prompt]
    return difficulty * (min(named)[2] if named else 1.0)


@cache
def _grades() -> tuple[tuple[str, float], ...]:
    """Return how every shipped prompt set asks for a grade, and what share of the full spread it stands for."""
    sets = [load_prompts(name) for name in prompt_names()]
    return tuple((prompts.render(f"difficulty.{grade}"), share) for prompts in sets for grade, share in GRADES.items())


def questions(count: int, prompt: str, key: bytes, world: int, wording: Wording, difficulty: float = 0.0) -> str:
    """Return numbered lines, one question each, all different.

    Args:
        count: how many are wanted.
        prompt: everything the examiner read; it holds the domain and what is known already.
        key: its dice, 16 bytes.
        world: number of its world.
        wording: the language to write.
        difficulty: spread of the claims' qualities in hard questions; 0 says nothing of it.
    """
    seed = blake2b(f"{world}\n{prompt}".encode("utf-8", "surrogatepass"), digest_size=16, key=key).digest()
    places, objects, tasks = wording.places, wording.objects, wording.tasks
    # Neighbours in this walk share neither place nor object nor form, so no two look alike; it returns after all pairs.
    start = int.from_bytes(blake2b(seed, digest_size=6).digest())
    graded = [wording.graded.format(spread=f"{spread_for(prompt, difficulty):.2f}")] if difficulty else []
    lines = []
    for number in range(count):
        step = start + number
        task = tasks[step % len(tasks)]
        amount = _LEAST + blake2b(number.to_bytes(4), digest_size=1, key=seed).digest()[0] % _SPREAD
        text = task.format(number=amount, place=places[step % len(places)], object=objects[step % len(objects)])
        lines.append(f"{number + 1}. {wording.join((text, *graded))}")
    return "\n".join(lines)


def reference(question: str, world: int, wording: Wording) -> str:
    """Return the reference answer to a question: its best claims."""
    return wording.join(wording.sentence(claim) for claim in ClaimBook(world).ranked(question)[:POINTS])
