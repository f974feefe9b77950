import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.models.local.canonical import CUT, Prefill, last_cut
from coupled_arena.models.local.prefixes import as_tokens
from tests.local_fixtures import CELL_BYTES, FakeEngine, Solo


def evaluator(limit: int = 1 << 20) -> tuple[Solo, FakeEngine]:
    engine = FakeEngine()
    return Solo(engine, limit), engine


def alone(prompt: list[int], reply: list[int]) -> list[bytes]:
    fresh, _ = evaluator(0)
    return [fresh.prefill(prompt).tobytes(), *(fresh.extend(token).tobytes() for token in reply)]


def test_a_prompt_is_cut_at_multiples_of_sixty_four() -> None:
    subject, engine = evaluator()
    subject.prefill([2] * (2 * CUT + 5))
    assert engine.portions == [CUT, CUT, 5]


def test_a_prompt_that_ends_at_a_cut_still_evaluates_its_last_portion() -> None:
    subject, engine = evaluator()
    subject.prefill([2] * (2 * CUT + 1))
    engine.portions.clear()
    logits = subject.prefill([2] * (2 * CUT))
    assert engine.portions == [CUT]
    assert logits.tobytes() == alone([2] * (2 * CUT), [])[0]


def test_the_last_prompt_is_not_evaluated_again_if_it_is_asked_again() -> None:
    prompt, reply = [2] * (CUT + 5), [3, 4]
    subject, engine = evaluator()
    first = [subject.prefill(prompt), *map(subject.extend, reply)]
    engine.portions.clear()
    again = [subject.prefill(prompt), *map(subject.extend, reply)]
    assert engine.portions == [1, 1]
    assert all(np.array_equal(one, other) for one, other in zip(first, again, strict=True))
    subject.prefill([2] * (CUT + 4))
    engine.portions.clear()
    subject.prefill(prompt)
    assert engine.portions == [5]


def test_a_known_prefix_is_not_evaluated_again() -> None:
    subject, engine = evaluator()
    subject.prefill([2] * (3 * CUT + 1))
    engine.portions.clear()
    subject.prefill([2] * (2 * CUT) + [3] * (CUT + 4))
    assert engine.portions == [CUT, 4]


def test_what_was_decoded_is_evaluated_anew_as_a_prompt() -> None:
    prompt, reply = [2] * 70, [3] * 70
    subject, engine = evaluator()
    subject.prefill(prompt)
    for token in reply:
        subject.extend(token)
    engine.portions.clear()
    logits = subject.prefill(prompt + reply)
    assert engine.portions == [CUT, 140 - 2 * CUT]
    assert logits.tobytes() == alone(prompt + reply, [])[0]


def test_an_abandoned_prompt_leaves_nothing_wrong_behind() -> None:
    subject, engine = evaluator()
    prompt = [2] * (3 * CUT + 3)
    abandoned = Prefill(engine, subject.prefixes, 0, as_tokens(prompt))
    for _ in range(2):
        assert abandoned.advance() is None
    assert len(subject.prefixes) == 0
    assert subject.prefill(prompt).tobytes() == alone(prompt, [])[0]


@pytest.mark.parametrize("length", [1, 2, CUT - 1, CUT, CUT + 1, 5 * CUT])
def test_the_last_cut_leaves_a_token_to_evaluate(length: int) -> None:
    assert last_cut(length) % CUT == 0
    assert 1 <= length - last_cut(length) <= CUT


PROMPTS = st.lists(
    st.tuples(
        st.lists(st.sampled_from([[2] * 64, [3] * 64, [2] * 30, [4], [5] * 100]), min_size=1, max_size=5),
        st.lists(st.integers(0, 8), max_size=5),
    ),
    min_size=1,
    max_size=8,
)


@given(PROMPTS, st.sampled_from([0, 100 * CELL_BYTES, 200 * CELL_BYTES, 10_000 * CELL_BYTES]))
def test_logits_never_depend_on_what_ran_before(prompts: list[tuple[list[list[int]], list[int]]], limit: int) -> None:
    subject, _ = evaluator(limit)
    for parts, reply in prompts:
        prompt = [token for part in parts for token in part]
        got = [subject.prefill(prompt).tobytes(), *(subject.extend(token).tobytes() for token in reply)]
        assert got == alone(prompt, reply)
        assert subject.prefixes.held <= limit
