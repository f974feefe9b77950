"""A store followed while others write it, asked so cheaply that it can be asked every second."""

from pathlib import Path

from coupled_arena.errors import StoreError
from coupled_arena.tournaments.storage.database import identity_of
from coupled_arena.tournaments.storage.store import Seen, Store


class Watch:
    """Looks at a store again and again, whatever becomes of the file.

    Args:
        path: the file.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     with Store(f"{folder}/runs.db") as store, store.open_run("3f2a91c0", "demo", {}, {}) as run:
        ...         watch = Watch(Path(f"{folder}/runs.db"))
        ...         before = watch.look()
        ...         run.finish("finished")
        ...         before[0].status, watch.look()[0].status
        ...         watch.close()
        ('running', 'finished')
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._store: Store | None = None
        self._identity: tuple[int, int] | None = None
        self._version: int | None = None
        self._seen: tuple[Seen, ...] = ()

    def look(self) -> tuple[Seen, ...]:
        """Return what the runs have come to, the one opened last first.

        Raises:
            StoreError: the file is not there, or cannot be read.
        """
        try:
            store = self.open()
            version = store.version
            # A run that plays may lose its process without a word in the store.
            if version != self._version or any(seen.status == "running" for seen in self._seen):
                self._seen, self._version = store.look(), version
        except StoreError:
            self.close()
            raise
        return self._seen

    def open(self) -> Store:
        """Return the store that lies there now, open for reading.

        Raises:
            StoreError: the file is not there, or is no store.
        """
        identity = identity_of(self._path)
        if self._store is None or self._identity != identity:
            self.close()
            self._store, self._identity = Store(self._path, reading=True), identity
        return self._store

    def close(self) -> None:
        """Let go of the file."""
        if self._store is not None:
            self._store.close()
        self._store = self._version = None
