"""What exceptions of LiteLLM mean: how the call ended, and whether asking again can help."""

import re
from typing import Literal

from coupled_arena.models.hosted.said import (
    TRACEBACK,
    UNREADABLE,
    Said,
    causes_of,
    is_of_transport,
    retry_after,
    said_by,
    status_of,
)
from coupled_arena.models.litellm_loader import load_litellm
from coupled_arena.models.redirects import RedirectRefused
from coupled_arena.records import Outcome

Recourse = Literal["none", "retry", "wait"]
"""What helps: nothing, asking again, or waiting because requests come too fast or the provider is overloaded."""

KINDS: dict[str, tuple[Outcome, Recourse]] = {
    "APIConnectionError": ("failed", "retry"),
    "APIError": ("failed", "retry"),
    "APIResponseValidationError": ("failed", "retry"),
    "AuthenticationError": ("failed", "none"),
    "BadGatewayError": ("failed", "retry"),
    "BadRequestError": ("failed", "none"),
    "BlockedPiiEntityError": ("filtered", "none"),
    "BudgetExceededError": ("failed", "none"),
    "CallerCredentialAuthenticationError": ("failed", "none"),
    "CallerCredentialRateLimitError": ("failed", "wait"),
    "ContentPolicyViolationError": ("filtered", "none"),
    "ContextWindowExceededError": ("failed", "none"),
    "EndpointNotSupportedByModelError": ("failed", "none"),
    "GuardrailRaisedException": ("failed", "none"),
    "ImageFetchError": ("failed", "none"),
    "InternalServerError": ("failed", "retry"),
    "InvalidRequestError": ("failed", "none"),
    "JSONSchemaValidationError": ("failed", "none"),
    "LiteLLMUnknownProvider": ("failed", "none"),
    "MalformedRequestFieldError": ("failed", "none"),
    "MidStreamFallbackError": ("failed", "retry"),
    "MockException": ("failed", "retry"),
    "ModelNotMappedError": ("failed", "none"),
    "ModifyResponseException": ("filtered", "none"),
    "NotFoundError": ("failed", "none"),
    "OpenAIError": ("failed", "none"),
    "PaymentRequiredError": ("failed", "none"),
    "PermissionDeniedError": ("failed", "none"),
    "RateLimitError": ("failed", "wait"),
    "RejectedRequestError": ("filtered", "none"),
    "SensitiveDataRouteException": ("filtered", "none"),
    "ServiceUnavailableError": ("failed", "retry"),
    "Timeout": ("timeout", "retry"),
    "UnprocessableEntityError": ("failed", "none"),
    "UnsupportedEndpointError": ("failed", "none"),
    "UnsupportedParamsError": ("failed", "none"),
    "VectorStoreSearchError": ("failed", "none"),
}
"""Every exception of LiteLLM by the name of its class: the outcome, and what helps unless its status says otherwise."""

_TOO_FAST = frozenset({429, 529})
_PASSING = frozenset({200, 204, 408, 409, 425, *range(500, 600)})
_NO_MONEY = frozenset(
    {"insufficient_quota", "insufficient_balance", "billing_hard_limit_reached", "billing_not_active"}
)
_HOPELESS = re.compile("exceeded your current quota|request too large", re.IGNORECASE)
_FILTER = re.compile(
    "content_filter|content_policy|ResponsibleAIPolicyViolation|data_inspection_failed|content_blocked", re.IGNORECASE
)


def outcome_of(error: BaseException) -> Outcome:
    """Return how a call ended that raised this."""
    if isinstance(error, TimeoutError):
        return "timeout"
    name = class_of(error)
    blocked = name == "GuardrailRaisedException" and getattr(error, "blocked_content", False)
    if blocked or (name in ("BadRequestError", "APIError") and _FILTER.search(said_by(error).code)):
        return "filtered"
    return KINDS[name][0] if name else "failed"


def recourse(error: BaseException) -> Recourse:
    """Return what helps against a fault.

    The HTTP status decides where the class says little. An answer that cannot be read is worth asking for again.
    LiteLLM reports bugs, too, as connection errors, with a traceback in the message; those count as such only if a
    connection caused them. An exhausted account comes as a rate limit, but no waiting helps.
    """
    if outcome_of(error) == "filtered" or any(isinstance(cause, RedirectRefused) for cause in causes_of(error)):
        return "none"
    name, said, status = class_of(error), said_by(error), status_of(error)
    if said.words.startswith(UNREADABLE):
        return "retry"
    if not name:
        return "retry" if any(map(is_of_transport, causes_of(error))) else "none"
    usual = KINDS[name][1]
    if usual == "none":
        return "none"
    if usual == "wait":
        hopeless = _is_hopeless(said, error) or (status is not None and status not in _TOO_FAST | _PASSING)
        return "none" if hopeless else "wait"
    if status in _TOO_FAST:
        return "wait"
    if name == "APIConnectionError" and TRACEBACK in str(error):
        return "retry" if any(map(is_of_transport, causes_of(error))) else "none"
    if name in ("APIError", "MockException"):
        return "retry" if status in _PASSING else "none"
    return "retry"


def class_of(error: BaseException) -> str:
    """Return the name of the class of LiteLLM's that an exception belongs to, the nearest one; nothing for others."""
    if isinstance(error, TimeoutError):
        return "Timeout"
    known = vars(load_litellm().exceptions)
    return next((kind.__name__ for kind in type(error).__mro__ if known.get(kind.__name__) is kind), "")


def _is_hopeless(said: Said, error: BaseException) -> bool:
    if not _NO_MONEY.isdisjoint(said.code.split()):
        return True
    # Google says the same of the requests of one minute, and then how long to wait.
    return _HOPELESS.search(said.words) is not None and retry_after(error) is None
