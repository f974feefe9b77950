"""A tournament of simulated models, whose truth is known."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coupled_arena.arguments import count_of, refuse
from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.models.model import Model
from coupled_arena.models.simulated.dials import dial_problems, read_dials
from coupled_arena.models.simulated.world import ClaimBook
from coupled_arena.studies.world.further import further_questions
from coupled_arena.studies.world.truth import Truth
from coupled_arena.tournaments.definition import Tournament

if TYPE_CHECKING:
    from coupled_arena.tournaments.results.result import Result
    from coupled_arena.tournaments.storage.store import Store

DEBATES = 2_000
"""Debates that the truth rests on in each arm where nobody says how many questions there shall be."""
DRAWS = 4
"""How often judges form an opinion on each of them."""

_HERE = "World"


class World:
    """A tournament in a world whose truth is known, because all its models are simulated.

    Args:
        tournament: the definition; or give the keywords of `Tournament` instead.

    Raises:
        ConfigurationError: with every problem found: models that are not simulated, or live in different worlds.

    Example:
        >>> world = World(models=["sim/ada?skill=2", "sim/bob?skill=-2"], judges=["sim/j1", "sim/j2"], seed=7,
        ...     examiner="sim/examiner", domains=["math"], questions_per_domain=4, script="single")
        >>> truth = world.truth(questions=20)
        >>> truth.skills["skill"].tolist()
        [2.0, 2.0, -2.0, -2.0]
        >>> bool(truth.win_probabilities["coupled"][0] > 0.9)
        True
        >>> verdicts = truth.verdicts(world.play())
        >>> len(verdicts)
        4
    """

    def __init__(self, tournament: Tournament | None = None, /, **parameters: Any) -> None:
        if tournament is not None and parameters:
            raise ConfigurationError(
                [Problem(_HERE, next(iter(parameters)), "is given beside a tournament; change it there")]
            )
        if not isinstance(tournament, Tournament | None):
            refuse(_HERE, "tournament", "a Tournament, or its keywords: World(models=..., judges=...)", tournament)
        self.tournament = Tournament(**parameters) if tournament is None else tournament
        """The definition."""
        problems = tuple(_problems(self.tournament))
        if problems:
            raise ConfigurationError(problems)
        self.book = ClaimBook(_number(self.tournament, self.tournament.models[0]))
        """Every question's claims and their true qualities."""

    def play(self, store: "Store | Path | str | None" = None, **options: Any) -> "Result":
        """Play the tournament; see `Tournament.run`, also for what may be raised."""
        return self.tournament.run(store, **options)

    async def aplay(self, store: "Store | Path | str | None" = None, **options: Any) -> "Result":
        """Play the tournament inside an event loop, as in a notebook."""
        return await self.tournament.arun(store, **options)

    def truth(self, *, questions: int | None = None, draws: int = DRAWS) -> Truth:
        """Return what results should come to.

        Args:
            questions: on how many further questions every possible pair debates; None takes as many as make about
                2,000 debates, 4 at least. Errors shrink with the square root of this number.
            draws: how often judges form an opinion on each debate, every time with new dice.

        Raises:
            ConfigurationError: either is no whole number of at least 1.
        """
        if questions is None:
            pairs = len(self.tournament.possible_pairs) * (2 if self.tournament.battle.sides == "both" else 1)
            questions = max(4, round(DEBATES / pairs))
        further = further_questions(self.tournament, count_of(questions, "truth", "questions"))
        drawn = count_of(draws, "truth", "draws")
        return Truth(tournament=self.tournament, book=self.book, questions=further, draws=drawn)

    def __repr__(self) -> str:
        return f"World({self.book.number}: {', '.join(model.name for model in self.tournament.models)})"


def _number(tournament: Tournament, model: Model) -> int:
    return read_dials(tournament.model_of(model).model).world


def _problems(tournament: Tournament) -> Iterator[Problem]:
    """Yield what keeps a tournament from having a truth."""
    roles = [(f"roles.{name}", seat.voice_of(name)) for name, seat in sorted(tournament.roles.items())]
    keys = [
        *(("models", model) for model in tournament.models),
        *(("judges", judge) for judge in tournament.judging_models),
        *(("examiner", examiner) for examiner in tournament.examiners),
        *roles,
    ]
    real = {model: key for key, model in keys if model.kind != "sim"}
    for model, key in real.items():
        yield Problem(_HERE, key, f"{model.name} is not simulated, so nothing is known of its world; name a sim/ model")
    unread = {model: problem for _, model in keys if model.kind == "sim" for problem in dial_problems(model.model)}
    yield from unread.values()
    if real or unread:
        return
    if len(tournament.models) < 2:
        yield Problem(_HERE, "models", f"a debate needs two models, not {len(tournament.models)}")
        return
    home = _number(tournament, tournament.models[0])
    for key, model in keys:
        if (number := _number(tournament, model)) != home:
            message = f"{model.name} lives in world {number}, {tournament.models[0].name} in world {home}; name one"
            yield Problem(_HERE, key, message)
