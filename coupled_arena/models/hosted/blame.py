"""What a provider's fault lies in, for whoever has to mend it."""

from coupled_arena.models.calls import Fault
from coupled_arena.models.hosted.exceptions import class_of, outcome_of, recourse
from coupled_arena.models.hosted.said import causes_of, is_of_transport, status_of

_NO_PROVIDER = "LLM Provider NOT provided"


def fault_of(error: BaseException) -> Fault:
    """Return what is to blame for an exception: its status says it first, then LiteLLM's class.

    >>> fault_of(TimeoutError())
    'time'
    """
    name, status, helps = class_of(error), status_of(error), recourse(error)
    if outcome_of(error) == "timeout":
        return "time"
    if helps == "wait":
        return "rate"
    if name in ("RateLimitError", "PaymentRequiredError", "BudgetExceededError") or status == 402:
        return "money"
    if name in ("AuthenticationError", "PermissionDeniedError") or status in (401, 403):
        return "key"
    if name in ("NotFoundError", "LiteLLMUnknownProvider") or status == 404 or _NO_PROVIDER in str(error):
        return "model"
    if any(map(_is_of_network, causes_of(error))):
        return "network"
    return "provider" if helps == "retry" else "request"


def _is_of_network(cause: BaseException) -> bool:
    # Clients also raise exceptions of their own for answers with a status, which hold that answer.
    return is_of_transport(cause) and getattr(cause, "response", None) is None
