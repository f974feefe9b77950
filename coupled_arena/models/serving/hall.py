"""The models that are served: each under its id, with the backend that answers for it."""

import hashlib
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from coupled_arena.errors import ArenaError, ConfigurationError, Problem
from coupled_arena.models.calls import Abilities, Backend, Call, Reply
from coupled_arena.models.gateway import default_backend
from coupled_arena.models.model import Kind, Model, names_a_file
from coupled_arena.models.serving.refusals import Refusal
from coupled_arena.models.serving.wishes import Wish

REVISION = 1
"""Raised whenever equal requests would get other replies from equal models: part of every fingerprint."""

_SERVED: tuple[Kind, ...] = ("local", "sim")


@runtime_checkable
class Streams(Protocol):
    """A backend that can answer a call piece by piece."""

    def stream(self, call: Call) -> AsyncGenerator[str | Reply, None]:
        """Give the text in pieces, and the reply at the end."""
        ...


@dataclass(frozen=True, slots=True)
class Served:
    """A model that is served."""

    id: str
    """What clients call it."""
    model: Model
    """The model."""
    backend: Backend
    """What answers for it."""
    abilities: Abilities
    """What it can be asked for."""
    fingerprint: str
    """Changes whenever equal requests may get other replies."""

    def refuse(self, wish: Wish) -> Refusal | None:
        """Return why this model cannot do what a client asks for, or None."""
        able, context = self.abilities, self.abilities.context
        if wish.prefix and not able.continues:
            return self._cannot("continue a message of the assistant's", "messages")
        if wish.choices and not able.chooses:
            return self._cannot("choose among given strings", "choices")
        if wish.logprobs is not None and self.model.kind != "local":
            return self._cannot("tell log probabilities", "logprobs")
        if context is not None and wish.max_tokens >= context:
            words = f"max_tokens is {wish.max_tokens}, and {self.id} can hold {context} tokens, the prompt included"
            return Refusal(400, words, "context_length_exceeded", "max_tokens")
        return None

    async def events(self, call: Call, *, pieces: bool) -> AsyncGenerator[str | Reply, None]:
        """Answer a call: the text in pieces where that is wished and possible, and the reply at the end.

        Raises:
            ArenaError: this machine cannot answer.
        """
        if pieces and isinstance(self.backend, Streams):
            async with aclosing(self.backend.stream(call)) as events:
                async for event in events:
                    yield event
            return
        reply = await self.backend.complete(call)
        if pieces and reply.text:
            yield reply.text
        yield reply

    def _cannot(self, what: str, param: str) -> Refusal:
        return Refusal(400, f"{self.id} cannot {what}", "unsupported_parameter", param)


class Hall:
    """The models that are served, by id.

    Args:
        models: what is served, at least one: `local/...` and `sim/...`.
        backends: ways of reaching them instead of the built-in ones.

    Raises:
        ConfigurationError: one cannot be served, or two have the same id; every problem is listed.

    Example:
        >>> sorted(Hall([Model("sim/ada"), Model("b", "sim/bob?skill=1")]).served)
        ['b', 'sim/ada']
    """

    def __init__(self, models: Sequence[Model], backends: Mapping[Kind, Backend] | None = None) -> None:
        self._backends: dict[Kind, Backend] = dict(backends or {})
        self.served: dict[str, Served] = {}
        """The models by id, in the order given."""
        problems = [] if models else [Problem("serve", "models", "name at least one, such as local/smollm2-135m")]
        for model in models:
            problems += [Problem("serve", model.name, words) for words in self._admit(model)]
        if problems:
            raise ConfigurationError(problems)

    async def aclose(self) -> None:
        """Abandon what is in work and unload every model."""
        for backend in self._backends.values():
            await backend.aclose()

    def _admit(self, model: Model) -> Sequence[str]:
        if model.kind not in _SERVED and names_a_file(model.model):
            return [f"a file on this machine is local/{model.model}"]
        if model.kind not in _SERVED:
            return [f"is reached through its provider; only {' and '.join(f'{kind}/' for kind in _SERVED)} are served"]
        if model.name in self.served:
            return ["is given twice; keep one, or give the other a name of its own"]
        backend = self._backends.get(model.kind)
        if backend is None:
            backend = self._backends[model.kind] = default_backend(model.kind)
        try:
            if problems := backend.problems(model):
                return problems
            identity = f"serving {REVISION} {backend.identity(model)}"
            digest = hashlib.blake2b(identity.encode(), digest_size=8).hexdigest()
            self.served[model.name] = Served(model.name, model, backend, backend.abilities(model), f"fp_{digest}")
        except ArenaError as error:
            return str(error).splitlines()
        return ()
