"""How far a panel of raters agrees beyond chance, with or without gaps.

Intervals come from the delta method, as in `analysis.agreement`.
"""

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from coupled_arena.analysis.agreement import Agreement, beyond_chance
from coupled_arena.analysis.labels import Codes, coded, grouped, wrong
from coupled_arena.analysis.levels import require_level
from coupled_arena.shown import plural

Counts = NDArray[np.float64]


def fleiss_kappa(
    raters: Sequence[Iterable[Hashable]],
    *,
    categories: Sequence[Hashable] | None = None,
    level: float = 0.95,
    cluster: Iterable[Hashable] | None = None,
) -> Agreement:
    """Return Fleiss' kappa of a panel whose every member labelled every item.

    The observed agreement is the mean share of agreeing pairs of raters; chance draws all labels from one law, the
    shares of the whole panel (Fleiss 1971, Psychological Bulletin 76). With gaps, use `krippendorff_alpha`.

    Args:
        raters: for each rater their labels, one for each item.
        categories: as for `kappa`.
        level: coverage of the interval, between 0 and 1.
        cluster: as for `kappa`.

    Raises:
        ConfigurationError: there are fewer than two raters, a label is missing or none of the categories, lengths
            differ, or the level is out of range.

    Example:
        >>> panel = [["A", "B", "A", "B"], ["A", "B", "B", "B"], ["A", "B", "A", "A"]]
        >>> round(fleiss_kappa(panel).value, 3)
        0.333
    """
    require_level("fleiss_kappa", level)
    known, counts, groups = _counted("fleiss_kappa", raters, categories, cluster, fewest=len(raters))
    return _among(known, counts, groups, len(raters), level, own=0)


def krippendorff_alpha(
    raters: Sequence[Iterable[Hashable]],
    *,
    categories: Sequence[Hashable] | None = None,
    level: float = 0.95,
    cluster: Iterable[Hashable] | None = None,
) -> Agreement:
    """Return Krippendorff's alpha of a panel for nominal labels, any of which may be missing.

    `1 - D_o / D_e`: the disagreement within items, where each label is paired with the others of its item, over that of
    all labels paired at random without replacement (Krippendorff 2004, Content Analysis, chapter 11). Items with fewer
    than two labels do not count. `observed` and `expected` are `1 - D_o` and `1 - D_e`.

    Args:
        raters: for each rater their labels, one for each item; None or NaN where missing.
        categories: as for `kappa`.
        level: coverage of the interval, between 0 and 1.
        cluster: as for `kappa`.

    Raises:
        ConfigurationError: there are fewer than two raters, lengths differ, a label is none of the categories, or the
            level is out of range.

    Example:
        >>> panel = [["A", "B", "A", None], ["A", "B", "B", "B"], ["A", None, "A", "B"]]
        >>> round(krippendorff_alpha(panel).value, 3)
        0.64
    """
    require_level("krippendorff_alpha", level)
    known, counts, groups = _counted("krippendorff_alpha", raters, categories, cluster, fewest=0)
    return _among(known, counts, groups, len(raters), level, own=1)


def _counted(
    where: str,
    raters: Sequence[Iterable[Hashable]],
    categories: Sequence[Hashable] | None,
    cluster: Iterable[Hashable] | None,
    *,
    fewest: int,
) -> tuple[tuple[Hashable, ...], Counts, Codes]:
    """Return the categories, and of each item with two labels how often it got each of them, and its cluster."""
    if len(raters) < 2:
        raise wrong(where, "raters", f"needs two raters or more, not {len(raters)}")
    known, codes = coded(where, raters, categories)
    counts = (codes[:, :, np.newaxis] == np.arange(len(known))).sum(axis=0).astype(np.float64)
    labels = counts.sum(axis=1)
    for item in np.flatnonzero(labels < fewest):
        held = plural(int(labels[item]), "label")
        raise wrong(where, f"item {item}", f"has {held} of {fewest}; use krippendorff_alpha")
    paired = labels >= 2
    return known, counts[paired], grouped(where, cluster, paired)


def _among(
    known: tuple[Hashable, ...], counts: Counts, groups: Codes, raters: int, level: float, *, own: int
) -> Agreement:
    """Return the agreement within items beyond that of labels paired at random.

    Args:
        known: the categories.
        counts: how often each item got each of them, shape (items, categories).
        groups: cluster of each item.
        raters: number of raters.
        level: coverage of the interval.
        own: how many times chance leaves out the pair of a label with itself.
    """
    if not len(counts):
        return Agreement(categories=known, raters=raters, reason="no item was labelled by two raters")
    labels, of_category = counts.sum(axis=1), counts.sum(axis=0)
    agreeing = (counts * (counts - 1)).sum(axis=1) / (labels - 1)
    total = float(labels.sum())
    pairs = total * (total - own)
    observed, expected = float(agreeing.sum()) / total, float(of_category @ (of_category - own)) / pairs
    # Both shares are functions of sums over the items: an item moves them by their derivatives times what it adds.
    more_observed = (agreeing - observed * labels) * len(counts) / total
    more_expected = (counts @ (2 * of_category - own) - expected * (2 * total - own) * labels) * len(counts) / pairs
    found = Agreement(
        observed=observed,
        expected=expected,
        items=len(counts),
        clusters=int(groups.max()) + 1,
        raters=raters,
        categories=known,
    )
    return beyond_chance(found, more_observed, more_expected - more_expected.mean(), groups, level)
