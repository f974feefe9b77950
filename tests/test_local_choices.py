import itertools
import math
from collections import Counter

import numpy as np
import pytest

from coupled_arena.coupling import choose
from coupled_arena.models.local.canonical import CUT
from coupled_arena.models.local.choices import score
from tests.local_fixtures import FakeEngine, Solo

PROMPT = [2, 3, 5] * 30
CHOICES = ("a", "ab", "abc", "b", "cab", "")


def step_logprobs(path: tuple[int, ...]) -> list[float]:
    """Log probability of every token after a path, computed from nothing."""
    fresh = Solo(FakeEngine())
    logits = fresh.prefill(PROMPT)
    for token in path:
        logits = fresh.extend(token)
    exact = [math.exp(float(value)) for value in logits]
    return [math.log(value / math.fsum(exact)) for value in exact]


def reply_logprob(path: tuple[int, ...]) -> float:
    """Log probability that the model's whole reply is this path of tokens."""
    engine = FakeEngine()
    total = sum(step_logprobs(path[:depth])[token] for depth, token in enumerate(path))
    return total + math.log(sum(math.exp(step_logprobs(path)[end]) for end in engine.end_tokens))


def scored(choices: tuple[str, ...]) -> list[float]:
    return score_alone(FakeEngine(), choices)


def score_alone(engine: FakeEngine, choices: tuple[str, ...]) -> list[float]:
    solo = Solo(engine)
    return solo.run(score(engine, solo.prefill(PROMPT), len(PROMPT), choices))


def test_every_choice_has_the_probability_that_enumeration_gives_its_canonical_tokens() -> None:
    engine = FakeEngine()
    for choice, logprob in zip(CHOICES, scored(CHOICES), strict=True):
        # Every path of tokens that spells the choice, of which the canonical one is one.
        paths = [
            path
            for length in range(len(choice) + 1)
            for path in itertools.product((2, 3, 4, 5), repeat=length)
            if b"".join(engine.names[token] for token in path) == choice.encode()
        ]
        by_path = {path: reply_logprob(path) for path in paths}
        assert logprob == pytest.approx(by_path[tuple(engine.tokenize(choice))], abs=1e-9)
        assert logprob <= math.log(math.fsum(map(math.exp, by_path.values()))) + 1e-9


def test_a_score_depends_neither_on_the_other_choices_nor_on_their_order() -> None:
    together = dict(zip(CHOICES, scored(CHOICES), strict=True))
    for choice in CHOICES:
        assert scored((choice,)) == [together[choice]]
    assert scored(CHOICES[::-1]) == [together[choice] for choice in CHOICES[::-1]]


def test_choices_that_begin_alike_share_their_evaluation() -> None:
    engine = FakeEngine()
    score_alone(engine, ("ab", "abc", "abb"))
    assert engine.portions == [CUT, len(PROMPT) - CUT, 1, 1, 1]


def test_draws_follow_the_normalised_scores() -> None:
    choices, draws = ("a", "ab", "b"), 4000
    logprobs = scored(choices)
    weights = np.exp(np.array(logprobs) / 0.7)
    expected = draws * weights / weights.sum()
    counts = Counter(choose(choices, logprobs, seed.to_bytes(16, "little"), temperature=0.7) for seed in range(draws))
    statistic = sum((counts[index] - expected[index]) ** 2 / expected[index] for index in range(len(choices)))
    assert statistic < 18.4  # chi squared with 2 degrees of freedom, level 1e-4
