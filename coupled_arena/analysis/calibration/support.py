"""Whether a slice of labels supports a calibration, and if not, why."""

import numpy as np

from coupled_arena.analysis.calibration.slice import Slice
from coupled_arena.analysis.judges.estimate import Floats
from coupled_arena.ratings.connectivity import components
from coupled_arena.ratings.student import t_quantile

FEWEST = 10
"""Questions with a label from which on there is a calibration; they must outnumber the models too."""

FALSE_ALARM = 0.001
"""Chance that a random slice is taken for a chosen one."""

LEAD = "battles that the judges find clear"
"""Name of the trait that every slice has: how far the judges lean to one side."""


def why_not(part: Slice) -> str:
    """Return why a slice does not support a calibration, or nothing."""
    labelled = part.labelled
    if not labelled.any():
        return "no battle that the judges have scored has a label"
    needed = max(FEWEST, len(part.models) + 1)
    if part.labelled_questions < needed:
        return (
            f"labels lie on {part.labelled_questions} question{'s' * (part.labelled_questions > 1)}, and {needed} are "
            f"needed for {len(part.models)} models: label more battles, on other questions"
        )
    met = np.zeros((len(part.models),) * 2)
    met[part.a[labelled], part.b[labelled]] = 1
    groups = components(met)
    if len(groups) > 1:
        named = " | ".join(", ".join(part.models[model] for model in group) for group in groups)
        return f"no labelled battle connects {named}: label battles between them"
    return ""


def why_chosen(part: Slice) -> str:
    """Return in what the labelled battles differ from the others beyond chance, or nothing.

    A slice drawn at random is alike in everything that was known before. For every trait z (which models play, how far
    the judges lean to one side, and those of the slice) the sums of `z - mean` over the labelled battles of each
    question are centred at 0, and their total over the root of the sum of their squares is held against Student's
    quantile, by Bonferroni's inequality over all traits. Such a ratio of sums has light tails whatever the trait is
    (Efron 1969, Journal of the American Statistical Association 64).
    """
    labelled = part.labelled
    traits = {f"battles of {name}": _plays(part, code) for code, name in enumerate(part.models)}
    traits |= {LEAD: np.abs(2 * part.judged - 1), **part.traits}
    varied = {name: values for name, values in traits.items() if np.ptp(values) > 0}
    if labelled.all() or not varied:
        return ""
    most = t_quantile(1 - FALSE_ALARM / 2 / len(varied), part.labelled_questions - 1)
    found = {name: _ratio(part, values, labelled.astype(np.float64)) for name, values in varied.items()}
    name = max(found, key=lambda trait: abs(found[trait]))
    if abs(found[name]) <= most:
        return ""
    more = "more" if found[name] > 0 else "less"
    return (
        f"the labelled battles are no random part of all: {more} of {name} than chance allows "
        f"({abs(found[name]):.1f} standard errors, {most:.1f} at most); draw the battles to label at random"
    )


def _plays(part: Slice, model: int) -> Floats:
    plays: Floats = ((part.a == model) | (part.b == model)).astype(np.float64)
    return plays


def _ratio(part: Slice, values: Floats, marked: Floats) -> float:
    off = np.bincount(part.question, marked * (values - values.mean()))
    size = float(np.sqrt(off @ off))
    return float(off.sum()) / size if size else 0.0
