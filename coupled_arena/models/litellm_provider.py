"""`sim/` and `local/` models as LiteLLM providers, so that any LiteLLM program can call them.

    >>> from coupled_arena.models.litellm_provider import register
    >>> register()

After that `litellm.acompletion("local/smollm2-135m", messages, seed=7)` runs here. The gateway does not go this way:
LiteLLM adds milliseconds to every call.
"""

import asyncio
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from coupled_arena.coupling import Sampling
from coupled_arena.coupling.keys import KEY_BYTES
from coupled_arena.errors import ArenaError
from coupled_arena.models.calls import Backend, Call, Message, Reply
from coupled_arena.models.gateway import default_backend
from coupled_arena.models.litellm_loader import load_litellm
from coupled_arena.models.model import Kind, Model
from coupled_arena.models.serving.dice import dice_of

DEFAULT_MAX_TOKENS = 512
"""Most tokens to write where the program states no limit."""

KNOWN = frozenset(
    {
        "choices",
        "max_completion_tokens",
        "max_retries",
        "max_tokens",
        "min_p",
        "noise",
        "sample",
        "seed",
        "stop",
        "stream",
        "temperature",
        "top_k",
        "top_p",
    }
)
"""Parameters the providers understand; `noise` is a noise key of 32 hex digits, `seed` any whole number."""


def register(backends: Mapping[Kind, Backend] | None = None) -> None:
    """Make `sim/...` and `local/...` callable through LiteLLM in this process; once is enough, twice does no harm.

    Two calls with equal `noise` share their dice, whatever the model; so do two calls with equal `seed` and messages,
    as in `coupled-arena serve`. A call with neither gets dice of its own.

    Args:
        backends: ways of reaching them instead of the built-in ones; they replace those of an earlier registration.
    """
    litellm = load_litellm()
    providers: tuple[Kind, ...] = ("sim", "local")
    for provider in providers:
        handler = _handler(provider, (backends or {}).get(provider))
        registered = [entry for entry in litellm.custom_provider_map if entry["provider"] == provider]
        if not registered:
            litellm.custom_provider_map.append({"provider": provider, "custom_handler": handler})
        elif backends:
            registered[0]["custom_handler"] = handler


class _Desk:
    """Answers calls on an event loop of its own, so that programs with any number of loops, or none, can ask."""

    def __init__(self, kind: Kind, backend: Backend | None) -> None:
        self._kind = kind
        self._backend = backend
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()

    def ask(self, call: Call) -> "asyncio.Future[Reply]":
        """Return the reply as a future of the running loop."""
        return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._answer(call), self._started()))

    def ask_and_wait(self, call: Call) -> Reply:
        """Return the reply, blocking the caller's thread."""
        return asyncio.run_coroutine_threadsafe(self._answer(call), self._started()).result()

    async def _answer(self, call: Call) -> Reply:
        if self._backend is None:
            self._backend = default_backend(self._kind)
        return await self._backend.complete(call)

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, name=f"litellm {self._kind}", daemon=True).start()
            return self._loop


def _handler(kind: Kind, backend: Backend | None) -> Any:
    litellm = load_litellm()
    desk = _Desk(kind, backend)

    class Handler(litellm.CustomLLM):  # type: ignore[misc, name-defined]
        """What LiteLLM calls for one provider."""

        def completion(self, model: str, messages: Sequence[Mapping[str, Any]], **rest: Any) -> Any:
            call = _call(kind, model, messages, rest)
            return _response(model, kind, _asked(desk.ask_and_wait, call), rest["model_response"])

        async def acompletion(self, model: str, messages: Sequence[Mapping[str, Any]], **rest: Any) -> Any:
            call = _call(kind, model, messages, rest)
            async with asyncio.timeout(rest.get("timeout") or call.model.timeout):
                try:
                    reply = await desk.ask(call)
                except ArenaError as error:
                    raise _refused(call, str(error)) from error
            return _response(model, kind, reply, rest["model_response"])

    return Handler()


def _asked(ask: Any, call: Call) -> Reply:
    try:
        reply: Reply = ask(call)
    except ArenaError as error:
        raise _refused(call, str(error)) from error
    return reply


def _call(kind: Kind, name: str, messages: Sequence[Mapping[str, Any]], rest: Mapping[str, Any]) -> Call:
    given = dict(rest.get("optional_params") or {})
    given.update(given.pop("extra_body", None) or {})
    model = Model(f"{kind}/{name}")
    unknown = sorted(given.keys() - KNOWN)
    if unknown or given.get("stream"):
        what = ", ".join(unknown) or "stream"
        raise load_litellm().UnsupportedParamsError(
            message=f"{model.name} does not know {what}; it knows {', '.join(sorted(KNOWN - {'stream'}))}",
            model=name,
            llm_provider=kind,
        )
    stop = given.get("stop") or ()
    try:
        chat = tuple(Message(message["role"], _text(message)) for message in messages)
        return Call(
            model=model,
            messages=chat,
            sampling=Sampling(
                1.0 if given.get("temperature") is None else given["temperature"],
                given.get("top_k"),
                given.get("top_p"),
                given.get("min_p"),
            ),
            max_tokens=given.get("max_completion_tokens") or given.get("max_tokens") or DEFAULT_MAX_TOKENS,
            noise=_noise(given, chat),
            sample=given.get("sample") or 0,
            stop=(stop,) if isinstance(stop, str) else tuple(stop),
            choices=tuple(given.get("choices") or ()),
        )
    except (ArenaError, ValueError) as error:
        raise load_litellm().BadRequestError(message=str(error), model=name, llm_provider=kind) from error


def _noise(given: Mapping[str, Any], chat: Sequence[Message]) -> bytes:
    noise, seed = given.get("noise"), given.get("seed")
    if noise is not None:
        key = bytes.fromhex(noise)
        if len(key) != KEY_BYTES:
            raise ValueError(f"noise: must be {2 * KEY_BYTES} hex digits, not {noise!r}")
        return key
    return dice_of(None, None if seed is None else int(seed), chat)


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content or ()
    if any(part.get("type") != "text" for part in parts):
        raise ValueError("messages: only text can be read")
    return "".join(part["text"] for part in parts)


def _response(name: str, kind: Kind, reply: Reply, response: Any) -> Any:
    litellm = load_litellm()
    if reply.outcome == "timeout":
        raise litellm.Timeout(message=reply.detail, model=name, llm_provider=kind)
    if reply.outcome == "failed":
        raise litellm.InternalServerError(message=reply.detail, model=name, llm_provider=kind)
    endings = {"truncated": "length", "filtered": "content_filter"}
    response.choices = [
        litellm.Choices(
            index=0,
            finish_reason=endings.get(reply.outcome, "stop"),
            message=litellm.Message(role="assistant", content=reply.text if reply.answered else None),
        )
    ]
    if reply.outcome == "refused":
        response.choices[0].message.refusal = reply.detail or "refused"
    response.model = f"{kind}/{name}"
    read, written = reply.usage.prompt_tokens, reply.usage.completion_tokens
    response.usage = litellm.Usage(prompt_tokens=read, completion_tokens=written, total_tokens=read + written)
    return response


def _refused(call: Call, words: str) -> Exception:
    litellm = load_litellm()
    error: Exception = litellm.BadRequestError(message=words, model=call.model.path, llm_provider=call.model.kind)
    return error
