"""What is known of battles beside their models: a slice drawn at random is alike in it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from coupled_arena.analysis.judges import Opinions
from coupled_arena.analysis.judges.columns import finite
from coupled_arena.analysis.judges.estimate import Floats
from coupled_arena.analysis.labels import present, wrong


def traits_of(columns: Mapping[str, Any] | Any, table: Opinions, where: str) -> dict[str, Floats]:
    """Return traits of every battle by name, each of shape (battles,), from the columns `domain` and `round`.

    Args:
        columns: those that the table was made of, in the same order of rows.
        table: the opinions.
        where: what problems name as their place.

    Raises:
        ConfigurationError: a round is no number.
    """
    rows = np.unique(table.battle, return_index=True)[1].tolist()
    found: dict[str, Floats] = {}
    for name in [name for name in ("domain", "round") if name in columns]:
        column = list(columns[name])
        values = [column[row] for row in rows]
        if not all(present(value) and value != "" for value in values):
            continue
        if name == "domain":
            domains = sorted({str(value) for value in values})
            found |= {f"battles in {one}": np.array([str(value) == one for value in values], float) for one in domains}
        else:
            found["battles of late rounds"] = np.array(
                [_round(*pair, where) for pair in zip(rows, values, strict=True)]
            )
    return found


def _round(row: int, value: Any, where: str) -> float:
    try:
        return finite(value)
    except (TypeError, ValueError):
        raise wrong(f"{where}: row {row + 1}", "round", f"must be a number, not {value!r}") from None
