r"""Text that strays from the language it should be in, as far as scripts and small words tell.

No statistics of letters: they need a lot of text, and code, formulas and names upset them. A sentence counts as foreign
only where it holds several different small words (the, of, what; der, und, nicht; 的, 是) of one other language and
hardly any of its own. Code, formulas, addresses and quotations are left out, as asking about a foreign sentence is not
straying.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

WHOLE = 0.8
"""Share of foreign words from which on a text as a whole is in the wrong language."""

_SCRIPTS: Mapping[str, str] = {
    "latin": "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff",
    "han": "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
    "kana": "\u3041-\u309f\u30a1-\u30ff",
    "hangul": "\u1100-\u11ff\uac00-\ud7af",
    "cyrillic": "\u0400-\u052f",
    "greek": "\u0370-\u03ff",
    "arabic": "\u0600-\u06ff\u0750-\u077f",
    "hebrew": "\u0590-\u05ff",
    "devanagari": "\u0900-\u097f",
    "thai": "\u0e00-\u0e7f",
}
_OWN: Mapping[str, tuple[str, ...]] = {
    "en": ("latin",),
    "de": ("latin",),
    "fr": ("latin",),
    "es": ("latin",),
    "zh": ("han",),
    "ja": ("han", "kana"),
    "ko": ("hangul", "han"),
    "ru": ("cyrillic",),
}
_NAMED = {"kana": "ja", "hangul": "ko", "cyrillic": "ru"}
# Words that are common in another of these languages too are left out: was, die, also, man, pour, no.
_SMALL: Mapping[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": "the of and to is are that with for which what how why when you your this these from by be been it its "
        "as or if not can should would there their they have has does did who where about into than between explain",
        "de": "der das und ist sind nicht ein eine einen einem einer eines mit für auf von zu dem sie ich wie warum "
        "wenn sich auch werden wird aus zum zur oder dass wir haben kann zwischen über nach welche welcher welches wer",
        "fr": "le les et est sont pas une avec sur du qui comment pourquoi quand vous votre cette ces dans aux où il "
        "elle ils être leur nous quel quelle quels expliquez écrivez",
        "es": "el los las y una con por sobre del quién qué cómo cuándo usted este esta estos más ser cuál cuáles "
        "según explique escriba explica escribe",
        "zh": "的 是 了 在 和 不 有 这 为 何 请 我 你 他 与 及 或 吗 呢 个 们 对 中 到",
    }.items()
}
# An ideograph is about half a word, and single letters of other alphabets are the names of numbers.
_LENGTHS = {"latin": "+", "han": "{1,2}", "kana": "{1,2}"}
_WORDS = {script: re.compile(f"[{letters}]{_LENGTHS.get(script, '{2,}')}") for script, letters in _SCRIPTS.items()}
_HAN = re.compile(f"[{_SCRIPTS['han']}]")
_STRANGE = {
    language: re.compile(f"[{''.join(letters for script, letters in _SCRIPTS.items() if script not in own)}]")
    for language, own in _OWN.items()
}
_LEFT_OUT = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]*\$|\\\(.*?\\\)|\\\[.*?\\\]|https?://\S+"
    r"|\"[^\"\n]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|「[^」]*」|『[^』]*』|《[^》]*》",
    re.DOTALL,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_CODE = re.compile(r"[{}\[\];=<>_\\|]|\w\(|\b(?:def|elif|import|lambda|None|null|return|SELECT|FROM|WHERE)\b")
_FEWEST = 3
_FEWEST_LETTERS = 5
_MARKS_OF_CODE = 2


class Leak(NamedTuple):
    """What of a text is in another language than it should be."""

    language: str
    """The other language's code, or the name of its script where that is all that is known: `de`, `greek`."""
    share: float
    """Share of the text's words that stand in sentences of another language, in (0, 1]."""

    @property
    def whole(self) -> bool:
        """Whether the text as a whole is in the wrong language."""
        return self.share >= WHOLE


def leak(text: str, language: str) -> Leak | None:
    """Return what of a text is not in a language, or None where nothing is seen to be.

    Small words are known of English, German, French, Spanish and Chinese, scripts also of Japanese, Korean and Russian;
    of a run in any other language nothing is said.

    Args:
        text: the text.
        language: code of the language that it should be in, `en` or `pt-BR`.

    >>> leak("Warum ist der Himmel blau, und wie hoch ist er?", "en")
    Leak(language='de', share=1.0)
    >>> leak("Translate 你好 into English.", "en"), leak("for i in range(3): print(i) if i not in seen", "de")
    (None, None)
    """
    own = language.partition("-")[0].lower()
    if own not in _OWN or not _suspicious(text, own):
        return None
    rest = _LEFT_OUT.sub(" ", text)
    scripts = [script for script, pattern in _WORDS.items() if pattern.search(rest)]
    if found := _foreign(rest, _said(rest, scripts), own, whole=True):
        return Leak(found, 1.0)
    words, strayed = 0, Counter[str]()
    for sentence in _SENTENCE.split(rest):
        said = _said(sentence, scripts)
        size = sum(map(len, said.values()))
        words += size
        if found := _foreign(sentence, said, own, whole=False):
            strayed[found] += size
    if not strayed:
        return None
    return Leak(min(strayed, key=lambda name: (-strayed[name], name)), strayed.total() / words)


def turn_leak(sections: Iterable[tuple[str, str]], language: str) -> Leak | None:
    """Return what of a turn, given as tags and texts, is not in a language; private thoughts may be in any."""
    return leak("\n".join(text for tag, text in sections if tag != "think"), language)


def _said(passage: str, scripts: Iterable[str]) -> dict[str, list[str]]:
    """Return the words of a passage by their script."""
    return {script: _WORDS[script].findall(passage) for script in scripts}


def _suspicious(text: str, own: str) -> bool:
    """Return quickly whether a text can hold a foreign sentence at all."""
    if len(_STRANGE[own].findall(text)) >= _FEWEST_LETTERS:
        return True
    said = set(_WORDS["latin"].findall(text.lower()))
    return any(len(said & small) >= _FEWEST for language, small in _SMALL.items() if language != own)


def _foreign(passage: str, said: Mapping[str, list[str]], own: str, *, whole: bool) -> str:
    """Return the other language that a passage is in, or nothing.

    A text as a whole must have hardly any word of its own language, and one without any needs less evidence.
    """
    scripts = Counter({script: len(words) for script, words in said.items()})
    words = scripts.total()
    if words < _FEWEST:
        return ""
    strange = Counter({script: count for script, count in scripts.items() if script not in (*_OWN[own], "latin")})
    if strange["kana"] >= _FEWEST:
        # Where there are kana, ideographs are Japanese too.
        strange["han"] = scripts["han"]
    least = WHOLE if whole else 0.5
    if strange.total() >= _FEWEST and strange.total() > least * words:
        return _of_script(passage, strange, whole=whole)
    if len(_CODE.findall(passage)) >= _MARKS_OF_CODE:
        return ""
    latin = {word.lower() for word in said.get("latin", ())}
    hits = {language: len(latin & small) for language, small in _SMALL.items()}
    other = min((name for name in hits if name != own), key=lambda name: (-hits[name], name))
    if "latin" in _OWN[own]:
        return other if hits[other] >= _FEWEST and hits[other] > (10 if whole else 2) * hits[own] else ""
    alone = whole and scripts["latin"] == words
    enough = hits[other] >= (_FEWEST - 1 if alone else _FEWEST)
    return other if enough and scripts["latin"] > least * words else ""


def _of_script(passage: str, strange: Counter[str], *, whole: bool) -> str:
    """Return the language that a passage in another script is in, or the script's name; names alone are no language."""
    if strange["kana"] >= _FEWEST:
        return "ja"
    script = min(strange, key=lambda name: (-strange[name], name))
    if script == "han":
        prose = len(set(_HAN.findall(passage)) & _SMALL["zh"]) >= _FEWEST - 1
        return "zh" if prose or whole else ""
    return _NAMED.get(script, script) if strange[script] > _FEWEST else ""
