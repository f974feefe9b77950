"""Whether a bench can be played, what it will ask and what that costs at worst."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.models.calls import Backend
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.hosted.environment import missing_key
from coupled_arena.models.model import Kind, Model
from coupled_arena.models.prices import price_of
from coupled_arena.shown import plural
from coupled_arena.studies.bench.plan import ROLE, Plan
from coupled_arena.studies.bench.planning import WHERE
from coupled_arena.tournaments.preflight.asks import MESSAGE_TOKENS, token_bound
from coupled_arena.tournaments.preflight.estimate import Spending, bill, estimate, price_words
from coupled_arena.tournaments.preflight.loads import Duty, Load
from coupled_arena.tournaments.storage.store import Store
from coupled_arena.tournaments.stored import begun_under


@dataclass(frozen=True, slots=True)
class Preflight:
    """What a bench will ask and at worst cost; figures are of the whole run, whatever of it was asked before."""

    answers: int
    """Answers in all."""
    spending: tuple[Spending, ...]
    """What is asked of every model at most, and what that costs."""
    usd: float
    """Worst-case price in US dollars of all models with a known price."""
    unpriced: tuple[str, ...]
    """Names of the models whose price nobody knows."""
    notes: tuple[str, ...]
    """What is worth knowing and no problem."""
    hosted: bool
    """Whether any model is hosted, so that the run may cost money."""
    finished: bool
    """Whether the store holds the run to its end, so that nothing will be asked."""

    @property
    def cost(self) -> str:
        """The worst-case price in words."""
        return price_words(self.usd, self.unpriced)

    @property
    def lines(self) -> tuple[str, ...]:
        """What it comes to, one line each."""
        return (
            *(
                f"{line.model}: {plural(line.calls, 'call')}, at most {line.prompt_tokens} tokens read and "
                f"{line.completion_tokens} written, {'unpriced' if line.usd is None else f'${line.usd:.2f}'}"
                for line in self.spending
            ),
            *(f"note: {note}" for note in self.notes),
            f"{plural(self.answers, 'answer')}; worst case: {self.cost}",
        )

    def document(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {
            "answers": self.answers,
            "models": [asdict(line) for line in self.spending],
            "usd": self.usd,
            "unpriced_models": list(self.unpriced),
            "notes": list(self.notes),
            "finished": self.finished,
        }


async def preflight(
    plan: Plan,
    store: Store | Path | str | None = None,
    *,
    probe: bool = True,
    retry_failed: bool = False,
    backends: Mapping[Kind, Backend] | None = None,
) -> Preflight:
    """Check a plan, ask every hosted model once, and say what the bench will ask and at worst cost.

    Args:
        plan: what is to be asked.
        store: where the run lives or will live; nothing is written there.
        probe: whether to ask; without it no provider hears of anything, and a key may be missing.
        retry_failed: whether a finished run asks again what was answered without text.
        backends: ways of reaching a kind of model instead of the built-in ones.

    Raises:
        ConfigurationError: with everything that keeps it from being played.
        StoreError: the store cannot be read.
    """
    async with Gateway(backends=backends, limits=plan.limits) as gateway:
        known = begun_under(plan.digest(), store)
        finished = known is not None and known.finished and not retry_failed
        notes = await examined(plan, gateway, finished=finished, probing=probe, keys=probe)
    spending = estimate([_duty(plan, model) for model in plan.models], price_of)
    usd, unpriced = bill(spending)
    if known is not None:
        paid = f"${known.spent.usd:.2f} for {plural(known.spent.calls, 'call')}: paid, and not paid again"
        notes = (
            f"{known.run} is finished, and nothing is asked" if finished else f"{known.run} goes on: {paid}",
            *notes,
        )
    return Preflight(
        answers=plan.answers,
        spending=spending,
        usd=usd,
        unpriced=tuple(unpriced),
        notes=notes,
        hosted=any(model.kind == "hosted" for model in plan.models),
        finished=finished,
    )


async def examined(
    plan: Plan, gateway: Gateway, *, finished: bool, probing: bool, keys: bool = True
) -> tuple[str, ...]:
    """Check a plan against this machine and probe its hosted models; return what is worth knowing.

    Where the run is finished, nobody is probed, and models without a key cannot be asked for anything new.

    Raises:
        ConfigurationError: with every problem found.
    """
    hosted = [model for model in plan.models if model.kind == "hosted"]
    if finished:
        for model in hosted:
            if found := gateway.problems(model):
                gateway.unreachable[model.name] = "; ".join(found)
    problems = [*_models(plan, gateway, finished=finished, keys=keys), *([] if finished else _budget(plan))]
    notes: list[str] = []
    if probing and not finished and hosted:
        from coupled_arena.tournaments.preflight.probes import probe

        seen = await probe(gateway, [(model, ROLE) for model in hosted if not gateway.problems(model)])
        problems += [Problem(WHERE, "models", what.finding.problem) for what in seen.values() if what.finding.problem]
        notes += [what.finding.note for what in seen.values() if what.finding.note]
    if problems:
        raise ConfigurationError(problems)
    return tuple(notes)


def _models(plan: Plan, gateway: Gateway, *, finished: bool, keys: bool) -> Iterator[Problem]:
    """Dials, weights, keys: what each model string needs to be usable here."""
    for model in plan.models:
        if model.kind == "hosted" and (finished or (not keys and missing_key(model))):
            continue
        for message in gateway.problems(plan.called(model, plan.settings[0])):
            yield Problem(WHERE, "models", f"{model.name}: {message}")


def _budget(plan: Plan) -> Iterator[Problem]:
    """A bound in dollars on models that nobody knows the price of."""
    budget = plan.budget
    if budget.usd is None or budget.tokens is not None or budget.calls is not None:
        return
    if unpriced := [model.name for model in plan.models if model.kind == "hosted" and price_of(model) is None]:
        message = (
            f"cannot be held: no price is known for {', '.join(unpriced)}; set `price` of the model, "
            "budget.tokens or budget.calls"
        )
        yield Problem(WHERE, "budget.usd", message)


def _duty(plan: Plan, model: Model) -> Duty:
    """Return what is asked of a model."""
    prompts = [
        sum(token_bound(message.content) + MESSAGE_TOKENS for message in plan.task.chat(item)) for item in plan.items
    ]
    times = plan.repeats * len(plan.settings)
    calls, written = len(prompts) * times, plan.task.max_tokens + model.thinking_tokens
    load = Load(calls, calls, sum(prompts) * times, calls * written, max(prompts) + written)
    return Duty("models", ROLE, model, load)
