"""Reading a TOML or JSON file so that whatever is wrong with it is one problem with the file's name."""

import json
import tomllib
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal

from coupled_arena.errors import ConfigurationError, Problem


def read_document(source: Path | Traversable, form: Literal["TOML", "JSON"], *, where: str, key: str) -> Any:
    """Return the content of a file in UTF-8.

    Args:
        source: the file.
        form: what it is written in.
        where: the file's name in a problem.
        key: the key in a problem.

    Raises:
        ConfigurationError: the file cannot be read, is not UTF-8, or is not what `form` says.
    """
    try:
        content = source.read_bytes()
    except (OSError, ValueError) as error:
        # A ValueError is a path that no file can have: one with a null byte.
        reason = getattr(error, "strerror", None) or error
        raise ConfigurationError([Problem(where, key, f"cannot be read: {reason}")]) from None
    try:
        text = content.decode("utf-8-sig")
        return tomllib.loads(text) if form == "TOML" else json.loads(text)
    except UnicodeDecodeError:
        message = "is not UTF-8; save it as UTF-8"
    except RecursionError:
        message = f"is not {form} that can be read: it is nested too deeply"
    except ValueError as error:
        # Beside errors of syntax, a number with thousands of digits.
        message = f"is not {form}: {error}"
    raise ConfigurationError([Problem(where, key, message)])
