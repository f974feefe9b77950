"""Which effects a fit has, and which the verdicts cannot tell."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from coupled_arena.analysis.correction.votes import PANEL, TERMS, Floats, Term, Votes
from coupled_arena.shown import plural

FEWEST = 3
"""Questions that must bear on an effect: one of two would be determined by either alone."""

_VANISHING = 1e-9
"""Information on a parameter, over what it would be apart from the others, that is none."""

_SEPARATED = 1e-6
"""Information where a fit ended, over that between equals, that is none: chances of one in a million for all votes."""

_PART = 0.1
"""An effect takes part in a direction if it has so much of its largest entry."""

_UNKNOWN: dict[Term, str] = {
    "position": "the opinions do not say whom the judge was shown first",
    "length": "the opinions do not say how long all texts are",
    "family": "the families of the judges are not known",
}


class Effect(NamedTuple):
    """One effect of one judge."""

    term: Term
    """What it is of."""
    judge: int
    """Whose, by code."""
    values: Floats
    """What it is multiplied with in every vote: the trait in the votes of the judge, else 0, shape (votes,)."""
    votes: int
    """Verdicts that bear on it."""
    questions: int
    """Questions of these."""


class Unestimated(NamedTuple):
    """What was not estimated."""

    judge: str
    """The judge, or `panel` where it is none of any judge."""
    term: Term
    """What is taken to be none."""
    reason: str
    """Why."""


def effects_of(votes: Votes, terms: Sequence[Term]) -> tuple[tuple[Effect, ...], tuple[Unestimated, ...]]:
    """Return the effects of these terms that some votes bear on, and what is left out."""
    found, left = [], []
    for term in terms:
        if term == "lapse":
            continue
        trait = votes.traits.get(term)
        if trait is None:
            left.append(Unestimated(PANEL, term, _UNKNOWN[term]))
            continue
        for judge, name in enumerate(votes.judges):
            values = np.where(votes.judge == judge, trait, 0.0)
            bearing = values != 0
            questions = len(np.unique(votes.question[bearing]))
            if questions < FEWEST:
                left.append(Unestimated(name, term, _too_few(votes, term, judge, questions)))
                continue
            found.append(Effect(term, judge, values, int(bearing.sum()), questions))
    return tuple(found), tuple(left)


def _too_few(votes: Votes, term: Term, judge: int, questions: int) -> str:
    if not (votes.judge == judge).any():
        return "it has no verdict of its own"
    if questions:
        return f"only {plural(questions, 'question')} bear{'s' * (questions < 2)} on it, of {FEWEST} needed"
    if term == "length":
        return "both texts of all its battles are of one length"
    return "it judged no battle of one of its family against another"


def unknowable(information: Floats, effects: Sequence[Effect], models: int) -> tuple[tuple[Effect, ...], str]:
    """Return effects that nothing in the votes tells apart, and from what; none if all can be told.

    Args:
        information: on coordinates and effects where all models are equal, shape (parameters, parameters).
        effects: the effects, in the order of the last parameters.
        models: how many models there are.
    """
    each = np.sqrt(np.diag(information))
    values, directions = np.linalg.eigh(information / np.outer(each, each))
    if values[0] >= _VANISHING:
        return (), ""
    taking, strengths = _taking_part(directions[:, 0], effects, models)
    found = _given_up(effects, taking, strengths=strengths)
    others = sorted({effect.term for effect in taking} - {found[0].term}, key=TERMS.index)
    apart = [*(["the strengths of the models"] if strengths else []), *(f"that of {term}" for term in others)]
    if not apart:
        apart = ["that of the other judges"]
    return found, f"the opinions cannot tell it apart from {' and '.join(apart)}"


def separating(before: Floats, after: Floats, effects: Sequence[Effect], models: int) -> list[Effect]:
    """Return the effects that fit ever better as they grow; none if all have a finite maximum.

    Args:
        before: information where all models are equal, shape (parameters, parameters).
        after: information where the fit ended.
        effects: the effects, in the order of the last parameters.
        models: how many models there are.
    """
    root = np.linalg.inv(np.linalg.cholesky(before))
    values, directions = np.linalg.eigh(root @ after @ root.T)
    vanishing = directions[:, values < _SEPARATED].T if effects else ()
    each = np.sqrt(np.diag(before))
    found = {id(one) for way in vanishing for one in _taking_part((root.T @ way) * each, effects, models)[0]}
    return [effect for effect in effects if id(effect) in found]


def _taking_part(direction: Floats, effects: Sequence[Effect], models: int) -> tuple[list[Effect], bool]:
    """Return the effects that take part in a direction, and whether the strengths of the models do."""
    entries, size = np.abs(direction), models - 1
    least = _PART * entries[size:].max()
    taking = [effect for effect, entry in zip(effects, entries[size:].tolist(), strict=True) if entry >= least]
    return taking, bool((entries[:size] >= least).any())


def _given_up(effects: Sequence[Effect], taking: Sequence[Effect], *, strengths: bool) -> tuple[Effect, ...]:
    """Return the effects to do without.

    Where several judges or the strengths take part, no judge has its effect of the term: to leave out that of one alone
    would take this one for fair. Position is what a design settles best and goes last, family goes first.
    """
    last = max(taking, key=lambda effect: TERMS.index(effect.term))
    if strengths or len({effect.judge for effect in taking}) > 1:
        return tuple(effect for effect in effects if effect.term == last.term)
    return (last,)
