"""Prompt sets: complete, strict, and what they may say."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coupled_arena.errors import ConfigurationError
from coupled_arena.prompts import load_prompts, prompt_names
from coupled_arena.prompts.defang import ENVELOPES
from coupled_arena.prompts.templates import TEMPLATES
from coupled_arena.prompts.verdict import PROBLEMS

PAPER = ["writing", "roleplay", "extraction", "reasoning", "math", "coding", "stem", "humanities"]
TOKENS_PER_CHARACTER = 1 / 3.5
"""Of English in the vocabulary of SmolLM2, roughly."""


def problems_of(path: Path) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        load_prompts(path)
    return [str(problem).removeprefix(str(path) + ": ") for problem in caught.value.problems]


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return tmp_path / "own.toml"


@pytest.mark.parametrize("name", prompt_names())
def test_every_set_renders_every_template_with_exactly_its_fields(name: str) -> None:
    prompts = load_prompts(name)
    for template, fields in TEMPLATES.items():
        text = prompts.render(template, **{field: f"<{field} value>" for field in fields})
        assert all(f"<{field} value>" in text for field in fields)


@pytest.mark.parametrize("name", prompt_names())
def test_no_template_writes_an_envelope_of_its_own(name: str) -> None:
    for template, text in load_prompts(name).templates.items():
        assert not any(f"<{envelope}" in text for envelope in ENVELOPES), template


@pytest.mark.parametrize("name", prompt_names())
def test_users_messages_to_debaters_name_required_tags_nowhere_but_in_their_field(name: str) -> None:
    prompts = load_prompts(name)
    for template in ("debater.opening", "debater.turn", "debater.request"):
        assert "<" not in prompts.templates[template]


@pytest.mark.parametrize("name", prompt_names())
def test_an_opening_says_nothing_of_sides_opponents_or_names(name: str) -> None:
    prompts = load_prompts(name)
    said = prompts.templates["debater.system"] + prompts.templates["debater.opening"]
    assert not any(word in said.casefold().split() for word in ("opponent", "gegner", "side", "seite", "assistant a"))
    assert "对手" not in said


@pytest.mark.parametrize("name", prompt_names())
def test_judges_are_told_the_labels_that_the_grammar_reads(name: str) -> None:
    prompts = load_prompts(name)
    assert all(label in prompts.templates["judge.marker"] for label in prompts.grammar.labels)
    assert all(label[2:-2] in prompts.templates["judge.json"] for label in prompts.grammar.labels)


@pytest.mark.parametrize("name", ["en", "zh", "de"])
def test_the_tags_a_debater_is_told_are_those_of_its_language(name: str) -> None:
    prompts = load_prompts(name)
    for action in prompts.grammar.actions:
        assert prompts.grammar.open(action) in prompts.templates["debater.system"]


@pytest.mark.parametrize("name", prompt_names())
def test_the_eight_domains_of_the_paper_are_there_with_its_references(name: str) -> None:
    prompts = load_prompts(name)
    assert list(prompts.domains) == PAPER
    assert [domain for domain in PAPER if prompts.domain(domain).needs_reference] == ["reasoning", "math", "coding"]


@pytest.mark.parametrize(
    ("name", "long"),
    [
        ("en", ["writing", "roleplay", "coding", "humanities"]),
        ("de", ["writing", "roleplay", "coding", "humanities"]),
        ("zh", ["coding"]),
    ],
)
def test_budgets_are_those_of_the_paper(name: str, long: list[str]) -> None:
    prompts = load_prompts(name)
    assert {domain: prompts.domain(domain).words for domain in PAPER} == {
        domain: 400 if domain in long else 300 for domain in PAPER
    }


@pytest.mark.parametrize(("name", "tokens"), [("en", (400, 533)), ("zh", (450, 600)), ("de", (600, 800))])
def test_words_are_turned_into_tokens_as_in_the_paper(name: str, tokens: tuple[int, int]) -> None:
    prompts = load_prompts(name)
    assert (prompts.max_tokens(300), prompts.max_tokens(400)) == tokens
    assert prompts.max_tokens(0) == 1


def test_an_unknown_domain_gets_the_defaults_under_its_own_name() -> None:
    domain = load_prompts("de").domain("sea_law")
    assert (domain.name, domain.title, domain.words, domain.needs_reference) == ("sea_law", "sea law", 300, False)
    assert "sea law" in domain.command


def test_the_compact_instructions_fit_a_tiny_model() -> None:
    templates = load_prompts("compact").templates
    for parts in (("debater.system", "debater.opening"), ("judge.system", "judge.opinion", "judge.marker")):
        text = "".join(templates[part] for part in parts)
        assert len(text) * TOKENS_PER_CHARACTER <= 250
        assert len(text.split()) <= 120


@given(st.text(), st.text(), st.text())
def test_what_a_field_holds_is_never_read_as_a_template(question: str, reference: str, transcript: str) -> None:
    prompts = load_prompts("compact")
    marked = {"question": f"Q{question}{{reference}}$x", "reference": f"R{reference}", "transcript": f"T{transcript}"}
    text = prompts.render("judge.opinion", **marked)
    assert text.startswith(f"{marked['question']}\n\n{marked['reference']}\n\n{marked['transcript']}\n\n")


def test_an_empty_reference_leaves_no_gap() -> None:
    text = load_prompts("en").render("judge.opinion", question="Q", reference="", transcript="T")
    assert text.startswith("Q\n\nT\n\nWhich")


def test_rendering_is_strict() -> None:
    prompts = load_prompts("en")
    with pytest.raises(ConfigurationError, match=r"en.toml: judge.opinoin: there is no such template"):
        prompts.render("judge.opinoin")
    with pytest.raises(ConfigurationError) as caught:
        prompts.render("labels.limit", wrods="1")
    assert [str(problem) for problem in caught.value.problems] == [
        "en.toml: labels.limit: the field words was not given; it uses words",
        "en.toml: labels.limit: does not use the field wrods; it uses words",
    ]


@pytest.mark.parametrize("name", ["fr", "EN", "", "prompts/en"])
def test_an_unknown_name_lists_what_there_is(name: str) -> None:
    with pytest.raises(ConfigurationError, match="no such prompt set; use one of compact, de, en, zh"):
        load_prompts(name)


def test_a_missing_file_is_named(own: Path) -> None:
    assert problems_of(own) == ["prompts: cannot be read: No such file or directory"]


def test_a_file_may_say_only_what_differs_from_its_base(own: Path) -> None:
    own.write_text(
        '\ufeffbase = "en"\n[labels]\nlimit = "{words} words at most"\n[domains.sport]\ntitle = "sport"\n'
        'command = "About sport."\nexample = "Why?"\nwords = 50\nneeds_reference = true\n',
        "utf-8",
    )
    prompts, base = load_prompts(own), load_prompts("en")
    assert prompts.name == "own"
    assert prompts.render("labels.limit", words="2") == "2 words at most"
    assert prompts.domain("sport").needs_reference
    changed = {name for name, text in prompts.templates.items() if text != base.templates[name]}
    assert changed == {"labels.limit"}
    assert prompts.digest != base.digest


def test_the_digest_is_of_the_content_and_not_of_the_name(own: Path) -> None:
    own.write_text('base = "en"\n')
    assert load_prompts(own).digest == load_prompts("en").digest
    assert len({load_prompts(name).digest for name in prompt_names()}) == len(prompt_names())


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('base = "fr"', "base: there is no prompt set 'fr'; use one of compact, de, en, zh"),
        ('base = "en"\n[judge]\nopinion = "{question} {transcript}"',
         "judge.opinion: the field {reference} is not used; its fields are {question}, {reference}, {transcript}"),
        ('base = "en"\n[judge]\nsystem = "You are {name}."', "judge.system: unknown field {name}; it has no fields"),
        ('base = "en"\n[judge]\nsytem = "x"', "judge.sytem: is unknown; there are system, opinion, reference, "
         "discussion, repair, json, marker, choose"),
        ('base = "en"\n[judge]\nsystem = 3', "judge.system: must be text that is not empty"),
        ('base = "en"\njudge = 3', "judge: must be a table"),
        ('base = "en"\n[jury]\nx = 1', "jury: is unknown; there are language, grammar, default_domain, domains, "
         "debater, judge, examiner, difficulty, reference, role, labels"),
        ('base = "en"\n[grammar]\nunit = "pages"', 'grammar.unit: must be "words" or "characters"'),
        ('base = "en"\n[grammar]\ntie = ["A"]',
         "grammar.tie: must be a list of words for a tie that are neither A nor B"),
        ('base = "en"\n[grammar.actions]\nraise = "respond"', "grammar.actions.raise: has the tag of respond"),
        ('base = "en"\n[grammar.actions]\nraise = "turn"',
         "grammar.actions.raise: turn is the name of an envelope; use another"),
        ('base = "en"\n[grammar.actions]\nraise = "a b"',
         "grammar.actions.raise: must be a tag: a letter first, then letters, digits, `-` and `_`, 32 at most"),
        ('base = "en"\n[grammar.problems]\nnone = "{x}"', "grammar.problems.none: unknown field {x}"),
        ('base = "en"\n[default_domain]\ncommand = "Hard."',
         "default_domain.command: must use the field {domain} once, and no other"),
        ('base = "en"\n[domains.math]\nwords = 0', "domains.math.words: must be a whole number from 1 to 100000"),
        ('base = "en"\n[domains]\nmath = 1', "domains.math: must be a table"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_key(own: Path, content: str, problem: str) -> None:
    own.write_text(content)
    assert problem in problems_of(own)


def test_broken_toml_is_refused(own: Path) -> None:
    own.write_text("a = [")
    assert problems_of(own)[0].startswith("prompts: is not TOML: ")


def test_a_set_without_base_must_be_complete_and_says_everything_that_is_missing(own: Path) -> None:
    own.write_text('language = "fr"\n[grammar]\nunit = "words"\n[judge]\n[labels]\nround = "Partie {number}"')
    problems = problems_of(own)
    assert {"debater: is missing", "judge.system: is missing", "labels.limit: is missing"} <= set(problems)
    assert "grammar.tie: is missing" in problems


def test_the_english_set_says_the_problems_that_the_grammar_falls_back_on() -> None:
    assert load_prompts("en").grammar.problems == PROBLEMS


@pytest.mark.parametrize("name", ["zh", "de"])
def test_no_other_language_says_its_problems_in_english(name: str) -> None:
    problems = load_prompts(name).grammar.problems
    assert problems.keys() == PROBLEMS.keys()
    assert not set(problems.values()) & set(PROBLEMS.values())


def test_a_role_of_the_users_own_gets_its_tag() -> None:
    prompts = load_prompts("zh").with_actions("note")
    assert prompts.grammar.open("note") == "<note>"
    assert prompts.digest == load_prompts("zh").digest
