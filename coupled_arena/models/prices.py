"""What a token of a model costs."""

from coupled_arena.models.litellm_loader import load_litellm
from coupled_arena.models.model import Model


def price_of(model: Model) -> tuple[float, float] | None:
    """Return US dollars per prompt and per completion token, or None where nobody knows.

    Simulated and local models cost nothing.

    >>> price_of(Model("sim/ada"))
    (0.0, 0.0)
    """
    if model.kind != "hosted":
        return 0.0, 0.0
    litellm = load_litellm()
    try:
        known = litellm.get_model_info(model=model.model)
    except Exception:  # noqa: BLE001 - LiteLLM raises a bare Exception for a model it has no price for
        return None
    prompt, completion = known.get("input_cost_per_token"), known.get("output_cost_per_token")
    return None if prompt is None or completion is None else (float(prompt), float(completion))
