"""Files that take the place of others whole or not at all, whatever ends the writing."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Lend the path of a file to be written, which becomes `path` when the block has ended well.

    Raises:
        OSError: it cannot take that place.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with replacing(Path(folder, "votes.csv")) as unfinished:
        ...         size = unfinished.write_text("battle,verdict", encoding="utf-8")
        ...     [file.name for file in Path(folder).iterdir()]
        ['votes.csv']
    """
    if path.is_dir() or not path.name:
        raise IsADirectoryError(f"{path} is a folder")
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        yield unfinished
        unfinished.replace(path)
    finally:
        # What cannot be removed was never there: the name is too long, or what should be its folder is a file.
        with suppress(OSError):
            unfinished.unlink()
