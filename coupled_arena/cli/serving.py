"""The command that serves models: serve."""

import json
import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from coupled_arena.cli.flags import in_flags
from coupled_arena.cli.listening import FLAGS, LOOPBACK, HostOption, PortOption, TokenOption, token_in
from coupled_arena.cli.naming import model_of
from coupled_arena.cli.options import JsonOption
from coupled_arena.cli.terminal import complain, out_json

if TYPE_CHECKING:
    from coupled_arena.models.calls import Backend
    from coupled_arena.models.model import Kind
    from coupled_arena.models.serving.server import Server


def serve(
    models: Annotated[
        list[str], typer.Argument(metavar="MODEL...", help="local/NAME, sim/NAME, or ID=MODEL for an id of your own.")
    ],
    host: HostOption = LOOPBACK,
    port: PortOption = 8000,
    token_env: TokenOption = None,
    threads: Annotated[
        int | None, typer.Option("--threads", min=1, help="Threads of the engine; left out, they are timed.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Serve local models that share their dice, as OpenAI serves its own."""
    import asyncio
    import sys

    from coupled_arena.models.serving.server import Server

    token = token_in(token_env, "serve")
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
