"""Labels of several raters as arrays of codes, and what their items belong to."""

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from coupled_arena.errors import ConfigurationError, Problem

Codes = NDArray[np.intp]

MISSING = -1
"""Code of a label that is missing (None, NaN or the missing value of a data frame)."""


def coded(
    where: str, raters: Sequence[Iterable[Hashable]], categories: Sequence[Hashable] | None
) -> tuple[tuple[Hashable, ...], Codes]:
    """Return the categories, and each label as its place among them.

    Args:
        where: the function that was called, for errors.
        raters: for each rater their labels, one for each item; None or NaN where missing.
        categories: all labels there may be; by default those that occur, sorted by their text.

    Returns:
        The categories, and codes of shape (raters, items).

    Raises:
        ConfigurationError: lengths differ, or a label is none of the categories.

    Example:
        >>> coded("kappa", [["A", "B"], ["B", None]], None)[1].tolist()
        [[0, 1], [1, -1]]
    """
    columns = [[label if present(label) else None for label in rater] for rater in raters]
    for number, column in enumerate(columns, 1):
        if len(column) != len(columns[0]):
            raise wrong(where, f"rater {number}", f"has {len(column)} labels, rater 1 {len(columns[0])}")
    labels = {label for column in columns for label in column if label is not None}
    known = tuple(sorted(labels, key=str) if categories is None else categories)
    place = {label: index for index, label in enumerate(known)}
    for number, column in enumerate(columns, 1):
        for item, label in enumerate(column):
            if label is not None and label not in place:
                listed = ", ".join(map(repr, known))
                raise wrong(where, f"rater {number}, item {item}", f"{label!r} is none of the categories {listed}")
    codes = [[MISSING if label is None else place[label] for label in column] for column in columns]
    return known, np.array(codes, dtype=np.intp).reshape(len(columns), -1)


def present(label: object) -> bool:
    """Return whether there is a label at all, rather than None, NaN or the missing value of a data frame."""
    # NaN is not equal to itself, and of the missing value of a data frame not even that is known.
    same: object = label == label
    return label is not None and isinstance(same, bool | np.bool_) and bool(same)


def grouped(where: str, cluster: Iterable[Hashable] | None, kept: NDArray[np.bool_]) -> Codes:
    """Return the clusters of the items that are kept, numbered from 0 on; without clusters each item is one.

    Args:
        where: the function that was called, for errors.
        cluster: what each item belongs to.
        kept: which items count, shape (items,).

    Raises:
        ConfigurationError: there are not as many clusters as items.
    """
    if cluster is None:
        return np.arange(np.count_nonzero(kept))
    names = list(cluster)
    if len(names) != len(kept):
        raise wrong(where, "cluster", f"has {len(names)} items, the labels {len(kept)}")
    own = [name for name, keep in zip(names, kept, strict=True) if keep]
    number = {name: index for index, name in enumerate(dict.fromkeys(own))}
    return np.array([number[name] for name in own], dtype=np.intp)


def wrong(where: str, key: str, message: str) -> ConfigurationError:
    """Return the error of a wrong argument."""
    return ConfigurationError([Problem(where, key, message)])
