"""Which of two models is better: a tournament of two, played to an answer."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coupled_arena.errors import HERE, ConfigurationError, Problem
from coupled_arena.models.model import Model
from coupled_arena.studies.comparing.comparison import LEVEL, Comparison
from coupled_arena.studies.model_given import model_given
from coupled_arena.tournaments.definition import Tournament, refuse_event_loop
from coupled_arena.tournaments.playing.events import Listener
from coupled_arena.tournaments.schedules import Adaptive, RoundRobin

if TYPE_CHECKING:
    from coupled_arena.tournaments.storage.store import Store

Judges = Model | str | Sequence[Model | str]
"""One judge, or several."""


def compare(
    a: Model | str,
    b: Model | str,
    *,
    judges: Judges,
    until_settled: bool = True,
    store: "Store | Path | str | None" = None,
    listeners: Sequence[Listener] = (),
    retry_failed: bool = False,
    preflight: bool = True,
    **rules: Any,
) -> Comparison:
    """Let two models battle over the same questions, and say which is better, by how much and whether it is settled.

    They meet on a few questions at a time and stop once it is settled, which an interval may be used for only if it
    holds at every such look: that is a confidence sequence, which is wider than the interval of all questions.

    Args:
        a: a model, or a model string.
        b: the other one.
        judges: who judges; one judge judges alone, several discuss.
        until_settled: whether to stop once it is settled, with an interval that holds at every look; else all questions
            are asked, and the interval is the narrower one of a number that was fixed beforehand.
        store: a file in which the run lives, so that it can go on and nothing is paid for twice; None keeps it in
            memory.
        listeners: told of every event.
        retry_failed: ask again what was answered without text.
        preflight: ask every hosted model once before the first battle.
        rules: other parameters of `Tournament`, such as `questions` (records or a file), `examiner`, `domains`,
            `questions_per_domain`, `recuse`, `budget`, `seed`, or a `schedule` in place of `until_settled`. Without
            `questions` and `examiner` the first five of the bundled questions are there in each of the eight domains.

    Raises:
        ConfigurationError: it cannot be played; raised before the first call.
        BudgetReached: the budget is spent; `Comparison.of(error.result)` is the comparison of what was played.
        RunInterrupted: stopped by Ctrl-C; the same call on the same store goes on.
        RuntimeError: called inside a running event loop; use `await acompare(...)` there.

    Example:
        >>> found = compare("sim/ada?skill=2", "sim/bob", judges="sim/judge", seed=7)
        >>> print(found.sentence)
        sim/ada beats sim/bob: it wins 100 % of 8 battles (95 % interval 54 to 100 %); settled after 8 of 40 questions.
    """
    refuse_event_loop("ca.acompare(...)")
    options = {"listeners": listeners, "retry_failed": retry_failed, "preflight": preflight}
    tournament = tournament_of(a, b, judges=judges, until_settled=until_settled, **rules)
    return Comparison.of(tournament.run(store, **options))


async def acompare(
    a: Model | str,
    b: Model | str,
    *,
    judges: Judges,
    until_settled: bool = True,
    store: "Store | Path | str | None" = None,
    listeners: Sequence[Listener] = (),
    retry_failed: bool = False,
    preflight: bool = True,
    **rules: Any,
) -> Comparison:
    """Do what `compare` does inside an event loop, as in a notebook."""
    options = {"listeners": listeners, "retry_failed": retry_failed, "preflight": preflight}
    tournament = tournament_of(a, b, judges=judges, until_settled=until_settled, **rules)
    return Comparison.of(await tournament.arun(store, **options))


def tournament_of(
    a: Model | str, b: Model | str, *, judges: Judges, until_settled: bool = True, where: str = HERE, **rules: Any
) -> Tournament:
    """Return the tournament that a comparison plays: two models, sides balanced, in one match or until it is settled.

    Args:
        a: a model, or a model string.
        b: the other one.
        judges: who judges.
        until_settled: whether they meet on a few questions at a time and stop once it is settled.
        where: what problems name as their place.
        rules: other parameters of `Tournament`.

    Raises:
        ConfigurationError: with every problem found.

    Example:
        >>> tournament_of("sim/ada", "sim/bob", judges="sim/judge").committee.discussion_rounds
        0
    """
    first, second = (model_given(model, where) for model in (a, b))
    if "models" in rules:
        raise ConfigurationError([Problem(where, "models", "a comparison is of the two models before; leave it out")])
    if first.name == second.name:
        message = (
            f"both are named {first.name!r}; give each a name of its own: Model(NAME, MODEL), or NAME=MODEL on the "
            "command line"
        )
        raise ConfigurationError([Problem(where, "models", message)])
    panel = [judges] if isinstance(judges, Model | str) else judges
    schedule = Adaptive(confidence=LEVEL) if until_settled else RoundRobin()
    defaults = {"name": f"{first.name} against {second.name}", "schedule": schedule}
    tournament = Tournament.from_mapping({**defaults, **rules, "models": [first, second], "judges": panel}, where)
    committee = tournament.committee
    if len(tournament.judging_models) == 1 and "discussion_rounds" not in committee.model_fields_set:
        # There is nobody to discuss with, and the estimate need not count on it.
        alone = committee.model_copy(update={"discussion_rounds": 0})
        return tournament.model_copy(update={"committee": alone})
    return tournament
