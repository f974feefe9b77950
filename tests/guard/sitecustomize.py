"""Refuses every connection that would leave this machine.

The tests install it in their own process; Python programs they start import it by themselves, because its folder is on
their `PYTHONPATH`. An audit hook sees the calls below asyncio, httpx and requests alike, and no test can undo it. What
was refused is also written to a file, so that a test fails even where the library turned the refusal into an outcome.
"""

import os
import sys

LOG = "COUPLED_ARENA_NETWORK_LOG"
"""Environment variable that names the file."""

_NAMES = frozenset({"", "localhost", "::1", "0.0.0.0", "::"})
_LOOKUPS = frozenset({"socket.getaddrinfo", "socket.gethostbyaddr", "socket.gethostbyname"})
_SENDS = frozenset({"socket.connect", "socket.sendmsg", "socket.sendto"})


class NetworkRefused(Exception):
    """A test, or a program it started, reached for another machine."""


def is_local(host: str) -> bool:
    """Return whether a name or an address is this machine's own.

    >>> is_local("127.0.0.1"), is_local("192.0.2.1"), is_local("127.example")
    (True, False, False)
    """
    name = host.lower().removeprefix("::ffff:")
    return name in _NAMES or (name.startswith("127.") and name.replace(".", "").isdigit())


def refuse(event: str, arguments: tuple[object, ...]) -> None:
    """Raise `NetworkRefused` for an audit event that reaches for another machine."""
    if event in _LOOKUPS:
        host = arguments[0]
    elif event in _SENDS and isinstance(arguments[1], tuple):
        host = arguments[1][0]
    else:
        return
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    # Other families have numbers where an Internet address has its host.
    if not isinstance(host, str) or is_local(host):
        return
    attempt = f"{event} {host}"
    if log := os.environ.get(LOG):
        _write(log, attempt + "\n")
    raise NetworkRefused(f"{attempt}: tests may only connect to this machine")


def drain() -> list[str]:
    """Return what was refused since the last call."""
    from pathlib import Path

    log = Path(os.environ[LOG])
    attempts = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    return attempts


def _write(log: str, line: str) -> None:
    # Imported here because every program the tests start imports this file first.
    from pathlib import Path

    with Path(log).open("a", encoding="utf-8") as file:
        file.write(line)


if __name__ == "sitecustomize":
    sys.addaudithook(refuse)
