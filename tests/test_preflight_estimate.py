"""What a tournament is said to ask, against what it really asks."""

import itertools
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import coupled_arena as ca
from coupled_arena.agents.judge import VERDICT_TOKENS
from coupled_arena.models.calls import Abilities, Call, Reply
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.model import Model, Price
from coupled_arena.models.prices import price_of
from coupled_arena.prompts import load_prompts
from coupled_arena.protocols.examination import TOKENS_PER_QUESTION
from coupled_arena.records import Question, Usage
from coupled_arena.testing import tokens
from coupled_arena.tournaments.playing.events import CallAnswered, Event
from coupled_arena.tournaments.playing.seating import Seating
from coupled_arena.tournaments.preflight.asks import LABEL_TOKENS, duties
from coupled_arena.tournaments.preflight.checks import check
from coupled_arena.tournaments.preflight.estimate import Spending, estimate
from coupled_arena.tournaments.preflight.extent import battles_of
from tests.support import ScriptedBackend

JUDGES = ["sim/j1", "sim/j2", "sim/j3"]
TWO: dict[str, Any] = {
    "models": ["sim/ada?skill=1", "sim/bob?skill=-1"],
    "judges": JUDGES,
    "examiner": "sim/examiner",
    "domains": ["math", "writing"],
    "questions_per_domain": 2,
    "schedule": "round_robin",
    "seed": 5,
}
OWN = tuple(
    Question(id=f"q{n}", domain=domain, language="en", text=f"What is {n} plus {n} and why?", author="me")
    for n, domain in enumerate(["math", "sky", "math", "sky", "math", "math", "math"])
)


class Checker(ca.Role):
    """Checks facts."""

    instructions = "Name every factual error in what you read."


SCRIPT = ca.Script(name="checked", steps=(*ca.SINGLE.steps, ca.Step(speaker="checker", sees=(1, 2), budget=0.5)))
FIELD = [f"sim/m{number}?skill={number}" for number in range(5)]
CASES: dict[str, dict[str, Any]] = {
    "a panel": TWO,
    "an odd number of questions": {**TWO, "domains": ["math"], "questions_per_domain": 3, "replicates": 2},
    "an odd field": {**TWO, "models": FIELD[:3], "questions_per_domain": 1},
    "a panel that plays": {**TWO, "models": FIELD[:4], "judges": FIELD[:4], "questions_per_domain": 1},
    "the best three of an odd field": {**TWO, "models": FIELD, "judges": 3, "schedule": "swiss", "domains": ["math"]},
    "a field that judges what it plays against one": {
        **TWO,
        "models": FIELD[:4],
        "judges": FIELD[:4],
        "schedule": {"kind": "against", "baseline": "sim/m0"},
        "questions_per_domain": 1,
    },
    "both sides and orders": {**TWO, "sides": "both", "orders": "both", "questions_per_domain": 1},
    "short reasons": {**TWO, "reason_tokens": 5, "questions_per_domain": 1},
    "two discussion rounds": {**TWO, "discussion_rounds": 2, "questions_per_domain": 1},
    "questions of one's own": {
        "models": TWO["models"],
        "judges": JUDGES,
        "questions": OWN,
        "reference": "sim/writer",
        "schedule": "round_robin",
    },
    "the bundled questions": {**TWO, "examiner": None, "reference": "sim/writer"},
    "an added role": {**TWO, "script": SCRIPT, "roles": {"checker": (Checker, "sim/checker")}},
    "fresh dice": {**TWO, "models": FIELD[:3], "coupling": "fresh", "domains": ["writing"]},
}


def estimated(tournament: ca.Tournament) -> tuple[tuple[Spending, ...], int]:
    """Check a definition and return what it will ask of every model, and how many battles it has at most."""
    gateway = Gateway()
    check(tournament, gateway)
    return estimate(duties(Seating(tournament, gateway, load_prompts(tournament.prompt_set))), price_of), battles_of(
        tournament
    )[0]


def asked(tournament: ca.Tournament, **options: Any) -> tuple[ca.Result, Counter[str], dict[str, Usage]]:
    """Play a tournament and return the calls made and the tokens used, by model."""
    made: Counter[str] = Counter()
    usage: dict[str, Usage] = {}

    def note(event: Event) -> None:
        if isinstance(event, CallAnswered) and not event.memoised:
            name = event.call.model.name
            made[name] += 1
            usage[name] = usage.get(name, Usage()) + event.reply.usage

    return tournament.run(listeners=[note], **options), made, usage


@pytest.mark.parametrize("definition", CASES.values(), ids=CASES)
def test_no_model_is_asked_more_than_was_said(definition: dict[str, Any]) -> None:
    tournament = ca.Tournament(**definition)
    spending, battles = estimated(tournament)
    result, made, usage = asked(tournament)
    promised = {line.model: line for line in spending}
    assert len(result.battles) <= battles
    assert set(made) <= set(promised)
    assert all(turn.requests == 0 for battle in result.battles for turn in battle.turns)
    assert all(opinion.repairs == 0 for battle in result.battles for opinion in battle.opinions)
    for name, calls in made.items():
        line = promised[name]
        assert calls <= line.calls <= line.most_calls
        assert usage[name].prompt_tokens <= line.prompt_tokens
        assert usage[name].completion_tokens <= line.completion_tokens


@pytest.mark.parametrize(
    "case",
    ["a panel", "both sides and orders", "two discussion rounds", "questions of one's own", "the bundled questions"],
)
def test_where_the_pairings_are_known_the_number_is_exact(case: str) -> None:
    tournament = ca.Tournament(**CASES[case])
    spending, battles = estimated(tournament)
    result, made, _ = asked(tournament)
    debaters = {model.name for model in tournament.models}
    promised = {line.model: line.calls for line in spending if line.model not in debaters}
    assert promised == {name: calls for name, calls in made.items() if name not in debaters}
    assert battles == len(result.battles)


def test_questions_of_ones_own_are_counted_and_so_are_their_references(tmp_path: Path) -> None:
    tournament = ca.Tournament(**CASES["questions of one's own"])
    (writer,) = (line for line in estimated(tournament)[0] if line.model == "sim/writer")
    assert (battles_of(tournament)[0], writer.calls) == (7, 5)
    first = ca.Tournament(**CASES["questions of one's own"], domains=["math"], questions_per_domain=2)
    assert battles_of(first)[0] == 2
    file = tmp_path / "own.csv"
    file.write_text("text,reference\nWhat is two plus two?,4\nWhy is the sky blue?,\n", encoding="utf-8")
    read = ca.Tournament(**{**CASES["questions of one's own"], "questions": file})
    assert battles_of(read)[0] == 2


@pytest.mark.parametrize("change", [{"examiner": TWO["models"][0]}, {"domains": ["writing"]}])
def test_nobody_writes_references_where_the_run_would_not(change: dict[str, Any]) -> None:
    with_references, _ = estimated(ca.Tournament(**{**TWO, **change}))
    without, _ = estimated(ca.Tournament(**{**TWO, **change}, references=False))
    assert with_references == without
    assert estimated(ca.Tournament(**TWO)) != estimated(ca.Tournament(**TWO, references=False))


def worst(call: Call) -> Reply | str:
    """Answer so that everything has to be asked again, but not for ever."""
    last = call.messages[-1].content
    if call.choices:
        return call.choices[0]
    if "<transcript>" in last or "<opinion " in last:
        return "I cannot say."
    if "<question" in last or "<turn " in last:
        return "<respond>I say so.</respond>"
    return "[[A]]" if len(call.messages) > 3 and "<transcript>" in call.messages[1].content else ""


def scripted(able: Abilities, **changes: Any) -> tuple[ca.Tournament, ScriptedBackend]:
    hosted = {"models": ["test/ada", "test/bob"], "judges": ["test/j1", "test/j2"], "examiner": None}
    backend = ScriptedBackend(worst, able)
    return ca.Tournament(**{**TWO, **hosted, "domains": ["writing"], "questions_per_domain": 1, **changes}), backend


def spending_of(tournament: ca.Tournament, backend: ScriptedBackend, price: Any = None) -> dict[str, Spending]:
    seating = Seating(tournament, Gateway(backends={"hosted": backend}), load_prompts("en"))
    return {line.model: line for line in estimate(duties(seating), lambda model: price)}


def test_everything_asked_again_stays_within_the_most() -> None:
    tournament, backend = scripted(Abilities())
    promised = spending_of(tournament, backend)
    _, made, _ = asked(tournament, backends={"hosted": backend})
    assert all(made[name] <= promised[name].most_calls for name in made)
    for judge in ("test/j1", "test/j2"):
        assert made[judge] == promised[judge].most_calls == 2 * promised[judge].calls
    assert all(made[name] > promised[name].calls for name in ("test/ada", "test/bob"))


def test_models_that_continue_and_choose_are_asked_for_sections_reasons_and_choices() -> None:
    tournament, _ = scripted(Abilities())
    backend = ScriptedBackend(
        lambda call: call.choices[0] if call.choices else "I say so.", Abilities(continues=True, chooses=True)
    )
    promised = spending_of(tournament, backend)
    _, made, _ = asked(tournament, backends={"hosted": backend})
    # Seven sections on either side of the nine steps; two stages with reasons and a choice.
    assert {name: (line.calls, line.most_calls) for name, line in promised.items()} == {
        "test/ada": (7, 21),
        "test/bob": (7, 21),
        "test/j1": (4, 4),
        "test/j2": (4, 4),
    }
    assert made == {name: line.calls for name, line in promised.items()}


@pytest.mark.parametrize(
    ("able", "written"), [(Abilities(), 4 * (7 + VERDICT_TOKENS)), (Abilities(chooses=True), 2 * (7 + LABEL_TOKENS))]
)
def test_judges_write_no_more_than_their_reasons_may_have(able: Abilities, written: int) -> None:
    short, backend = scripted(able, reason_tokens=7)
    limits = (None, 7, 100_000)
    free, cut, ample = (spending_of(*scripted(able, reason_tokens=limit))["test/j1"] for limit in limits)
    assert cut.completion_tokens == written
    assert free.completion_tokens == ample.completion_tokens > cut.completion_tokens
    _, _, usage = asked(short, backends={"hosted": backend})
    assert usage["test/j1"].completion_tokens <= cut.completion_tokens


def test_a_price_is_tokens_times_their_price_and_none_where_nobody_knows() -> None:
    tournament, backend = scripted(Abilities())
    for line in spending_of(tournament, backend, Price(prompt=1, completion=2)).values():
        assert line.usd is not None
        assert line.usd > 0
        assert line.usd == pytest.approx(1e-6 * line.prompt_tokens + 2e-6 * line.completion_tokens)
    assert {line.usd for line in spending_of(tournament, backend).values()} == {None}


def test_a_long_question_of_ones_own_is_read_in_full() -> None:
    def reading(text: str) -> int:
        question = Question(id="q", domain="writing", language="en", text=text, author="me")
        tournament = ca.Tournament(models=TWO["models"], judges=JUDGES, questions=(question,))
        return sum(line.prompt_tokens for line in estimated(tournament)[0])

    # Two debaters of at least four turns each and three judges at two stages read it.
    assert reading("Why? " * 2000) > reading("Why is that so?") + 14 * 2000


def test_models_are_listed_once_in_order_of_mention() -> None:
    model = Model("sim/writer")
    spending, _ = estimated(ca.Tournament(**{**TWO, "examiner": model, "reference": model}))
    assert [line.model for line in spending] == ["sim/writer", "sim/ada", "sim/bob", *JUDGES]
    assert spending[0].calls == 2 + 2


# The longest call.

PROSE = "a long sentence goes on about rivers and stones until somebody puts a full stop behind it and "


def at_length(call: Call) -> str:
    """Answer with all the tokens a call may have, four characters each, in the form that is asked for."""
    last, room = call.messages[-1].content, 4 * call.max_tokens
    text = PROSE * (room // len(PROSE) + 1)
    if call.choices:
        return call.choices[0]
    if "[[A]]" in call.messages[0].content:
        return f"{text[: room - 8]}\n[[A]]"
    tags = re.findall(r"<(respond|criticize|raise)>…", last)
    if tags and not call.prefix:
        share = room // len(tags) - 24
        return "".join(f"<{tag}>{text[:share]}</{tag}>" for tag in tags)
    if call.messages[0].content.startswith("You write questions"):
        count = call.max_tokens // TOKENS_PER_QUESTION - 1
        return "\n".join(f"({n}) {n * 7} {text[: 4 * TOKENS_PER_QUESTION - 20]}?" for n in range(1, count + 1))
    return text[:room]


@pytest.mark.parametrize("able", [Abilities(), Abilities(continues=True, chooses=True), Abilities(schema=True)])
@pytest.mark.parametrize("case", ["a panel", "both sides and orders", "short reasons", "an added role"])
def test_no_call_is_longer_than_was_said(case: str, able: Abilities) -> None:
    definition = {**CASES[case], "questions_per_domain": 2, "discussion_rounds": 2, "examiner": "test/examiner"}
    for key in ("models", "judges"):
        definition[key] = [model.replace("sim/", "test/") for model in definition[key]]
    if case == "an added role":
        definition["roles"] = {"checker": (Checker, "test/checker")}
    tournament, backend = ca.Tournament(**definition), ScriptedBackend(at_length, able)
    promised = spending_of(tournament, backend)
    longest: Counter[str] = Counter()

    def note(event: Event) -> None:
        if isinstance(event, CallAnswered):
            call = event.call
            read = tokens.count(*(message.content for message in call.messages), call.prefix) + 4 * len(call.messages)
            longest[call.model.name] = max(longest[call.model.name], read + call.max_tokens)

    tournament.run(listeners=[note], backends={"hosted": backend})
    assert set(longest) == set(promised)
    for name, needed in longest.items():
        assert needed <= promised[name].longest_call <= 3 * needed, name


def test_what_a_debater_heard_in_earlier_turns_stays_in_what_it_reads() -> None:
    def steps(count: int) -> ca.Script:
        turns = [
            ca.Step(speaker="AB"[n % 2], requires=("respond",), sees=(n,), round=1 + n // 2) for n in range(1, count)
        ]
        return ca.Script(name="s", steps=(ca.Step(speaker="A", requires=("respond",)), *turns))

    tournaments = [scripted(Abilities(), script=steps(count)) for count in (3, 5, 7)]
    read = (spending_of(*given)["test/ada"].longest_call for given in tournaments)
    turn = load_prompts("en").max_tokens(400)
    # Two more turns, one of its own and one of its opponent's, are two turns more to hold.
    assert all(2 * turn < later - earlier < 2 * turn + 150 for earlier, later in itertools.pairwise(read))
