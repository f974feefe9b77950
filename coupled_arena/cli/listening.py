"""What the commands share that listen at an address: serve, view, annotate."""

import os
from typing import Annotated

import typer

from coupled_arena.errors import ConfigurationError, Problem

LOOPBACK = "127.0.0.1"
"""Where they listen unless they are told otherwise."""

FLAGS = {"host": "--host", "port": "--port", "token": "--token-env"}
"""What the parameters of a server are called here."""

HostOption = Annotated[str, typer.Option("--host", help="Address to listen at; any but loopback needs a token.")]
PortOption = Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes one that is free.")]
TokenOption = Annotated[
    str | None, typer.Option("--token-env", metavar="NAME", help="Variable that holds the token clients must show.")
]


def token_in(variable: str | None, command: str) -> str:
    """Return the token that a variable holds, or nothing where no variable is named.

    Raises:
        ConfigurationError: the variable is empty or not set.
    """
    if variable is None:
        return ""
    token = os.environ.get(variable, "").strip()
    if not token:
        raise ConfigurationError([Problem(command, "--token-env", f"the variable {variable} is empty or not set")])
    return token
