"""One call's way to its reply: requests, repetitions, waits, and settings that turn out not to be taken."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type

from coupled_arena.models.calls import Call, Reply
from coupled_arena.models.hosted.answers import BrokenAnswer, read
from coupled_arena.models.hosted.blame import fault_of
from coupled_arena.models.hosted.exceptions import class_of, outcome_of, recourse
from coupled_arena.models.hosted.parameters import OLD_LIMIT, Habits, estimated_tokens, parameters, refused_setting
from coupled_arena.models.hosted.said import DETAIL_LENGTH, retry_after, said_by, status_of
from coupled_arena.models.limits.admission import Destination
from coupled_arena.models.limits.limiter import WORTH_SAYING, Limiter, Place
from coupled_arena.models.limits.waits import LONGEST_WAIT, backoff
from coupled_arena.models.litellm_loader import load_litellm
from coupled_arena.models.masking import masked
from coupled_arena.models.patience import waiting
from coupled_arena.models.redirects import within_origin
from coupled_arena.records import Usage

LEFT_OUT = "settings that the provider does not take were left out"
"""How the detail begins of a reply to a call whose settings were not all sent; their names follow."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What all calls of a backend have in common."""

    limiter: Limiter
    """Says when a request may be sent."""
    attempts: int
    """Most requests for one call that may end in a passing fault."""
    patience: float
    """Most seconds one call waits in all because requests come too fast for the provider."""
    sleep: Callable[[float], Awaitable[None]]
    """Waits between requests."""
    jitter: Callable[[], float]
    """Uniform numbers in [0, 1) that spread the waits."""


class _Again(Exception):
    """The request is to be repeated."""

    def __init__(self, seconds: float = 0.0) -> None:
        super().__init__(seconds)
        self.seconds = seconds


class _Failed(Exception):
    """The request has failed for good; anything else that is raised is no fault of the provider's."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class Asking:
    """Asks a provider until there is an answer or no hope of one.

    Faults that may pass are repeated after the provider's Retry-After or a doubling wait, `attempts` requests in all.
    A refusal because requests come too fast is no such fault: the call goes back to its place in line, where its lane
    is paused, and gives up only when it has waited longer than its patience. A setting that the model does not take is
    left out, once, for this call and later ones.
    """

    def __init__(
        self,
        call: Call,
        terms: Terms,
        habits: Habits,
        destination: Destination,
        *,
        takes_seed: bool,
        on_wait: Callable[[float, str], None],
    ) -> None:
        self._call = call
        self._terms = terms
        self._habits = habits
        self._destination = destination
        self._takes_seed = takes_seed
        self._on_wait = on_wait
        self._number = terms.limiter.number()
        self._tokens = estimated_tokens(call)
        self._requests = 0
        self._faults = 0
        self._waited = 0.0
        self._given_up = ""
        self._lost: list[Reply] = []

    async def reply(self) -> Reply:
        """Return the call's reply; a provider's fault is an outcome."""
        retrying = AsyncRetrying(retry=retry_if_exception_type(_Again), wait=_seconds, sleep=self._rest, reraise=True)
        try:
            reply: Reply = await retrying(self._request)
        except BrokenAnswer as broken:
            reply = broken.reply
        except _Failed as failed:
            reply = self._failure(failed.error)
        detail = f"{self._given_up}: {reply.detail}" if self._given_up else reply.detail
        costs = [answer.cost for answer in (reply, *self._lost)]
        return reply.model_copy(
            update={
                "detail": self._masked(detail),
                "retries": max(0, self._requests - 1),
                "usage": sum((answer.usage for answer in self._lost), start=reply.usage),
                "cost": None if None in costs else sum(cost for cost in costs if cost is not None),
            }
        )

    async def _request(self) -> Reply:
        """Send one request.

        Raises:
            _Again: it is to be repeated.
            _Failed: it has failed, for the last time.
            BrokenAnswer: the provider broke its answer off, for the last time.
        """
        model, terms = self._call.model, self._terms
        async with terms.limiter.place(
            self._destination, self._number, tokens=self._tokens, on_wait=self._on_wait
        ) as place:
            # Only now: while it waited, another call may have found out what the model does not take.
            key = os.environ.get(model.api_key_env) if model.api_key_env else None
            sent, left_out = parameters(self._call, self._habits, takes_seed=self._takes_seed, key=key)
            self._requests += 1
            began = time.perf_counter()
            try:
                # LiteLLM does not enforce its own time-out for every provider.
                async with asyncio.timeout(model.timeout):
                    with within_origin():
                        response = await load_litellm().acompletion(**sent)
                reply = read(response, self._call, "seed-only" if "seed" in sent else "none")
            except BrokenAnswer as broken:
                place.answered()
                place.used = _tokens(broken.reply.usage)
                self._after_fault(broken, lost=broken.reply)
                raise
            except Exception as error:
                # Whatever LiteLLM raises, and whatever it answers that cannot be read, this request has failed.
                self._after(error, sent, place)
                raise _Failed(error) from error
            place.answered()
            place.used = _tokens(reply.usage)
        note = f"{LEFT_OUT}: {', '.join(left_out)}" if left_out else ""
        detail = "; ".join(part for part in (reply.detail, note) if part)
        return reply.model_copy(update={"detail": detail, "latency": time.perf_counter() - began})

    def _failure(self, error: Exception) -> Reply:
        timeout = self._call.model.timeout
        words = f"no answer within {timeout:g} s" if isinstance(error, TimeoutError) else said_by(error).words
        return Reply(outcome=outcome_of(error), detail=words, fault=fault_of(error))

    def _after(self, error: Exception, sent: dict[str, Any], place: Place) -> None:
        """Decide what comes after a request that failed; returns where nothing does.

        Raises:
            _Again: it is to be repeated.
        """
        if class_of(error) == "UnsupportedParamsError":
            self._requests -= 1
            place.unsent = True
        elif status_of(error) is not None:
            place.used = 0
        setting = refused_setting(error, sent)
        if setting == OLD_LIMIT:
            self._habits.new_limit = True
            raise _Again
        if setting is not None:
            self._habits.left_out.add(setting)
            raise _Again
        match recourse(error):
            case "wait":
                self._after_refusal(error, place)
            case "retry":
                self._after_fault(error)

    def _after_refusal(self, error: Exception, place: Place) -> None:
        stated = retry_after(error)
        if self._is_too_long(stated):
            return
        self._waited += place.refused(stated, self._terms.jitter())
        if self._waited > self._terms.patience:
            self._given_up = f"still refused after waiting for {self._terms.patience:g} s"
            return
        raise _Again

    def _after_fault(self, error: Exception, lost: Reply | None = None) -> None:
        self._faults += 1
        stated = retry_after(error)
        if self._faults >= self._terms.attempts or self._is_too_long(stated):
            return
        if lost is not None:
            self._lost.append(lost)
        jitter = self._terms.jitter()
        raise _Again(backoff(self._faults, jitter) if stated is None else stated + jitter / 4)

    def _is_too_long(self, stated: float | None) -> bool:
        if stated is None or stated <= LONGEST_WAIT:
            return False
        self._given_up = f"the provider asks to wait for {stated:.0f} s, longer than {LONGEST_WAIT:.0f} s"
        return True

    async def _rest(self, seconds: float) -> None:
        if seconds >= WORTH_SAYING:
            self._on_wait(seconds, "the provider asks to wait after a fault")
        if seconds > 0:
            with waiting():
                await self._terms.sleep(seconds)

    def _masked(self, words: str) -> str:
        if not words:
            return ""
        model = self._call.model
        # Masked before it is cut, so that no half of a secret is left at the end.
        return masked(words, variable=model.api_key_env, options=model.options)[:DETAIL_LENGTH]


def _seconds(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome is not None else None
    return error.seconds if isinstance(error, _Again) else 0.0


def _tokens(usage: Usage) -> int | None:
    """Return the tokens of a request; None where the provider does not say, so that the estimate stays."""
    return usage.prompt_tokens + usage.completion_tokens or None
