"""Redirects of model endpoints: followed within one origin, refused where prompts and keys would go elsewhere."""

import importlib
import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

LIBRARIES = ("httpx", "httpx2")
"""What LiteLLM and the packages of providers speak HTTP with; the second one comes with OpenAI's package."""

_STAYING = ContextVar("staying", default=False)


class RedirectRefused(Exception):
    """A provider answered with a redirect to another origin; says where to."""


@contextmanager
def within_origin() -> Iterator[None]:
    """Refuse redirects to another origin that answer what is sent meanwhile, by threads and tasks of this context too.

    `guard_clients` must have been called. What the rest of the process sends is not touched.
    """
    token = _STAYING.set(True)
    try:
        yield
    finally:
        _STAYING.reset(token)


def guard_clients() -> None:
    """Have the HTTP clients of this process look at redirects where `within_origin` asks for it.

    LiteLLM and the packages of providers follow every redirect, and send the body of the request along (307, 308) and
    keys in headers of a provider's own. They make clients in many ways and keep them, so all are met where they send.
    """
    for name in LIBRARIES:
        if importlib.util.find_spec(name) is not None:
            library = importlib.import_module(name)
            _guard(library.Client, _look)
            _guard(library.AsyncClient, _alook)


def _guard(client: Any, look: Any) -> None:
    send = client.send

    @wraps(send)
    def guarded(self: Any, *arguments: Any, **options: Any) -> Any:
        if _STAYING.get() and look not in self.event_hooks["response"]:
            self.event_hooks["response"].append(look)
        return send(self, *arguments, **options)

    client.send = guarded


def _look(response: Any) -> None:
    # A client that has sent for a model may be one that others send with as well.
    if not _STAYING.get() or not response.has_redirect_location:
        return
    home = response.request.url
    away = home.join(response.headers["location"])
    if _origin(away) != _origin(home):
        raise RedirectRefused(
            f"status {response.status_code}: {_origin(home)} redirects to {_origin(away)}, and the prompt and the key "
            "would follow; if that is where the model is, set its api_base to it"
        )


async def _alook(response: Any) -> None:
    _look(response)


def _origin(url: Any) -> str:
    """Return scheme, host and port."""
    return f"{url.scheme}://{url.netloc.decode('ascii', 'backslashreplace')}"
