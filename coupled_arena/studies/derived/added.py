"""What adding a newcomer to a run comes to: where it stands, whom it met, and how far the others move."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from coupled_arena.errors import RatingError
from coupled_arena.ratings.ranks import Rank
from coupled_arena.records import Battle
from coupled_arena.reports.summary import dice
from coupled_arena.shown import Shown
from coupled_arena.tournaments.derived import WithNewcomer
from coupled_arena.tournaments.results.documents import rounded, spending_document
from coupled_arena.tournaments.results.leaderboard import Row, rated, row_document, tally
from coupled_arena.tournaments.results.result import Result


@dataclass(frozen=True, slots=True)
class Moved:
    """How far the rating of one old model moved, on the scale whose mean is that of the old models."""

    model: str
    """Its name."""
    before: float | None
    """Its rating without the newcomer; None where nothing could be said."""
    after: float | None
    """Its rating with the newcomer's battles."""
    rank_before: int | None
    """Its rank among the old models without the newcomer, 1 for the best."""
    rank_after: int | None
    """Its rank among the old models with the newcomer's battles."""

    @property
    def change(self) -> float | None:
        """How far it moved, in points; None where it has no two ratings."""
        return None if self.before is None or self.after is None else self.after - self.before


@dataclass(frozen=True, slots=True)
class Met:
    """What became of the newcomer's battles against one opponent."""

    opponent: str
    """The opponent."""
    round: int
    """Round of the match, counted on from the run that the newcomer came into."""
    wins: int
    """Battles that the newcomer won, forfeits of the opponent included."""
    losses: int
    """Battles that it lost, own forfeits included."""
    ties: int
    """Battles tied."""
    void: int
    """Battles without a decision."""


@dataclass(frozen=True, slots=True, repr=False)
class Addition(Shown):
    """Where a newcomer stands in a run that was finished before it came, and what its battles changed.

    Shown, it is the answer in a sentence with what belongs to it.
    """

    base: str
    """Id of the run that the newcomer came into."""
    newcomer: Row
    """Its line of the new leaderboard."""
    ranks: Rank
    """The ranks that the battles leave possible for it."""
    met: tuple[Met, ...]
    """Whom it met, in order."""
    moves: tuple[Moved, ...]
    """How far every other rating moved, in the order of the old leaderboard."""
    shift: float
    """What to add to a rating of the new leaderboard to have it on the scale of `moves`: there the old models alone
    have mean 1000."""
    result: Result
    """The new run, with every battle."""

    @classmethod
    def of(cls, result: Result) -> "Addition":
        """Return what a run with a newcomer comes to, whether it was played to its end or not.

        Raises:
            RatingError: nobody was added in this run.
        """
        definition = result.tournament
        if not isinstance(definition, WithNewcomer):
            raise RatingError(f"nobody was added to {result.run} by `add`, so there is no newcomer")
        base, name = definition.base, definition.newcomer.name
        old, new = rated(base.tournament, base.battles), result.ratings
        pairs = [(old.rating(model), new.rating(model)) for model in old.names]
        both = [(before, after) for before, after in pairs if before is not None and after is not None]
        shift = sum(before - after for before, after in both) / max(1, len(both))
        places = [
            {model: rank for rank, model in enumerate((m for m in found.ranking if m != name), 1)}
            for found in (old, new)
        ]
        moves = []
        for model in old.ranking:
            before, after = old.rating(model), new.rating(model)
            moves.append(
                Moved(
                    model,
                    before,
                    None if after is None else after + shift,
                    None if before is None else places[0][model],
                    None if after is None else places[1][model],
                )
            )
        return cls(
            base=base.run,
            newcomer=next(row for row in result.rows if row.model == name),
            ranks=new.ranks().of(name),
            met=tuple(_met(result, name)),
            moves=tuple(moves),
            shift=shift,
            result=result,
        )

    @property
    def largest(self) -> Moved | None:
        """The old model that moved furthest; None where none has two ratings."""
        moved = [move for move in self.moves if move.change is not None]
        return max(moved, key=lambda move: (abs(move.change or 0.0), move.model), default=None)

    @property
    def reordered(self) -> bool:
        """Whether the old models stand in another order among themselves."""
        return any(move.rank_before != move.rank_after for move in self.moves)

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        row, field = self.newcomer, len(self.moves) + 1
        if row.rating is None:
            return f"{row.model} has no rated battle in {self.result.run}, and so no place among {field} models."
        possible = "" if self.ranks.low is None else f" (ranks {self.ranks.low} to {self.ranks.high} are possible)"
        interval = "" if row.low is None or row.high is None else f" (95 % interval {row.low:.0f} to {row.high:.0f})"
        place = f"{row.model} comes in at rank {row.rank} of {field}{possible}, rating {row.rating:.0f}{interval}"
        largest = self.largest
        if largest is None:
            return f"{place}."
        order = "change places among themselves" if self.reordered else "keep their order"
        moved = f"the others {order} and move by at most {abs(largest.change or 0.0):.0f} points ({largest.model})"
        return f"{place}; {moved}."

    @property
    def lines(self) -> tuple[str, ...]:
        """What belongs to the answer, one line each: whom it met, who moved, dice, caveats."""
        return tuple(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.result.run} builds on {self.base}"
        for met in self.met:
            void = f", {met.void} void" if met.void else ""
            yield f"round {met.round} against {met.opponent}: won {met.wins}, lost {met.losses}, tied {met.ties}{void}"
        yield "ratings without and with the newcomer, on the scale where the old models have mean 1000:"
        width = max(len(move.model) for move in self.moves)
        for move in self.moves:
            yield f"  {move.model:<{width}}  {_moved(move)}"
        yield dice(self.result.shared())
        yield from (f"note: {caveat}" for caveat in (*self.result.caveats, *self.result.ratings.notes))

    def document(self) -> dict[str, Any]:
        """Return the addition as plain data, the same in every execution but for the run, the calls and the cost."""
        document, largest = self.result.document(), self.largest
        return {
            "base": self.base,
            "run": self.result.run,
            "sentence": self.sentence,
            "newcomer": {**row_document(self.newcomer), "rank_low": self.ranks.low, "rank_high": self.ranks.high},
            "met": [asdict(met) for met in self.met],
            "moves": [
                {name: rounded(value) for name, value in {**asdict(move), "change": move.change}.items()}
                for move in self.moves
            ],
            "largest": None if largest is None else largest.model,
            "reordered": self.reordered,
            "shift": rounded(self.shift),
            **{key: document[key] for key in ("leaderboard", "settled", "battles", "sharing")},
            **spending_document(self.result.counts, self.result.spent),
            "caveats": document["caveats"],
        }

    def __repr__(self) -> str:
        return "\n".join((self.sentence, *self.lines))


def _met(result: Result, name: str) -> Iterator[Met]:
    """Yield the newcomer's matches, by round."""
    found: defaultdict[tuple[int, str], list[Battle]] = defaultdict(list)
    for battle in result.leading:
        if name in battle.pair:
            found[battle.round, battle.b if battle.a == name else battle.a].append(battle)
    for (number, opponent), battles in sorted(found.items()):
        count = tally(name, battles)
        yield Met(opponent, number, count["wins"], count["losses"], count["ties"], count["void"])


def _moved(move: Moved) -> str:
    if move.before is None or move.after is None or move.change is None:
        return "no two ratings to compare"
    place = "" if move.rank_before == move.rank_after else f", rank {move.rank_before} to {move.rank_after}"
    return f"{move.before:.0f} to {move.after:.0f}, {round(move.change):+d}{place}"
