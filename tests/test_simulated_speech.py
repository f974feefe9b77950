import asyncio
import json
import math
import subprocess
import sys
from collections.abc import Callable

import pytest

from coupled_arena.coupling import Sampling
from coupled_arena.errors import ConfigurationError
from coupled_arena.models.calls import Abilities, Backend, Call, Message
from coupled_arena.models.model import Model
from coupled_arena.models.simulated.backend import SimulatedBackend
from coupled_arena.models.simulated.claims import asserted, doubted
from coupled_arena.models.simulated.speech import identity_of
from coupled_arena.models.simulated.wording import wording_for, wordings
from coupled_arena.models.simulated.world import ClaimBook
from coupled_arena.prompts import envelope, load_prompts, near_duplicate, read_numbered, seal
from coupled_arena.records import Outcome, Section
from tests.simulated_scene import ENGLISH, QUESTION, ask, judge_chat, noise, opening_chat, play

CALLS = 1_000


def request(domain: str, count: int = 3, language: str = "en") -> list[Message]:
    prompts = load_prompts(language)
    known = prompts.domain(domain)
    system = f"{prompts.render('examiner.system')}\n\n{prompts.render('examiner.lines')}"
    content = prompts.render(
        "examiner.request",
        count=str(count),
        domain=known.title,
        command=known.command,
        difficulty=prompts.render("difficulty.hard"),
        example=known.example,
    )
    return [Message("system", system), Message("user", content)]


@pytest.mark.parametrize("language", ["en", "de", "zh"])
def test_an_examiner_writes_as_many_different_questions_as_it_is_asked_for(language: str) -> None:
    questions = read_numbered(ask("sim/e", request("math", 40, language), max_tokens=10_000).text)
    assert len(questions) == 40
    assert not [text for place, text in enumerate(questions) if near_duplicate(text, questions[:place])]


def test_questions_differ_by_domain_dice_and_world() -> None:
    texts = {
        ask("sim/e", request("math"), noise(1)).text,
        ask("sim/e", request("writing"), noise(1)).text,
        ask("sim/e", request("math"), noise(2)).text,
        ask("sim/e?world=1", request("math"), noise(1)).text,
    }
    assert len(texts) == 4
    assert ask("sim/e", request("math"), noise(1)).text in texts


def test_an_examiner_asked_for_more_writes_as_many_as_are_missing() -> None:
    chat = request("math", 3)
    first = ask("sim/e", chat, max_tokens=1_000).text
    more = ENGLISH.render("examiner.more", count="2", known=envelope("known", *read_numbered(first)))
    questions = read_numbered(ask("sim/e", [*chat, Message("assistant", first), Message("user", more)]).text)
    assert len(questions) == 2
    assert not set(questions) & set(read_numbered(first))


def test_the_reference_answer_makes_the_best_claims() -> None:
    asked = ENGLISH.render("reference.request", question=envelope("question", QUESTION, domain="math"))
    reply = ask("sim/e?skill=-2", [Message("system", ENGLISH.render("reference.system")), Message("user", asked)])
    assert asserted(reply.text) == tuple(claim.code for claim in ClaimBook(0).ranked(QUESTION)[:3])


def test_an_added_role_remarks_on_the_weakest_claim_it_heard() -> None:
    ranked = ClaimBook(0).ranked(QUESTION)
    said = seal([Section(tag="respond", text=f"{ranked[0].code}: a. {ranked[-1].code}: b.")], ENGLISH.grammar)
    heard = "\n".join([envelope("question", QUESTION, domain="math"), envelope("turn", said, speaker="A")])
    reply = ask("sim/c", [Message("system", "Name errors."), Message("user", ENGLISH.render("role.turn", heard=heard))])
    assert doubted(reply.text) == (ranked[-1].code,)


def test_a_prompt_that_asks_for_nothing_known_gets_a_plain_sentence() -> None:
    reply = ask("sim/a", [Message("user", "Say hello.")])
    assert (reply.outcome, reply.text) == ("ok", wordings()["en"].plain)


@pytest.mark.parametrize(("name", "language"), [("en", "en"), ("compact", "en"), ("de", "de"), ("zh", "zh")])
def test_the_language_of_every_shipped_prompt_is_recognised(name: str, language: str) -> None:
    prompts = load_prompts(name)
    for role in ("debater", "judge", "examiner", "reference"):
        assert wording_for(prompts.render(f"{role}.system")).language == language


def test_every_language_has_as_many_words_for_claims_and_questions() -> None:
    sizes = {
        (len(w.subjects), len(w.predicates), len(w.places), len(w.objects), len(w.tasks)) for w in wordings().values()
    }
    assert len(sizes) == 1


@pytest.mark.parametrize("rate", [0.05, 0.3])
@pytest.mark.parametrize(("dial", "outcome"), [("refusal", "refused"), ("error", "failed")])
def test_refusals_and_errors_come_at_their_rates(dial: str, outcome: Outcome, rate: float) -> None:
    chat = opening_chat()
    outcomes = [ask(f"sim/a?{dial}={rate}", chat, noise(dial, number)).outcome for number in range(CALLS)]
    assert set(outcomes) == {"ok", outcome}
    spread = math.sqrt(rate * (1 - rate) / CALLS)
    assert outcomes.count(outcome) / CALLS == pytest.approx(rate, abs=4 * spread)


def test_a_refusal_and_an_error_carry_the_providers_words_and_no_text() -> None:
    refused, failed = ask("sim/a?refusal=1", opening_chat()), ask("sim/a?error=1", opening_chat())
    assert (refused.text, refused.outcome, refused.usage.completion_tokens) == ("", "refused", 0)
    assert "refused" in refused.detail
    assert (failed.text, failed.outcome, failed.usage.prompt_tokens) == ("", "failed", 0)
    assert "simulated provider" in failed.detail


def test_a_failed_call_can_succeed_at_the_next_attempt_but_a_refusal_stays() -> None:
    keys = [noise(number) for number in range(200)]
    failed = [key for key in keys if ask("sim/a?error=0.3", opening_chat(), key).outcome == "failed"]
    again = [ask("sim/a?error=0.3", opening_chat(), key, attempt=1).outcome for key in failed]
    assert 0.4 < again.count("ok") / len(again) < 0.95
    refused = [key for key in keys if ask("sim/a?refusal=0.3", opening_chat(), key).outcome == "refused"]
    assert {ask("sim/a?refusal=0.3", opening_chat(), key, attempt=1).outcome for key in refused} == {"refused"}


def test_what_an_error_hides_is_the_reply_a_model_without_errors_gives() -> None:
    chat = opening_chat()
    replies = [ask("sim/a?error=0.3", chat, noise(number)) for number in range(20)]
    plain = [ask("sim/a", chat, noise(number)) for number in range(20)]
    assert [r.text for r in replies if r.answered] == [
        p.text for r, p in zip(replies, plain, strict=True) if r.answered
    ]


def test_a_reply_over_the_token_limit_is_cut_at_a_word_and_truncated() -> None:
    whole = ask("sim/a", opening_chat())
    short = ask("sim/a", opening_chat(), max_tokens=5)
    assert (short.outcome, short.usage.completion_tokens) == ("truncated", 5)
    assert whole.text.startswith(short.text)
    assert len(short.text.split()) == 5
    assert (whole.outcome, whole.usage.completion_tokens) == ("ok", len(whole.text.split()))


def test_a_stop_string_ends_a_reply() -> None:
    assert (
        ask("sim/a", opening_chat(), stop=("</respond>",)).text
        == ask("sim/a", opening_chat()).text[: -len("</respond>")]
    )


def test_sharing_says_whether_dice_were_rolled() -> None:
    assert ask("sim/a", opening_chat()).sharing == "shared"
    assert ask("sim/a", opening_chat(), temperature=0).sharing == "deterministic"


def test_another_sample_of_the_same_noise_key_is_another_draw() -> None:
    backend = SimulatedBackend()
    texts = set()
    for sample in range(3):
        call = Call(Model("sim/a"), tuple(opening_chat()), Sampling(), 400, noise(1), sample=sample)
        texts.add(asyncio.run(backend.complete(call)).text)
    assert len(texts) == 3


def test_the_backend_waits_as_long_as_it_is_told() -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    backend: Backend = SimulatedBackend(latency=0.2, sleep=sleep)
    call = Call(Model("sim/a"), tuple(opening_chat()), Sampling(), 400, noise(1))
    reply = asyncio.run(backend.complete(call))
    assert waited == [0.2]
    assert (reply.text, reply.cost) == (ask("sim/a", opening_chat(), noise(1)).text, 0.0)


def test_a_simulated_model_can_do_nothing_beyond_a_plain_chat() -> None:
    abilities = SimulatedBackend().abilities(Model("sim/a"))
    assert abilities == Abilities(context=abilities.context)
    assert abilities.context is not None


def test_identity_spells_out_dials_and_world() -> None:
    backend = SimulatedBackend()
    assert backend.identity(Model("x", "sim/a?skill=1")) == backend.identity(Model("y", "sim/a?skill=1.0&world=0"))
    assert "world=7" in identity_of("sim/a?world=7")
    assert len({identity_of(f"sim/{string}") for string in ("a", "b", "a?world=1", "a?tie=0.2", "a?skill.x=1")}) == 5
    with pytest.raises(ConfigurationError, match="skil"):
        backend.identity(Model("sim/a?skil=1"))


def test_replies_are_the_same_in_another_process_under_another_hash_seed() -> None:
    script = (
        "import json, sys\nfrom tests.test_simulated_speech import sayings\nsys.stdout.write(json.dumps(sayings()))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert outputs == {json.dumps(sayings())}


def sayings() -> list[str]:
    turns = play("sim/a?skill=1&taste=oak", "sim/b?skill.stem=-1", QUESTION, 1)
    said = [section.text for turn in turns for section in turn.sections]
    said += [ask("sim/j?taste=oak&family=1&length=1", judge_chat(turns), noise(n)).text for n in range(3)]
    askers: list[Callable[[], str]] = [
        lambda: ask("sim/e", request("math")).text,
        lambda: ask("sim/a?error=0.9", opening_chat()).detail,
        lambda: ask("sim/j", judge_chat(turns), temperature=0).text,
    ]
    return said + [asker() for asker in askers]
