"""What a provider's answer comes to: text, tools to call, or one of the ways of having none."""

import json
import math
import re
from typing import Any, Literal

from coupled_arena.models.calls import Call, Reply, ToolCall
from coupled_arena.models.hosted.parameters import token_limit
from coupled_arena.models.model import Model
from coupled_arena.records import Sharing, Usage

Ending = Literal["finished", "cut", "filtered", "refused", "broken"]
"""How a provider says that a reply ended."""

ENDINGS: dict[str, Ending] = {
    **dict.fromkeys(
        ("stop", "stop_sequence", "end_turn", "tool_calls", "tool_use", "function_call", "eos", "eos_token"), "finished"
    ),
    **dict.fromkeys(("COMPLETE", "STOP", "STOP_SEQUENCE", "TOOL_CALL", "FINISH_REASON_UNSPECIFIED"), "finished"),
    **dict.fromkeys(("length", "max_tokens", "MAX_TOKENS", "CONTINUATION", "compaction", "pause_turn"), "cut"),
    "model_context_window_exceeded": "cut",
    **dict.fromkeys(("content_filter", "content_filtered", "guardrail_intervened", "sensitive", "SAFETY"), "filtered"),
    **dict.fromkeys(("RECITATION", "LANGUAGE", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"), "filtered"),
    **dict.fromkeys(("IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "IMAGE_OTHER"), "filtered"),
    **dict.fromkeys(("NO_IMAGE", "ESCALATION", "ERROR_TOXIC"), "filtered"),
    "refusal": "refused",
    **dict.fromkeys(("error", "ERROR", "network_error", "MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE"), "broken"),
    **dict.fromkeys(("TOO_MANY_TOOL_CALLS", "UNEXPECTED_TOOL_CALL", "MISSING_THOUGHT_SIGNATURE"), "broken"),
}
"""The reasons that providers give for the end of a reply, and what they mean."""

OWN_THOUGHTS = "<think>"
"""The section tag that LiteLLM takes for a sign of hidden reasoning."""

MOST_TOKENS = 1_000_000_000
"""Most tokens that a provider is believed to have read or written in one call."""

_FAULTY = re.compile("abort|cancel|error|exception|fail|incomplete|interrupt|malformed|time_?out", re.IGNORECASE)


class BrokenAnswer(Exception):
    """A provider itself called its answer broken; asking again may help."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.detail)
        self.reply = reply


def read(response: Any, call: Call, sharing: Sharing) -> Reply:
    """Return the reply that an answer of LiteLLM's holds.

    Args:
        response: LiteLLM's `ModelResponse`.
        call: the call it answers.
        sharing: what the reply's randomness is.

    Raises:
        BrokenAnswer: the provider says that something went wrong in the middle of the answer.
    """
    usage = _usage(response)
    about: dict[str, Any] = {"usage": usage, "cost": cost_of(call.model, usage, response), "sharing": sharing}
    if not response.choices:
        return Reply(outcome="empty", detail="the provider's answer holds no choice", **about)
    choice = response.choices[0]
    message = choice.message
    native, ending = _end(choice)
    text = _text(message.content)
    reasoning = _words(getattr(message, "reasoning_content", None))
    hidden = _hidden_tokens(response)
    if reasoning and _asked_for_thoughts(call) and not hidden:
        text, reasoning = f"{OWN_THOUGHTS}{reasoning}</{OWN_THOUGHTS[1:]}{text}", ""
    about["reasoning"] = reasoning
    refusal = _words(getattr(message, "refusal", None))
    if ending == "broken":
        reply = Reply(outcome="failed", detail=f"the provider broke the reply off: {native}", **about)
        raise BrokenAnswer(reply)
    if refusal or ending == "refused":
        return Reply(outcome="refused", detail=refusal or text or "the provider refused to answer", **about)
    if ending == "filtered":
        why = "the provider's filter stopped the reply"
        return Reply(outcome="filtered", detail=why if native == "content_filter" else f"{why}: {native}", **about)
    tools = _tools(message) if call.tools else ()
    if tools:
        return Reply(text=text, tool_calls=tools, outcome="truncated" if ending == "cut" else "ok", **about)
    if not text.strip():
        return _textless(call, cut=ending == "cut", thought=bool(reasoning or hidden), about=about)
    return Reply(text=text, outcome="truncated" if ending == "cut" else "ok", **about)


def cost_of(model: Model, usage: Usage, response: Any) -> float | None:
    """Return what an answer costs in US dollars: the user's price first, LiteLLM's second; None if nobody knows."""
    if not (usage.prompt_tokens or usage.completion_tokens):
        return None
    if model.price is not None:
        return model.price.of(usage)
    cost = (getattr(response, "_hidden_params", None) or {}).get("response_cost")
    # A bound in dollars holds only as long as nothing is subtracted and every sum is a number.
    return float(cost) if isinstance(cost, (int, float)) and math.isfinite(cost) and cost >= 0 else None


def _usage(response: Any) -> Usage:
    usage = getattr(response, "usage", None)
    return Usage(
        prompt_tokens=_count(getattr(usage, "prompt_tokens", None)),
        completion_tokens=_count(getattr(usage, "completion_tokens", None)),
    )


def _count(tokens: Any) -> int:
    """Return a number of tokens; one that cannot be is none, as where the provider does not say."""
    return tokens if type(tokens) is int and 0 <= tokens <= MOST_TOKENS else 0


def _end(choice: Any) -> tuple[str, Ending]:
    """Return the provider's reason for the end of a reply, and what it means: LiteLLM makes `stop` of some faults."""
    mapped = choice.finish_reason or "stop"
    for fields in (getattr(choice, "provider_specific_fields", None), choice.message.get("provider_specific_fields")):
        for name in ("native_finish_reason", "stop_reason"):
            reason = (fields or {}).get(name)
            if isinstance(reason, str) and reason:
                usual: Ending = "broken" if _FAULTY.search(reason) else ENDINGS.get(mapped, "finished")
                return reason, ENDINGS.get(reason, usual)
    return mapped, ENDINGS.get(mapped, "finished")


def _text(content: Any) -> str:
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _words(value: Any) -> str:
    """Return text as it is, and of anything else what JSON makes of it."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, default=str) if value else ""


def _hidden_tokens(response: Any) -> int:
    details = getattr(getattr(response, "usage", None), "completion_tokens_details", None)
    return _count(getattr(details, "reasoning_tokens", None))


def _asked_for_thoughts(call: Call) -> bool:
    # LiteLLM cuts a leading <think> section out of the text, also where the prompt asked for that section.
    return bool(call.messages) and OWN_THOUGHTS in call.messages[-1].content


def _tools(message: Any) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(
            id=tool.id or "",
            name=tool.function.name or "",
            arguments=arguments if isinstance(arguments := tool.function.arguments, str) else json.dumps(arguments),
        )
        for tool in message.tool_calls or ()
        if getattr(tool, "function", None) is not None
    )


def _textless(call: Call, *, cut: bool, thought: bool, about: dict[str, Any]) -> Reply:
    """Return the reply to a call that got no text: a fault of ours where the limit was spent on thinking."""
    usage, limit = about["usage"], token_limit(call)
    spent = usage.completion_tokens >= limit
    counted = bool(usage.prompt_tokens or usage.completion_tokens)
    if spent or (cut and (thought or not counted)):
        words = (
            f"the limit of {limit} tokens was spent on hidden thinking before any text: give the model more room with "
            f"thinking_tokens (now {call.model.thinking_tokens}), or let it think less"
        )
        return Reply(outcome="failed", detail=words, **about)
    limit_words = "the token limit was reached before any text"
    return Reply(outcome="empty", detail=limit_words if cut else "the reply holds no text", **about)
