"""Drawings of finished runs on disk, so that a viewer that is opened again shows them at once."""

import hashlib
import json
import os
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path

import platformdirs

from coupled_arena.reports.viewer.drawing import Drawing
from coupled_arena.tournaments.storage.store import Seen
from coupled_arena.tournaments.storage.whole_files import replacing

MOST_FILES = 100
"""Drawings kept, a few hundred kilobytes each for a run of 10,000 battles; those not wanted for longest are removed."""

_ENDING = ".drawing"


def default_folder() -> Path:
    """Return where the drawings of this user are kept: a folder in the user's cache folder."""
    return platformdirs.user_cache_path("coupled-arena", appauthor=False) / "drawings"


class Shelf:
    """A folder of drawings of finished runs, which any number of viewers may share.

    A drawing has a name that is derived from the store's path, what the run has come to, and the program, so that a run
    that went on and a program that draws otherwise find none. Where the folder cannot be read or written nothing is
    kept, and runs are gone through again.

    Args:
        folder: the folder; it is made with the first drawing.
        store: the store that the runs are of.
    """

    def __init__(self, folder: Path, store: Path) -> None:
        self._folder = folder
        self._store = str(store.absolute())

    def find(self, seen: Seen) -> Drawing | None:
        """Return the drawing of a run as it is, or None where none is kept."""
        if seen.status != "finished":
            return None
        try:
            file = self._file(seen)
            found = Drawing.read(file.read_bytes())
        except (OSError, ValueError):
            return None
        with suppress(OSError):
            os.utime(file)
        return found

    def keep(self, seen: Seen, drawing: Drawing) -> None:
        """Keep the drawing of a run, if it is finished."""
        if seen.status != "finished":
            return
        with suppress(OSError):
            # What a run holds is its owner's alone, wherever the store lies and whoever made the folder.
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with replacing(self._file(seen)) as unfinished:
                unfinished.touch(mode=0o600)
                unfinished.write_bytes(drawing.written())
            # Unfinished ones too, which a viewer that was killed has left.
            files = sorted(self._folder.glob(f"*{_ENDING}*"), key=lambda file: file.stat().st_mtime, reverse=True)
            for file in files[MOST_FILES:]:
                file.unlink(missing_ok=True)

    def _file(self, seen: Seen) -> Path:
        key = json.dumps([_program(), self._store, *seen]).encode()
        return self._folder / f"{hashlib.blake2b(key, digest_size=16).hexdigest()}{_ENDING}"


@cache
def _program() -> str:
    """Return what tells this program from others: its files, and the version of the table of prices."""
    home = Path(__file__).parents[2]
    files = [
        (str(file.relative_to(home)), (found := file.stat()).st_size, found.st_mtime_ns)
        for file in sorted(home.rglob("*"))
        if file.is_file() and file.suffix != ".pyc"
    ]
    return hashlib.blake2b(json.dumps([version("litellm"), files]).encode(), digest_size=16).hexdigest()
