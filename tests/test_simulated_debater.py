import math
import statistics
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from coupled_arena.coupling import Sampling
from coupled_arena.models.simulated.claims import asserted, doubted
from coupled_arena.models.simulated.debater import MOST, SLOPE, Debater
from coupled_arena.models.simulated.dials import Dials
from coupled_arena.models.simulated.wording import wordings
from coupled_arena.models.simulated.world import ClaimBook
from coupled_arena.prompts import PromptSet, load_prompts, read_sections
from coupled_arena.records import Section
from tests.simulated_scene import OPENING, QUESTION, ask, noise, opening_chat, play, turn_chat

DRAWS = 2_000


def openings(model: str, count: int, *, domain: str = "stem", temperature: float = 0.7) -> list[tuple[str, ...]]:
    chat = opening_chat(domain=domain)
    return [asserted(ask(model, chat, noise(n), temperature=temperature).text) for n in range(count)]


def mean_quality(claims: list[tuple[str, ...]]) -> float:
    subject = ClaimBook(0).subject(QUESTION)
    return statistics.mean(float(subject.quality[subject.index[code]]) for codes in claims for code in codes)


def test_equal_dice_and_equal_skill_give_one_opening_whatever_the_name() -> None:
    for number in range(20):
        texts = {ask(model, opening_chat(), noise(number)).text for model in ("sim/a?skill=0.5", "sim/b?skill=0.5")}
        assert len(texts) == 1


def test_nearly_equal_skill_with_equal_dice_gives_mostly_the_same_opening() -> None:
    pairs = list(zip(openings("sim/a?skill=0.5", 200), openings("sim/b?skill=0.55", 200), strict=True))
    assert sum(a == b for a, b in pairs) > 160
    apart = list(zip(openings("sim/a?skill=0.5", 200), openings("sim/b?skill=0.5", 400)[200:], strict=True))
    assert sum(a == b for a, b in apart) < 20


def drawn(logits: NDArray[np.float64], count: int, temperature: float, dice: int = DRAWS) -> list[list[int]]:
    """Draw so many different claims with every one of many dice."""
    subject = ClaimBook(0).subject(QUESTION)
    english = wordings()["en"]
    sampling = Sampling(temperature)
    debaters = (Debater(Dials(), 0, subject, english, sampling, noise("law", number)) for number in range(dice))
    return [[subject.index[claim.code] for claim in debater.draw(logits, count, 0)] for debater in debaters]


@pytest.mark.parametrize("temperature", [0.7, 1.5])
def test_the_first_claim_follows_the_softmax(temperature: float) -> None:
    logits = 0.8 * ClaimBook(0).subject(QUESTION).quality
    weights = np.exp(logits / temperature)
    expected = DRAWS * weights / weights.sum()
    observed = np.bincount([first for (first,) in drawn(logits, 1, temperature)], minlength=len(logits))
    freedom = len(logits) - 1
    assert float(((observed - expected) ** 2 / expected).sum()) < freedom + 4 * math.sqrt(2 * freedom)


def test_the_second_claim_follows_the_softmax_of_what_is_left() -> None:
    logits = 2.0 * ClaimBook(0).subject(QUESTION).quality
    weights = np.exp(logits)
    best, next_best = (int(place) for place in np.argsort(-logits)[:2])
    seconds = [second for first, second in drawn(logits, 2, 1.0) if first == best]
    expected = float(weights[next_best] / (weights.sum() - weights[best]))
    spread = math.sqrt(expected * (1 - expected) / len(seconds))
    assert len(seconds) > DRAWS / 10
    assert seconds.count(next_best) / len(seconds) == pytest.approx(expected, abs=4 * spread)


def test_an_opening_draws_from_skill_times_quality() -> None:
    subject = ClaimBook(0).subject(QUESTION)
    skilled = Debater(Dials(), -0.5, subject, wordings()["en"], Sampling(1.0), noise(3))
    places = skilled.draw(-0.5 * SLOPE * subject.quality, MOST, 0, length=Dials().verbosity)
    said = ask("sim/a?skill=-0.5", opening_chat(), noise(3), temperature=1).text
    assert asserted(said) == tuple(claim.code for claim in places)


def test_no_claim_is_made_twice_in_a_statement_and_all_can_be_made() -> None:
    count = len(ClaimBook(0).subject(QUESTION).claims)
    assert [len(set(places)) for places in drawn(np.zeros(count), count, 1.0, 20)] == [count] * 20


def test_skill_raises_the_quality_of_claims() -> None:
    qualities = [mean_quality(openings(f"sim/a?skill={skill}", 200)) for skill in (-2, -1, 0, 1, 2)]
    assert all(higher - lower > 0.3 for lower, higher in pairwise(qualities))


def test_the_skill_of_a_domain_counts_in_that_domain_only() -> None:
    model = "sim/a?skill=-2&skill.math=2"
    assert mean_quality(openings(model, 100, domain="math")) > 0.5
    assert mean_quality(openings(model, 100, domain="stem")) < -0.5


def test_verbosity_makes_statements_longer_but_not_better() -> None:
    short, long = openings("sim/a?verbosity=2", 300), openings("sim/a?verbosity=8", 300)
    assert statistics.mean(map(len, short)) == pytest.approx(2, abs=0.7)
    assert statistics.mean(map(len, long)) == pytest.approx(8, abs=1.5)
    assert mean_quality(short) == pytest.approx(mean_quality(long), abs=0.15)


def test_debaters_of_one_taste_make_more_of_the_same_claims() -> None:
    def shared(one: str, other: str) -> int:
        total = 0
        for number in range(200):
            chat = opening_chat(f"question {number}")
            codes = [set(asserted(ask(model, chat, noise(model, number)).text)) for model in (one, other)]
            total += len(codes[0] & codes[1])
        return total

    assert shared("sim/a?taste=oak", "sim/b?taste=oak") > 1.5 * shared("sim/a?taste=oak", "sim/b?taste=elm")


def test_greedy_debaters_need_no_dice() -> None:
    replies = {ask("sim/a?skill=1", opening_chat(), noise(number), temperature=0).text for number in range(5)}
    assert len(replies) == 1
    best = ClaimBook(0).ranked(QUESTION)[0].code
    assert asserted(replies.pop())[0] == best


@pytest.mark.parametrize("language", ["en", "de", "zh", "compact"])
def test_a_whole_battle_has_every_section_it_was_asked_for(language: str) -> None:
    prompts = load_prompts(language)
    turns = play("sim/a?skill=1", "sim/b", QUESTION, 1, prompts)
    said = [tuple(section.tag for section in turn.sections) for turn in turns]
    assert said == [
        ("respond",),
        ("respond",),
        ("criticize", "raise"),
        ("respond",),
        ("criticize", "raise"),
        ("respond",),
        ("criticize", "raise"),
        ("respond", "criticize", "raise"),
        ("respond",),
    ]
    assert all(asserted(s.text) for turn in turns for s in turn.sections if s.tag == "respond")


@pytest.mark.parametrize("language", ["de", "zh"])
def test_a_debater_says_the_same_in_every_language(language: str) -> None:
    def codes(prompts: PromptSet) -> list[tuple[str, ...]]:
        turns = play("sim/a?skill=1", "sim/b", QUESTION, 1, prompts)
        return [asserted(section.text) for turn in turns for section in turn.sections]

    assert codes(load_prompts(language)) == codes(load_prompts("en"))


def test_a_debater_answers_a_request_for_missing_actions_only() -> None:
    prompts = load_prompts("en")
    chat = turn_chat(opening_chat(), "", (Section(tag="respond", text="Claim A2A2: so."),), ("criticize",))
    missing = prompts.render("debater.request", missing=prompts.slots(("raise",)), limit="20")
    reply = ask("sim/a", [*chat, chat[-1]._replace(content=missing)])
    assert [section.tag for section in read_sections(reply.text, prompts.grammar)] == ["raise"]


def test_an_action_of_a_users_own_is_answered_with_claims_in_its_tag() -> None:
    chat = turn_chat(opening_chat(), "", (), ("summarize",))
    grammar = load_prompts("en").grammar.with_actions("summarize")
    (section,) = read_sections(ask("sim/a", chat).text, grammar)
    assert section.tag == "summarize"
    assert asserted(section.text)


def test_critics_name_claims_of_their_opponent_and_skill_finds_the_weak_ones() -> None:
    ranked = [claim.code for claim in ClaimBook(0).ranked(QUESTION)]
    heard = (Section(tag="respond", text=f"{ranked[0]}: a. {ranked[10]}: b. {ranked[-1]}: c."),)
    chat = turn_chat(opening_chat(), "", heard, ("criticize", "raise"))
    named = Counter(code for n in range(200) for code in doubted(ask("sim/a?skill=1.5", chat, noise(n)).text))
    assert set(named) <= {ranked[0], ranked[10], ranked[-1]}
    assert named[ranked[-1]] > 300
    assert asserted(ask("sim/a", chat).text) == ()


def test_a_critic_who_heard_no_claim_says_so_in_words() -> None:
    chat = turn_chat(opening_chat(), "", (Section(tag="respond", text="Hello."),), ("criticize", "raise"))
    sections = read_sections(ask("sim/a", chat).text, load_prompts("en").grammar)
    assert [(section.tag, doubted(section.text)) for section in sections] == [("criticize", ()), ("raise", ())]


def test_an_attacked_claim_is_made_again_less_often_than_one_that_stands() -> None:
    subject = ClaimBook(0).subject(QUESTION)
    own, other = (claim.code for claim in subject.claims[:2])
    said = f"<respond>Claim {own}: so. Claim {other}: so.</respond>"
    attack = (Section(tag="criticize", text=f"What you say in {own} does not hold up."),)
    chat = turn_chat(opening_chat(), said, attack, OPENING)
    again = Counter(code for n in range(600) for code in asserted(ask("sim/a", chat, noise(n)).text))
    assert again[own] * 3 < again[other]


def test_a_thought_is_written_where_one_is_asked_for() -> None:
    chat = turn_chat(opening_chat(), "", (), ("think", "respond"))
    sections = read_sections(ask("sim/a", chat).text, load_prompts("en").grammar)
    assert [section.tag for section in sections] == ["think", "respond"]
    assert asserted(sections[0].text) == ()


def test_a_prompt_set_in_an_unknown_language_still_gets_its_own_tags() -> None:
    prompts = load_prompts("en")
    chat = opening_chat()
    asked = chat[-1].content.replace("<respond>…</respond>", "<réponse>…</réponse>")
    reply = ask("sim/a", [chat[0], chat[1]._replace(content=asked)])
    assert reply.text.startswith("<réponse>")
    assert reply.text.endswith("</réponse>")
    assert asserted(read_sections(reply.text, prompts.grammar)[0].text)
