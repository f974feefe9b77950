"""Derives a variant of a model: the same weights at another precision, quantised by the `gguf` package.

A variant is a model of its own, a little or a lot worse than its base, and closely related to it: what the study of
coupled dice needs, at the price of a few seconds.
"""

import mmap
import struct
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coupled_arena.errors import ModelUnavailable
from coupled_arena.models.local.gguf_file import GgufFile, TensorInfo, read_gguf

VARIANTS = ("f16", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0")
"""Precisions a model can be derived at, from the finest to the coarsest."""

_BLOCK = 32
"""Numbers that share a scale; a matrix with other rows cannot be stored in these formats."""

_KEPT = ("token_embd.weight", "output.weight")
"""Matrices that stay as they are: they read and write the vocabulary, and suffer most."""


class _Plan(NamedTuple):
    info: TensorInfo
    """The tensor as it is."""
    kind: int
    """The type to store it as."""
    size: int
    """Bytes it takes now."""
    new_size: int
    """Bytes it will take."""


def requantise(source: Path, target: Path, variant: str) -> None:
    """Write a variant of a GGUF file: its weight matrices in another type, everything else as it is.

    The result depends on the source and the variant alone. Norms, biases and the vocabulary's own matrices keep their
    type. `target` is written in place: give a temporary file and move it where it belongs.

    Args:
        source: a whole GGUF file.
        target: the file to write.
        variant: one of `VARIANTS`.

    Raises:
        ModelUnavailable: the package gguf is missing, or the file cannot be converted or written.
    """
    try:
        import gguf
    except ImportError as error:
        raise ModelUnavailable(
            'deriving a variant needs the package gguf; install it with: pip install "coupled-arena[local]"'
        ) from error
    file = read_gguf(source)
    try:
        wanted = int(gguf.GGMLQuantizationType[variant.upper()])
        plans = [_plan(gguf, info, wanted) for info in file.tensors]
        if all(plan.kind != wanted for plan in plans):
            raise ValueError(f"it has no weight matrix whose rows are multiples of {_BLOCK} numbers")
        file_type = int(gguf.LlamaFileType[f"MOSTLY_{variant.upper()}"])
        with source.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
            _check_whole(file, plans)
            with target.open("wb") as output:
                output.write(_head(file, data, plans, file_type))
                for plan in plans:
                    _pad(output, file.alignment)
                    output.write(_contents(gguf, data, plan))
                _pad(output, file.alignment)
    except (ValueError, KeyError, NotImplementedError, OSError) as error:
        raise ModelUnavailable(f"{source}: no {variant} variant can be derived: {error}") from error


def _plan(gguf: Any, info: TensorInfo, wanted: int) -> _Plan:
    matrix = len(info.shape) >= 2 and all(info.shape) and info.shape[0] % _BLOCK == 0 and info.name.endswith(".weight")
    kind = wanted if matrix and info.name not in _KEPT else info.kind
    return _Plan(info, kind, _size(gguf, info, info.kind), _size(gguf, info, kind))


def _size(gguf: Any, info: TensorInfo, kind: int) -> int:
    block, block_bytes = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType(kind)]
    return int(np.prod(info.shape, dtype=np.int64)) // int(block) * int(block_bytes)


def _check_whole(file: GgufFile, plans: list[_Plan]) -> None:
    if any(plan.info.offset + plan.size > file.size for plan in plans):
        raise ValueError("the file is cut short; fetch or copy it again")


def _head(file: GgufFile, data: mmap.mmap, plans: list[_Plan], file_type: int) -> bytes:
    """Return everything before the tensors' contents: the source's own metadata, byte for byte but for its type."""
    begin, end = file.metadata_span
    metadata = bytearray(data[begin:end])
    if "general.file_type" in file.places:
        place = file.places["general.file_type"][0] - begin
        metadata[place : place + 4] = struct.pack("<I", file_type)
    head = bytearray(b"GGUF" + struct.pack("<IQQ", file.version, len(plans), file.pairs)) + metadata
    offset = 0
    for plan in plans:
        name, shape = plan.info.name.encode(), plan.info.shape
        head += struct.pack("<Q", len(name)) + name
        head += struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, plan.kind, offset)
        offset += -(-plan.new_size // file.alignment) * file.alignment
    return bytes(head)


def _contents(gguf: Any, data: mmap.mmap, plan: _Plan) -> bytes:
    raw = data[plan.info.offset : plan.info.offset + plan.size]
    if plan.kind == plan.info.kind:
        return raw
    stored, wanted = (gguf.GGMLQuantizationType(kind) for kind in (plan.info.kind, plan.kind))
    rows = -1, plan.size * plan.info.shape[0] // int(np.prod(plan.info.shape, dtype=np.int64))
    values: NDArray[np.float32] = gguf.quants.dequantize(np.frombuffer(raw, np.uint8).reshape(rows), stored)
    quantised: NDArray[Any] = gguf.quants.quantize(values.reshape(-1, plan.info.shape[0]), wanted)
    return quantised.tobytes()


def _pad(output: IO[bytes], alignment: int) -> None:
    output.write(bytes(-output.tell() % alignment))
