"""Where the tokens of a reply are placed in the noise: never twice at one place; where replies meet, together."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.coupling.alignment import ALIGNMENTS, ByContext, ByStep, Positions

pieces = st.lists(st.binary(max_size=4), max_size=40)


def places(positions: Positions, written: Sequence[bytes]) -> list[int]:
    """Return the position of every token, and of the one after them."""
    found = [positions.next()]
    for data in written:
        positions.append(data)
        found.append(positions.next())
    return found


@given(pieces, st.sampled_from(sorted(ALIGNMENTS)))
def test_no_position_comes_twice_within_a_reply(written: list[bytes], name: str) -> None:
    found = places(ALIGNMENTS[name](), written)  # type: ignore[index]
    assert len(set(found)) == len(found)
    assert all(0 <= place < 2**64 for place in found)


@given(pieces)
def test_by_step_positions_count_tokens(written: list[bytes]) -> None:
    assert places(ByStep(), written) == list(range(len(written) + 1))


@given(pieces, pieces, st.binary(min_size=6, max_size=12))
def test_by_context_replies_that_meet_for_the_first_time_share_their_place(
    one: list[bytes], other: list[bytes], meeting: bytes
) -> None:
    first, second = ByContext(6), ByContext(6)
    last = [places(positions, [*before, meeting])[-1] for positions, before in ((first, one), (second, other))]
    known = [meeting[-6:] in before_contexts(before, meeting) for before in (one, other)]
    if not any(known):
        assert last[0] == last[1]


def before_contexts(before: list[bytes], meeting: bytes) -> set[bytes]:
    """Return the contexts that a reply went through before it came to the meeting place."""
    text, found = b"", {b""}
    for data in before:
        text += data
        found.add(text[-6:])
    return found


@given(st.binary(min_size=1, max_size=20))
def test_how_a_text_was_cut_into_tokens_does_not_matter_to_its_context(text: bytes) -> None:
    whole, split = ByContext(4), ByContext(4)
    whole.append(text)
    for index in range(len(text)):
        split.append(text[index : index + 1])
    repeated = any(text[-4:] == text[:end][-4:] for end in range(len(text)))
    assert (whole.next() == split.next()) == (not repeated)


def test_the_beginning_of_a_reply_is_no_context_of_a_longer_one() -> None:
    short, long = ByContext(4), ByContext(4)
    short.append(b"cat")
    long.append(b"a cat")
    assert short.next() != long.next()
    assert ByContext(4).next() not in (short.next(), long.next())


def test_a_token_that_writes_nothing_moves_on_all_the_same() -> None:
    positions = ByContext()
    before = positions.next()
    positions.append(b"")
    assert positions.next() != before
