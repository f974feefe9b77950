"""What the dials of debating, judging and examining do that leave every reply as it is until they are turned."""

import math
import statistics
from collections import Counter

import pytest

from coupled_arena.models.calls import Message
from coupled_arena.models.simulated.claims import asserted, doubted
from coupled_arena.models.simulated.dials import dial_problems
from coupled_arena.models.simulated.examiner import spread_for
from coupled_arena.models.simulated.reading import find_own_margin
from coupled_arena.models.simulated.world import CLAIMS, ClaimBook
from coupled_arena.prompts import load_prompts, near_duplicate, prompt_names, read_sections, read_verdict
from coupled_arena.records import Section
from tests.simulated_scene import (
    ENGLISH,
    OPENING,
    QUESTION,
    ask,
    discussion_chat,
    judge_chat,
    noise,
    opening_chat,
    play,
    turn,
    turn_chat,
)

CODES = tuple(claim.code for claim in ClaimBook(0).subject(QUESTION).claims)


def criticism(model: str) -> tuple[str, ...]:
    heard = (Section(tag="respond", text=" ".join(f"{code}: so." for code in CODES[:8])),)
    return doubted(ask(model, turn_chat(opening_chat(), "", heard, ("criticize",))).text)


def test_attack_is_how_many_claims_a_criticism_names() -> None:
    counts = [len(criticism(f"sim/a?verbosity=6&attack={attack}")) for attack in (0, 0.5, 1, 2)]
    assert counts == [0, 1, 2, 4]


def test_concession_gives_up_what_was_attacked_and_stubbornness_repeats_it() -> None:
    said = f"<respond>Claim {CODES[0]}: so. Claim {CODES[1]}: so.</respond>"
    attack = (Section(tag="criticize", text=f"What you say in {CODES[0]} does not hold up."),)
    chat = turn_chat(opening_chat(), said, attack, OPENING)
    again = [
        sum(CODES[0] in asserted(ask(f"sim/a?concession={dial}", chat, noise(n)).text) for n in range(200))
        for dial in (-2, 0, 2)
    ]
    assert again[0] > 2 * again[1] > 4 * again[2]


def test_truncation_cuts_turns_at_its_rate_and_keeps_their_beginning() -> None:
    whole = [ask("sim/a?verbosity=8", opening_chat(), noise(n)) for n in range(300)]
    some = [ask("sim/a?verbosity=8&truncation=0.3", opening_chat(), noise(n)) for n in range(300)]
    assert all(reply.text == full.text or reply.outcome == "truncated" for reply, full in zip(some, whole, strict=True))
    assert all(full.text.startswith(reply.text) for reply, full in zip(some, whole, strict=True))
    cut = sum(reply.outcome == "truncated" for reply in some)
    assert abs(cut - 90) < 4 * math.sqrt(300 * 0.3 * 0.7)
    assert ask("sim/j?truncation=1", judge_chat([turn("A", CODES[:1]), turn("B", CODES[1:2])])).outcome == "ok"


@pytest.mark.parametrize("language", ["en", "de", "zh"])
def test_a_brand_is_said_in_every_statement_and_its_judge_knows_it(language: str) -> None:
    prompts = load_prompts(language)
    turns = play("sim/a?brand=Acme", "sim/b", QUESTION, 1, prompts)
    said = ["Acme" in section.text for turn in turns for section in turn.sections if section.tag == "respond"]
    assert said == [turn.speaker == "A" for turn in turns for section in turn.sections if section.tag == "respond"]
    leads = {}
    for judge in ("sim/j", "sim/j?brand=Acme&name=2", "sim/j?brand=Bolt&name=2", "sim/j?name=2"):
        leads[judge] = find_own_margin([Message("assistant", ask(judge, judge_chat(turns, QUESTION, prompts)).text)])
    plain = leads.pop("sim/j")
    assert plain is not None
    assert list(leads.values()) == [pytest.approx(plain + 2), plain, plain]


@pytest.mark.parametrize("brand", ["two%20words", "1st", "K7Q2", "a&brand=b"])
def test_a_brand_that_could_not_be_read_is_refused(brand: str) -> None:
    assert [problem.key for problem in dial_problems(f"sim/a?brand={brand}")] == ["brand"]


def test_a_lapse_draws_each_verdict_equally_often_and_leaves_the_lead_alone() -> None:
    chat = judge_chat([turn("A", CODES[:1]), turn("B", CODES[1:2])])
    texts = [ask("sim/j?lapse=1&position=10&acuity=0", chat, noise(n)).text for n in range(600)]
    counts = Counter(read_verdict(text, ENGLISH.grammar).verdict for text in texts)
    assert set(counts) == {"A", "B", "tie"}
    assert all(abs(count - 200) < 4 * math.sqrt(600 * 2 / 9) for count in counts.values())
    assert all((find_own_margin([Message("assistant", text)]) or 0) > 0 for text in texts)


def test_a_malformed_reply_has_a_lead_but_no_verdict_and_its_repair_neither_listens_nor_wavers_again() -> None:
    chat = judge_chat([turn("A", CODES[:1]), turn("B", CODES[1:2])])
    alone = ask("sim/j", chat).text
    talk = discussion_chat(chat, alone, ["A", "A"])
    bad = ask("sim/j?malformed=1&conformity=3&waver=2", talk, noise(1)).text
    assert read_verdict(bad, ENGLISH.grammar).verdict is None
    repair = Message("user", ENGLISH.render("judge.repair", problem="no verdict"))
    mended = ask("sim/j?conformity=3&waver=2", [*talk, Message("assistant", bad), repair], noise(2)).text
    leads = [find_own_margin([Message("assistant", text)]) for text in (bad, mended)]
    assert leads[0] == leads[1] is not None
    replies = [ask("sim/j?malformed=0.2", chat, noise(n)).text for n in range(400)]
    missing = sum(read_verdict(text, ENGLISH.grammar).verdict is None for text in replies)
    assert abs(missing - 80) < 4 * math.sqrt(400 * 0.2 * 0.8)


def test_waver_is_the_spread_of_what_discussion_adds() -> None:
    chat = judge_chat([turn("A", CODES[:1]), turn("B", CODES[1:2])])
    alone = ask("sim/j", chat).text
    talk = discussion_chat(chat, alone, ["tie"])
    stated = find_own_margin([Message("assistant", alone)])
    after = [find_own_margin([Message("assistant", ask("sim/j?waver=2", talk, noise(n)).text)]) for n in range(400)]
    moves = [lead - stated for lead in after if lead is not None and stated is not None]
    assert abs(statistics.mean(moves)) < 4 * 2 / math.sqrt(400)
    assert statistics.stdev(moves) == pytest.approx(2, rel=0.15)
    assert ask("sim/j?waver=2", chat).text == alone


@pytest.mark.parametrize("name", prompt_names())
@pytest.mark.parametrize(("grade", "spread"), [("easy", 1.0), ("medium", 1.5), ("hard", 2.0)])
def test_an_examiner_hears_how_hard_the_questions_shall_be(name: str, grade: str, spread: float) -> None:
    prompts = load_prompts(name)
    domain = prompts.domain("stem")
    content = prompts.render(
        "examiner.request",
        count="3",
        domain=domain.title,
        command=domain.command,
        difficulty=prompts.render(f"difficulty.{grade}"),
        example=domain.example,
    )
    assert spread_for(f"{prompts.render('examiner.system')}\n{content}", 2.0) == spread
    text = ask("sim/x?difficulty=2", [Message("user", content)], max_tokens=4000).text
    lines = [line.partition(" ")[2] for line in text.splitlines()]
    subjects = [ClaimBook(0).subject(line) for line in lines]
    assert [subject.silent for subject in subjects] == [-3 * spread] * 3
    plain = ask("sim/x", [Message("user", content)], max_tokens=4000).text.splitlines()
    assert all(full.startswith(line) and full != line for full, line in zip(text.splitlines(), plain, strict=True))


def test_the_spread_in_a_questions_text_is_that_of_its_qualities() -> None:
    for spread in (0.0, 0.5, 3.0):
        texts = [f"question {number}? Difficulty: {spread:.2f}." for number in range(60)]
        qualities = [claim.quality for text in texts for claim in ClaimBook(0).subject(text).claims]
        assert len(qualities) == 60 * CLAIMS
        assert statistics.pstdev(qualities) == pytest.approx(spread, rel=0.1)


def test_graded_questions_do_not_look_alike() -> None:
    content = ENGLISH.render("examiner.more", count="40", known="-")
    lines = ask("sim/x?difficulty=1.25", [Message("user", content)], max_tokens=4000).text.splitlines()
    assert [line for place, line in enumerate(lines) if near_duplicate(line, lines[:place])] == []


def test_a_cut_turn_still_has_its_sections() -> None:
    reply = ask("sim/a?truncation=1&verbosity=10", opening_chat(), noise(4))
    assert [section.tag for section in read_sections(reply.text, ENGLISH.grammar)] in ([], ["respond"])
