"""A scripted OpenAI-compatible provider on loopback, for tests of whatever talks to hosted models.

`FakeProvider` is the server; `behaviours` is what a model can be told to do; `Faults` disturbs a share of all calls;
a `Request` is one request as the server received it. `python -m coupled_arena.testing` runs a provider by hand, and a
pytest plugin offers the fixture `fake_provider`.

Example:
    >>> from coupled_arena.testing import FakeProvider, behaviours
    >>> with FakeProvider({"ada": "Forty-two.", "bob": behaviours.error(503)}) as provider:
    ...     provider.model("ada").model
    'openai/ada'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coupled_arena.testing.faults import Faults
    from coupled_arena.testing.provider import FakeProvider
    from coupled_arena.testing.request import Request

_HOMES = {"FakeProvider": "provider", "Faults": "faults", "Request": "request"}

__all__ = ["FakeProvider", "Faults", "Request", "behaviours"]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: the pytest plugin of this package is loaded in every test run."""
    if name == "behaviours":
        return import_module(f"{__name__}.behaviours")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
