"""AutoGen's chats, tools and results, and what they are in our words."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from autogen_core import FunctionCall
from autogen_core.models import (
    AssistantMessage,
    CreateResult,
    FunctionExecutionResultMessage,
    LLMMessage,
    RequestUsage,
    SystemMessage,
    UserMessage,
)
from autogen_core.tools import Tool, ToolSchema

from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.models.calls import Message, Reply


def result_of(reply: Reply) -> CreateResult:
    """Return a reply in AutoGen's words; hidden reasoning is never given where it would be sent on."""
    usage = RequestUsage(reply.usage.prompt_tokens, reply.usage.completion_tokens)
    if reply.tool_calls:
        calls = [FunctionCall(id=call.id, name=call.name, arguments=call.arguments) for call in reply.tool_calls]
        return CreateResult(
            finish_reason="function_calls", content=calls, usage=usage, cached=False, thought=reply.text or None
        )
    ending: Literal["length", "stop"] = "length" if reply.outcome == "truncated" else "stop"
    thought = reply.reasoning or None
    return CreateResult(finish_reason=ending, content=reply.text, usage=usage, cached=False, thought=thought)


def function_of(tool: Tool | ToolSchema) -> dict[str, Any]:
    """Return a tool in OpenAI's form."""
    return {"type": "function", "function": dict(tool.schema if isinstance(tool, Tool) else tool)}


def functions_called(messages: Sequence[LLMMessage]) -> list[dict[str, Any]]:
    """Return the tools that were called in a chat, by name only."""
    names = [
        call.name
        for message in messages
        if isinstance(message, AssistantMessage) and not isinstance(message.content, str)
        for call in message.content
    ]
    nothing = {"type": "object", "properties": {}}
    return [
        {"type": "function", "function": {"name": name, "description": "", "parameters": nothing}}
        for name in dict.fromkeys(names)
    ]


def chat_of(messages: Sequence[LLMMessage]) -> list[Message]:
    """Return a chat in our words.

    Neighbours of one role are joined, because providers refuse two messages of one speaker in a row. Where several
    others speak, each of their messages begins with its speaker's name.
    """
    speakers = {message.source for message in messages if isinstance(message, UserMessage)}
    chat: list[Message] = []
    for message in messages:
        for said in _parts(message, named=len(speakers) > 1):
            if not (said.content.strip() or said.extra):
                continue
            joined = chat and chat[-1].role == said.role and not (chat[-1].extra or said.extra)
            chat.append(Message(said.role, f"{chat.pop().content}\n\n{said.content}") if joined else said)
    return chat


def _parts(message: LLMMessage, *, named: bool) -> Iterator[Message]:
    match message:
        case SystemMessage():
            yield Message("system", message.content)
        case UserMessage():
            text = message.content if isinstance(message.content, str) else _text(message.content)
            yield Message("user", f"{message.source}: {text}" if named else text)
        case AssistantMessage(content=str(text)):
            yield Message("assistant", text)
        case AssistantMessage():
            calls = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in message.content
                if isinstance(call, FunctionCall)
            ]
            yield Message("assistant", message.thought or "", json.dumps({"tool_calls": calls}))
        case FunctionExecutionResultMessage():
            for result in message.content:
                yield Message("tool", result.content, json.dumps({"tool_call_id": result.call_id}))


def _text(content: Sequence[Any]) -> str:
    if not all(isinstance(part, str) for part in content):
        raise ConfigurationError([Problem("model_client", "messages", "holds an image; models are asked in text only")])
    return "\n".join(content)
