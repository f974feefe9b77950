"""What a page needs of a whole run, drawn by a process of its own.

Going through a run takes memory and time in proportion to it. A process that ends with the work gives the memory back,
and the server answers meanwhile.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import NamedTuple

from coupled_arena.errors import ArenaError, StoreError
from coupled_arena.reports.html.document import lines
from coupled_arena.reports.html.overview import overview
from coupled_arena.reports.html.page import packed
from coupled_arena.tournaments.result import Result
from coupled_arena.tournaments.store import Store

NICENESS = 5
"""How far the work stands back behind others, above all behind a tournament that is being played."""


class Drawing(NamedTuple):
    """A run as a page draws it, compressed."""

    overview: bytes
    """Everything but its battles (`html.document.Overview`)."""
    lines: bytes
    """A line for every battle (`html.document.Lines`)."""


def draw(path: Path, run: str) -> Drawing:
    """Go through a run, as far as it was played.

    Raises:
        StoreError: the store cannot be read, or the run is a bench.
    """
    with Store(path, reading=True) as store:
        result = Result.of(store.run(run))
        return Drawing(packed(overview(result).model_dump()), packed(lines(result.battles).model_dump()))


async def drawn(path: Path, run: str) -> Drawing:
    """Have another process go through a run.

    Raises:
        StoreError: it could not.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        __name__,
        str(path),
        run,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        told, said = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        words = said.decode("utf-8", "replace").strip().splitlines()
        raise StoreError(words[-1] if words else f"{path}: run {run} could not be drawn")
    head, _, rest = told.partition(b"\n")
    sizes = json.loads(head)
    return Drawing(rest[: sizes["overview"]], rest[sizes["overview"] :])


def main() -> int:
    """Write the drawing of a run of a store to standard output: the sizes of its parts, then these."""
    os.nice(NICENESS)
    path, run = sys.argv[1:]
    try:
        found = draw(Path(path), run)
    except ArenaError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    head = json.dumps({"overview": len(found.overview), "lines": len(found.lines)})
    sys.stdout.buffer.write(b"".join((head.encode(), b"\n", *found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
