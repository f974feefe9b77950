"""Reads the head of a GGUF file: metadata, and where every tensor lies.

The reader of the `gguf` package takes seconds, most of them over the vocabulary; what is needed here takes
milliseconds. The format is the GGUF specification of the ggml project, versions 2 and 3, little-endian.
"""

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path

from coupled_arena.errors import ModelUnavailable

_MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_STRING, _ARRAY = 8, 9
_FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""Scalar types of metadata by their number, as `struct` letters."""

_LISTED = 4096
"""Longest array of numbers that is kept; longer ones and arrays of strings (the vocabulary) are skipped."""

Value = str | int | float | bool | tuple[int | float | bool, ...] | None
"""A metadata value; None for an array that was skipped."""


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """Where one tensor lies and what it holds."""

    name: str
    """Its name."""
    shape: tuple[int, ...]
    """Its sizes, the length of a row first."""
    kind: int
    """Number of the type its numbers are stored as."""
    offset: int
    """Bytes from the beginning of the file."""


@dataclass(frozen=True, slots=True)
class GgufFile:
    """The head of a GGUF file."""

    version: int
    """Version of the format."""
    pairs: int
    """How many metadata pairs there are."""
    metadata: dict[str, Value]
    """Metadata by key."""
    places: dict[str, tuple[int, int]]
    """Where the value of each key begins and ends, in bytes from the beginning of the file."""
    metadata_span: tuple[int, int]
    """Where the metadata pairs begin and end."""
    tensors: tuple[TensorInfo, ...]
    """The tensors, in the order of the file."""
    alignment: int
    """Tensors begin at multiples of this many bytes."""
    size: int
    """Bytes of the whole file."""


def read_gguf(path: Path) -> GgufFile:
    """Read the head of a GGUF file.

    Raises:
        ModelUnavailable: the file is missing, not GGUF, or cut short.
    """
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _Reader(data).read()
    except FileNotFoundError as error:
        raise ModelUnavailable(f"{path}: there is no such file") from error
    except OSError as error:
        raise ModelUnavailable(f"{path}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:
        # An empty file cannot be mapped, which is a ValueError as well.
        raise ModelUnavailable(f"{path}: is not a whole GGUF file: {error}; fetch or copy it again") from error


class _Reader:
    """Walks over a mapped GGUF file; what is wrong with it raises `ValueError`."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._at = 0

    def read(self) -> GgufFile:
        if self._bytes(len(_MAGIC)) != _MAGIC:
            raise ValueError("it does not begin with the letters GGUF")
        version = self._count("I")
        if version not in _VERSIONS:
            raise ValueError(f"its version is {version}, not one of {', '.join(map(str, _VERSIONS))}")
        tensors, pairs = self._count("Q"), self._count("Q")
        begin = self._at
        metadata: dict[str, Value] = {}
        places: dict[str, tuple[int, int]] = {}
        for _ in range(pairs):
            key = self._string()
            kind = self._count("I")
            place = self._at
            metadata[key] = self._value(kind)
            places[key] = (place, self._at)
        span = (begin, self._at)
        alignment = metadata.get("general.alignment", 32)
        if not isinstance(alignment, int) or alignment < 1:
            raise ValueError(f"its alignment is {alignment!r}")
        found = [self._tensor() for _ in range(tensors)]
        data = -(-self._at // alignment) * alignment
        placed = tuple(TensorInfo(name, shape, kind, data + offset) for name, shape, kind, offset in found)
        if any(tensor.offset >= len(self._data) for tensor in placed):
            raise ValueError("it ends before its last tensor")
        return GgufFile(version, pairs, metadata, places, span, placed, alignment, len(self._data))

    def _tensor(self) -> tuple[str, tuple[int, ...], int, int]:
        name = self._string()
        shape = tuple(self._count("Q") for _ in range(self._count("I")))
        return name, shape, self._count("I"), self._count("Q")

    def _value(self, kind: int) -> Value:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            return self._array(self._count("I"), self._count("Q"))
        return self._scalar(_letter(kind))

    def _array(self, kind: int, count: int) -> tuple[int | float | bool, ...] | None:
        if kind == _STRING:
            for _ in range(count):
                self._skip(self._count("Q"))
            return None
        letter = _letter(kind)
        size = struct.calcsize("<" + letter)
        if count > _LISTED:
            self._skip(count * size)
            return None
        return struct.unpack(f"<{count}{letter}", self._bytes(count * size))

    def _scalar(self, letter: str) -> int | float | bool:
        value: int | float | bool = struct.unpack("<" + letter, self._bytes(struct.calcsize("<" + letter)))[0]
        return value

    def _count(self, letter: str) -> int:
        return int(self._scalar(letter))

    def _string(self) -> str:
        return self._bytes(self._count("Q")).decode("utf-8", "replace")

    def _bytes(self, count: int) -> bytes:
        begin = self._at
        self._skip(count)
        return self._data[begin : self._at]

    def _skip(self, count: int) -> None:
        if count > len(self._data) - self._at:
            raise ValueError("it ends in the middle of its head")
        self._at += count


def _letter(kind: int) -> str:
    if kind not in _FORMATS:
        raise ValueError(f"its metadata has a value of the unknown type {kind}")
    return _FORMATS[kind]
