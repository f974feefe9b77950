"""Whether a battle is complete and its decision follows from its opinions, by the rules of its tournament."""

from collections import Counter
from collections.abc import Iterator, Sequence

from coupled_arena.protocols.script import DEBATERS
from coupled_arena.records import Battle, Question
from coupled_arena.tournaments.definition import Tournament


def battle_problems(battle: Battle, tournament: Tournament, questions: dict[str, Question]) -> Iterator[str]:
    """Yield what is wrong with one battle.

    Args:
        battle: as it was stored.
        tournament: the definition it was played by.
        questions: what the run asked, by id.
    """
    names = {model.name for model in tournament.models}
    asked = questions.get(battle.question)
    if asked is None:
        yield f"its question {battle.question!r} is not stored"
    elif asked.domain != battle.domain:
        yield f"it is of the domain {battle.domain!r}, its question of {asked.domain!r}"
    yield from (f"{name!r} is no model of this run" for name in sorted({battle.a, battle.b} - names))
    if battle.a == battle.b:
        yield f"{battle.a!r} meets itself"
    if battle.arm not in tournament.arms:
        yield f"its arm {battle.arm!r} is none of this run"
    yield from _turn_problems(battle, tournament)
    yield from _opinion_problems(battle, tournament)
    yield from _decision_problems(battle, tournament)


def _turn_problems(battle: Battle, tournament: Tournament) -> Iterator[str]:
    """A debate to the end has every step once; one that was broken off has none twice."""
    script = tournament.battle.script
    steps = Counter(turn.step for turn in battle.turns)
    yield from (f"step {step} is there {count} times" for step, count in sorted(steps.items()) if count > 1)
    wanted = range(1, len(script.steps) + 1)
    yield from (f"step {step} is none of the script" for step in sorted(steps.keys() - set(wanted)))
    if battle.opinions or battle.decision.status == "decided":
        yield from (f"step {step} is missing" for step in wanted if step not in steps)
    for turn in battle.turns:
        if turn.step not in wanted:
            continue
        speaker = script.steps[turn.step - 1].speaker
        if turn.speaker != speaker:
            yield f"{turn.speaker!r} speaks at step {turn.step}, which is {speaker}'s"
        elif speaker in DEBATERS and turn.model != battle.model(speaker):
            yield f"{turn.model!r} speaks for {battle.model(speaker)!r} at step {turn.step}"


def seats_of(battle: Battle) -> tuple[str, ...]:
    """Return the judges of a battle, in the order in which they were asked."""
    return tuple(dict.fromkeys(opinion.judge for opinion in battle.opinions))


def _opinion_problems(battle: Battle, tournament: Tournament) -> Iterator[str]:
    """Every judge has one opinion at every stage and in every order of presentation."""
    if not battle.opinions:
        return
    rules = tournament.committee
    found = Counter((opinion.judge, opinion.stage, opinion.order) for opinion in battle.opinions)
    wanted = {
        (judge, stage, order)
        for judge in seats_of(battle)
        for stage in range(rules.discussion_rounds + 1)
        for order in rules.presented
    }
    for judge, stage, order in sorted(wanted | found.keys()):
        count = found[judge, stage, order]
        if count != ((judge, stage, order) in wanted):
            yield f"{judge!r} has {count} opinions at stage {stage} in order {order}"
    for opinion in battle.opinions:
        if (opinion.status == "valid" or opinion.carried) != (opinion.verdict is not None):
            held = opinion.verdict or "no verdict"
            yield f"the opinion of {opinion.judge!r} at stage {opinion.stage} is {opinion.status} with {held}"


def _decision_problems(battle: Battle, tournament: Tournament) -> Iterator[str]:
    """The decision is the one that the rules make of the opinions."""
    decision = battle.decision
    if (decision.verdict is None) != (decision.status == "void"):
        yield f"it is {decision.status} with the verdict {decision.verdict}"
    if decision.status == "forfeited":
        yield from _forfeit_problems(battle)
    if bool(decision.forfeited) != (decision.status == "forfeited"):
        yield f"it is {decision.status}, and forfeited by {', '.join(decision.forfeited) or 'nobody'}"
    if not battle.opinions:
        if decision.status == "decided":
            yield "it is decided without an opinion"
        return
    votes = tournament.committee.votes(battle.opinions, seats_of(battle))
    made = {
        "verdict": (decision.verdict, votes[-1].verdict),
        "votes": (decision.votes, votes[-1].votes),
        "stages": (decision.stages, tuple(vote.verdict for vote in votes)),
    }
    for name, (stored, again) in made.items():
        if stored != again:
            yield f"its {name} are {stored}, and its opinions make {again}"


def _forfeit_problems(battle: Battle) -> Iterator[str]:
    decision = battle.decision
    if decision.verdict in decision.forfeited:
        yield f"{decision.verdict} gave it away and won it"
    for side in decision.forfeited:
        if all(turn.answered and turn.spoken for turn in battle.turns if turn.speaker == side):
            yield f"{side} gave it away, and every turn of it was answered"
    if battle.opinions:
        yield "it was given away, and judged"


def twin_problems(battles: Sequence[Battle]) -> Iterator[str]:
    """Yield the battles that are there twice: one question, replicate, seating and arm."""
    met = Counter((battle.question, battle.replicate, battle.a, battle.b, battle.arm) for battle in battles)
    for (question, replicate, a, b, arm), count in sorted(met.items()):
        if count > 1:
            yield f"{a!r} and {b!r} met {count} times on {question!r}, replicate {replicate}, arm {arm}"
