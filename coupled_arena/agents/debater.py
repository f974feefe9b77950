"""A debater: answers the question, criticizes its opponent, raises points and responds to them."""

from coupled_arena.agents.base import Tally, VoicedAgent
from coupled_arena.agents.messages import StepAnswer, StepRequest
from coupled_arena.models.calls import Message, Reply
from coupled_arena.models.voice import Voice
from coupled_arena.prompts import Grammar, PromptSet, read_sections
from coupled_arena.records import Outcome, Section

MOST_REQUESTS = 2
"""How often a missing required action is asked for (Auto-Arena, section 3.2)."""
LEAST_TOKENS = 10
"""A request for a missing action needs at least this much budget left."""


class Debater(VoicedAgent):
    """A model in a debater's seat.

    Where the model can continue a text, its sections are asked for one by one with their opening tags given, because
    small models follow no format; elsewhere the whole turn is asked for and read. A required action that is missing is
    asked for at most twice within the remaining budget; so is a turn or a section whose reply is empty.

    Args:
        name: a Python identifier, the agent's name on the bus.
        voice: the model.
        prompts: the prompt set of the tournament.
        section_tokens: most tokens of one section, None for a fair share of the turn's budget; a whole turn may have
            as many as the sections it is asked for.
    """

    def __init__(self, name: str, voice: Voice, prompts: PromptSet, *, section_tokens: int | None = None) -> None:
        super().__init__(name, voice, prompts, system=prompts.render("debater.system"))
        self.section_tokens = section_tokens

    async def answer(self, request: StepRequest) -> StepAnswer:
        """Speak one turn."""
        by_section = self.voice.abilities.continues
        turn = await (self._by_section(request) if by_section else self._whole(request))
        if turn.sections:
            self.history.append(Message("assistant", turn.content))
        return turn

    async def _whole(self, request: StepRequest) -> StepAnswer:
        """Ask for the whole turn, read it, and ask again for what is missing."""
        grammar, tally = self.prompts.grammar, Tally()
        history = list(self.history)
        sections: dict[str, Section] = {}
        outcome: Outcome = "ok"
        requests, left = 0, request.limit
        missing = request.requires
        while True:
            tokens = min(request.max_tokens, self.prompts.max_tokens(left))
            if self.section_tokens:
                tokens = min(tokens, self.section_tokens * len(missing))
            part = f"request {requests}" if requests else "whole"
            reply = tally.add(await self.voice.say(history, dice=request.dice, part=part, max_tokens=tokens))
            if not sections or reply.outcome in ("timeout", "failed"):
                outcome = reply.outcome
            if not _usable(reply):
                break
            for section in read_sections(reply.text, grammar):
                if not requests or section.tag in missing:
                    sections.setdefault(section.tag, section)
            left = request.limit - sum(grammar.count(section.text) for section in sections.values())
            missing = _missing(request, sections)
            if not missing or requests == MOST_REQUESTS or self.prompts.max_tokens(left) < LEAST_TOKENS:
                break
            requests += 1
            limit = self.prompts.render("labels.limit", words=str(left))
            request_text = self.prompts.render("debater.request", missing=self.prompts.slots(missing), limit=limit)
            if reply.text.strip():
                history += [Message("assistant", reply.text), Message("user", request_text)]
            else:
                # Providers refuse empty messages, and two of one speaker in a row.
                history[-1] = Message("user", f"{history[-1].content}\n\n{request_text}")
        if outcome in ("ok", "truncated") and not any(section.text for section in sections.values()):
            outcome = "empty"
        return self._turn(request, sections, tally, outcome=outcome, requests=requests, by_section=False)

    async def _by_section(self, request: StepRequest) -> StepAnswer:
        """Ask for one required section after the other, each with its opening tag given."""
        grammar, tally = self.prompts.grammar, Tally()
        stops = section_stops(grammar)
        sections: dict[str, Section] = {}
        outcome: Outcome = "ok"
        written, requests, cut = "", 0, False
        left = request.max_tokens
        for said, tag in enumerate(request.requires):
            text = ""
            for attempt in range(1 + MOST_REQUESTS):
                tokens = min(left // (len(request.requires) - said), self.section_tokens or left)
                if tokens < (LEAST_TOKENS if attempt else 1):
                    break
                requests += attempt > 0
                reply = tally.add(
                    await self.voice.say(
                        self.history,
                        dice=request.dice,
                        part=f"{tag} request {attempt}" if attempt else tag,
                        max_tokens=tokens,
                        prefix=written + grammar.open(tag),
                        stop=stops,
                    )
                )
                left -= reply.usage.completion_tokens
                if reply.outcome in ("timeout", "failed", "refused", "filtered"):
                    outcome = reply.outcome
                text = reply.text.strip()
                cut = cut or (reply.outcome == "truncated" and bool(text))
                if text or not _usable(reply):
                    break
            if outcome != "ok":
                break
            if text:
                sections[tag] = Section(tag=tag, text=text)
                written += f"{grammar.open(tag)}{text}{grammar.close(tag)}\n"
        if outcome == "ok" and not sections:
            outcome = "empty"
        return self._turn(request, sections, tally, outcome=outcome, requests=requests, by_section=True, cut=cut)

    def _turn(
        self,
        request: StepRequest,
        sections: dict[str, Section],
        tally: Tally,
        *,
        outcome: Outcome,
        requests: int,
        by_section: bool,
        cut: bool = False,
    ) -> StepAnswer:
        kept, shortened = within_limit(tuple(sections.values()), request.limit, self.prompts.grammar)
        return StepAnswer(
            source=self.name,
            content=tagged(kept, self.prompts.grammar),
            sections=kept,
            outcome=outcome,
            missing=_missing(request, {section.tag: section for section in kept}),
            cut=cut or shortened or outcome == "truncated",
            by_section=by_section,
            requests=requests,
            usage=tally.usage,
            sharing=tally.sharing,
            detail=tally.detail,
        )


def _usable(reply: Reply) -> bool:
    """Return whether the model answered, if only by nothing, so that it can be asked for what is missing."""
    return reply.answered or reply.outcome == "empty"


def _missing(request: StepRequest, sections: dict[str, Section]) -> tuple[str, ...]:
    return tuple(tag for tag in request.requires if tag not in sections or not sections[tag].text)


def tagged(sections: tuple[Section, ...], grammar: Grammar) -> str:
    """Return sections as their speaker wrote them, tagged in the prompt set's language."""
    return "\n".join(f"{grammar.open(s.tag)}{s.text}{grammar.close(s.tag)}" for s in sections)


def section_stops(grammar: Grammar) -> tuple[str, ...]:
    """Return the strings that end a section: any of the grammar's tags, opening or closing."""
    tags = sorted(grammar.actions)
    return tuple(grammar.close(tag) for tag in tags) + tuple(grammar.open(tag) for tag in tags)


def within_limit(sections: tuple[Section, ...], limit: int, grammar: Grammar) -> tuple[tuple[Section, ...], bool]:
    """Cut text over the limit at a word, in the order it was said.

    Returns:
        The sections that fit, the last one shortened, and whether anything was cut.
    """
    kept: list[Section] = []
    left = limit
    for section in sections:
        size = grammar.count(section.text)
        if size <= left:
            kept.append(section)
            left -= size
            continue
        if left > 0:
            kept.append(Section(tag=section.tag, text=grammar.cut(section.text, left)))
        return tuple(kept), True
    return tuple(kept), False
