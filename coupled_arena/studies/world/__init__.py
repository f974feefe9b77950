"""Worlds whose truth is known: a tournament of simulated models, and everything its results should come to."""

from coupled_arena.studies.world.truth import Truth
from coupled_arena.studies.world.world import World

__all__ = ["Truth", "World"]
