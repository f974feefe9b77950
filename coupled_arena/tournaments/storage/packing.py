"""How records become rows of a store's tables and come back exactly."""

import json
from collections.abc import Sequence
from typing import Any

from coupled_arena.records import Battle, Decision, Opinion, Question, Section, Turn, Usage


def as_json(value: Any) -> str:
    """Return a value as compact JSON in ASCII, so that any text survives."""
    return json.dumps(value, separators=(",", ":"))


def question_row(run: str, question: Question) -> tuple[Any, ...]:
    """Return a question as a row of `questions`."""
    return (
        run,
        question.id,
        question.domain,
        question.language,
        question.text,
        question.author,
        question.reference,
        question.difficulty,
    )


def question_of(row: Any) -> Question:
    """Return the question of a row of `questions`."""
    return Question(
        id=row.id,
        domain=row.domain,
        language=row.language,
        text=row.text,
        author=row.author,
        reference=row.reference,
        difficulty=row.difficulty,
    )


def battle_row(run: str, battle: Battle) -> tuple[Any, ...]:
    """Return a battle as a row of `battles`."""
    return (
        run,
        battle.id,
        battle.round,
        battle.question,
        battle.domain,
        battle.replicate,
        battle.a,
        battle.b,
        battle.arm,
        battle.weight,
    )


def turn_row(run: str, battle: str, position: int, turn: Turn) -> tuple[Any, ...]:
    """Return a turn as a row of `turns`."""
    return (
        run,
        battle,
        position,
        turn.step,
        turn.round,
        turn.speaker,
        turn.model,
        as_json([[section.tag, section.text] for section in turn.sections]),
        turn.outcome,
        as_json(turn.missing),
        turn.cut,
        turn.by_section,
        turn.requests,
        turn.usage.prompt_tokens,
        turn.usage.completion_tokens,
        turn.sharing,
        turn.detail,
    )


def turn_of(row: Any) -> Turn:
    """Return the turn of a row of `turns`."""
    return Turn(
        step=row.step,
        round=row.round,
        speaker=row.speaker,
        model=row.model,
        sections=tuple(Section(tag=tag, text=text) for tag, text in json.loads(row.sections)),
        outcome=row.outcome,
        missing=tuple(json.loads(row.missing)),
        cut=row.cut,
        by_section=row.by_section,
        requests=row.requests,
        usage=_usage_of(row),
        sharing=row.sharing,
        detail=row.detail,
    )


def opinion_row(run: str, battle: str, position: int, opinion: Opinion) -> tuple[Any, ...]:
    """Return an opinion as a row of `opinions`."""
    return (
        run,
        battle,
        position,
        opinion.judge,
        opinion.stage,
        opinion.order,
        opinion.verdict,
        opinion.status,
        opinion.carried,
        opinion.reasons,
        as_json(opinion.probabilities),
        opinion.repairs,
        opinion.usage.prompt_tokens,
        opinion.usage.completion_tokens,
        opinion.sharing,
        opinion.detail,
    )


def opinion_of(row: Any) -> Opinion:
    """Return the opinion of a row of `opinions`."""
    return Opinion(
        judge=row.judge,
        stage=row.stage,
        order=row.order,
        verdict=row.verdict,
        status=row.status,
        carried=row.carried,
        reasons=row.reasons,
        probabilities=json.loads(row.probabilities),
        repairs=row.repairs,
        usage=_usage_of(row),
        sharing=row.sharing,
        detail=row.detail,
    )


def decision_row(run: str, battle: str, decision: Decision) -> tuple[Any, ...]:
    """Return a decision as a row of `decisions`."""
    return (
        run,
        battle,
        decision.status,
        decision.verdict,
        as_json(decision.votes),
        as_json(decision.stages),
        as_json(decision.forfeited),
        decision.reason,
    )


def decision_of(row: Any) -> Decision:
    """Return the decision of a row of `decisions`."""
    return Decision(
        status=row.status,
        verdict=row.verdict,
        votes=json.loads(row.votes),
        stages=tuple(json.loads(row.stages)),
        forfeited=tuple(json.loads(row.forfeited)),
        reason=row.reason,
    )


def battle_of(row: Any, turns: Sequence[Turn], opinions: Sequence[Opinion], decision: Decision) -> Battle:
    """Return the battle of a row of `battles` and of what was said of it."""
    return Battle(
        id=row.id,
        round=row.round,
        question=row.question,
        domain=row.domain,
        replicate=row.replicate,
        a=row.a,
        b=row.b,
        arm=row.arm,
        turns=tuple(turns),
        opinions=tuple(opinions),
        decision=decision,
        weight=row.weight,
    )


def _usage_of(row: Any) -> Usage:
    return Usage(prompt_tokens=row.prompt_tokens, completion_tokens=row.completion_tokens)
