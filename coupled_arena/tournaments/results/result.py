"""What a run comes to: a leaderboard, whether it is settled, and everything behind it."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from coupled_arena.analysis.authors import Advantage
from coupled_arena.analysis.questions import QuestionStanding, question_standings
from coupled_arena.arguments import refuse
from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.models.calls import Counts, Spent
from coupled_arena.ratings import Ratings
from coupled_arena.ratings.arms import Arms, compare_arms
from coupled_arena.ratings.ranks import places
from coupled_arena.ratings.settled import Settled
from coupled_arena.records import SHARING_ORDER, Battle, Question
from coupled_arena.shown import Rows, Shown, plural
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.results.asked import EXTREMES, advantages, extremes, question_table
from coupled_arena.tournaments.results.documents import (
    advantage_document,
    arms_document,
    neighbours_document,
    rounded,
    spending_document,
)
from coupled_arena.tournaments.results.leaderboard import (
    LEADERBOARD_COLUMNS,
    PRIOR,
    Row,
    leading,
    rated,
    row_document,
    rows_of,
)
from coupled_arena.tournaments.results.neighbours import Neighbours, neighbours
from coupled_arena.tournaments.results.resolution import Resolution, resolution
from coupled_arena.tournaments.schedules import Adaptive
from coupled_arena.tournaments.storage.columns import FRAMES, FrameName
from coupled_arena.tournaments.storage.reader import RunReader
from coupled_arena.tournaments.storage.store import Store
from coupled_arena.tournaments.stored import Keep, battles_of, definition_of

if TYPE_CHECKING:
    import pandas as pd


Source = Callable[[], AbstractContextManager[RunReader]]
"""Opens what a store holds of a run."""


@dataclass(frozen=True, repr=False)
class Result(Shown):
    """What a run comes to.

    Example:
        >>> import coupled_arena as ca
        >>> tournament = ca.Tournament(models=["sim/ada?skill=2", "sim/bob"], judges=["sim/j1", "sim/j2", "sim/j3"],
        ...     examiner="sim/examiner", domains=["math"], questions_per_domain=2, schedule="round_robin")
        >>> tournament.run().leaderboard()["model"].tolist()
        ['sim/ada', 'sim/bob']
    """

    run: str
    """Id of the run."""
    tournament: Tournament
    """Its definition; that of a stored run has no agents of added roles and names no questions."""
    questions: tuple[Question, ...]
    """What was asked."""
    battles: tuple[Battle, ...]
    """Every battle, in the order of the schedule."""
    ratings: Ratings
    """The final ratings, with covariance and prior."""
    counts: Counts
    """Calls of this invocation."""
    spent: Spent
    """What the run has paid for in all its executions; answers of other runs cost it nothing."""
    caveats: tuple[str, ...]
    """What a reader of the leaderboard must know."""
    source: Source = field(repr=False, compare=False)
    """Opens what the store holds of the run."""

    @classmethod
    def of(cls, run: RunReader, *, source: Source | None = None, keep: Keep | None = None) -> "Result":
        """Return the result of a stored run as far as it was played; without a `source` its store must stay open.

        Args:
            run: the run.
            source: opens what the store holds of it.
            keep: what is kept of every battle, to save memory; None is all.

        Raises:
            RunNotFound: the run is no tournament but a bench.
            ConfigurationError: what is given is no run.
        """
        if not isinstance(run, RunReader):
            refuse("Result.of", "run", "a run of a store, such as store.run()", run)
        tournament = definition_of(run)
        battles = battles_of(run, tournament, keep)
        return cls(
            run=run.id,
            tournament=tournament,
            questions=run.load_questions(),
            battles=battles,
            ratings=rated(tournament, battles),
            counts=Counts(),
            spent=run.spent,
            caveats=run.caveats if run.status == "finished" else ("the run is not finished", *run.caveats),
            source=source or (lambda: nullcontext(run)),
        )

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The leaderboard as records, best first."""
        ends = places(self.ratings, self.ratings.ranks())
        rows = rows_of(self.ratings, self.leading)
        return tuple(replace(row, rank_low=ends[row.model][0], rank_high=ends[row.model][1]) for row in rows)

    @cached_property
    def neighbours(self) -> tuple[Neighbours, ...]:
        """Whether each two neighbours on the leaderboard are settled, and what their dice had in common."""
        return neighbours(self.settled, self.battles, self.tournament.arms)

    @cached_property
    def settled(self) -> tuple[Settled, ...]:
        """Whether each two neighbours on the leaderboard are settled: `Ratings.settled`, unless it may not be used.

        Under an adaptive schedule, which stops because of what it sees, it is told by confidence sequences instead.
        """
        found = self.resolution
        if found is None:
            return self.ratings.settled()
        return found.settled(self.ratings.ranking, self.ratings.known)

    @cached_property
    def resolution(self) -> Resolution | None:
        """What an adaptive schedule resolved, why it stopped and what is missing; None under any other schedule."""
        rule = self.tournament.schedule
        if not isinstance(rule, Adaptive):
            return None
        models = [model.name for model in self.tournament.models]
        return resolution(rule, models, self.leading, questions=len(self.questions))

    @cached_property
    def leading(self) -> tuple[Battle, ...]:
        """The battles of the arm that is rated: all of them unless there are two."""
        return leading(self.tournament, self.battles)

    @cached_property
    def arms(self) -> Arms | None:
        """How the ratings of the two arms differ; None where there is only one."""
        arms = self.tournament.arms
        if len(arms) == 1:
            return None
        models = [model.name for model in self.tournament.models]
        return compare_arms(self.battles, *arms, models=models, prior=PRIOR)

    @cached_property
    def question_standings(self) -> tuple[QuestionStanding, ...]:
        """How every question fared: how hard and how contested it was, as far as battles can tell."""
        return question_standings(self.leading, self.ratings.known)

    @cached_property
    def advantages(self) -> tuple[Advantage, ...]:
        """For every examiner whether its questions suit its own family, or why nothing can be said."""
        return advantages(self.tournament, self.questions, self.leading)

    def question_table(self) -> "pd.DataFrame":
        """Return a line for every question, the hardest first; columns `asked.QUESTION_COLUMNS`."""
        return question_table(self.questions, self.question_standings)

    def frame(self, name: FrameName) -> "pd.DataFrame":
        """Return a data frame of the run; any other name is a `ValueError`.

        Args:
            name: `battles`, `turns`, `opinions`, `decisions`, `questions`, `rejected`, `calls`, `ratings` or
                `human_votes`; their columns are explained in docs/data.md.
        """
        if name not in FRAMES:
            raise ValueError(f"there is no data frame {name!r}; there are {', '.join(FRAMES)}")
        with self.source() as run:
            return run.frame(name)

    def leaderboard(self) -> "pd.DataFrame":
        """Return the leaderboard, best first, to one decimal (`rows` has all digits); columns `LEADERBOARD_COLUMNS`."""
        import pandas as pd

        rows = [{column: getattr(row, column) for column in LEADERBOARD_COLUMNS} for row in self.rows]
        board = pd.DataFrame(rows, columns=list(LEADERBOARD_COLUMNS))
        board = board.astype({"rating": float, "low": float, "high": float})
        board = board.astype(dict.fromkeys(("rank", "rank_low", "rank_high"), "Int64"))
        return board.round({"rating": 1, "low": 1, "high": 1})

    def counted(self) -> dict[str, int]:
        """Return how many battles were decided, void and forfeited; the three add up to all battles."""
        statuses = [battle.decision.status for battle in self.battles]
        return {status: statuses.count(status) for status in ("decided", "void", "forfeited")}

    def shared(self) -> dict[str, int]:
        """Return how many battles' openings shared their dice, by what they shared."""
        found = Counter(battle.sharing for battle in self.battles)
        return {sharing: found[sharing] for sharing in SHARING_ORDER if found[sharing]}

    def document(self) -> dict[str, Any]:
        """Return the result as plain data, the same in every execution but for the run's id, the calls and the cost."""
        pairs, arms, found = self.neighbours, self.arms, self.resolution
        return {
            "run": self.run,
            "leaderboard": [row_document(row) for row in self.rows],
            "settled": [neighbours_document(pair) for pair in pairs],
            "battles": self.counted(),
            **spending_document(self.counts, self.spent),
            "prior": self.ratings.prior,
            "multiplicity": pairs[0].settled.multiplicity if pairs else None,
            "resolution": None if found is None else found.document(),
            "notes": list(self.ratings.notes),
            "sharing": self.shared(),
            "arms": None if arms is None else arms_document(arms),
            "questions": {
                key: [{"question": one.question, "value": rounded(getattr(one, EXTREMES[key][0]))} for one in found]
                for key, found in extremes(self.question_standings).items()
            },
            "examiners": [advantage_document(found) for found in self.advantages],
            "caveats": list(self.caveats),
        }

    def shown(self) -> Iterator[str | Rows]:
        """Yield what a notebook shows: the leaderboard, whether neighbours are settled, what must be known."""
        yield f"{self.tournament.name}: {plural(len(self.battles), 'battle')}, run {self.run}"
        columns = tuple(column for column in LEADERBOARD_COLUMNS if not column.startswith("rank_"))
        yield Rows(columns, [[getattr(row, column) for column in columns] for row in self.rows])
        yield from (pair.line for pair in self.neighbours)
        yield from (f"note: {note}" for note in (*self.caveats, *self.ratings.notes))

    def __repr__(self) -> str:
        rows = rows_of(self.ratings, self.leading)
        lines = [f"Result of {self.run}: {plural(len(self.battles), 'battle')}"]
        width = max(len(row.model) for row in rows)
        lines += [f"{row.rank or '-':>3}  {row.model:<{width}}  {_number(row.rating)}" for row in rows]
        return "\n".join(lines)


@contextmanager
def result_in(source: object, run: str | None, where: str) -> Iterator[Result]:
    """Hold a result in reach of what its store holds of it.

    Args:
        source: a result, a store, or the path of one.
        run: which run of a store; None is its newest.
        where: what problems name as their place.

    Raises:
        ConfigurationError: the source is none of these, or names one run already.
        StoreError: the store holds no such run, or cannot be read.

    Example:
        >>> with result_in(7, None, "report") as result:
        ...     pass
        Traceback (most recent call last):
            ...
        coupled_arena.errors.ConfigurationError: report: source: must be a result, a store or the path of one, not int
    """
    if isinstance(source, Result):
        if run is not None:
            raise ConfigurationError([Problem(where, "run", "names a run of a store; leave it out, or name the store")])
        yield source
    elif isinstance(source, Store):
        yield Result.of(source.run(run))
    elif isinstance(source, str | os.PathLike):
        with Store(source, create=False) as store:
            yield Result.of(store.run(run))
    else:
        advice = "; take its `result`" if isinstance(getattr(source, "result", None), Result) else ""
        message = f"must be a result, a store or the path of one, not {type(source).__name__}{advice}"
        raise ConfigurationError([Problem(where, "source", message)])


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"
