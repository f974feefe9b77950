"""The study of judges, of a run or of a file."""

from coupled_arena.studies.judging.report import JudgeReport
from coupled_arena.studies.judging.study import judges

__all__ = ["JudgeReport", "judges"]
