"""Experiments on judges: a grid of committees over the same stored debates."""

from coupled_arena.studies.experiments.found import JudgeStudyResult
from coupled_arena.studies.experiments.grid import Cell
from coupled_arena.studies.experiments.study import JudgeStudy

__all__ = ["Cell", "JudgeStudy", "JudgeStudyResult"]
