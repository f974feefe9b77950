"""A request: one reply that somebody waits for."""

import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from coupled_arena.coupling import Sampler
from coupled_arena.errors import ModelUnavailable
from coupled_arena.models.calls import Reply
from coupled_arena.models.local.engine import Engine, Logits
from coupled_arena.models.local.prefixes import Tokens, as_tokens
from coupled_arena.models.local.scripts import Script


class Work(Protocol):
    """What is to be done for a request, once its model is loaded."""

    def render(self, engine: Engine) -> list[int]:
        """Return the tokens of the prompt."""
        ...

    def room(self, engine: Engine) -> int:
        """Return the most tokens the reply may have."""
        ...

    def refuse(self, engine: Engine, length: int, room: int) -> Reply | None:
        """Return the reply to a prompt of so many tokens if it cannot be evaluated, else None."""
        ...

    def begin(self, engine: Engine, sampler: Sampler, length: int, logits: Logits) -> Script[Reply]:
        """Return the script that writes the reply after a prompt of so many tokens."""
        ...


@dataclass(slots=True, eq=False)
class Request:
    """A reply on its way; all but `withdrawn` and `future` belong to the computing thread."""

    path: Path
    """File of the model."""
    work: Work
    """What is to be done."""
    future: Future[Reply] = field(default_factory=Future)
    """Becomes the reply, or why there is none."""
    withdrawn: threading.Event = field(default_factory=threading.Event)
    """Set when nobody waits any more."""
    passed: int = 0
    """How often others that came later were taken first."""
    prompt: Tokens = field(default_factory=lambda: as_tokens(()))
    """Tokens of the prompt, once rendered."""
    reach: int = 0
    """Tokens of the prompt and the longest reply, once rendered."""
    refusal: Reply | None = None
    """The reply to a prompt that cannot be evaluated, once rendered."""

    def prepare(self, engine: Engine) -> Reply | None:
        """Render the prompt unless it was; return the reply to one that cannot be evaluated."""
        if not self.reach:
            self.prompt = as_tokens(self.work.render(engine))
            room = self.work.room(engine)
            self.refusal = self.work.refuse(engine, len(self.prompt), room)
            self.reach = len(self.prompt) + room
        return self.refusal

    def give_up(self) -> None:
        """Tell whoever may still wait that the request was abandoned."""
        self.fail(ModelUnavailable(f"{self.path}: the call was given up before it was answered"))

    def fail(self, error: BaseException) -> None:
        """Raise an error where the reply is waited for."""
        if not self.future.done():
            self.future.set_exception(error)

    def finish(self, reply: Reply) -> None:
        """Hand over the reply."""
        if not self.future.done():
            self.future.set_result(reply)
