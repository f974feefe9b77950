"""Whether every call fits into the context of the model it goes to."""

from collections.abc import Iterable, Iterator

from coupled_arena.models.gateway import Gateway
from coupled_arena.models.model import Model
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.preflight.loads import Duty

SHORTER_TURNS = 'battle.section_tokens, battle.script = "single"'
"""Keys that shorten a battle."""
SHORTENED_BY = {
    "examiner": "questions_per_domain",
    "judge": f"{SHORTER_TURNS}, committee.reason_tokens, committee.discussion_rounds",
    "reference": "questions",
}
"""Keys that shorten the longest call of a role; of any other role it is `SHORTER_TURNS`."""


def context_of(tournament: Tournament, gateway: Gateway, model: Model) -> int | None:
    """Return how many tokens a model of a tournament can hold, question and answer together; None where nobody knows.

    What the definition says of a hosted model goes before what LiteLLM says; nothing makes weights hold more than they
    can.
    """
    known = gateway.abilities(tournament.model_of(model)).context
    if model.context is None or known is None:
        return known if model.context is None else model.context
    return min(known, model.context) if model.kind == "local" else model.context


def too_long(tournament: Tournament, gateway: Gateway, duties: Iterable[Duty]) -> Iterator[tuple[str, str]]:
    """Yield the key and what is wrong for every duty whose longest call its model cannot hold."""
    for duty in duties:
        model, needed = duty.model, duty.load.longest
        context = context_of(tournament, gateway, model)
        if context is not None and needed > context:
            yield duty.key, _problem(duty, context)


def _problem(duty: Duty, context: int) -> str:
    model, needed = duty.model, duty.load.longest
    means = SHORTENED_BY.get(duty.role, SHORTER_TURNS)
    message = (
        f"{model.name}: its longest call as {duty.role} may take {needed} tokens, and its context holds {context}; "
        f"take a model that holds more, or shorten the call ({means})"
    )
    if model.kind == "hosted" and model.context is None:
        return f"{message}; where LiteLLM's figure is wrong, set `context` of the model"
    return message
