"""Whether a slice of labels supports a calibration, and if not, why."""

import numpy as np

from coupled_arena.analysis.calibration.slice import Slice
from coupled_arena.analysis.judges.estimate import Floats
from coupled_arena.ratings.connectivity import components
from coupled_arena.ratings.student import t_quantile
from coupled_arena.shown import plural

FEWEST = 10
"""Questions with a label from which on there is a calibration; they must outnumber the models too."""

FALSE_ALARM = 0.001
"""Chance that a random slice is taken for a chosen one."""

_EXPECTED = 5
"""Labels that chance alone must make expect on either side of the middle of a trait for it to tell anything."""

_ROUNDING = 1e-9

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
            f"labels lie on {plural(part.labelled_questions, 'question')}, and {needed} are "
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
    the judges lean to one side, and those of the slice) the sum of `z - mean` over the labelled battles is 0 but for
    chance, and its variance under a random draw, of battles or of whole questions, is known. It is held
    against Student's quantile, by Bonferroni's inequality over all traits that enough labels are expected of.
    """
    labelled = part.labelled
    traits = {f"battles of {name}": _plays(part, code) for code, name in enumerate(part.models)}
    traits |= {LEAD: np.abs(2 * part.judged - 1), **part.traits}
    share = float(labelled.mean())
    fit = {name: values for name, values in traits.items() if share * _rarer(values) >= _EXPECTED}
    if share == 1 or not fit:
        return ""
    most = t_quantile(1 - FALSE_ALARM / 2 / len(fit), part.labelled_questions - 1)
    together = _together(part)
    found = {name: _ratio(part, values, together) for name, values in fit.items()}
    name = max(found, key=lambda trait: abs(found[trait]))
    if abs(found[name]) <= most:
        return ""
    more = "more" if found[name] > 0 else "less"
    return (
        f"the labelled battles are no random part of all: {more} of {name} than chance allows "
        f"({abs(found[name]):.1f} standard errors, {most:.1f} at most); draw the battles to label at random"
    )


def _rarer(values: Floats) -> int:
    """Return how many battles lie on the side of the middle of a trait that has fewer of them."""
    above = int((values > (values.min() + values.max()) / 2).sum())
    return min(above, len(values) - above)


def _together(part: Slice) -> float:
    """Return the correlation of having a label within a question, in [0, 1]: 1 where whole questions are labelled."""
    off = part.labelled - part.labelled.mean()
    battles, sums = np.bincount(part.question), np.bincount(part.question, off)
    pairs = float((battles * (battles - 1)).sum()) * float(off @ off) / len(off)
    return float(np.clip((sums @ sums - off @ off) / pairs, 0.0, 1.0)) if pairs else 0.0


def _ratio(part: Slice, values: Floats, together: float) -> float:
    """Return the sum of a trait over the labelled battles, less what is expected, in standard errors of a random draw.

    With c the correlation of having a label within a question and p the share of labels, the variance is
    `p (1 - p) ((1 - c) sum_i (z_i - mean)^2 + c sum_q (sum_(i in q) (z_i - mean))^2)`.
    """
    off, share = values - values.mean(), float(part.labelled.mean())
    by_question = np.bincount(part.question, off)
    variance = share * (1 - share) * ((1 - together) * (off @ off) + together * (by_question @ by_question))
    # A trait that every question has to the same extent does not vary with whole questions, but for rounding.
    varies = variance > _ROUNDING * float(off @ off)
    return float(off[part.labelled].sum() / np.sqrt(variance)) if varies else 0.0


def _plays(part: Slice, model: int) -> Floats:
    plays: Floats = ((part.a == model) | (part.b == model)).astype(np.float64)
    return plays
