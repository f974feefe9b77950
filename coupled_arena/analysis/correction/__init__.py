"""Ratings freed of the biases of judges, from single opinions."""

from coupled_arena.analysis.correction.correct import correct
from coupled_arena.analysis.correction.effects import Unestimated
from coupled_arena.analysis.correction.result import Bias, Corrected
from coupled_arena.analysis.correction.votes import TERMS, Per, Term

__all__ = ["TERMS", "Bias", "Corrected", "Per", "Term", "Unestimated", "correct"]
