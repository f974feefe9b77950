import codecs
import math

import pytest

from coupled_arena.coupling import Sampler, Sampling, Vocabulary
from coupled_arena.coupling.alignment import ALIGNMENTS, Alignment
from coupled_arena.models.local.generate import Generated, generate
from coupled_arena.models.local.spelling import Emit
from tests.local_fixtures import LETTERS, FakeEngine, Solo

KEY = bytes(range(16))


def write(
    script: list[bytes],
    *,
    max_tokens: int = 20,
    stop: tuple[str, ...] = (),
    names: tuple[bytes, ...] = LETTERS,
    logprobs: int | None = None,
    emit: Emit | None = None,
) -> Generated:
    engine = FakeEngine(names)
    engine.script = {step + 1: names.index(piece) for step, piece in enumerate(script)}
    sampler = Sampler(Vocabulary(engine.names, engine.end_tokens))
    solo = Solo(engine)
    writing = generate(
        engine,
        sampler,
        solo.prefill([2, 3]),
        2,
        sampling=Sampling(temperature=0),
        key=KEY,
        max_tokens=max_tokens,
        stop=stop,
        logprobs=logprobs,
        emit=emit,
    )
    return solo.run(writing)


@pytest.mark.parametrize("end", [b"<end>", b"<stop>"])
def test_any_end_token_ends_the_reply_and_is_not_written(end: bytes) -> None:
    assert write([b"a", b"b", end]) == Generated("ab", 2, finished=True)


def test_the_limit_of_tokens_leaves_the_reply_unfinished() -> None:
    assert write([b"a", b"b", b"c", b"c"], max_tokens=3) == Generated("abc", 3, finished=False)


def test_a_stop_string_is_found_across_tokens_and_left_out() -> None:
    assert write([b"a", b"c", b"a", b"b", b"c"], stop=("ba", "abc")) == Generated("ac", 5, finished=True)


def test_a_stop_string_may_end_in_the_middle_of_a_token() -> None:
    names = (*LETTERS, b"xx</r>yy")
    assert write([b"a", b"xx</r>yy"], stop=("</r>",), names=names) == Generated("axx", 2, finished=True)


def test_the_earliest_stop_string_counts() -> None:
    names = (*LETTERS, b"1</b>2</a>3")
    assert write([b"1</b>2</a>3"], stop=("</a>", "</b>"), names=names) == Generated("1", 1, finished=True)


def test_a_stop_string_at_once_leaves_nothing() -> None:
    assert write([b"ab"], stop=("ab",)) == Generated("", 1, finished=True)


def test_a_character_cut_in_two_by_the_limit_is_left_out() -> None:
    first, second = "é".encode()[:1], "é".encode()[1:]
    assert write([b"a", first, second, b"<end>"]).text == "aé"
    assert write([b"a", first], max_tokens=2).text == "a"


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert write(["é".encode()[1:], b"a", b"<end>"]).text == "\ufffda"


def test_every_token_comes_with_its_log_probability_by_the_models_own_law() -> None:
    told = write([b"a", b"ab", b"<end>"], logprobs=3).logprobs
    assert [(one.token, bytes(one.data)) for one in told] == [("a", b"a"), ("ab", b"ab")]
    for one in told:
        assert one.logprob == pytest.approx(0, abs=1e-9)
        assert [best.logprob for best in one.top] == sorted((best.logprob for best in one.top), reverse=True)
        assert (one.top[0].token, len(one.top)) == (one.token, 3)
    assert write([b"a"], max_tokens=1).logprobs == ()
    assert [one.top for one in write([b"a"], max_tokens=1, logprobs=0).logprobs] == [()]


def test_all_log_probabilities_of_a_step_make_a_law() -> None:
    engine = FakeEngine()
    solo = Solo(engine)
    logits = solo.prefill([2, 3])
    logits[list(engine.end_tokens)] = -30
    sampler = Sampler(Vocabulary(engine.names, engine.end_tokens))
    script = generate(
        engine, sampler, logits, 2, sampling=Sampling(temperature=1), key=bytes(16), max_tokens=1, logprobs=len(LETTERS)
    )
    (told,) = solo.run(script).logprobs
    assert math.fsum(math.exp(one.logprob) for one in told.top) == pytest.approx(1, abs=1e-12)
    assert told.logprob in [one.logprob for one in told.top]


@pytest.mark.parametrize("alignment", ["step", "context"])
def test_the_alignment_places_the_noise(alignment: Alignment) -> None:
    engine = FakeEngine()
    solo = Solo(engine)
    sampler = Sampler(Vocabulary(engine.names, engine.end_tokens))
    sampling = Sampling(temperature=1.0)
    logits = solo.prefill([2, 3])
    script = generate(engine, sampler, logits, 2, sampling=sampling, key=KEY, max_tokens=12, alignment=alignment)
    text = solo.run(script).text
    positions, logits, expected = ALIGNMENTS[alignment](), Solo(engine).prefill([2, 3]), bytearray()
    again = Solo(engine)
    again.prefill([2, 3])
    for _ in range(12):
        draw = sampler.draw(logits, sampling, KEY, positions.next())
        if draw.end:
            break
        expected += engine.written[draw.token]
        positions.append(engine.written[draw.token])
        logits = again.extend(draw.token)
    assert text == codecs.getincrementaldecoder("utf-8")("replace").decode(bytes(expected))
