"""Ratings that a few labels and the judges' scores of all battles give together."""

from coupled_arena.analysis.calibration.calibrate import calibrate
from coupled_arena.analysis.calibration.result import Calibrated

__all__ = ["Calibrated", "calibrate"]
