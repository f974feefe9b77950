"""What a language writes and how it counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.errors import ConfigurationError
from coupled_arena.prompts import Grammar, load_prompts, prompt_names, read_verdict
from coupled_arena.records import Verdict

WORDS = Grammar({})
CHARACTERS = Grammar({}, unit="characters")


@pytest.mark.parametrize("name", prompt_names())
def test_the_labels_of_every_language_are_read_back_in_the_order_a_b_tie(name: str) -> None:
    grammar = load_prompts(name).grammar
    expected: list[Verdict] = ["A", "B", "tie"]
    assert [read_verdict(label, grammar).verdict for label in grammar.labels] == expected
    assert [grammar.verdicts[label] for label in grammar.labels] == expected


def test_a_language_accepts_its_own_words_for_a_tie_beside_the_english_one_and_no_other() -> None:
    zh = load_prompts("zh").grammar
    assert [read_verdict(f"[[{word}]]", zh).verdict for word in ("平局", "平手", "tie")] == ["tie"] * 3
    assert read_verdict("[[tie]] [[平局]]", zh).verdict == "tie"
    assert read_verdict("[[Unentschieden]]", zh).verdict is None


def test_a_problem_is_put_in_the_language_of_the_grammar() -> None:
    assert read_verdict("", load_prompts("zh").grammar).problem == "回复中没有出现 [[A]], [[B]], [[平局]] 中的任何一个"


def test_the_reasons_are_what_is_left_of_a_reply() -> None:
    reading = read_verdict("<think>hm</think>A is right.\n**[[A]]** since B erred.", load_prompts("en").grammar)
    assert reading.reasons == "A is right.\n**** since B erred."


def test_an_unknown_action_is_its_own_tag_and_a_broken_name_is_refused() -> None:
    assert WORDS.open("note") + WORDS.close("note") == "<note></note>"
    with pytest.raises(ConfigurationError, match="'two words' cannot be a tag: use a letter first, then letters"):
        WORDS.open("two words")


@pytest.mark.parametrize(
    ("grammar", "text", "count"),
    [
        (WORDS, "one  two\nthree", 3),
        (WORDS, "", 0),
        (WORDS, "x" * 81, 3),
        (WORDS, "你好 world", 3),
        (CHARACTERS, "你好， world", 8),
        (CHARACTERS, " \n", 0),
    ],
)
def test_length_cannot_be_hidden_from_the_count(grammar: Grammar, text: str, count: int) -> None:
    assert grammar.count(text) == count


@given(st.text(st.characters(codec="ascii")) | st.text("ab \n\x1c\x0b", min_size=30))
def test_a_text_of_plain_letters_is_counted_like_any_other(text: str) -> None:
    assert WORDS.count(text) + 1 == WORDS.count(f"{text} é")


@pytest.mark.parametrize(
    ("grammar", "text", "limit", "expected"),
    [
        (WORDS, "one two three", 2, "one two"),
        (WORDS, "one two", 2, "one two"),
        (WORDS, "one two ", 2, "one two "),
        (WORDS, "one", 0, ""),
        (CHARACTERS, "甲乙丙丁", 3, "甲乙丙"),
        (CHARACTERS, "甲 word 乙", 3, "甲"),
        (CHARACTERS, "甲 word 乙", 5, "甲 word"),
        (CHARACTERS, "unbroken", 3, "unb"),
    ],
)
def test_a_text_is_cut_at_a_word(grammar: Grammar, text: str, limit: int, expected: str) -> None:
    assert grammar.cut(text, limit) == expected


@given(st.text(max_size=80), st.integers(0, 30), st.sampled_from([WORDS, CHARACTERS]))
def test_a_cut_text_is_a_beginning_within_the_limit_and_a_short_one_is_untouched(
    text: str, limit: int, grammar: Grammar
) -> None:
    cut = grammar.cut(text, limit)
    assert text.startswith(cut)
    assert grammar.count(cut) <= limit
    assert grammar.count(text) > limit or cut == text
