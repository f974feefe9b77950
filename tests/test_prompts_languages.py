"""What strays from the language of a run is seen, and code, formulas, names and quotations are not taken for it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.prompts import bundled_questions, load_prompts
from coupled_arena.prompts.languages import leak

CODE = """Explain what this prints.
```python
# der Wert und die Summe sind nicht gleich, wie man sieht
for i in range(10): print(i if i not in seen and it is the one)
```"""

SOUND = [
    ("en", "Translate 你好 into English."),
    ("en", "Compare the poets 李白 (Li Bai), 杜甫 (Du Fu) and 白居易 (Bai Juyi)."),
    ("en", "Rank these generals: 诸葛亮、司马懿、曹操、关羽、张飞、赵云."),
    ("en", 'Correct the grammar of "Der Hund ist mit die Katze auf der Straße und sie sind nicht froh".'),
    ("en", "Let α, β and γ be the angles; show that α + β + γ = π and $\\sum_i \\alpha_i = \\pi$."),
    ("en", "He was late, she was cold, the man was also there, and nobody will die."),
    ("en", "Summarise Also sprach Zarathustra and Das Kapital, and say what they have in common."),
    ("en", CODE),
    ("de", "Schreibe eine Funktion: def f(x): return x if x is not None and x in the_list else 0"),
    ("de", "Wie viele Zeilen liefert SELECT name FROM users WHERE age > 3 AND city IN (1, 2); und warum?"),
    ("de", "Erkläre den Unterschied zwischen Machine Learning, Deep Learning und Reinforcement Learning."),
    ("zh", "请用 Python 写一个 function，读取 input.txt，并解释 the time complexity。"),
    ("zh", "请比较 The Great Gatsby 和 Pride and Prejudice 的主题。"),
    ("zh", "求 f(x) = sin(x) + cos(x) 的导数，并写出 LaTeX：$\\frac{d}{dx} f(x)$。"),
    ("zh", "把“What is the meaning of this, and why is it so?”翻译成中文。"),
    ("pt-BR", "What is the capital of France, and why is it the one that you know?"),
    ("en", ""),
    ("zh", "1 + 1 = ?"),
]

FOREIGN = [
    ("en", "Warum ist der Himmel blau, und wie erklärt man das einem Kind?", "de"),
    ("en", "Ein Händler verkauft 3/4 seiner Äpfel und behält 12. Wie viele hatte er?", "de"),
    ("en", "请解释为什么天空是蓝色的，并说明它在黄昏为何变红。", "zh"),
    ("en", "计算长方形面积，长八米宽五米", "zh"),
    ("en", "空が青いのはなぜですか。夕方に赤くなる理由も説明してください。", "ja"),
    ("en", "Почему небо голубое, а на закате становится красным?", "ru"),
    ("en", "Pourquoi le ciel est bleu, et comment il devient rouge dans la soirée ?", "fr"),
    ("de", "What is the capital of France, and which river runs through it?", "en"),
    ("de", "请解释为什么天空是蓝色的，并说明它在黄昏为何变红。", "zh"),
    ("zh", "Why is the sky blue?", "en"),
    ("zh", "Explain the concept of entropy to a child.", "en"),
    ("zh", "Warum ist der Himmel blau, und wie erklärt man das?", "de"),
    ("zh", "空が青いのはなぜですか。", "ja"),
    ("fr", "¿Cuál es el río más largo y cómo se llama, según los mapas?", "es"),
]


@pytest.mark.parametrize(("language", "text"), SOUND)
def test_code_formulas_names_and_quotations_are_in_no_other_language(language: str, text: str) -> None:
    assert leak(text, language) is None


@pytest.mark.parametrize(("language", "text", "other"), FOREIGN)
def test_a_text_in_another_language_is_seen_to_be_as_a_whole(language: str, text: str, other: str) -> None:
    found = leak(text, language)
    assert found is not None
    assert (found.language, found.whole) == (other, True)


@pytest.mark.parametrize("language", ["en", "de", "zh"])
def test_no_bundled_question_and_no_prompt_strays_from_its_language(language: str) -> None:
    prompts = load_prompts(language)
    texts = [q.text for domain in prompts.domains for q in bundled_questions(language, domain)]
    texts += [domain.example for domain in prompts.domains.values()]
    assert len(texts) > 20
    assert [text for text in texts if leak(text, language)] == []


@pytest.mark.parametrize("language", ["en", "de", "zh"])
@pytest.mark.parametrize("other", ["en", "de", "zh"])
def test_bundled_questions_of_another_language_are_nearly_all_seen(language: str, other: str) -> None:
    if language == other:
        return
    texts = [q.text for domain in load_prompts(other).domains for q in bundled_questions(other, domain)]
    seen = [found for text in texts if (found := leak(text, language))]
    assert len(seen) >= 0.9 * len(texts)
    assert {found.language for found in seen} == {other}


def test_one_sentence_that_strays_is_a_share_of_the_text() -> None:
    answer = "The rate falls with the square of the distance. 因此在两倍的距离上只有四分之一，这是因为面积变大了。 "
    found = leak(answer + "So the answer is one quarter of what it was, as the energy spreads over a sphere.", "en")
    assert found is not None
    assert (found.language, found.whole) == ("zh", False)
    assert 0.2 < found.share < 0.5


def test_a_long_text_without_a_leak_costs_little() -> None:
    text = "The quick answer is that the lamp, which nobody had lit for years, fails in the rain. " * 200
    start = time.perf_counter()
    for _ in range(10):
        assert leak(text, "en") is None
    assert time.perf_counter() - start < 0.5


@given(st.text(max_size=200), st.sampled_from(["en", "de", "fr", "zh", "ja", "xx"]))
def test_whatever_the_text_the_share_is_a_share(text: str, language: str) -> None:
    found = leak(text, language)
    assert found is None or 0 < found.share <= 1
