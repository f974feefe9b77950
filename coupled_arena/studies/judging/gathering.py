"""The opinions of a run, gathered battle by battle while its transcripts are gone through."""

import sys
from typing import Any

from coupled_arena.analysis.judges import NEEDED, OPTIONAL
from coupled_arena.records import Battle
from coupled_arena.tournaments.storage.columns import FRAMES
from coupled_arena.tournaments.storage.database import decoded
from coupled_arena.tournaments.storage.reader import RunReader


class Gathered:
    """What a study reads of the opinions of a run: texts and counts of tokens, most of them, take no memory.

    Args:
        run: the run that the battles are of.
    """

    def __init__(self, run: RunReader) -> None:
        self._known, self._where = run.judged_facts(), run.where
        names = {*NEEDED, *OPTIONAL}
        self.columns: dict[str, list[Any]] = {column.name: [] for column in FRAMES["opinions"] if column.name in names}
        """Columns of the frame `opinions` by name, `None` where a value is missing."""

    def add(self, battle: Battle) -> None:
        """Gather the opinions on a battle, whose texts must be whole.

        Raises:
            StoreError: what the store holds of it cannot be read.
        """
        with decoded(self._where):
            for row in self._known.opinions(battle):
                for name, column in self.columns.items():
                    value = row[name]
                    column.append(sys.intern(value) if isinstance(value, str) else value)
