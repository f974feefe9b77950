"""Redirects of model endpoints: followed within one origin, refused where prompts and keys would go elsewhere."""

from typing import Any


class RedirectRefused(Exception):
    """A provider answered with a redirect to another origin; says where to."""


def refuse_redirects(litellm: Any) -> None:
    """Have the clients that LiteLLM has and will make in this process refuse redirects to another origin.

    LiteLLM and the packages of providers follow every redirect, and send the body of the request along (307, 308) and
    keys in headers of a provider's own. LiteLLM keeps all clients in one cache, and there they are met.
    """
    cache = litellm.in_memory_llm_clients_cache
    keep = cache.set_cache

    def set_cache(key: str, value: Any, *arguments: Any, **options: Any) -> Any:
        _guard(value)
        return keep(key, value, *arguments, **options)

    cache.set_cache = set_cache
    for holder in tuple(cache.cache_dict.values()):
        _guard(holder)


def _guard(holder: Any) -> None:
    """Guard the client in what LiteLLM keeps: the client itself, a handler of LiteLLM's, a provider's own client."""
    import httpx

    for client in (holder, getattr(holder, "client", None), getattr(holder, "_client", None)):
        if isinstance(client, httpx.AsyncClient) and _refuse not in client.event_hooks["response"]:
            client.event_hooks["response"].append(_refuse)
            if hasattr(holder, "event_hooks"):
                # A handler whose connection broke makes another client, with these.
                holder.event_hooks = client.event_hooks


async def _refuse(response: Any) -> None:
    if not response.has_redirect_location:
        return
    home = response.request.url
    away = home.join(response.headers["location"])
    if _origin(away) != _origin(home):
        raise RedirectRefused(
            f"status {response.status_code}: {_origin(home)} redirects to {_origin(away)}, and the prompt and the key "
            "would follow; if that is where the model is, set its api_base to it"
        )


def _origin(url: Any) -> str:
    """Return scheme, host and port."""
    return f"{url.scheme}://{url.netloc.decode('ascii', 'backslashreplace')}"
