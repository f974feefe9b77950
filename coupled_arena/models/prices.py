"""What a model's tokens cost."""

from coupled_arena.models.litellm_loader import load_litellm
from coupled_arena.models.model import Model, Price

FREE = Price(prompt=0, completion=0)
"""The price of what runs on this machine."""


def price_of(model: Model) -> Price | None:
    """Return what a model's tokens cost: the user's own figure first, LiteLLM's second; None where nobody knows.

    Simulated and local models cost nothing. An agent costs what the models it asks cost, which are counted themselves.

    Example:
        >>> price_of(Model("sim/ada"))
        Price(prompt=0.0, completion=0.0)
        >>> price_of(Model("openai/my-own-thing", price=Price(prompt=1, completion=2)))
        Price(prompt=1.0, completion=2.0)
    """
    if model.price is not None:
        return model.price
    if model.kind != "hosted":
        return FREE
    litellm = load_litellm()
    try:
        known = litellm.get_model_info(model=model.model)
    except Exception:  # noqa: BLE001 - LiteLLM raises a bare Exception for a model it has no price for
        return None
    prompt, completion = known.get("input_cost_per_token"), known.get("output_cost_per_token")
    if prompt is None or completion is None:
        return None
    return Price(prompt=float(prompt) * 1e6, completion=float(completion) * 1e6)
