"""Ratings on the scale of a few labels."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from coupled_arena.analysis.calibration.estimate import Powered, powered
from coupled_arena.analysis.calibration.result import Calibrated
from coupled_arena.analysis.calibration.slice import Slice
from coupled_arena.analysis.calibration.support import why_chosen, why_not
from coupled_arena.analysis.judges.estimate import Floats
from coupled_arena.analysis.judges.table import Opinions
from coupled_arena.analysis.levels import require_level
from coupled_arena.errors import RatingError
from coupled_arena.ratings import rate
from coupled_arena.ratings.result import Ratings
from coupled_arena.ratings.scale import MEAN, POINTS, spread
from coupled_arena.shown import plural

_NONE: Mapping[str, Floats] = {}

_NO_SPREAD = 1e-4
"""Standard errors by the labels alone of fewer points are rounding of the solution: the labels do not vary."""


def calibrate(
    opinions: Opinions, label: Floats, *, traits: Mapping[str, Floats] = _NONE, level: float = 0.95
) -> Calibrated:
    """Rate the models as labels of all battles would, from the judges' opinions and the labels of a random slice.

    The judges' mean score of every battle, by their last verdicts, is corrected by what labels say of those that have
    one (`estimate`): prediction-powered inference, with the weight of the judges chosen so that the variances are
    least, and intervals clustered by question that carry the error of the labels and of the weight.

    A slice that does not support it is refused: labels on too few questions, models that no labelled battle connects,
    no finite ratings, or labelled battles that are no random part of all where that can be seen (`support`).

    Args:
        opinions: of any judges; battles on which none has a verdict are left out.
        label: score of A by the label of every battle (1, 1/2 for a tie, 0), NaN without one, shape (battles,).
        traits: what a random slice must be alike in besides the models and the lean of the judges, by name, such as 1
            for battles of one domain, each of shape (battles,).
        level: coverage of the intervals, between 0 and 1.

    Raises:
        ConfigurationError: the level is out of range.
        RatingError: the slice does not support a calibration; the message says why and what to do.
    """
    require_level("calibrated", level)
    if "a" in opinions.absent or "b" in opinions.absent:
        raise RatingError("the opinions do not say who debated: columns a and b are needed to rate anybody")
    part, table = Slice.of(opinions, label, traits)
    if why := why_not(part) or why_chosen(part):
        raise RatingError(why)
    found = powered(part)
    if found is None:
        raise RatingError(
            "the labels leave no finite ratings: all that some model has went one way; label more battles"
        )
    alone = powered(part, 0.0)
    varies = alone is None or POINTS**2 * np.diag(alone.covariance).max() > _NO_SPREAD**2
    if not varies:
        found = found._replace(covariance=np.zeros_like(found.covariance))
    labelled = rate(part.labels(), level=level)
    lost = int((~np.isnan(label)).sum()) - int(part.labelled.sum())
    notes = [f"left out: {plural(lost, 'label')} of battles without a judge's verdict"] if lost else []
    if labelled.separated:
        notes.append(f"all labels of {', '.join(labelled.separated)} went one way: its intervals may be too narrow")
    if not varies:
        notes.append("the labels do not vary: there are no intervals")
    if found.weight == 0:
        notes.append("the judges' scores say nothing of the labels: the ratings rest on the labels alone")
    return Calibrated(
        ratings=_ratings(labelled, found, part.labelled_questions - 1),
        raw=rate(table, level=level),
        labelled=labelled,
        weight=found.weight,
        worth=None if alone is None or not varies else float(np.trace(alone.covariance) / np.trace(found.covariance)),
        labels=int(part.labelled.sum()),
        battles=len(part),
        questions=int(part.question.max()) + 1,
        notes=tuple(notes),
    )


def _ratings(labelled: Ratings, found: Powered, degrees: int) -> Ratings:
    """Return calibrated ratings in the frame of those by the labels alone."""
    covariance = POINTS**2 * found.covariance
    covariance.setflags(write=False)
    spreads = [spread(variance, degrees, labelled.level) for variance in np.diag(covariance).tolist()]
    ratings = (MEAN + POINTS * found.strength).tolist()
    ends = [
        (None, None) if reach is None else (rating - reach, rating + reach)
        for rating, (_, reach) in zip(ratings, spreads, strict=True)
    ]
    return replace(
        labelled,
        ratings=tuple(ratings),
        se=tuple(se for se, _ in spreads),
        low=tuple(low for low, _ in ends),
        high=tuple(high for _, high in ends),
        within=tuple(ratings),
        covariance=covariance,
        degrees=(degrees,) * len(ratings),
        comparable=(labelled.names,),
        separated=(),
        converged=True,
        score=None,
        neighbours=(),
    )
