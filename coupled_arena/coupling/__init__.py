"""Shared dice: noise keys, counter-based noise, token identity and the sampler that draws with them.

Pure numpy; knows nothing of models, calls or tournaments.
"""

from coupled_arena.coupling.alignment import ALIGNMENTS, Alignment, ByContext, ByStep, Positions
from coupled_arena.coupling.choice import choose
from coupled_arena.coupling.identity import Vocabulary, shared_tokens, token_identity
from coupled_arena.coupling.keys import Dice, DiceTable, noise_key
from coupled_arena.coupling.laws import WinRates, independent_law, joint_law, win_rates
from coupled_arena.coupling.noise import exponentials
from coupled_arena.coupling.permutation import permutation
from coupled_arena.coupling.pieces import token_bytes
from coupled_arena.coupling.sampler import Draw, Law, Sampler
from coupled_arena.coupling.sampling import Sampling

__all__ = [
    "ALIGNMENTS",
    "Alignment",
    "ByContext",
    "ByStep",
    "Dice",
    "DiceTable",
    "Draw",
    "Law",
    "Positions",
    "Sampler",
    "Sampling",
    "Vocabulary",
    "WinRates",
    "choose",
    "exponentials",
    "independent_law",
    "joint_law",
    "noise_key",
    "permutation",
    "shared_tokens",
    "token_bytes",
    "token_identity",
    "win_rates",
]
