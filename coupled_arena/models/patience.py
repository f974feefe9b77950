"""Whether a call may still wait: once a run stops, a call that is not being answered is given up."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Patience:
    """What a gateway and the backend that answers one of its calls tell each other while the call is in flight.

    A call between two requests costs nothing and may wait for minutes: for a limit, or because its provider asks for
    it. A run that stops at its budget waits only for requests that were sent.

    Args:
        over: raises whatever ends the call where no further request may be sent.
    """

    def __init__(self, over: Callable[[], None]) -> None:
        self.over = over
        """Raises where no further request may be sent."""
        self.idle = False
        """Whether the call waits before its next request."""


_PATIENCE: ContextVar[Patience | None] = ContextVar("patience", default=None)


@contextmanager
def answering(patience: Patience) -> Iterator[None]:
    """Say for what runs inside whether it may wait."""
    token = _PATIENCE.set(patience)
    try:
        yield
    finally:
        _PATIENCE.reset(token)


@contextmanager
def waiting() -> Iterator[None]:
    """Say that the call waits inside; outside a gateway nobody hears of it.

    Raises:
        BudgetReached: at the beginning or at the end, where nothing more may be spent.
    """
    patience = _PATIENCE.get()
    if patience is None:
        yield
        return
    patience.over()
    patience.idle = True
    try:
        yield
    finally:
        patience.idle = False
    patience.over()
