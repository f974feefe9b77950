"""Commands of the model cache: models list, get, derive."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from coupled_arena.cli.options import JsonOption
from coupled_arena.cli.terminal import complain, out, out_json, show

app = typer.Typer(help="Local models: the cache, fetching, requantising.", no_args_is_help=True)


@app.command("list")
def list_models(as_json: JsonOption = False) -> None:
    """List the model cache."""
    from coupled_arena.models.local.cache import ModelCache
    from coupled_arena.reports import console

    cache = ModelCache()
    found = cache.files()
    if as_json:
        out_json(
            {
                "folder": str(cache.folder),
                "models": [{"name": m.name, "path": str(m.path), "size": m.size} for m in found],
            }
        )
        return
    complain(f"model cache: {cache.folder}")
    show(console.table(("model", "MB"), [(f"local/{m.name}", m.size / 1e6) for m in found]))


@app.command("get")
def get_model(name: Annotated[str, typer.Argument(metavar="NAME")], as_json: JsonOption = False) -> None:
    """Fetch a known model into the model cache."""
    from coupled_arena.models.local.fetch import get

    _show_file(name, lambda: get(name), as_json=as_json)


@app.command("derive")
def derive_model(
    name: Annotated[str, typer.Argument(metavar="NAME:VARIANT", help="smollm2-135m:q4_0, for example.")],
    as_json: JsonOption = False,
) -> None:
    """Requantise a model of the cache."""
    from coupled_arena.models.local.cache import ModelCache

    _show_file(name, lambda: ModelCache().resolve(name), as_json=as_json)


def _show_file(name: str, find: Callable[[], Path], *, as_json: bool) -> None:
    path = find()
    if as_json:
        out_json({"name": name, "path": str(path), "size": path.stat().st_size})
    else:
        out(str(path))
