"""The command that serves models: serve."""

import json
import os
import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from coupled_arena.cli.flags import in_flags
from coupled_arena.cli.naming import model_of
from coupled_arena.cli.options import JsonOption
from coupled_arena.cli.terminal import complain, out_json
from coupled_arena.errors import ConfigurationError, Problem

if TYPE_CHECKING:
    from coupled_arena.models.calls import Backend
    from coupled_arena.models.model import Kind
    from coupled_arena.models.serving.server import Server


FLAGS = {"host": "--host", "port": "--port", "token": "--token-env"}
"""What the parameters of a server are called here."""


def serve(
    models: Annotated[
        list[str], typer.Argument(metavar="MODEL...", help="local/NAME, sim/NAME, or ID=MODEL for an id of your own.")
    ],
    host: Annotated[str, typer.Option("--host", help="Address to listen at; any but loopback needs a token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes one that is free.")] = 8000,
    token_env: Annotated[
        str | None, typer.Option("--token-env", metavar="NAME", help="Variable that holds the token clients must show.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, help="Threads of the engine; left out, they are timed.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Serve local models that share their dice, as OpenAI serves its own."""
    import asyncio
    import sys

    from coupled_arena.models.serving.server import Server

    token = "" if token_env is None else _token(token_env)
    served = [model_of(text, "serve") for text in models]
    with in_flags(FLAGS):
        server = Server(served, host=host, port=port, token=token, backends=_backends(threads))
    if as_json:
        told = [{"id": m.id, "model": m.model.model, "fingerprint": m.fingerprint} for m in server.served.values()]
        out_json({"url": server.url, "base_url": f"{server.url}/v1", "models": told})
        sys.stdout.flush()
    complain(f"serving {', '.join(server.served)} at {server.url}/v1; Ctrl-C stops")
    complain(_curl(server, token_env))
    sys.stderr.flush()
    asyncio.run(server.run_until_signal())


def _token(variable: str) -> str:
    token = os.environ.get(variable, "").strip()
    if not token:
        raise ConfigurationError([Problem("serve", "--token-env", f"the variable {variable} is empty or not set")])
    return token


def _backends(threads: int | None) -> "dict[Kind, Backend]":
    if threads is None:
        return {}
    import dataclasses

    from coupled_arena.models.local.backend import LocalBackend
    from coupled_arena.models.local.settings import LocalSettings

    return {"local": LocalBackend(dataclasses.replace(LocalSettings.from_environment(), threads=threads))}


def _curl(server: "Server", token_env: str | None) -> str:
    """Return a line to paste into another terminal."""
    body = {"model": next(iter(server.served)), "seed": 7, "messages": [{"role": "user", "content": "Hello"}]}
    shown = f'-H "Authorization: Bearer ${token_env}" ' if token_env else ""
    return f"try: curl -s {server.url}/v1/chat/completions {shown}-d {shlex.quote(json.dumps(body))}"
