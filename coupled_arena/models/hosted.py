"""Models of providers, reached through LiteLLM."""

import asyncio
import hashlib
import json
import os
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

from coupled_arena.errors import ModelError
from coupled_arena.models.calls import Abilities, Call, Reply
from coupled_arena.models.faults import DETAIL_LENGTH, outcome_of, passes, retry_after, words_of
from coupled_arena.models.limits import Limit
from coupled_arena.models.litellm_loader import load_litellm
from coupled_arena.models.masking import masked, names_secret, without_secrets
from coupled_arena.models.model import Model
from coupled_arena.records import Usage

FIRST_WAIT = 0.5
"""Seconds before the first repetition of a request, doubled for every further one, where the provider states none."""

LEFT_OUT = "settings that the provider does not take were left out"
"""Detail of a reply to a call whose settings were not all sent."""

LONGEST_WAIT = 60.0
"""Most seconds to wait for a repetition; a provider that asks for more is given up."""

OWN_THOUGHTS = "<think>"
"""The section tag that LiteLLM takes for a sign of hidden reasoning."""


class HostedBackend:
    """Reaches whatever LiteLLM reaches; what goes wrong at the provider is an outcome.

    Args:
        attempts: most requests for one call; only faults that may pass are repeated, after the provider's Retry-After
            or a doubling wait.
        sleep: waits between requests.
        jitter: uniform numbers in [0, 1) that spread the waits; no result depends on them.
    """

    def __init__(
        self,
        *,
        attempts: int = 4,
        limits: Mapping[str, Limit] | None = None,
        on_wait: Callable[[Model, float, str], None] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.attempts = attempts
        """Most requests for one call."""
        self._sleep = sleep
        self._jitter = jitter
        self._abilities: dict[str, Abilities] = {}
        self._seeds: dict[str, bool] = {}
        self._choosy: set[str] = set()

    def abilities(self, model: Model) -> Abilities:
        """Return what LiteLLM knows of the model: whether it answers in a schema, and its context."""
        known = self._abilities.get(model.model)
        if known is None:
            litellm = load_litellm()
            known = self._abilities[model.model] = Abilities(
                schema=bool(litellm.supports_response_schema(model=model.model)), context=_context(model.model)
            )
        return known

    def identity(self, model: Model) -> str:
        """Return the model string, its address and its options, secrets left out."""
        return json.dumps(without_secrets([model.model, model.api_base, model.options]), sort_keys=True)

    def problems(self, model: Model) -> Sequence[str]:
        """Return whether the provider or its key is missing; a key is named, never shown."""
        if "/" not in model.model:
            return [f"write the provider too, such as openai/{model.model}"]
        missing = missing_key(model)
        return [f"the environment variable {missing} is not set"] if missing else []

    async def complete(self, call: Call) -> Reply:
        """Answer a call.

        Raises:
            ModelError: the call asks to continue a text or to choose, which no provider offers.
        """
        if call.prefix or call.choices:
            raise ModelError(
                f"{call.model.name}: a hosted model cannot {'choose' if call.choices else 'continue a text'}; "
                "ask only for what its abilities list"
            )
        litellm = load_litellm()
        model = call.model
        parameters = self._parameters(call)
        if model.model in self._choosy:
            parameters["drop_params"] = True
        requests = 0

        async def send() -> Any:
            nonlocal requests
            requests += 1
            # LiteLLM does not enforce its own time-out for every provider.
            async with asyncio.timeout(model.timeout):
                return await litellm.acompletion(**parameters)

        retrying = AsyncRetrying(
            stop=stop_after_attempt(self.attempts),
            wait=self._wait,
            retry=retry_if_exception(_worth_repeating),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            try:
                response: Any = await retrying(send)
            except litellm.UnsupportedParamsError:
                # Some models take no temperature, for example; what they refuse is left out from now on.
                self._choosy.add(model.model)
                requests = 0
                parameters["drop_params"] = True
                response = await retrying(send)
        except Exception as error:  # noqa: BLE001 (whatever LiteLLM raises, this call has failed)
            outcome = outcome_of(error)
            said = f"no answer within {model.timeout:g} s" if isinstance(error, TimeoutError) else words_of(error)
            return Reply(outcome=outcome, detail=self._safe(said, model), retries=requests - 1)
        reply = _read(response, call, "seed-only" if "seed" in parameters else "none")
        detail = reply.detail or (LEFT_OUT if "drop_params" in parameters else "")
        return reply.model_copy(update={"detail": self._safe(detail, model), "retries": requests - 1})

    async def aclose(self) -> None:
        """Do nothing: LiteLLM's connections belong to the process and the event loop, not to one gateway."""

    def _parameters(self, call: Call) -> dict[str, Any]:
        model, sampling = call.model, call.sampling
        wanted: dict[str, Any] = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "top_k": sampling.top_k,
            "min_p": sampling.min_p,
            "stop": list(call.stop) or None,
            "seed": seed_of(call) if self._takes_seed(model.model) else None,
            "api_base": model.api_base,
            "api_key": os.environ.get(model.api_key_env) if model.api_key_env else None,
        }
        if call.schema is not None:
            form = {"name": "reply", "schema": call.schema, "strict": True}
            wanted["response_format"] = {"type": "json_schema", "json_schema": form}
        return {
            **model.options,
            **{name: value for name, value in wanted.items() if value is not None},
            "model": model.model,
            "messages": [{"role": message.role, "content": message.content} for message in call.messages],
            "max_tokens": call.max_tokens,
            "timeout": model.timeout,
            "stream": False,
            "num_retries": 0,
            "max_retries": 0,
        }

    def _takes_seed(self, name: str) -> bool:
        takes = self._seeds.get(name)
        if takes is None:
            takes = self._seeds[name] = "seed" in (load_litellm().get_supported_openai_params(model=name) or ())
        return takes

    def _wait(self, state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome is not None else None
        asked = retry_after(error) if error is not None else None
        if asked is not None:
            return asked + self._jitter() * 0.25
        wait: float = FIRST_WAIT * 2 ** (state.attempt_number - 1)
        return min(LONGEST_WAIT, wait) * (0.5 + self._jitter() / 2)

    def _safe(self, words: str, model: Model) -> str:
        if not words:
            return ""
        # Masked before it is cut, so that no half of a secret is left at the end.
        return masked(words, variable=model.api_key_env, options=model.options)[:DETAIL_LENGTH]


def seed_of(call: Call) -> int:
    """Return the seed sent to a provider that takes one: 31 bits of the noise key and the sample."""
    digest = hashlib.blake2b(call.noise + call.sample.to_bytes(8, "big"), digest_size=4).digest()
    return int.from_bytes(digest, "big") & 0x7FFFFFFF


def missing_key(model: Model) -> str | None:
    """Return the name of the environment variable that a hosted model lacks its key in, or None; never its value."""
    if model.kind != "hosted":
        return None
    litellm = load_litellm()
    if model.api_key_env:
        return None if os.environ.get(model.api_key_env) else model.api_key_env
    missing: list[str] = litellm.validate_environment(model=model.model, api_base=model.api_base)["missing_keys"]
    if not any(names_secret(name) for name in missing):
        return None
    alternatives = all(name.endswith("_API_KEY") for name in missing)
    return (" or " if alternatives else ", ").join(sorted(missing))


def _context(name: str) -> int | None:
    try:
        context = load_litellm().get_model_info(name).get("max_input_tokens")
    except Exception:  # noqa: BLE001 (what LiteLLM raises for a model that is not in its table)
        return None
    return context if isinstance(context, int) else None


def _worth_repeating(error: BaseException) -> bool:
    return passes(error) and (retry_after(error) or 0.0) <= LONGEST_WAIT


def _read(response: Any, call: Call, sharing: Any) -> Reply:
    usage = getattr(response, "usage", None)
    about: dict[str, Any] = {
        "usage": Usage(
            prompt_tokens=getattr(usage, "prompt_tokens", None) or 0,
            completion_tokens=getattr(usage, "completion_tokens", None) or 0,
        ),
        "cost": (getattr(response, "_hidden_params", None) or {}).get("response_cost"),
        "sharing": sharing,
    }
    if not response.choices:
        return Reply(outcome="empty", detail="the provider's answer holds no choice", **about)
    choice = response.choices[0]
    message, ending = choice.message, choice.finish_reason
    text = message.content if isinstance(message.content, str) else ""
    reasoning = getattr(message, "reasoning_content", None) or ""
    refusal = getattr(message, "refusal", None) or ""
    if reasoning and _asked_for_thoughts(call) and not _hidden_tokens(usage):
        text, reasoning = f"{OWN_THOUGHTS}{reasoning}</{OWN_THOUGHTS[1:]}{text}", ""
    about["reasoning"] = reasoning
    if ending == "content_filter":
        return Reply(outcome="filtered", detail="the provider's filter stopped the reply", **about)
    if refusal:
        return Reply(outcome="refused", detail=refusal, **about)
    if not text.strip():
        limit = "the token limit was reached before any text" if ending == "length" else "the reply holds no text"
        return Reply(outcome="empty", detail=limit, **about)
    return Reply(text=text, outcome="truncated" if ending == "length" else "ok", **about)


def _asked_for_thoughts(call: Call) -> bool:
    # LiteLLM cuts a leading <think> section out of the text, also where the prompt asked for that section.
    return bool(call.messages) and OWN_THOUGHTS in call.messages[-1].content


def _hidden_tokens(usage: Any) -> int:
    details = getattr(usage, "completion_tokens_details", None)
    return getattr(details, "reasoning_tokens", None) or 0
