"""What a model's file says of it before it is loaded."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coupled_arena.errors import ModelUnavailable
from coupled_arena.models.local.gguf_file import TensorInfo, Value, read_gguf

_JOINT_KINDS = frozenset({2, 3, 8})
"""Types of weights (GGML's numbers of Q4_0, Q4_1, Q8_0) measured to give the same logits to the last bit, whether a
token is evaluated alone or beside others of other sequences. F16 does not; what was not measured does not count."""

_KV_BYTES = 2
"""Bytes of one number in the key-value cache (F16)."""


@dataclass(frozen=True, slots=True)
class Header:
    """What is known of a model before it is loaded."""

    architecture: str
    """Name of the architecture, `llama`."""
    context: int
    """Tokens the model was trained to hold; 0 where the file does not say."""
    kv_bytes: int
    """Bytes of key-value cache one token takes, estimated from the shape of the model."""
    weight_bytes: int
    """Size of the file."""
    joint: bool
    """Whether several replies can be written together without changing any: a question of the weights' types."""


def read_header(path: Path) -> Header:
    """Read what a GGUF file says of its model.

    Raises:
        ModelUnavailable: the file is missing, not GGUF, cut short, or not a model.
    """
    file = read_gguf(path)
    metadata = file.metadata
    architecture = metadata.get("general.architecture")
    if not isinstance(architecture, str) or not architecture or not file.tensors:
        raise ModelUnavailable(f"{path}: holds no model (no architecture or no tensors); use another GGUF file")
    context = _number(metadata.get(f"{architecture}.context_length"), 0)
    return Header(architecture, context, _kv_bytes(architecture, metadata), file.size, _joint(file.tensors))


def _joint(tensors: Sequence[TensorInfo]) -> bool:
    # Vectors (norms, biases) are not multiplied with but added or scaled by, row by row.
    return all(tensor.kind in _JOINT_KINDS for tensor in tensors if sum(size > 1 for size in tensor.shape) > 1)


def _kv_bytes(architecture: str, metadata: dict[str, Value]) -> int:
    def number(key: str, default: int) -> int:
        return _number(metadata.get(f"{architecture}.{key}"), default)

    heads = max(number("attention.head_count", 1), 1)
    width = number("embedding_length", 0) // heads
    per_head = number("attention.key_length", width) + number("attention.value_length", width)
    by_layer = metadata.get(f"{architecture}.attention.head_count_kv", heads)
    total = (
        sum(map(int, by_layer)) if isinstance(by_layer, tuple) else _number(by_layer, heads) * number("block_count", 0)
    )
    return total * per_head * _KV_BYTES


def _number(value: Value, default: int) -> int:
    return value if isinstance(value, int) else default
