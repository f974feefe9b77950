"""The folder of model files: what a name stands for, what is there, and how a file gets in whole or not at all."""

import contextlib
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from coupled_arena.errors import ModelUnavailable
from coupled_arena.models.local.known import KNOWN
from coupled_arena.models.local.requantise import VARIANTS, requantise
from coupled_arena.models.local.weights import read_header

VARIABLE = "COUPLED_ARENA_CACHE"
"""Environment variable that names another folder for model files."""

_PARTIAL = ".partial-"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_DERIVED = re.compile(rf"(?P<base>.+)-(?P<digest>[0-9a-f]{{16}})-(?P<variant>{'|'.join(VARIANTS)})")


@dataclass(frozen=True, slots=True)
class CachedModel:
    """One file of the model cache."""

    name: str
    """What follows `local/` in a model string."""
    path: Path
    """The file."""
    size: int
    """Bytes."""


def default_folder() -> Path:
    """Return the model cache of this user: `COUPLED_ARENA_CACHE`, else a folder in the user's cache folder."""
    if folder := os.environ.get(VARIABLE):
        return Path(folder).expanduser()
    import platformdirs

    return platformdirs.user_cache_path("coupled-arena", appauthor=False) / "models"


class ModelCache:
    """A folder of GGUF files, their derived variants and their digests.

    Args:
        folder: where it is; None takes the user's own (`default_folder`).
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = default_folder() if folder is None else folder
        """Where the files are."""

    def resolve(self, name: str) -> Path:
        """Return the file a name stands for, deriving a variant if it is not there yet.

        Args:
            name: what follows `local/`: a path of a GGUF file, or the name of one in this folder; either may end in
                `:q8_0` or another of `VARIANTS`.

        Raises:
            ModelUnavailable: there is no such model, or the variant cannot be derived.
        """
        base, variant = _parse(name)
        path = self._base(base)
        return path if variant is None else self._variant(path, variant)

    def original(self, name: str) -> Path:
        """Return the file that `resolve` returns, or derives a variant from; arguments and errors as there."""
        return self._base(_parse(name)[0])

    def files(self) -> list[CachedModel]:
        """Return what is in the folder, sorted by name."""
        found = [CachedModel(file.stem, file, file.stat().st_size) for file in self.folder.glob("*.gguf")]
        found += [
            CachedModel(f"{match['base']}:{match['variant']}", file, file.stat().st_size)
            for file in self._derived.glob("*.gguf")
            if (match := _DERIVED.fullmatch(file.stem))
        ]
        return sorted(found, key=lambda model: (model.name, model.path.name))

    def digest(self, path: Path) -> str:
        """Return the SHA-256 of a file in hexadecimal; computed once for a size and a time of change.

        Raises:
            ModelUnavailable: the file cannot be read.
        """
        path = path.resolve()
        try:
            status = path.stat()
            known = self._digests().get(str(path))
            stamp = [status.st_size, status.st_mtime_ns]
            if known is not None and known[:2] == stamp:
                return str(known[2])
            digest = sha256(path)
        except OSError as error:
            raise ModelUnavailable(f"{path}: cannot be read: {error.strerror or error}") from error
        # Where the folder cannot be written the digest is computed again next time, and nothing else is lost.
        with contextlib.suppress(OSError), self.locked():
            digests = self._digests() | {str(path): [*stamp, digest]}
            with self.partial("digests.json") as file:
                file.write_text(json.dumps(digests, indent=1, sort_keys=True), encoding="utf-8")
        return digest

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from changing the folder meanwhile; what a killed one left half-written is removed."""
        from filelock import FileLock

        self.folder.mkdir(parents=True, exist_ok=True)
        with FileLock(self.folder / ".lock"):
            for left in self.folder.glob(f"{_PARTIAL}*"):
                shutil.rmtree(left, ignore_errors=True)
            yield

    @contextlib.contextmanager
    def partial(self, name: str) -> Iterator[Path]:
        """Give a file to write; it gets its name in the folder only when the block ends without an exception.

        To be used with the folder locked.
        """
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=_PARTIAL, dir=self.folder))
        try:
            file = folder / target.name
            yield file
            file.replace(target)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    @property
    def _derived(self) -> Path:
        return self.folder / "derived"

    def _digests(self) -> dict[str, list[int | str]]:
        try:
            digests = json.loads((self.folder / "digests.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return digests if isinstance(digests, dict) else {}

    def _base(self, name: str) -> Path:
        if name.endswith(".gguf") or "/" in name or os.sep in name:
            path = _home(name)
            if not _is_file(path, name):
                raise ModelUnavailable(f"local/{name}: there is no such file")
            return path
        if not _NAME.fullmatch(name):
            raise ModelUnavailable(f"local/{name}: a name has letters, digits, dots, dashes; a file ends in .gguf")
        path = self.folder / f"{name}.gguf"
        if _is_file(path, name):
            return path
        if name in KNOWN:
            raise ModelUnavailable(f"local/{name}: is not fetched yet; run: coupled-arena models get {name}")
        have = sorted({model.name for model in self.files()} | set(KNOWN))
        raise ModelUnavailable(f"local/{name}: is not in the model cache {self.folder}; known: {', '.join(have)}")

    def _variant(self, base: Path, variant: str) -> Path:
        read_header(base)
        name = f"{base.stem}-{self.digest(base)[:16]}-{variant}.gguf"
        target = self._derived / name
        if target.is_file():
            return target
        with self.locked():
            # Another process may have derived it while this one waited for the lock.
            if not target.is_file():
                with self.partial(f"{self._derived.name}/{name}") as file:
                    requantise(base, file, variant)
        return target


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _home(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise ModelUnavailable(f"local/{name}: {error}") from None


def _is_file(path: Path, name: str) -> bool:
    try:
        return path.is_file()
    except OSError as error:
        raise ModelUnavailable(f"local/{name}: cannot be read: {error.strerror or error}") from None


def _parse(name: str) -> tuple[str, str | None]:
    base, colon, variant = name.rpartition(":")
    if not colon or "/" in variant or os.sep in variant:
        return name, None
    if variant not in VARIANTS:
        raise ModelUnavailable(f"local/{name}: there is no variant {variant!r}; known: {', '.join(VARIANTS)}")
    return base, variant
