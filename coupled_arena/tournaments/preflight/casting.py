"""Every model that a tournament may ask, and the keys of its definition that name it."""

from coupled_arena.agents.factories import key_of
from coupled_arena.models.gateway import Gateway
from coupled_arena.models.model import Model
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.panels import panel_key
from coupled_arena.tournaments.playing.seating import agents_models


def cast(tournament: Tournament) -> dict[str, list[Model]]:
    """Return every model of a definition by the key that names it."""
    panels = tournament.committee.judges_by_domain
    single = {"reference": tournament.reference}
    roles = {f"roles.{name}": seat.model for name, seat in sorted(tournament.roles.items())}
    return {
        "models": list(tournament.models),
        "judges": [] if isinstance(tournament.judges, int) else list(tournament.judges),
        **{panel_key(domain): list(panel) for domain, panel in sorted(panels.items())},
        **({"examiner": list(tournament.examiners)} if tournament.examiners else {}),
        **{key: [model] for key, model in {**single, **roles}.items() if model is not None},
    }


def asked_cast(tournament: Tournament) -> dict[str, list[Model]]:
    """Return the models of a definition that may be asked anything, by the key that names them."""
    return {key: models for key, models in cast(tournament).items() if tournament.asks(key)}


def whole_cast(tournament: Tournament, gateway: Gateway) -> dict[Model, list[str]]:
    """Return every model that may be asked, those of agents too, with the keys that name it or its agent."""
    keys: dict[Model, list[str]] = {}
    behind = {key_of(name): models for name, models in agents_models(tournament, gateway).items()}
    for key, models in {**asked_cast(tournament), **behind}.items():
        for model in models:
            keys.setdefault(model, []).append(key)
    return keys


def hosted_models(tournament: Tournament, gateway: Gateway | None = None) -> dict[Model, str]:
    """Return every hosted model that may be asked, with the first key that names it."""
    keys = whole_cast(tournament, gateway or Gateway())
    return {model: named[0] for model, named in keys.items() if model.kind == "hosted"}


def role_under(key: str) -> str:
    """Return the role of the models under a key of the definition, as it decides their temperature."""
    if key.startswith(panel_key("")):
        return "judge"
    return {"models": "debater", "judges": "judge"}.get(key, key.removeprefix("roles."))
