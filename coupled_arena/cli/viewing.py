"""The command that shows a store in the browser: view."""

import sys

from coupled_arena.cli.flags import in_flags
from coupled_arena.cli.listening import FLAGS, LOOPBACK, HostOption, PortOption, TokenOption, token_in
from coupled_arena.cli.options import DEFAULT_STORE, JsonOption, StoreOption
from coupled_arena.cli.terminal import complain, out_json


def view(
    store: StoreOption = DEFAULT_STORE,
    host: HostOption = LOOPBACK,
    port: PortOption = 8001,
    token_env: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the runs of a store in the browser, live while they are played."""
    import asyncio

    from coupled_arena.reports.viewer.server import Viewer
    from coupled_arena.reports.viewer.shelf import default_folder

    token = token_in(token_env, "view")
    with in_flags(FLAGS):
        viewer = Viewer(store, host=host, port=port, token=token, drawings=default_folder())
    if as_json:
        out_json({"url": viewer.url, "store": str(store)})
        sys.stdout.flush()
    complain(f"showing {store} at {viewer.url}; Ctrl-C stops")
    sys.stderr.flush()
    asyncio.run(viewer.run_until_signal())
