"""Ratings freed of the biases of judges, from single opinions."""

from coupled_arena.analysis.correction.correct import correct
from coupled_arena.analysis.correction.effects import LeftOut
from coupled_arena.analysis.correction.result import Bias, Corrected
from coupled_arena.analysis.correction.votes import TERMS, Per, Term

__all__ = ["TERMS", "Bias", "Corrected", "LeftOut", "Per", "Term", "correct"]
