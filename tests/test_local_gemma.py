"""What holds on the weights of Gemma 3, whose layers attend in two ways and whose vocabulary is another's."""

from collections.abc import Iterator

import numpy as np
import pytest

from coupled_arena.coupling import Vocabulary, shared_tokens
from coupled_arena.errors import ModelUnavailable
from coupled_arena.models.local.cache import ModelCache
from coupled_arena.models.local.llama import LlamaEngine
from coupled_arena.models.local.shapes import Shape
from coupled_arena.models.local.threads import ThreadChoice
from tests.local_fixtures import Solo

pytestmark = pytest.mark.weights


@pytest.fixture(scope="module")
def gemma() -> Iterator[LlamaEngine]:
    try:
        path = ModelCache().resolve("gemma3-270m")
    except ModelUnavailable:
        pytest.skip("gemma3-270m is not in the model cache; fetch it with: coupled-arena models get gemma3-270m")
    engine = LlamaEngine(path, 1024, ThreadChoice(1))
    yield engine
    engine.close()


def test_a_sequence_is_carried_over_to_more_sequences_bit_for_bit(gemma: LlamaEngine) -> None:
    gemma.reshape(Shape(1, 1024), [])
    tokens = gemma.tokenize("The committee heard both sides and was not convinced by either of them.")
    alone = Solo(gemma)
    alone.prefill(tokens)
    expected = alone.extend(100)
    gemma.rewind(0, 0)
    gemma.prefill(0, tokens, 0)
    gemma.reshape(Shape(3, 1024), [0])
    assert np.array_equal(gemma.decode([0], [100], [len(tokens)])[0], expected)


def test_most_tokens_of_smollm2_are_tokens_of_gemma(gemma: LlamaEngine) -> None:
    other = LlamaEngine(ModelCache().resolve("smollm2-135m"), 256, ThreadChoice(1))
    try:
        one, two = (Vocabulary(engine.names, engine.end_tokens) for engine in (other, gemma))
    finally:
        other.close()
    assert shared_tokens(one, two) > 0.9 * len(one)
