"""Shared dice: noise keys, counter-based noise, token identity and the sampler that draws with them.

Pure numpy; knows nothing of models, calls or tournaments.
"""

from coupled_arena.coupling.choice import choose
from coupled_arena.coupling.identity import Vocabulary, token_identity
from coupled_arena.coupling.keys import Dice, DiceTable, noise_key
from coupled_arena.coupling.noise import exponentials
from coupled_arena.coupling.permutation import permutation
from coupled_arena.coupling.sampler import Draw, Sampler
from coupled_arena.coupling.sampling import Sampling

__all__ = [
    "Dice",
    "DiceTable",
    "Draw",
    "Sampler",
    "Sampling",
    "Vocabulary",
    "choose",
    "exponentials",
    "noise_key",
    "permutation",
    "token_identity",
]
