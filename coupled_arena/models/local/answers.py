"""What a call asks of a loaded model, and the reply it comes to."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coupled_arena.coupling import Sampler, choose
from coupled_arena.models.calls import Call, Reply
from coupled_arena.models.local.choices import score
from coupled_arena.models.local.engine import Engine, Logits
from coupled_arena.models.local.generate import generate
from coupled_arena.models.local.scripts import Script
from coupled_arena.models.local.spelling import Emit
from coupled_arena.records import Outcome, Sharing, Usage


@dataclass(frozen=True, slots=True)
class Answer:
    """Answers one call; implements `Work`."""

    call: Call
    """The call."""
    emit: Emit | None = None
    """Takes the text piece by piece; None if nobody follows."""

    def render(self, engine: Engine) -> list[int]:
        """Return the tokens of the prompt; none for a call without messages or a prefix."""
        call = self.call
        return engine.render(call.messages, call.prefix) if call.messages or call.prefix else []

    def room(self, engine: Engine) -> int:
        """Return the most tokens the reply may have."""
        return max((len(engine.tokenize(choice)) for choice in self.call.choices), default=self.call.max_tokens)

    def refuse(self, engine: Engine, length: int, room: int) -> Reply | None:
        """Return the reply to a prompt that is empty or does not fit, or None."""
        if not length:
            return Reply(outcome="failed", detail="the prompt is empty: there is nothing to answer or to continue")
        if length + room <= engine.context:
            return None
        detail = f"the prompt has {length} tokens and the reply up to {room}; the context is {engine.context}"
        return Reply(outcome="failed", detail=detail, fault="request")

    def begin(self, engine: Engine, sampler: Sampler, length: int, logits: Logits) -> Script[Reply]:
        """Return the script that writes the reply after a prompt of so many tokens."""
        if self.call.choices:
            return self._choose(engine, length, logits)
        return self._generate(engine, sampler, length, logits)

    def _generate(self, engine: Engine, sampler: Sampler, length: int, logits: Logits) -> Script[Reply]:
        call = self.call
        written = yield from generate(
            engine,
            sampler,
            logits,
            length,
            sampling=call.sampling,
            key=call.noise,
            max_tokens=call.max_tokens,
            stop=call.stop,
            alignment=call.alignment,
            logprobs=call.logprobs,
            emit=self.emit,
        )
        usage = Usage(prompt_tokens=length, completion_tokens=written.tokens)
        if not written.text.strip():
            return Reply(outcome="empty", usage=usage, sharing=_sharing(call), detail="the model wrote nothing")
        outcome: Outcome = "ok" if written.finished else "truncated"
        return Reply(text=written.text, outcome=outcome, usage=usage, logprobs=written.logprobs, sharing=_sharing(call))

    def _choose(self, engine: Engine, length: int, logits: Logits) -> Script[Reply]:
        call = self.call
        logprobs = yield from score(engine, logits, length, call.choices)
        temperature = call.sampling.temperature
        chosen = call.choices[choose(call.choices, logprobs, call.noise, temperature=temperature)]
        if self.emit is not None and chosen:
            self.emit(chosen)
        return Reply(
            text=chosen,
            outcome="ok",
            usage=Usage(prompt_tokens=length, completion_tokens=len(engine.tokenize(chosen))),
            probabilities=_law(call.choices, logprobs, temperature, chosen),
            sharing=_sharing(call),
        )


def _law(choices: Sequence[str], logprobs: Sequence[float], temperature: float, chosen: str) -> dict[str, float]:
    """Return the probabilities with which the choice was drawn."""
    if temperature == 0:
        return {choice: float(choice == chosen) for choice in choices}
    scores = np.asarray(logprobs, dtype=np.float64)
    with np.errstate(over="ignore"):
        weights = np.exp((scores - scores.max()) / temperature)
    return dict(zip(choices, (weights / weights.sum()).tolist(), strict=True))


def _sharing(call: Call) -> Sharing:
    return "deterministic" if call.sampling.temperature == 0 else "shared"
