import pytest
from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.models.local.spelling import ReplyText


def written(pieces: list[bytes], stop: tuple[str, ...]) -> tuple[str, list[str]]:
    """Return a reply's text and what was emitted on the way."""
    shown: list[str] = []
    text = ReplyText(stop, shown.append)
    for piece in pieces:
        if text.append(piece):
            break
    return text.finish(), shown


def test_a_piece_is_shown_as_soon_as_it_is_certain() -> None:
    assert written([b"one", b" two"], ()) == ("one two", ["one", " two"])


def test_what_may_begin_a_stop_string_waits() -> None:
    assert written([b"a <", b"/r", b"> b"], ("</r>",)) == ("a ", ["a "])
    assert written([b"a <", b"/x", b"> b"], ("</r>",)) == ("a </x> b", ["a ", "</x", "> b"])


def test_bytes_that_end_inside_a_character_wait() -> None:
    data = "é".encode()
    assert written([b"a" + data[:1], data[1:], b"b"], ()) == ("aéb", ["a", "é", "b"])


def test_white_space_at_the_beginning_waits_for_something_to_stand_before() -> None:
    assert written([b"\n", b" ", b"x", b" "], ()) == ("\n x ", ["\n x", " "])
    assert written([b"\n", b" "], ()) == ("\n ", [])


@pytest.mark.parametrize("stop", [("ab",), ("ba", "abb"), ("",), ("aab", "é")])
@given(st.lists(st.sampled_from([b"a", b"b", b"ab", b"aa", b" ", *("é".encode()[i : i + 1] for i in (0, 1))])))
def test_the_pieces_are_the_text_and_no_stop_string_is_in_it(stop: tuple[str, ...], pieces: list[bytes]) -> None:
    text, shown = written(pieces, stop)
    silent = ReplyText(stop)
    any(silent.append(piece) for piece in pieces)
    assert silent.finish() == text
    if text.strip():
        assert "".join(shown) == text
    else:
        assert shown == []
    assert all(end not in text for end in stop if end)
    whole = b"".join(pieces)
    places = [place for end in stop if end and (place := whole.find(end.encode())) >= 0]
    assert text == plain(whole[: min(places)] if places else whole)


def plain(data: bytes) -> str:
    text = ReplyText()
    text.append(data)
    return text.finish()
