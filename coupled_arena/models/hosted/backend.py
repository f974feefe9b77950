"""Models of providers, reached through LiteLLM."""

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from coupled_arena.errors import ModelError
from coupled_arena.models.calls import Abilities, Call, Reply
from coupled_arena.models.hosted.asking import Asking, Terms
from coupled_arena.models.hosted.connections import Connections
from coupled_arena.models.hosted.environment import addresses_of, missing_key
from coupled_arena.models.hosted.parameters import Habits
from coupled_arena.models.limits.admission import Destination
from coupled_arena.models.limits.limit import Limit
from coupled_arena.models.limits.limiter import Limiter
from coupled_arena.models.litellm_loader import load_litellm
from coupled_arena.models.masking import without_secrets
from coupled_arena.models.model import Model, names_a_file

PATIENCE = 600.0
"""Most seconds that one call waits in all because requests come too fast for the provider."""


class _Known(NamedTuple):
    """What LiteLLM knows of a model string."""

    schema: bool
    tools: bool
    seed: bool
    context: int | None


class HostedBackend:
    """Reaches whatever LiteLLM reaches; what goes wrong at the provider is an outcome.

    Args:
        attempts: most requests for one call that may end in a fault which may pass.
        patience: most seconds that one call waits in all because requests come too fast for the provider; such waits
            use up no attempts.
        limits: what may be sent, by pattern of model strings; all models that a pattern fits share its limit, and a
            model obeys every pattern that fits it.
        on_wait: told when a call starts to wait for five seconds or more: its model, how many seconds at least, why.
        clock: seconds that never go backwards.
        sleep: waits that many seconds.
        jitter: uniform numbers in [0, 1) that spread the waits; no result depends on them.
    """

    def __init__(
        self,
        *,
        attempts: int = 4,
        patience: float = PATIENCE,
        limits: Mapping[str, Limit] | None = None,
        on_wait: Callable[[Model, float, str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._terms = Terms(Limiter(limits, clock=clock, sleep=sleep), attempts, patience, sleep, jitter)
        self._on_wait = on_wait
        self._connections = Connections()
        self._known: dict[str, _Known] = {}
        self._habits: dict[tuple[str, str], Habits] = {}

    def abilities(self, model: Model) -> Abilities:
        """Return what the user or LiteLLM knows of the model; one unknown to LiteLLM is taken to call tools."""
        known = self._know(model.model)
        return Abilities(schema=known.schema, tools=known.tools, context=model.context or known.context)

    def identity(self, model: Model) -> str:
        """Return the model string, where it is reached, its options and its thinking tokens, secrets left out."""
        parts: list[Any] = [model.model, model.api_base, model.options]
        if addresses := addresses_of(model):
            parts.append({"environment": addresses})
        if model.thinking_tokens:
            parts.append({"thinking_tokens": model.thinking_tokens})
        return json.dumps(without_secrets(parts), sort_keys=True)

    def problems(self, model: Model) -> Sequence[str]:
        """Return whether LiteLLM knows no such provider, or its key is missing; a key is named, never shown."""
        provider, _, rest = model.model.partition("/")
        if names_a_file(model.model):
            return [f"a file on this machine is local/{model.model}"]
        if not rest:
            return [f"write the provider too, such as openai/{model.model}"]
        if not _known_provider(model):
            return [
                f"LiteLLM knows no provider {provider!r}; for a server that speaks OpenAI's protocol write openai/..."
            ]
        missing = missing_key(model)
        return [f"the environment variable {missing} is not set"] if missing else []

    async def complete(self, call: Call) -> Reply:
        """Answer a call.

        Raises:
            ModelError: the call asks to continue a text or to choose, which no provider offers.
        """
        model = call.model
        if call.prefix or call.choices:
            raise ModelError(
                f"{model.name}: a hosted model cannot {'choose' if call.choices else 'continue a text'}; "
                "ask only for what its abilities list"
            )
        self._connections.claim()
        address = model.api_base or " ".join(addresses_of(model).values())
        habits = self._habits.setdefault((model.model, address), Habits())
        asking = Asking(
            call,
            self._terms,
            habits,
            Destination(model.model, address, model.api_key_env or ""),
            takes_seed=self._know(model.model).seed,
            on_wait=lambda seconds, reason: self._tell(model, seconds, reason),
        )
        return await asking.reply()

    async def aclose(self) -> None:
        """Let go of the connections of the running event loop, unless another backend still uses them."""
        await self._terms.limiter.aclose()
        await self._connections.aclose()

    def _tell(self, model: Model, seconds: float, reason: str) -> None:
        if self._on_wait is not None:
            self._on_wait(model, seconds, reason)

    def _know(self, name: str) -> _Known:
        known = self._known.get(name)
        if known is None:
            litellm = load_litellm()
            known = self._known[name] = _Known(
                schema=bool(litellm.supports_response_schema(model=name)),
                tools=not _in_table(name) or bool(litellm.supports_function_calling(model=name)),
                seed="seed" in (litellm.get_supported_openai_params(model=name) or ()),
                context=_context(name),
            )
        return known


def _known_provider(model: Model) -> bool:
    try:
        load_litellm().get_llm_provider(model=model.model, api_base=model.api_base)
    except Exception:  # noqa: BLE001 (what LiteLLM raises for a provider it does not know)
        return False
    return True


def _in_table(name: str) -> bool:
    table = load_litellm().model_cost
    return name in table or name.partition("/")[2] in table


def _context(name: str) -> int | None:
    try:
        context = load_litellm().get_model_info(name).get("max_input_tokens")
    except Exception:  # noqa: BLE001 (what LiteLLM raises for a model that is not in its table)
        return None
    return context if isinstance(context, int) else None
