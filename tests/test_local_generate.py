import pytest

from coupled_arena.coupling import Sampler, Sampling, Vocabulary
from coupled_arena.models.local.canonical import CUT, Evaluator
from coupled_arena.models.local.generate import Generated, generate
from coupled_arena.models.local.prefixes import PrefixCache
from tests.local_fixtures import LETTERS, FakeEngine

KEY = bytes(range(16))


def write(
    script: list[bytes], *, max_tokens: int = 20, stop: tuple[str, ...] = (), names: tuple[bytes, ...] = LETTERS
) -> Generated:
    engine = FakeEngine(names)
    engine.script = {step + 1: names.index(piece) for step, piece in enumerate(script)}
    sampler = Sampler(Vocabulary(engine.names, engine.end_tokens))
    return generate(
        Evaluator(engine, PrefixCache(0, CUT)),
        sampler,
        [2, 3],
        sampling=Sampling(temperature=0),
        key=KEY,
        max_tokens=max_tokens,
        stop=stop,
    )


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


def test_a_reply_is_abandoned_between_evaluations() -> None:
    engine = FakeEngine()
    engine.script = dict.fromkeys(range(1, 100), 2)
    pauses = iter(range(4))

    def pause() -> None:
        if next(pauses) == 3:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        generate(
            Evaluator(engine, PrefixCache(0, CUT)),
            Sampler(Vocabulary(engine.names, engine.end_tokens)),
            [2],
            sampling=Sampling(temperature=0),
            key=KEY,
            max_tokens=50,
            pause=pause,
        )
    assert engine.portions == [1, 1, 1]
