"""Things the tests share: a backend that answers by a function, and ready-made records."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from coupled_arena.models.calls import Abilities, Call, Reply
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.model import Model
from coupled_arena.models.voice import Voice
from coupled_arena.records import Question, Section, Turn

QUESTION = Question(id="math-1", domain="math", language="en", text="What is 17 + 25?", author="test")


@dataclass
class ScriptedBackend:
    """Answers every call by a function and keeps the calls."""

    answer: Callable[[Call], Reply | str]
    able: Abilities = field(default_factory=Abilities)
    calls: list[Call] = field(default_factory=list)

    def abilities(self, model: Model) -> Abilities:
        return self.able

    def identity(self, model: Model) -> str:
        return model.model

    def problems(self, model: Model) -> Sequence[str]:
        return ()

    async def complete(self, call: Call) -> Reply:
        self.calls.append(call)
        await asyncio.sleep(0)
        answer = self.answer(call)
        if not isinstance(answer, str):
            return answer
        # As the real backends do, which never call a blank reply `ok`.
        return Reply(text=answer, outcome="ok") if answer.strip() else Reply(outcome="empty", detail="no text")

    async def aclose(self) -> None:
        self.calls.clear()


def voice(answer: Callable[[Call], Reply | str], able: Abilities | None = None, *, role: str = "debater") -> Voice:
    """Return a voice that answers by a function."""
    backend = ScriptedBackend(answer, able or Abilities())
    return Voice(Gateway(backends={"hosted": backend}), Model("test/model"), role)


def backend_of(speaker: Voice) -> ScriptedBackend:
    """Return the scripted backend behind a voice."""
    backend = speaker.gateway._backends["hosted"]
    assert isinstance(backend, ScriptedBackend)
    return backend


def turn(step: int, speaker: str, round_: int = 1, /, **sections: str) -> Turn:
    """Return a turn with these sections."""
    said = tuple(Section(tag=tag.rstrip("_"), text=text) for tag, text in sections.items())
    return Turn(step=step, round=round_, speaker=speaker, model=f"model-{speaker}", sections=said)
