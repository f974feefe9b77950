"""Reading the sections of a turn."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.prompts import load_prompts, read_sections

EN = load_prompts("en").grammar


def sections(text: str, language: str = "en") -> list[tuple[str, str]]:
    return [(section.tag, section.text) for section in read_sections(text, load_prompts(language).grammar)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("<respond>42</respond>", [("respond", "42")], id="plain"),
        pytest.param("<Think>hm</THINK><respond>42</respond>", [("think", "hm"), ("respond", "42")], id="case"),
        pytest.param("< respond >42</ respond >", [("respond", "42")], id="spaces"),
        pytest.param("＜respond＞42＜／respond＞", [("respond", "42")], id="full-width"),
        pytest.param("<res\u200bpond>42</respond>", [("respond", "42")], id="hidden-character"),
        pytest.param('<respond lang="en">42</respond>', [("respond", "42")], id="attribute"),
        pytest.param("<respond>42", [("respond", "42")], id="no-closing-tag"),
        pytest.param("<respond>42</resp", [("respond", "42")], id="closing-tag-cut"),
        pytest.param("<respond>42</response>", [("respond", "42")], id="closing-tag-misspelt"),
        pytest.param("<think>hm <respond>42", [("think", "hm"), ("respond", "42")], id="no-closing-tags"),
        pytest.param(
            "<think>a<respond>b</respond><think>c</think>", [("think", "a\nc"), ("respond", "b")], id="reopened-thought"
        ),
        pytest.param("<criticize>bad</raise>", [("criticize", "bad")], id="closed-by-another-tag"),
        pytest.param("<respond>42</respond> Hope this helps!", [("respond", "42")], id="trailing-prose"),
        pytest.param("Sure. <respond>42</respond>", [("respond", "42")], id="leading-prose"),
        pytest.param(
            "<criticize>bad</criticize><raise>why?</raise> I hope I was fair.",
            [("criticize", "bad"), ("raise", "why?")],
            id="trailing-prose-is-no-answer",
        ),
        pytest.param("42", [("respond", "42")], id="untagged"),
        pytest.param("<think>hm</think>42", [("think", "hm"), ("respond", "42")], id="untagged-after-thoughts"),
        pytest.param("hm</think>42", [("think", "hm"), ("respond", "42")], id="thoughts-without-opening-tag"),
        pytest.param("hm</think><respond>42</respond>", [("think", "hm"), ("respond", "42")], id="thoughts-then-tags"),
        pytest.param("<thinking>hm</thinking>42", [("think", "hm"), ("respond", "42")], id="another-word-for-thoughts"),
        pytest.param("<think>hm", [("think", "hm")], id="unfinished-thoughts-are-no-answer"),
        pytest.param("42</respond>", [("respond", "42")], id="opening-tag-missing"),
        pytest.param("<respond>1</respond><respond>2</respond>", [("respond", "1")], id="first-of-two-counts"),
        pytest.param("<respond></respond><respond>2</respond>", [("respond", "2")], id="an-empty-one-does-not-count"),
        pytest.param("<respond> </respond>42", [("respond", "42")], id="empty-section-and-prose"),
        pytest.param(
            "<respond>Use the <think> tag.</respond>", [("respond", "Use the <think> tag.")], id="literal-tag"
        ),
        pytest.param(
            "<respond>Say `<think>x</think>` here.</respond>", [("respond", "Say `<think>x</think>` here.")], id="code"
        ),
        pytest.param("<respond>Use `x`</respond>", [("respond", "Use `x`")], id="code-before-closing-tag"),
        pytest.param("<respond>A <respond> tag.</respond>", [("respond", "A <respond> tag.")], id="literal-own-tag"),
        pytest.param(
            "<respond><think>secret</think>42</respond>", [("respond", "42"), ("think", "secret")], id="thoughts-inside"
        ),
        pytest.param(
            "<respond>ok <raise>so <think>s</think>?</raise></respond>",
            [("respond", "ok"), ("raise", "so ?"), ("think", "s")],
            id="nested-deeper",
        ),
        pytest.param("<div>42</div> a < b > c", [("respond", "<div>42</div> a < b > c")], id="other-tags-are-text"),
        pytest.param("<raise your hand> please", [("respond", "<raise your hand> please")], id="prose-in-angles"),
        pytest.param("", [], id="empty"),
        pytest.param(" \n", [], id="blank"),
    ],
)
def test_sections_are_read_however_they_were_tagged(text: str, expected: list[tuple[str, str]]) -> None:
    assert sections(text) == expected


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("zh", "<思考>嗯</思考><回答>42</回答>"),
        ("zh", "〈思考〉嗯〈/思考〉<respond>42</respond>"),
        ("de", "<Nachdenken>嗯</nachdenken><antworten>42</antworten>"),
    ],
)
def test_a_language_reads_its_own_tags_and_the_canonical_ones(language: str, text: str) -> None:
    assert sections(text, language) == [("think", "嗯"), ("respond", "42")]


def test_the_tags_of_another_language_are_text() -> None:
    assert sections("<回答>42</回答>") == [("respond", "<回答>42</回答>")]


def test_a_role_reads_its_own_action() -> None:
    grammar = EN.with_actions("note")
    assert [(s.tag, s.text) for s in read_sections("<note>false</note> bye", grammar)] == [("note", "false")]


@given(st.lists(st.sampled_from(["<think>", "</think>", "<respond>", "</respond>", "<raise>", "</raise>", "a", "`"])))
def test_whatever_the_tags_each_action_comes_once_and_is_not_empty(pieces: list[str]) -> None:
    read = sections("".join(pieces))
    assert len({tag for tag, _ in read}) == len(read)
    assert all(text == text.strip() != "" for _, text in read)


@pytest.mark.parametrize(
    "piece", ["<think>", "</think>", "<think><raise>", "`", "<", "<think ", "< \u200b", "<respond>a"]
)
def test_a_long_text_of_tags_is_read_in_proportionate_time(piece: str) -> None:
    text = piece * (300_000 // len(piece))
    start = time.process_time()
    read_sections(text, EN)
    assert time.process_time() - start < 5
