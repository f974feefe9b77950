"""Numbers drawn from a call's noise key beside the claims themselves."""

import math
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from coupled_arena.coupling import exponentials, token_identity
from coupled_arena.models.calls import Call

_RADIUS = 1 << 32
_ANGLE = _RADIUS + 1
_CHANCE = _RADIUS + 2


def noise_of(call: Call, identity: str) -> bytes:
    """Return the 16-byte noise key a simulated model rolls its dice with.

    It is the call's own; greedy calls (T = 0) have no dice, so there it is a hash of the model and what it reads.
    """
    if call.sampling.temperature == 0:
        parts = [identity, *(part for message in call.messages for part in message)]
        return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()
    if call.sample:
        return blake2b(call.sample.to_bytes(16), digest_size=16, key=call.noise).digest()
    return call.noise


def chance(key: bytes, name: str) -> float:
    """Return a uniform number in (0, 1) that follows from a noise key and the name of what is decided."""
    return math.exp(-exponentials(key, _CHANCE, np.array([token_identity(name.encode())], dtype=np.uint64)).item())


def normals(key: bytes, identities: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return one standard normal number per identity, shape (n,), by the Box-Muller transform.

    sqrt(2 E) cos(2 pi exp(-E')) with E, E' two exponentials of the identity.
    """
    radius = np.sqrt(2.0 * exponentials(key, _RADIUS, identities))
    normal: NDArray[np.float64] = radius * np.cos(2.0 * np.pi * np.exp(-exponentials(key, _ANGLE, identities)))
    return normal
