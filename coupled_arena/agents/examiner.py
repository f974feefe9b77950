"""An examiner: writes questions about a domain."""

from coupled_arena.agents.base import Tally, VoicedAgent
from coupled_arena.agents.messages import ExamAnswer, ExamRequest
from coupled_arena.models.calls import Message
from coupled_arena.models.voice import Voice
from coupled_arena.prompts import PromptSet, questions_schema, read_json_questions, read_numbered


class Examiner(VoicedAgent):
    """A model in the examiner's seat: asked for a JSON object where it can write one, else for numbered lines."""

    def __init__(self, name: str, voice: Voice, prompts: PromptSet) -> None:
        self.as_json = voice.abilities.schema
        form = prompts.render("examiner.json" if self.as_json else "examiner.lines")
        super().__init__(name, voice, prompts, system=f"{prompts.render('examiner.system')}\n\n{form}")

    async def answer(self, request: ExamRequest) -> ExamAnswer:
        """Write questions."""
        tally = Tally()
        # A small model that is given the first number goes on with a list; it would chat otherwise.
        prefix = "(1) " if self.voice.abilities.continues and not self.as_json else ""
        reply = tally.add(
            await self.voice.say(
                self.history,
                dice=request.dice,
                part="whole",
                max_tokens=request.max_tokens,
                prefix=prefix,
                stop=(f"({request.count + 1})",) if prefix else (),
                schema=questions_schema() if self.as_json else None,
            )
        )
        text = prefix + reply.text if reply.answered else ""
        if text:
            self.history.append(Message("assistant", text))
        return ExamAnswer(
            source=self.name,
            content=text,
            questions=self._questions(text),
            outcome=reply.outcome,
            usage=tally.usage,
            sharing=tally.sharing,
            detail=tally.detail,
        )

    def _questions(self, text: str) -> tuple[str, ...]:
        return (read_json_questions(text) if self.as_json else ()) or read_numbered(text)
