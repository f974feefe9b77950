"""Who is writing a run: what a second writer is told."""

import json
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path

from coupled_arena.models.masking import masked

LONGEST_COMMAND = 80
"""Most characters of a command that are kept."""


def this_process(since: float) -> str:
    """Return this process as a store keeps it while it writes: its id, its machine, since when, and its command.

    Args:
        since: seconds since 1970.
    """
    command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:]]) if sys.argv and sys.argv[0] not in ("", "-c") else ""
    return json.dumps(
        {
            "process": os.getpid(),
            "host": platform.node(),
            "since": since,
            "command": masked(command)[:LONGEST_COMMAND],
        }
    )


def holder_words(kept: object) -> str:
    """Return who is writing, in words; what was kept may be of another version, or damaged.

    >>> holder_words('{"process": 12, "host": "lab", "since": 0, "command": "coupled-arena run demo.toml"}')
    'process 12 on lab since 1970-01-01 00:00 UTC (coupled-arena run demo.toml)'
    >>> holder_words("12")
    'process 12'
    """
    try:
        known = json.loads(str(kept))
        if not isinstance(known, dict):
            return f"process {int(known)}"
        since = datetime.fromtimestamp(known["since"], UTC)
        command = f" ({known['command']})" if known["command"] else ""
        return f"process {known['process']} on {known['host']} since {since:%Y-%m-%d %H:%M} UTC{command}"
    except (ValueError, TypeError, LookupError, OverflowError, OSError):
        return "another process"


def may_live(kept: object) -> bool:
    """Return whether who is writing may still be: a process of this machine that is there, or one of another machine.

    Unlike taking the lock of a run, which nobody else could take meanwhile, asking changes nothing.

    >>> may_live(""), may_live(this_process(0))
    (False, True)
    """
    try:
        known = json.loads(str(kept))
        if known["host"] != platform.node():
            return True
        os.kill(int(known["process"]), 0)
    except PermissionError:
        return True
    except (ValueError, TypeError, LookupError, OSError, OverflowError):
        return False
    return True
