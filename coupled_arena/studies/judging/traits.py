"""What is known of battles beside their models: a slice drawn at random is alike in it."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from coupled_arena.analysis.judges import Opinions
from coupled_arena.analysis.judges.estimate import Floats
from coupled_arena.analysis.labels import present


def traits_of(columns: Mapping[str, Any] | Any, table: Opinions) -> dict[str, Floats]:
    """Return traits of every battle by name, each of shape (battles,), from the columns `domain` and `round`.

    Args:
        columns: those that the table was made of, in the same order of rows.
        table: the opinions.
    """
    rows = np.unique(table.battle, return_index=True)[1].tolist()
    found: dict[str, Floats] = {}
    for name in [name for name in ("domain", "round") if name in columns]:
        column = list(columns[name])
        values = [column[row] for row in rows]
        if not all(present(value) for value in values):
            continue
        if name == "domain":
            domains = sorted({str(value) for value in values})
            found |= {f"battles in {one}": np.array([str(value) == one for value in values], float) for one in domains}
        else:
            found["battles of late rounds"] = np.array([float(value) for value in values])
    return found
