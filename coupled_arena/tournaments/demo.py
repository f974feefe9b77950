"""The small tournaments that `coupled-arena demo` plays."""

from coupled_arena.protocols import Script, Step
from coupled_arena.tournaments.definition import Tournament

BASE = "smollm2-135m"
"""The local model that all demo models are derived from."""

SHORT = Script(
    name="short",
    steps=(
        Step(speaker="A", requires=("respond",), round=1),
        Step(speaker="B", requires=("respond",), round=1),
        Step(speaker="B", requires=("criticize",), sees=(1,), round=2),
        Step(speaker="A", requires=("respond",), sees=(3,), round=2),
        Step(speaker="A", requires=("criticize",), sees=(2,), round=3),
        Step(speaker="B", requires=("respond",), sees=(5,), round=3),
    ),
)
"""Openings, then each side criticises the other's and is answered: six sections in place of the usual fourteen."""


def local_demo() -> Tournament:
    """Return a tournament of three real local models and three local judges: the same weights, quantised differently.

    A processor with two cores plays it in about two minutes: the debate is short, limits are tight, and the judges vote
    without discussing. Debaters are those whose replies are written together (docs/local-models.md).
    """
    return Tournament(
        name="demo",
        models=[f"local/{BASE}", f"local/{BASE}:q8_0", f"local/{BASE}:q4_0"],
        judges=[f"local/{BASE}:f16", f"local/{BASE}:q5_0", f"local/{BASE}:q5_1"],
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
