"""A judge: reasons first, then a verdict that can be read without doubt, or says why there is none."""

from coupled_arena.agents.base import Tally, VoicedAgent
from coupled_arena.agents.messages import OpinionAnswer, OpinionRequest
from coupled_arena.models.calls import Message, Reply
from coupled_arena.models.voice import Voice
from coupled_arena.prompts import (
    PromptSet,
    VerdictReading,
    problem_of,
    read_json_verdict,
    read_verdict,
    verdict_schema,
)
from coupled_arena.records import VERDICTS, OpinionStatus

VERDICT_TOKENS = 48
"""Room for the verdict line, or for what is no reasons in the JSON object, beside the tokens of the reasons."""


class Judge(VoicedAgent):
    """A model in a judge's seat.

    How it is asked depends on what the model can do: to choose among the three labels after free reasons (local
    models, whose probabilities are kept), to fill a JSON object, or to end with a marker line. A reply whose verdict
    cannot be read is sent back once, with what was wrong.

    Args:
        name: a Python identifier, the agent's name on the bus.
        voice: the model.
        prompts: the prompt set of the tournament.
        reason_tokens: most tokens of the reasons; None for the whole budget. Where reasons and verdict come in one
            reply, it may have `VERDICT_TOKENS` more.
    """

    def __init__(self, name: str, voice: Voice, prompts: PromptSet, *, reason_tokens: int | None = None) -> None:
        self.as_json = voice.abilities.schema and not voice.abilities.chooses
        system = prompts.render("judge.system")
        if not voice.abilities.chooses:
            system = f"{system}\n\n{prompts.render('judge.json' if self.as_json else 'judge.marker')}"
        super().__init__(name, voice, prompts, system=system)
        self.reason_tokens = reason_tokens

    async def answer(self, request: OpinionRequest) -> OpinionAnswer:
        """Give an opinion."""
        return await (self._choose(request) if self.voice.abilities.chooses else self._read(request))

    async def _read(self, request: OpinionRequest) -> OpinionAnswer:
        """Ask for reasons and verdict in one reply; ask once more if the verdict cannot be read."""
        tally = Tally()
        schema = verdict_schema(self.prompts.grammar) if self.as_json else None
        history = list(self.history)
        tokens = request.max_tokens
        if self.reason_tokens:
            tokens = min(tokens, self.reason_tokens + VERDICT_TOKENS)
        for repairs, part in enumerate(("whole", "repair 1")):
            reply = tally.add(
                await self.voice.say(history, dice=request.dice, part=part, max_tokens=tokens, schema=schema)
            )
            reading = self._reading(reply)
            if reading.verdict is not None or not reply.answered:
                break
            if not repairs:
                history.append(Message("assistant", reply.text))
                history.append(Message("user", self.prompts.render("judge.repair", problem=reading.problem)))
        if reply.answered:
            self.history.append(Message("assistant", reply.text))
        return OpinionAnswer(
            source=self.name,
            content=reply.text,
            verdict=reading.verdict,
            status="valid" if reading.verdict else _why_not(reply),
            reasons=reading.reasons or ("" if reading.verdict else reply.text.strip()),
            repairs=repairs,
            usage=tally.usage,
            sharing=tally.sharing,
            detail=reading.problem if reply.answered else tally.detail,
        )

    def _reading(self, reply: Reply) -> VerdictReading:
        """Read the verdict from the judge's own text; a reply that was cut off has none."""
        if reply.outcome != "ok":
            return VerdictReading(None, problem_of(self.prompts.grammar, "truncated"))
        read = read_json_verdict if self.as_json else read_verdict
        return read(reply.text, self.prompts.grammar)

    async def _choose(self, request: OpinionRequest) -> OpinionAnswer:
        """Let the model reason freely, then choose one of the three labels."""
        tally = Tally()
        labels = self.prompts.grammar.labels
        tokens = min(request.max_tokens, self.reason_tokens or request.max_tokens)
        reasoned = tally.add(
            await self.voice.say(self.history, dice=request.dice, part="reasons", max_tokens=tokens, stop=("[[",))
        )
        # A model that wrote nothing can still choose; one that could not be reached cannot.
        if reasoned.outcome in ("failed", "timeout"):
            return OpinionAnswer(source=self.name, content="", status="failed", usage=tally.usage, detail=tally.detail)
        reasons = reasoned.text.strip()
        lead = reasons + self.prompts.render("judge.choose")
        chosen = tally.add(
            await self.voice.say(
                self.history, dice=request.dice, part="choice", max_tokens=1, prefix=lead, choices=labels
            )
        )
        verdict = VERDICTS[labels.index(chosen.text)] if chosen.text in labels else None
        content = lead + chosen.text
        if verdict:
            self.history.append(Message("assistant", content))
        return OpinionAnswer(
            source=self.name,
            content=content,
            verdict=verdict,
            status="valid" if verdict else _why_not(chosen),
            reasons=reasons,
            probabilities={v: chosen.probabilities[label] for v, label in zip(VERDICTS, labels, strict=True)}
            if chosen.probabilities
            else {},
            usage=tally.usage,
            sharing=tally.sharing,
            detail=tally.detail,
        )


def _why_not(reply: Reply) -> OpinionStatus:
    """Return why a reply holds no verdict."""
    match reply.outcome:
        case "refused" | "filtered":
            return "refused"
        case "truncated":
            return "truncated"
        case "timeout" | "failed":
            return "failed"
        case _:
            return "unparsable"
