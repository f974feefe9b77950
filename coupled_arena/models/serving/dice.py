"""Which dice a request rolls: the same for all models, whatever the client names.

| the request holds | seed | scope | role | label |
| --- | --- | --- | --- | --- |
| `noise` of 32 hex digits | it is the noise key | | | |
| any other `noise` | `seed`, else 0 | the text | served | noise |
| `seed` only | `seed` | role and text of every message | served | messages |
| neither | 16 bytes from the operating system | | | |

Further choices of a request (`n`) roll dice of their own, named by the first one's key and their index.
"""

import os
import re
from collections.abc import Sequence

from coupled_arena.coupling import noise_key
from coupled_arena.coupling.keys import KEY_BYTES
from coupled_arena.models.calls import Message

_ROLE = ("served",)
_KEY = re.compile(f"[0-9A-Fa-f]{{{2 * KEY_BYTES}}}")


def dice_of(noise: str | None, seed: int | None, messages: Sequence[Message]) -> bytes:
    """Return the noise key of a request's first choice, 16 bytes.

    Args:
        noise: the request's `noise`.
        seed: its `seed`, any integer.
        messages: the chat as it was sent, the beginning of the reply included.

    Example:
        >>> dice_of(None, 7, [Message("user", "Why?")]).hex()
        '62051c48f29390e93bc36d423c60d1a5'
        >>> dice_of("00" * 16, 7, ()) == bytes(16)
        True
    """
    if noise is not None:
        if _KEY.fullmatch(noise):
            return bytes.fromhex(noise)
        return noise_key(seed=seed or 0, scope=(noise,), role=_ROLE, label=("noise",), part="whole")
    if seed is not None:
        scope = [text for message in messages for text in (message.role, message.content)]
        return noise_key(seed=seed, scope=scope, role=_ROLE, label=("messages",), part="whole")
    # A client that names no dice expects others on every request, as from any provider.
    return os.urandom(KEY_BYTES)


def choice_key(key: bytes, index: int) -> bytes:
    """Return the noise key of a request's choice, by its index from 0; the first one's is the request's own."""
    if not index:
        return key
    return noise_key(seed=0, scope=(key.hex(),), role=_ROLE, label=("choice",), part="whole", sample=index)
