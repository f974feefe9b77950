"""Experiments that play something and then say what it shows."""

from coupled_arena.studies.compare import acompare, compare, contest
from coupled_arena.studies.comparison import Comparison

__all__ = ["Comparison", "acompare", "compare", "contest"]
