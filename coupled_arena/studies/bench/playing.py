"""Benches models: asks them about the items of a task, with shared dice wherever they run here."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Unpack

from coupled_arena.errors import BudgetReached, RunInterrupted
from coupled_arena.models.calls import Backend
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.local.common import strangers
from coupled_arena.models.model import Kind, Model
from coupled_arena.shown import plural
from coupled_arena.studies.bench.asking import Asking
from coupled_arena.studies.bench.plan import Plan
from coupled_arena.studies.bench.planning import planned
from coupled_arena.studies.bench.preflight import examined
from coupled_arena.studies.bench.result import Bench
from coupled_arena.studies.bench.rows import ModelRow, model_rows, pair_rows
from coupled_arena.studies.bench.rules import Rules
from coupled_arena.studies.bench.scoring import Exact
from coupled_arena.studies.bench.task import Task
from coupled_arena.tournaments.definition import refuse_event_loop
from coupled_arena.tournaments.playing.events import BenchOpened, Listener
from coupled_arena.tournaments.playing.play import opened, telling, versions
from coupled_arena.tournaments.results.caveats import quoted
from coupled_arena.tournaments.storage.database import MEMORY, is_memory
from coupled_arena.tournaments.storage.run_store import RunStore
from coupled_arena.tournaments.storage.store import Store
from coupled_arena.tournaments.stored import begun_under


def bench(
    models: Sequence[Model | str] | Model | str,
    task: Task | str | Path,
    *,
    store: Store | Path | str | None = None,
    listeners: Sequence[Listener] = (),
    retry_failed: bool = False,
    preflight: bool = True,
    **rules: Unpack[Rules],
) -> Bench:
    """Ask models about the items of a task, several times each, and say how often they are right and how they differ.

    Local (and simulated) models roll the same dice for the same item and repeat, so that less of their difference is
    dice; hosted models take part with dice of their own, and the result says so. A refused, filtered or empty reply
    scores 0; one that the provider failed to give is missing. Both are counted.

    Args:
        models: models or model strings, at least one.
        task: a `Task`; a name (`arithmetic`, `yes-no`, `multiple-choice`); or a file or folder (`load_task`).
        store: a file in which the run lives, so that it can go on and nothing is paid for twice; None keeps it in
            memory.
        listeners: told of every event.
        retry_failed: ask again what was answered without text.
        preflight: ask every hosted model once before the first call.
        rules: the keys of `Rules`, each with a default: `items` (how many, drawn by the seed; all), `repeats` (draws
            of the dice for each item; 10), `temperature` and `top_p` (one value or several; each model's own, else 0.7
            and 1), `coupling` (`coupled`, or `independent`), `alignment` (`step`, or `context`), `seed` (0), `budget`,
            `limits`, `concurrency` (64).

    Raises:
        ConfigurationError: it cannot be played, or a prompt or scorer of yours raised.
        BudgetReached: the budget is spent; `error.result` is the `Bench` of what was answered.
        RunInterrupted: stopped by Ctrl-C; the same call on the same store goes on.
        RuntimeError: called inside a running event loop; use `await abench(...)` there.

    Example:
        >>> found = bench(["sim/ada?skill=1", "sim/bob?skill=0.9"], "arithmetic", items=40, repeats=4, seed=7)
        >>> found.models["model"].tolist(), found.pairs["sharing"].tolist()
        (['sim/ada', 'sim/bob'], ['shared'])
    """
    refuse_event_loop("ca.abench(...)")
    plan = planned(models, task, **rules)
    return play(plan, store, listeners=listeners, retry_failed=retry_failed, preflight=preflight)


async def abench(
    models: Sequence[Model | str] | Model | str,
    task: Task | str | Path,
    *,
    store: Store | Path | str | None = None,
    listeners: Sequence[Listener] = (),
    retry_failed: bool = False,
    preflight: bool = True,
    **rules: Unpack[Rules],
) -> Bench:
    """Do what `bench` does inside an event loop, as in a notebook."""
    plan = planned(models, task, **rules)
    return await aplay(plan, store, listeners=listeners, retry_failed=retry_failed, preflight=preflight)


def play(plan: Plan, store: Store | Path | str | None = None, **options: Any) -> Bench:
    """Do what a plan says, or go on with it; takes the options of `aplay`.

    Raises:
        RunInterrupted: stopped by Ctrl-C.
    """
    try:
        return asyncio.run(aplay(plan, store, **options))
    except KeyboardInterrupt:
        kept = "nothing was kept, for lack of a store" if store is None else f"all answers are kept in {store}"
        raise RunInterrupted(f"bench {plan.task.name} was interrupted; {kept}; run it again to go on") from None


async def aplay(
    plan: Plan,
    store: Store | Path | str | None = None,
    *,
    listeners: Sequence[Listener] = (),
    retry_failed: bool = False,
    preflight: bool = True,
    backends: Mapping[Kind, Backend] | None = None,
) -> Bench:
    """Do what a plan says, or go on with it: what a store holds an answer to is not asked again."""
    async with Gateway(
        backends=backends,
        budget=plan.budget,
        limits=plan.limits,
        alignment=plan.alignment,
        retry_failed=retry_failed,
    ) as gateway:
        tell = telling(listeners, gateway)
        digest = plan.digest()
        known = begun_under(digest, store)
        finished = known is not None and known.finished and not retry_failed
        probing = preflight and "hosted" not in (backends or {})
        notes = await examined(plan, gateway, finished=finished, probing=probing)
        apart = [] if "local" in (backends or {}) else await asyncio.to_thread(strangers, plan.models)
        with ExitStack() as stack:
            kept = stack.enter_context(Store(MEMORY)) if is_memory(store) else store
            written, _ = stack.enter_context(opened(kept))
            manifest = {"versions": versions(), "seed": plan.seed}
            run = stack.enter_context(written.open_run(digest, f"bench {plan.task.name}", plan.document(), manifest))
            gateway.memo, gateway.spent_before = run, run.reader.spent
            tell(BenchOpened(run.id, plan.answers))
            asking = Asking(plan, gateway)
            try:
                await asking.run()
            except BudgetReached as stop:
                await gateway.drain()
                given = f"{len(asking.answers)} of {plural(plan.answers, 'answer')} were given"
                missing = f"{given} when budget.{gateway.stopped}"
                stop.result = _result(asking, run, apart, [missing, *notes])
                run.finish("interrupted", stop.result.caveats)
                raise
            found = _result(asking, run, apart, notes)
            run.finish("finished", found.caveats)
            return found


def _result(asking: Asking, run: RunStore, apart: Sequence[tuple[int, int]], notes: Sequence[str]) -> Bench:
    plan, gateway = asking.plan, asking.gateway
    rows = model_rows(plan, asking.answers)
    return Bench(
        run=run.id,
        plan=plan,
        replies=dict(sorted(asking.answers.items())),
        model_rows=rows,
        pair_rows=pair_rows(plan, asking.answers, apart),
        counts=gateway.counts,
        spent=gateway.spent,
        caveats=(*notes, *_caveats(asking, rows, apart)),
    )


def _caveats(asking: Asking, rows: Sequence[ModelRow], apart: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Yield what a reader of the tables must know."""
    plan = asking.plan
    for place, model in enumerate(plan.models):
        own = [answer for at, answer in asking.answers.items() if at.model == place]
        asked = len(own)
        if failed := Counter(quoted(answer.detail or answer.outcome) for answer in own if answer.score is None):
            words = min(failed, key=lambda text: (-failed[text], text))
            yield f"{model.name}: {failed.total()} of {plural(asked, 'answer')} failed and are missing ({words})"
        if silent := sum(row.silent for row in rows if row.model == model.name):
            yield f"{model.name}: {silent} of {plural(asked, 'answer')} were refused, filtered or empty, and score 0"
    if isinstance(plan.task.score, Exact) and any(row.unreadable for row in rows):
        yield f"a text without an answer to be read ({plan.task.scorer}) scores 0"
    if plan.coupling == "coupled":
        hosted = [model.name for model in plan.models if model.kind == "hosted"]
        if hosted:
            yield f"{', '.join(hosted)}: hosted, with dice of its provider's; nothing is said of what coupling saves"
        for one, other in apart:
            names = f"{plan.models[one].name} and {plan.models[other].name}"
            yield f"{names} have no token in common, and so no dice: nothing is said of what coupling saves"
    if plan.task.choices:
        free = [model.name for model in plan.models if not asking.chooses(model)]
        if free and len(free) < len(plan.models):
            yield f"{', '.join(free)}: wrote freely, while the others chose among {', '.join(plan.task.choices)}"
