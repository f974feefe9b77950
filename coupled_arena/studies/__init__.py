"""Experiments that play something and then say what it shows."""

from coupled_arena.studies.compare import acompare, compare, tournament_of
from coupled_arena.studies.comparison import Comparison

__all__ = ["Comparison", "acompare", "compare", "tournament_of"]
