"""The small tournaments that `coupled-arena demo` plays."""

from coupled_arena.protocols import PEER_BATTLE, Script
from coupled_arena.tournaments.definition import Tournament

BASE = "smollm2-135m"
"""The local model that all demo models are derived from."""

SHORT = Script(name="two-rounds", steps=PEER_BATTLE.steps[:6])
"""The peer battle without its third round: openings, then each side criticises the other and is answered."""


def local_demo() -> Tournament:
    """Return a tournament of three real local models and three local judges: the same weights, quantised differently.

    A processor with two cores plays it in a minute or two: the debate is short, limits are tight, the judges vote
    without discussing, and the debaters are of the three kinds whose replies are written together.
    """
    return Tournament(
        name="demo",
        models=[f"local/{BASE}:q8_0", f"local/{BASE}:q4_1", f"local/{BASE}:q4_0"],
        judges=[f"local/{BASE}", f"local/{BASE}:q5_1", f"local/{BASE}:q5_0"],
        examiner=f"local/{BASE}",
        recuse="author",
        domains=["writing", "stem"],
        questions_per_domain=1,
        prompts="compact",
        script=SHORT,
        discussion_rounds=0,
        schedule="round_robin",
        section_tokens=32,
        reason_tokens=20,
        seed=7,
    )


def simulated_demo() -> Tournament:
    """Return a tournament of four simulated models, which plays in a second."""
    return Tournament(
        name="demo-simulated",
        models=["sim/ada?skill=1.2", "sim/bob?skill=0.5", "sim/cleo?skill=-0.2", "sim/dan?skill=-1.0"],
        judges=["sim/j1", "sim/j2", "sim/j3"],
        examiner="sim/examiner",
        domains=["writing", "math", "coding"],
        questions_per_domain=4,
        schedule="round_robin",
        seed=7,
    )
