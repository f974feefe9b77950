"""Votes of people on battles.

A vote belongs to what was shown: the question, and what judges are shown of the debate. So it counts in every run of
the store that holds this text, for other judges too, and no longer counts for a battle that has become another text.
"""

from sqlalchemy import Connection, select

from coupled_arena.models.encoding import storable
from coupled_arena.records import Name, Order, Record, Verdict
from coupled_arena.tournaments.storage import schema
from coupled_arena.tournaments.storage.database import Placed, decoded, explained, require_in_place

_SAVE = schema.insertion(schema.human_votes, replace=True)


class HumanVote(Record):
    """What one annotator said of one text."""

    shown: str
    """Digest of the text, 32 hex digits (`tournaments.shown.digest_of`)."""
    annotator: Name
    """Who voted."""
    run: str
    """Run of the battle whose text it was."""
    battle: str
    """Id of that battle."""
    order: Order
    """How it was presented: `BA` shows side B first, under the label A."""
    verdict: Verdict | None
    """The better side in the battle's own frame, or `tie`; None where the annotator passed it over."""
    created: float
    """When it was cast, in seconds since 1970."""


class HumanVotes:
    """The votes that a store holds: at most one of an annotator on a text, the last one."""

    def __init__(self, connection: Connection, where: str, file: Placed | None = None) -> None:
        self._connection = connection
        self._where = where
        self._file = file

    def save(self, vote: HumanVote) -> None:
        """Store a vote in a transaction of its own, in place of an earlier one of this annotator on this text.

        Raises:
            StoreError: the store cannot be written, or no longer is the file of its name.
        """
        require_in_place(self._file, self._where, "votes were cast", "put it back, or vote on what lies there now")
        row = (
            bytes.fromhex(vote.shown),
            storable(vote.annotator),
            vote.run,
            vote.battle,
            vote.order,
            vote.verdict,
            vote.created,
        )
        with explained(self._where):
            self._connection.exec_driver_sql(_SAVE, row)

    def load(self) -> tuple[HumanVote, ...]:
        """Return every vote in the order in which they were cast."""
        table = schema.human_votes
        with decoded(self._where):
            rows = self._connection.execute(select(table).order_by(table.c.created, table.c.shown, table.c.annotator))
            return tuple(HumanVote(**{**row, "shown": row["shown"].hex()}) for row in rows.mappings())

    def by_text(self) -> dict[str, list[HumanVote]]:
        """Return every vote by the digest of its text, in the order in which they were cast."""
        found: dict[str, list[HumanVote]] = {}
        for vote in self.load():
            found.setdefault(vote.shown, []).append(vote)
        return found
