"""A narrow ctypes binding to llama.cpp, as the `xllamacpp` wheel exports it.

Only what the engine needs is bound. The wheel's shared library is opened without importing the package. Its exact
version is checked, since a C interface is an agreement about memory that no exported name can vouch for.
"""

import ctypes
import functools
import importlib.metadata
import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from coupled_arena.errors import ModelUnavailable

PINNED = "2026.10.11549"
"""The one version of xllamacpp whose interface this file describes."""

_ADVICE = 'install it with: pip install "coupled-arena[local]"'


class Parameters(ctypes.Structure):
    """Parameters of a model or a context as opaque memory, larger than either structure.

    Both structures are returned through a hidden pointer and are the last argument where they are passed, so neither
    their size nor their fields need to be known, but for the first four of a context (`CONTEXT_FIELDS`).
    """

    _fields_ = (("words", ctypes.c_uint32 * 256),)


CONTEXT_FIELDS = ("n_ctx", "n_batch", "n_ubatch", "n_seq_max")
"""The first words of a context's parameters."""

_CONTEXT_DEFAULTS = (512, 2048, 512, 1)
"""What they hold by default: if they hold anything else, the layout has changed."""


class Batch(ctypes.Structure):
    """Tokens to evaluate together: `llama_batch`."""

    _fields_ = (
        ("n_tokens", ctypes.c_int32),
        ("token", ctypes.POINTER(ctypes.c_int32)),
        ("embd", ctypes.c_void_p),
        ("pos", ctypes.POINTER(ctypes.c_int32)),
        ("n_seq_id", ctypes.POINTER(ctypes.c_int32)),
        ("seq_id", ctypes.POINTER(ctypes.POINTER(ctypes.c_int32))),
        ("logits", ctypes.POINTER(ctypes.c_int8)),
    )


class ChatMessage(ctypes.Structure):
    """One message for a chat template: `llama_chat_message`."""

    _fields_ = (("role", ctypes.c_char_p), ("content", ctypes.c_char_p))


LogCallback = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
"""What llama.cpp calls with a level, a text and a pointer of ours."""

_ERROR_LEVEL = 4

_int32, _size, _pointer, _text, _flag = ctypes.c_int32, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_bool

_SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "llama_backend_init": (None, ()),
    "llama_log_set": (None, (LogCallback, _pointer)),
    "llama_max_devices": (_size, ()),
    "llama_model_default_params": (Parameters, ()),
    "llama_model_load_from_file": (_pointer, (_text, Parameters)),
    "llama_model_free": (None, (_pointer,)),
    "llama_model_get_vocab": (_pointer, (_pointer,)),
    "llama_model_n_ctx_train": (_int32, (_pointer,)),
    "llama_model_has_encoder": (_flag, (_pointer,)),
    "llama_model_has_decoder": (_flag, (_pointer,)),
    "llama_model_is_recurrent": (_flag, (_pointer,)),
    "llama_model_is_hybrid": (_flag, (_pointer,)),
    "llama_model_is_diffusion": (_flag, (_pointer,)),
    "llama_model_chat_template": (_text, (_pointer, _text)),
    "llama_chat_apply_template": (
        _int32,
        (_text, ctypes.POINTER(ChatMessage), _size, _flag, _text, _int32),
    ),
    "llama_context_default_params": (Parameters, ()),
    "llama_init_from_model": (_pointer, (_pointer, Parameters)),
    "llama_free": (None, (_pointer,)),
    "llama_n_ctx_seq": (ctypes.c_uint32, (_pointer,)),
    "llama_set_n_threads": (None, (_pointer, _int32, _int32)),
    "llama_get_memory": (_pointer, (_pointer,)),
    "llama_memory_seq_rm": (_flag, (_pointer, _int32, _int32, _int32)),
    "llama_state_seq_get_size": (_size, (_pointer, _int32)),
    "llama_state_seq_get_data": (_size, (_pointer, _pointer, _size, _int32)),
    "llama_state_seq_set_data": (_size, (_pointer, _pointer, _size, _int32)),
    "llama_vocab_n_tokens": (_int32, (_pointer,)),
    "llama_vocab_is_eog": (_flag, (_pointer, _int32)),
    "llama_vocab_is_control": (_flag, (_pointer, _int32)),
    "llama_vocab_get_text": (_text, (_pointer, _int32)),
    "llama_vocab_get_add_bos": (_flag, (_pointer,)),
    "llama_vocab_bos": (_int32, (_pointer,)),
    "llama_tokenize": (
        _int32,
        (_pointer, _text, _int32, ctypes.POINTER(_int32), _int32, _flag, _flag),
    ),
    "llama_token_to_piece": (_int32, (_pointer, _int32, _pointer, _int32, _int32, _flag)),
    "llama_decode": (_int32, (_pointer, Batch)),
    "llama_get_logits_ith": (_pointer, (_pointer, _int32)),
}


@functools.cache
def library() -> ctypes.CDLL:
    """Return llama.cpp, opened, checked, initialised and silent.

    Raises:
        ModelUnavailable: xllamacpp is missing, of another version, or not the library described here.
    """
    lib = _bind(_find())
    _silence(lib)
    lib.llama_backend_init()
    found = tuple(lib.llama_context_default_params().words[: len(CONTEXT_FIELDS)])
    if found != _CONTEXT_DEFAULTS:
        raise ModelUnavailable(
            f"xllamacpp: the parameters of a context begin with {found}, not {_CONTEXT_DEFAULTS}; {_ADVICE}"
        )
    return lib


@contextmanager
def complaints() -> Iterator[list[str]]:
    """Collect what llama.cpp logs as errors while the block runs, one line an entry."""
    lib = library()
    lines: list[str] = []

    def note(level: int, text: bytes, _: int | None) -> None:
        if level == _ERROR_LEVEL:
            lines.append(text.decode("utf-8", "replace").strip())

    callback = LogCallback(note)
    lib.llama_log_set(callback, None)
    try:
        yield lines
    finally:
        _silence(lib)


def _silence(lib: ctypes.CDLL) -> None:
    # A Python function here would take the interpreter's lock on every log line in the middle of the arithmetic. Any
    # C function that does nothing will do, since the caller clears the arguments away.
    lib.llama_log_set(ctypes.cast(lib.llama_max_devices, LogCallback), None)


def _find() -> Path:
    try:
        version = importlib.metadata.version("xllamacpp")
        spec = importlib.util.find_spec("xllamacpp")
    except importlib.metadata.PackageNotFoundError as error:
        raise ModelUnavailable(f"local models need the package xllamacpp; {_ADVICE}") from error
    if version != PINNED:
        raise ModelUnavailable(f"local models need xllamacpp {PINNED}, and {version} is installed; {_ADVICE}")
    folders = [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []
    files = sorted(file for folder in folders for file in folder.glob("xllamacpp*") if file.suffix in (".so", ".pyd"))
    if not files:
        raise ModelUnavailable(f"the package xllamacpp is installed without its library; {_ADVICE}")
    return files[0]


def _bind(file: Path) -> ctypes.CDLL:
    try:
        lib = ctypes.CDLL(str(file))
    except OSError as error:
        raise ModelUnavailable(f"xllamacpp: {file.name} cannot be opened: {error}") from error
    missing = [name for name in sorted(_SIGNATURES) if not hasattr(lib, name)]
    if missing:
        raise ModelUnavailable(f"xllamacpp: {file.name} does not export {', '.join(missing)}; {_ADVICE}")
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(lib, name)
        function.restype = result
        function.argtypes = arguments
    return lib
