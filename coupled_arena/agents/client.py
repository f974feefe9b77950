"""A model of ours as an AutoGen model client, for agents of the user's own."""

import asyncio
import itertools
import json
import sys
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, Self

from autogen_core import CancellationToken, Component
from autogen_core.models import (
    ChatCompletionClient,
    CreateResult,
    LLMMessage,
    ModelFamily,
    ModelInfo,
    RequestUsage,
)
from autogen_core.tools import Tool, ToolSchema
from pydantic import BaseModel, ValidationError

from coupled_arena.agents.chat import chat_of, function_of, functions_called, result_of
from coupled_arena.agents.schemas import strict_schema
from coupled_arena.agents.seat import Seat, Speech, current_seat
from coupled_arena.coupling import Dice
from coupled_arena.errors import CallFailed, ConfigurationError, ModelError, Problem
from coupled_arena.models.calls import ANY_OBJECT, Abilities, Message, Reply
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.memo import NoMemo
from coupled_arena.models.model import Model, as_model
from coupled_arena.models.voice import Voice
from coupled_arena.records import Usage

CHARACTERS_PER_TOKEN = 4
"""How many characters are taken for one token before a model has counted them."""
TOKENS_OUTSIDE = 2048
"""Most tokens of a call outside a run that states no limit."""

_SETTINGS = ("min_p", "temperature", "top_k", "top_p")
_OVERRIDES = ("max_tokens", "stop", *_SETTINGS)
_HERE = "model_client"
_numbers = itertools.count(1)
_MADE: ContextVar["list[ModelClient] | None"] = ContextVar("made", default=None)

Choice = Tool | Literal["auto", "required", "none"]
"""What AutoGen says of the use of tools."""


def model_client(model: Model | str, *, max_tokens: int | None = None) -> "ModelClient":
    """Return an AutoGen model client through which an agent of yours speaks with one of our models.

    In a run its calls are those of the agent's turn: answered from the memo where they were answered before, limited,
    counted against the budget, at the temperature of the agent's role, and with the dice of the turn. Outside a run it
    asks the model directly; every call rolls new dice, and nothing is kept.

    Args:
        model: a `Model` or a model string; not an agent.
        max_tokens: most tokens of one call; None is what the turn may have, outside a run `TOKENS_OUTSIDE`.

    Raises:
        ConfigurationError: this is no model, or an agent.

    Example:
        >>> model_client("sim/ada").model_info["function_calling"]
        False
    """
    return ModelClient(model, max_tokens=max_tokens)


class ClientConfig(BaseModel):
    """What a model client is saved as."""

    model: dict[str, Any]
    """The settings of its `Model`."""
    max_tokens: int | None = None
    """Most tokens of one call."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a call asks for, in our words."""

    messages: list[Message]
    tools: list[dict[str, Any]]
    tool_choice: str
    schema: dict[str, Any] | None


class ModelClient(ChatCompletionClient, Component[ClientConfig]):
    """An AutoGen chat completion client over the gateway of the run in which it speaks; see `model_client`.

    A call without an answer (refused, filtered, empty, timed out, failed) raises `CallFailed`; the agent may go on from
    there, and if it does not, its turn has that outcome. A client holds no conversation: agents may share one.
    """

    component_type = "model"
    component_config_schema = ClientConfig
    component_provider_override = "coupled_arena.agents.client.ModelClient"

    def __init__(self, model: Model | str, *, max_tokens: int | None = None) -> None:
        self.model = _checked(model)
        """Who is asked."""
        self.max_tokens = max_tokens
        """Most tokens of one call, None for what the turn may have."""
        self.used = Usage()
        """Tokens of all calls, also of those that the memo answered."""
        self._own: Gateway | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        made = _MADE.get()
        if made is not None:
            made.append(self)

    def __repr__(self) -> str:
        return f"model_client({self.model!r})"

    async def create(
        self,
        messages: Sequence[LLMMessage],
        *,
        tools: Sequence[Tool | ToolSchema] = (),
        tool_choice: Choice = "auto",
        json_output: bool | type[BaseModel] | None = None,
        extra_create_args: Mapping[str, Any] = {},
        cancellation_token: CancellationToken | None = None,
    ) -> CreateResult:
        """Ask the model and return its reply.

        Args:
            messages: the chat; neighbours of one role are joined, and speakers named where there are several.
            tools: functions the model may call.
            tool_choice: whether it may, must or must not call one, or which.
            json_output: True for a JSON object, or a pydantic model for its schema.
            extra_create_args: `max_tokens`, `stop`, `temperature`, `top_k`, `top_p` or `min_p` of this call.
            cancellation_token: cancels the call.

        Raises:
            CallFailed: the call ended without an answer.
            ConfigurationError: the model cannot be asked for this.
            BudgetReached: nothing more may be spent.
        """
        seat = current_seat()
        speech = seat.speech if seat is not None else None
        asked = self._asked(messages, tools, tool_choice, json_output)
        called = self._with(extra_create_args, seat)
        try:
            reply = await self._reply(asked, called, seat, speech, extra_create_args, cancellation_token)
        except Exception as error:
            # An agent may take this for the result of a tool; the run has to end all the same.
            if speech is not None:
                speech.fault = speech.fault or error
            raise
        self.used += reply.usage
        if speech is not None:
            speech.note(reply)
        if not reply.answered:
            raise CallFailed(self.model.name, reply.outcome, reply.detail)
        return result_of(reply)

    async def create_stream(
        self,
        messages: Sequence[LLMMessage],
        *,
        tools: Sequence[Tool | ToolSchema] = (),
        tool_choice: Choice = "auto",
        json_output: bool | type[BaseModel] | None = None,
        extra_create_args: Mapping[str, Any] = {},
        cancellation_token: CancellationToken | None = None,
    ) -> AsyncGenerator[str | CreateResult, None]:
        """Ask the model; yields its text in one piece, since only whole replies are kept, and then the result."""
        result = await self.create(
            messages,
            tools=tools,
            tool_choice=tool_choice,
            json_output=json_output,
            extra_create_args=extra_create_args,
            cancellation_token=cancellation_token,
        )
        if isinstance(result.content, str):
            yield result.content
        yield result

    async def close(self) -> None:
        """Let go of what was opened outside a run."""
        own, self._own = self._own, None
        if own is not None:
            await own.aclose()

    def actual_usage(self) -> RequestUsage:
        """Return the tokens of all calls so far; an answer from the memo counts as if it had been asked for."""
        return RequestUsage(self.used.prompt_tokens, self.used.completion_tokens)

    def total_usage(self) -> RequestUsage:
        """Return the same as `actual_usage`."""
        return self.actual_usage()

    def count_tokens(self, messages: Sequence[LLMMessage], *, tools: Sequence[Tool | ToolSchema] = ()) -> int:
        """Return about how many tokens a chat has: one for every four characters."""
        chat = chat_of(messages)
        characters = sum(len(message.content) + len(message.extra) for message in chat)
        return -(-(characters + sum(len(json.dumps(function_of(tool))) for tool in tools)) // CHARACTERS_PER_TOKEN)

    def remaining_tokens(self, messages: Sequence[LLMMessage], *, tools: Sequence[Tool | ToolSchema] = ()) -> int:
        """Return about how many tokens are left for a reply; no end is known where nobody knows the context."""
        context = self.model.context or self._abilities().context or sys.maxsize
        return context - self.count_tokens(messages, tools=tools)

    @property
    def model_info(self) -> ModelInfo:
        """What the model can be asked for, in AutoGen's words."""
        able = self._abilities()
        return ModelInfo(
            vision=False,
            function_calling=able.tools,
            json_output=able.schema,
            structured_output=able.schema,
            family=ModelFamily.UNKNOWN,
            multiple_system_messages=True,
        )

    @property
    def capabilities(self) -> ModelInfo:
        """The same as `model_info`."""
        return self.model_info

    def _to_config(self) -> ClientConfig:
        return ClientConfig(model=self.model.model_dump(mode="json", exclude_defaults=True), max_tokens=self.max_tokens)

    @classmethod
    def _from_config(cls, config: ClientConfig) -> Self:
        return cls(Model(**config.model), max_tokens=config.max_tokens)

    def _abilities(self) -> Abilities:
        seat = current_seat()
        return self._gateway(seat).abilities(self._called(seat))

    def _called(self, seat: Seat | None) -> Model:
        return self.model if seat is None else seat.called(self.model)

    def _gateway(self, seat: Seat | None) -> Gateway:
        if seat is not None:
            return seat.gateway
        if self._own is None:
            self._own = Gateway(NoMemo())
        return self._own

    def _asked(
        self,
        messages: Sequence[LLMMessage],
        tools: Sequence[Tool | ToolSchema],
        tool_choice: Choice,
        json_output: bool | type[BaseModel] | None,
    ) -> _Asked:
        """Return a call in our words; what the model cannot be asked for is refused."""
        chat, able = chat_of(messages), self._abilities()
        functions = [function_of(tool) for tool in tools]
        choice = tool_choice if isinstance(tool_choice, str) else tool_choice.name
        if choice == "auto":
            choice = ""
        if not functions and (earlier := functions_called(messages)):
            # Some providers refuse a chat in which tools were called unless it names them.
            functions, choice = earlier, "none"
        if functions and not able.tools:
            raise self._unable("cannot call tools: leave the tools out, or name a model that can")
        if json_output and not able.schema:
            raise self._unable("cannot be held to a JSON schema: ask for JSON in the prompt and leave the schema out")
        schema = strict_schema(json_output) if isinstance(json_output, type) else None
        return _Asked(
            chat, functions, choice if functions else "", schema or (dict(ANY_OBJECT) if json_output else None)
        )

    async def _reply(
        self,
        asked: _Asked,
        called: Model,
        seat: Seat | None,
        speech: Speech | None,
        overrides: Mapping[str, Any],
        token: CancellationToken | None,
    ) -> Reply:
        if seat is not None and speech is None:
            raise ModelError(f"{self.model.name}: was asked between two turns; an agent speaks when it is asked to")
        if speech is None:
            await self._outside()
        dice = _outside_dice() if speech is None else speech.dice
        limit = overrides.get("max_tokens", self.max_tokens) or (speech.max_tokens if speech else TOKENS_OUTSIDE)
        voice = Voice(self._gateway(seat), called, "" if seat is None else seat.role)
        call = asyncio.ensure_future(
            voice.say(
                asked.messages,
                dice=dice,
                part="whole" if speech is None else speech.begin(),
                max_tokens=limit,
                stop=_strings(overrides.get("stop")),
                schema=asked.schema,
                tools=asked.tools,
                tool_choice=asked.tool_choice,
            )
        )
        if token is not None:
            token.link_future(call)
        return await call

    def _with(self, overrides: Mapping[str, Any], seat: Seat | None) -> Model:
        """Return the model as it is called, with the settings of this call."""
        unknown = sorted(set(overrides) - set(_OVERRIDES))
        if unknown:
            known = ", ".join(_OVERRIDES)
            raise self._unable(
                f"extra_create_args may hold {known}, not {', '.join(unknown)}; set `options` of the Model"
            )
        limit = overrides.get("max_tokens")
        if limit is not None and (type(limit) is not int or limit < 1):
            raise self._unable(f"extra_create_args: max_tokens must be a whole number of at least 1, not {limit!r}")
        settings = {name: overrides[name] for name in _SETTINGS if name in overrides}
        called = self._called(seat)
        if not settings:
            return called
        try:
            return Model(**{**called.model_dump(), **settings})
        except ValidationError as error:
            found = "; ".join(f"{part['loc'][0]}: {part['msg']}" for part in error.errors(include_url=False))
            raise self._unable(f"extra_create_args: {found}") from None

    def _unable(self, message: str) -> ConfigurationError:
        return ConfigurationError([Problem(_HERE, self.model.name, message)])

    async def _outside(self) -> None:
        """Open a gateway for this event loop, to which it then belongs."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop and self._loop is not None:
            await self.close()
        self._loop = loop


@contextmanager
def collecting() -> Iterator[list[ModelClient]]:
    """Collect the model clients that are made inside."""
    made: list[ModelClient] = []
    token = _MADE.set(made)
    try:
        yield made
    finally:
        _MADE.reset(token)


def _checked(model: Any) -> Model:
    try:
        checked = as_model(model) if isinstance(model, Model | str) else None
    except ValidationError as error:
        raise ConfigurationError([Problem(_HERE, "model", str(error.errors()[0]["msg"]))]) from None
    if not isinstance(checked, Model):
        raise ConfigurationError([Problem(_HERE, "model", "give a Model or a model string such as 'openai/gpt-4o'")])
    if checked.kind == "agent":
        raise ConfigurationError([Problem(_HERE, checked.name, "is an agent; an agent speaks with a model")])
    return checked


def _outside_dice() -> Dice:
    return Dice(0, ("outside a run",), (_HERE,), (str(next(_numbers)),))


def _strings(stop: Any) -> tuple[str, ...]:
    return (stop,) if isinstance(stop, str) else tuple(stop or ())
