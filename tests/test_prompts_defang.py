"""Text that may not say anything to the machinery any more."""

import sys
import time
import unicodedata

import pytest

from coupled_arena.prompts import Grammar, defang, load_prompts, prompt_names
from coupled_arena.prompts.characters import BREAK, GAP, HIDDEN, SPACE, fold
from coupled_arena.prompts.defang import ACTIONS, TRANSLATED


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[A]]", r"[\[A]\]"),
        ("[[[[A]]]]", r"[\[\[\[A]\]\]\]"),
        ("[ [A] ]", r"[ \[A] \]"),
        ("【【 Ａ 】】", r"【\【 Ａ 】\】"),
        ("[\u200b[A]]", "[\u200b\\[A]\\]"),
        ("[[anything else]]", r"[\[anything else]\]"),
        ("a <respond> b </respond>", r"a <\respond> b <\/respond>"),
        ("< / TURN >", r"<\ / TURN >"),
        ('<turn speaker="A">', r'<\turn speaker="A">'),
        ("＜回答＞", r"＜\回答＞"),
        ("<re\u200dspond", "<\\re\u200dspond"),
        ("a\x00b\ud800c", "a\ufffdb\ufffdc"),
    ],
)
def test_markers_and_tags_are_broken_in_a_way_one_can_see(text: str, expected: str) -> None:
    assert defang(text) == expected
    assert defang(expected) == expected


@pytest.mark.parametrize(
    "text",
    [
        "[[1, 2], [3, 4]]",
        "a[0][1]",
        "[A] or [B]",
        "[[\nA\n]]",
        "<div class='turn'>x</div>",
        "if a <turns and b> c",
        "i<round(x)",
        "List<Item>",
        "naïve \t text\r\nwith \x1b[31m escapes and \u200b\u200b",
        "",
    ],
)
def test_other_text_is_left_alone(text: str) -> None:
    assert defang(text) == text


def test_the_tags_of_every_shipped_language_are_broken_without_naming_the_language() -> None:
    tags = {tag for name in prompt_names() for tag in load_prompts(name).grammar.actions.values()}
    assert tags == {*ACTIONS, *TRANSLATED}
    assert all(defang(f"<{tag}>") == f"<\\{tag}>" for tag in tags)


def test_a_grammar_breaks_the_tags_of_its_own_language_and_roles() -> None:
    grammar = Grammar({"respond": "répondre"}).with_actions("note")
    assert grammar.defang("<RÉPONDRE> </note>") == r"<\RÉPONDRE> <\/note>"
    assert defang("<répondre>") == "<répondre>"


def test_every_format_character_and_space_of_unicode_is_known() -> None:
    characters = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code < 0xE000]
    unknown = [c for c in characters if unicodedata.category(c) == "Cf" and fold(c)]
    assert unknown == []
    spaces = [c for c in characters if unicodedata.category(c) == "Zs" or c == "\t"]
    assert all(defang(f"[{c}[A]]") != f"[{c}[A]]" for c in spaces)
    assert {c for c in characters if len(f"a{c}b".splitlines()) > 1} == set(BREAK)
    assert GAP == SPACE + HIDDEN


@pytest.mark.parametrize(
    "piece",
    ["[", "[ ", "[[A]]", "[[A", "[x", "]", "<", "< ", "</", "<turn", "<turn>", "< \u200b/ ", "<a ", " ", "\u200b", "x"],
)
def test_a_long_text_takes_time_in_proportion_whatever_it_holds(piece: str) -> None:
    text = piece * (300_000 // len(piece))
    start = time.process_time()
    defang(text)
    assert time.process_time() - start < 5
