"""A role of the user's own: any agent with a step in the script."""

from typing import ClassVar

from coupled_arena.agents.base import Tally, VoicedAgent
from coupled_arena.agents.debater import within_limit
from coupled_arena.agents.messages import StepAnswer, StepRequest
from coupled_arena.models.calls import Message, Reply
from coupled_arena.models.voice import Voice
from coupled_arena.prompts import PromptSet
from coupled_arena.records import Section


class Role(VoicedAgent):
    """An agent that speaks in steps of its own and says one section, which later speakers and the judges may see.

    Subclasses set `instructions` and, where plain text is not enough, override `speak`.

    Example:
        >>> class FactChecker(Role):
        ...     instructions = "Name every factual error in what you read, one a line."
        ...     tag = "note"
    """

    instructions: ClassVar[str] = ""
    """The system prompt."""
    tag: str = "note"
    """Tag of the section this role says."""

    def __init__(
        self, name: str, voice: Voice, prompts: PromptSet, *, system: str | None = None, tag: str | None = None
    ) -> None:
        super().__init__(name, voice, prompts, system=self.instructions if system is None else system)
        self.tag = self.tag if tag is None else tag

    async def speak(self, request: StepRequest) -> Reply:
        """Ask the model; override to ask differently or more than once."""
        return await self.voice.say(self.history, dice=request.dice, part="whole", max_tokens=request.max_tokens)

    async def answer(self, request: StepRequest) -> StepAnswer:
        """Speak one turn."""
        tally = Tally()
        reply = tally.add(await self.speak(request))
        said = (Section(tag=self.tag, text=reply.text.strip()),) if reply.text.strip() else ()
        sections, cut = within_limit(said, request.limit, self.prompts.grammar)
        if sections:
            self.history.append(Message("assistant", reply.text))
        return StepAnswer(
            source=self.name,
            content=reply.text,
            sections=sections,
            outcome=reply.outcome,
            cut=cut or reply.outcome == "truncated",
            usage=tally.usage,
            sharing=tally.sharing,
            detail=tally.detail,
        )
