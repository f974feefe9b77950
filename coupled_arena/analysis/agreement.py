"""How far two raters agree, and how far beyond chance.

A rater is whoever labels the same items as another: judges with their verdicts on battles, a committee and a human.
Two labels are equal only if they are the same value: `Tie` and `tie` are two. Given `categories`, a label that is none
of them is refused.

Intervals of coefficients come from the delta method. Item i moves the coefficient by `v_i / n`; over G clusters g the
variance is `G / (G - 1) * sum_g (sum_{i in g} v_i)**2 / n**2`, and the interval takes the quantile of Student's
distribution with G - 1 degrees of freedom. Where every item is a cluster, the variance of Cohen's kappa is that of
Fleiss, Cohen and Everitt (1969, Psychological Bulletin 72) times `n / (n - 1)`. Shares have Wilson's interval.
"""

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from coupled_arena.analysis.labels import MISSING, Codes, coded, grouped, wrong
from coupled_arena.analysis.levels import require_level
from coupled_arena.ratings.student import t_reach
from coupled_arena.ratings.wilson import wilson

Floats = NDArray[np.float64]
Weights = Literal["linear", "quadratic"]

_NO_SPREAD = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """A measure of agreement with its interval."""

    value: float | None = None
    """The measure, at most 1; None where it is undefined, and `reason` says why."""
    se: float | None = None
    """Its standard error; None without an interval."""
    low: float | None = None
    """Lower end of its interval; None where there is none, and `reason` says why."""
    high: float | None = None
    """Upper end of its interval; None as `low`."""
    observed: float | None = None
    """Share of agreement in the data, in [0, 1], weighted if the measure is; None without an item."""
    expected: float | None = None
    """Share of agreement by chance, in [0, 1]; None where the measure knows none."""
    items: int = 0
    """Items that count: labelled by both raters, or by two at least of a panel."""
    clusters: int = 0
    """Groups of these items that are independent of each other."""
    raters: int = 2
    """Number of raters."""
    categories: tuple[Hashable, ...]
    """The labels, in the order given, else by their text."""
    method: Literal["delta method", "Wilson", "none"] = "none"
    """Where the interval comes from."""
    reason: str = ""
    """Why there is no measure or no interval; empty otherwise."""


def kappa(
    a: Iterable[Hashable],
    b: Iterable[Hashable],
    *,
    categories: Sequence[Hashable] | None = None,
    weights: Weights | None = None,
    level: float = 0.95,
    cluster: Iterable[Hashable] | None = None,
) -> Agreement:
    """Return Cohen's kappa of two raters: their agreement beyond chance, as a share of what there could be.

    `(observed - expected) / (1 - expected)`, where chance draws each rater's labels from their own shares (Cohen 1960,
    Educational and Psychological Measurement 20). Items that one of the two left out do not count.

    Args:
        a: labels of one rater, one for each item; None or NaN where missing.
        b: labels of the other, in the same order.
        categories: all labels there may be; by default those that occur.
        weights: counts neighbouring categories as partly agreeing (Cohen 1968, Psychological Bulletin 70): an item at
            distance d of k categories by `1 - d / (k - 1)`, or by 1 less the square of that.
        level: coverage of the interval, between 0 and 1.
        cluster: what each item belongs to, such as the question of a battle; items of one cluster may depend on each
            other in any way.

    Raises:
        ConfigurationError: lengths differ, a label is none of the categories, there are weights without categories, or
            the level is out of range.

    Example:
        >>> human = ["A", "tie", "B", "B", "A", "tie", "B", "A"]
        >>> judge = ["A", "A", "B", "B", "A", "tie", "A", "A"]
        >>> found = kappa(judge, human, categories=["A", "tie", "B"])
        >>> f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}] on {found.items}"
        '0.61 [0.04, 1.00] on 8'
        >>> kappa(["A", "A"], ["A", "A"]).reason
        'all labels are one and the same: chance alone agrees on every item'
    """
    require_level("kappa", level)
    if weights is not None and categories is None:
        raise wrong("kappa", "categories", "must be given with weights: their order says which are neighbours")
    known, (first, second) = coded("kappa", [a, b], categories)
    both = (first != MISSING) & (second != MISSING)
    groups = grouped("kappa", cluster, both)
    first, second, size = first[both], second[both], len(known)
    if not len(first):
        return Agreement(categories=known, reason="no item was labelled by both")
    weight = _weight(size, weights)
    shares = [np.bincount(codes, minlength=size) / len(codes) for codes in (first, second)]
    agreeing = weight[first, second]
    found = Agreement(
        observed=float(agreeing.mean()),
        expected=float(shares[0] @ weight @ shares[1]),
        items=len(first),
        clusters=int(groups.max()) + 1,
        categories=known,
    )
    chance = (weight @ shares[1])[first] + (shares[0] @ weight)[second]
    return beyond_chance(found, agreeing - agreeing.mean(), chance - chance.mean(), groups, level)


def percent_agreement(
    a: Iterable[Hashable],
    b: Iterable[Hashable],
    *,
    without: Sequence[Hashable] = (),
    categories: Sequence[Hashable] | None = None,
    level: float = 0.95,
    cluster: Iterable[Hashable] | None = None,
) -> Agreement:
    """Return the share of items on which two raters agree.

    Its interval is Wilson's with the effective number of items (Korn and Graubard 1998, Survey Methodology 24), at most
    all of them; full agreement and none show no spread, and there a cluster counts as one item.

    Args:
        a: labels of one rater, one for each item; None or NaN where missing.
        b: labels of the other, in the same order.
        without: labels that take an item out when either rater gave one: `["tie"]` leaves the items on which both
            preferred a side.
        categories: as for `kappa`.
        level: coverage of the interval, between 0 and 1.
        cluster: as for `kappa`.

    Raises:
        ConfigurationError: lengths differ, a label is none of the categories, or the level is out of range.

    Example:
        >>> human, judge = ["A", "tie", "B", "B"], ["A", "A", "B", "A"]
        >>> percent_agreement(judge, human).value, percent_agreement(judge, human, without=["tie"]).items
        (0.5, 3)
    """
    require_level("percent_agreement", level)
    known, (first, second) = coded("percent_agreement", [a, b], categories)
    left_out = [MISSING, *(place for place, label in enumerate(known) if label in without)]
    both = ~np.isin(first, left_out) & ~np.isin(second, left_out)
    groups = grouped("percent_agreement", cluster, both)
    agreeing = (first == second)[both].astype(np.float64)
    if not len(agreeing):
        return Agreement(categories=known, reason="no item is left that both labelled")
    share, clusters = float(agreeing.mean()), int(groups.max()) + 1
    found = Agreement(value=share, observed=share, items=len(agreeing), clusters=clusters, categories=known)
    if clusters == 1:
        return replace(found, reason="a single cluster shows no spread")
    se = _standard_error(agreeing - share, groups)
    effective = min(len(agreeing), share * (1 - share) / se**2) if se > _NO_SPREAD else clusters
    low, high = wilson(share, effective, t_reach(level, clusters - 1))
    return replace(found, se=se, low=low, high=high, method="Wilson")


def beyond_chance(
    found: Agreement, more_observed: Floats, more_expected: Floats, groups: Codes, level: float
) -> Agreement:
    """Return the agreement beyond chance, with its interval by the delta method.

    Args:
        found: what is known of it, with observed and expected agreement.
        more_observed: n times what each item adds to the observed agreement to first order, mean 0, shape (n,).
        more_expected: the same of the expected agreement.
        groups: cluster of each item.
        level: coverage of the interval.
    """
    observed, expected = found.observed, found.expected
    if observed is None or expected is None:
        return found
    room = 1 - expected
    if room < _NO_SPREAD:
        return replace(found, reason="all labels are one and the same: chance alone agrees on every item")
    value = (observed - expected) / room
    found = replace(found, value=value)
    if found.clusters == 1:
        return replace(found, reason="a single cluster shows no spread")
    se = _standard_error((more_observed * room - more_expected * (1 - observed)) / room**2, groups)
    if se < _NO_SPREAD:
        return replace(found, reason="the items show no spread, which leaves the delta method without an interval")
    reach = t_reach(level, found.clusters - 1) * se
    low, high = max(-1.0, value - reach), min(1.0, value + reach)
    return replace(found, se=se, low=low, high=high, method="delta method")


def _standard_error(moved: Floats, groups: Codes) -> float:
    """Return the standard error of a sum of `moved / n`, mean 0, over two clusters or more."""
    sums = np.bincount(groups, moved)
    return math.sqrt(len(sums) / (len(sums) - 1) * float(sums @ sums)) / len(moved)


def _weight(size: int, kind: Weights | None) -> Floats:
    """Return how far each pair of categories agrees, in [0, 1], shape (size, size)."""
    if kind is None or size == 1:
        return np.eye(size)
    distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size))) / (size - 1)
    return np.asarray(1 - distance ** (1 if kind == "linear" else 2), dtype=np.float64)
