"""From a call to what a simulated model says: which role it is in follows from what it is sent."""

from functools import cache, lru_cache

from coupled_arena.models.calls import Call, Reply
from coupled_arena.models.simulated import examiner
from coupled_arena.models.simulated.debater import Debater
from coupled_arena.models.simulated.dials import Dials, read_dials
from coupled_arena.models.simulated.judge import Judge
from coupled_arena.models.simulated.noise import chance, noise_of
from coupled_arena.models.simulated.reading import (
    find_claims,
    find_hearing,
    find_own_margin,
    find_question,
    find_verdicts,
    hear,
    wanted_tags,
)
from coupled_arena.models.simulated.sheet import answered, find_sheet
from coupled_arena.models.simulated.wording import Wording, wording_for
from coupled_arena.models.simulated.world import ClaimBook
from coupled_arena.prompts import load_prompts
from coupled_arena.records import Outcome, Sharing, Usage

REVISION = 1
"""Raised whenever equal calls would get other replies, so that stored ones are not taken for them."""

_FAULTS = (
    "503 Service Unavailable: the simulated provider is overloaded",
    "500 Internal Server Error: the simulated provider failed",
    "429 Too Many Requests: the simulated provider asks for patience",
)


def identity_of(model: str) -> str:
    """Return the canonical name of a simulated model string: every dial spelled out, with the simulation's revision.

    Raises:
        ConfigurationError: the dials cannot be read; every problem is listed.
    """
    return f"simulation {REVISION} {_canonical(model)}"


def reply_to(call: Call) -> Reply:
    """Return a simulated model's reply: a pure function of the call.

    * A chat that ends with an answer sheet gets an answer that is right as often as the model has skill.
    * A chat that shows rounds of a battle makes it a judge.
    * A question, with tags asked for in the last message, makes it a debater; without tags it remarks on the weakest
      claim of the turns it is shown, and without turns it gives the reference answer.
    * Without a question, a number in the last message makes it an examiner; anything else gets a plain sentence.

    Raises:
        ConfigurationError: the dials cannot be read; every problem is listed.
    """
    dials = read_dials(call.model.model)
    key = noise_of(call, _canonical(call.model.model))
    wording = wording_for(call.messages[0].content)
    read = sum(wording.size(message.content) for message in call.messages)
    if dials.error and chance(key, f"error {call.attempt}") < dials.error:
        fault = _FAULTS[int(chance(key, f"fault {call.attempt}") * len(_FAULTS))]
        return Reply(outcome="failed", detail=fault)
    sharing: Sharing = "shared" if call.sampling.temperature else "deterministic"
    if dials.refusal and chance(key, "refusal") < dials.refusal:
        detail = "the simulated model refused to answer"
        return Reply(outcome="refused", usage=Usage(prompt_tokens=read), sharing=sharing, detail=detail)
    text, debates = _said(call, dials, key, wording)
    for stop in call.stop:
        text = text.partition(stop)[0]
    outcome: Outcome = "ok"
    size = wording.size(text)
    most = call.max_tokens
    if debates and dials.truncation and chance(key, "truncation") < dials.truncation:
        most = min(most, max(1, int(size * chance(key, "what is left"))))
    if size > most:
        text, size, outcome = wording.cut(text, most), most, "truncated"
    usage = Usage(prompt_tokens=read, completion_tokens=size)
    return Reply(text=text, outcome=outcome, usage=usage, sharing=sharing)


def _said(call: Call, dials: Dials, key: bytes, wording: Wording) -> tuple[str, bool]:
    """Return what is said, and whether it is a debater's turn."""
    messages = call.messages
    if sheet := find_sheet(messages):
        asked = "\n".join(message.content for message in messages[:-1])
        return answered(asked, sheet, dials.skill_in(sheet.subject), dials.world, call.sampling, key), False
    question = find_question(messages)
    if question is None:
        count = examiner.requested(messages[-1].content)
        if count is None:
            return wording.plain, False
        prompt = "\n".join(message.content for message in messages)
        return examiner.questions(count, prompt, key, dials.world, wording, dials.difficulty), False
    subject = ClaimBook(dials.world).subject(question.text)
    hearing = find_hearing(messages)
    if hearing is not None:
        judge = Judge(dials, subject, wording, _labels(wording.language), key)
        return judge.opinion(hearing, find_verdicts(messages), find_own_margin(messages)), False
    if wanted := wanted_tags(messages):
        debater = Debater(dials, dials.skill_in(question.domain), subject, wording, call.sampling, key)
        return debater.turn(hear(messages), wanted), True
    if places := subject.places(find_claims(messages)):
        weakest = min((subject.claims[place] for place in places), key=lambda claim: (claim.quality, claim.code))
        return wording.note.format(code=weakest.code), False
    return examiner.reference(question.text, dials.world, wording), False


@lru_cache(maxsize=4096)
def _canonical(model: str) -> str:
    return read_dials(model).canonical(model.partition("?")[0].partition("/")[2])


@cache
def _labels(language: str) -> tuple[str, str, str]:
    return load_prompts(language).grammar.labels
