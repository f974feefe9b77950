"""What a model's answer to a probe means, in words that say what to do next."""

from dataclasses import dataclass

from coupled_arena.models.calls import Reply
from coupled_arena.models.masking import without_secrets
from coupled_arena.models.model import Model
from coupled_arena.tournaments.results.caveats import quoted

ADVISED_THINKING = 2048
"""Tokens for hidden reasoning that are advised where none are set aside."""
UNSEEN_TOKENS = 4
"""Tokens without text that any reply may have: what begins and ends it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a probe showed of a model."""

    problem: str = ""
    """What keeps the model from being used, and what to do next; empty where nothing does."""
    note: str = ""
    """What else is worth knowing."""
    thinks: bool | None = None
    """Whether it reasoned before it answered; None where it gave no answer."""


def diagnosed(reply: Reply, model: Model) -> Finding:
    """Return what a reply to a probe means.

    >>> diagnosed(Reply(outcome="failed", detail="No such model.", fault="model"), Model("gpt", "openai/gpt-9")).problem
    'gpt: the provider knows no openai/gpt-9, or not for this key (No such model); check the model string'
    """
    thinks = _thinks(reply)
    if thinks:
        return _thinking(reply, model)
    if reply.outcome in ("failed", "timeout"):
        return _fault(reply, model)
    if not reply.answered:
        return Finding(note=f"{model.name}: gave no answer to the probe: {reply.outcome}{_said(reply)}", thinks=False)
    return Finding(note=f"{model.name}: {reply.detail}" if reply.detail else "", thinks=False)


def _thinks(reply: Reply) -> bool:
    """Return whether a model wrote what is not in its answer: a token of text is at least a byte of it."""
    unseen = reply.usage.completion_tokens > len(reply.text.encode()) + UNSEEN_TOKENS
    spent = reply.outcome == "failed" and "thinking_tokens" in reply.detail
    return bool(reply.reasoning) or unseen or spent or reply.text.lstrip().startswith("<think")


def _thinking(reply: Reply, model: Model) -> Finding:
    """Return what it means that a model thinks before it answers."""
    name, room = model.name, model.thinking_tokens
    if not room:
        problem = (
            f"{name}: thinks before it answers, which would use up the tokens of its answers; set aside room for it "
            f"(thinking_tokens = {ADVISED_THINKING}), or switch it off in `options` as its provider says "
            '(OpenAI: { reasoning_effort = "minimal" })'
        )
        return Finding(problem, thinks=True)
    if not reply.answered:
        problem = (
            f"{name}: thinks, and after {room} tokens had not begun to answer; set a larger thinking_tokens, or let it "
            "think less in `options`"
        )
        return Finding(problem, thinks=True)
    return Finding(note=f"{name}: thinks before it answers; each call may write {room} tokens more", thinks=True)


def _fault(reply: Reply, model: Model) -> Finding:
    """Return why a model could not be reached or refuses to answer."""
    name, string, said = model.name, without_secrets(model.model), _said(reply)
    key = f"the environment variable {model.api_key_env}" if model.api_key_env else "its key in the environment"
    place = f"api_base ({without_secrets(model.api_base)})" if model.api_base else "the network"
    match reply.fault:
        case "key":
            return Finding(f"{name}: the provider refuses its key{said}; check {key}")
        case "model":
            return Finding(
                f"{name}: the provider knows no {string}, or not for this key{said}; check the model string"
                + (f" and {place}" if model.api_base else "")
            )
        case "money":
            return Finding(f"{name}: its account has no money left{said}; add credit, or use another key (api_key_env)")
        case "rate":
            return Finding(
                note=f"{name}: the rate of its calls is limited at present{said}; set `limits` to what it allows"
            )
        case "network":
            return Finding(f"{name}: its provider cannot be reached{said}; check {place}")
        case "request":
            return Finding(f"{name}: its provider refuses the request{said}; check `options` and the other settings")
        case "time":
            return Finding(f"{name}: its provider gives no answer{said}; check {place}, or try again later")
    return Finding(f"{name}: its provider is in trouble{said}; try again later")


def _said(reply: Reply) -> str:
    """Return a provider's words in brackets, once and short."""
    words = reply.detail.rstrip(".")
    if not words:
        return ""
    return f" ({quoted(words)})"
