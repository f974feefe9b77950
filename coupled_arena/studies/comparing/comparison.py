"""What a comparison of two models comes to."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from coupled_arena.errors import RatingError
from coupled_arena.models.families import family_of
from coupled_arena.models.model import Model
from coupled_arena.ratings import RatingInput
from coupled_arena.ratings.score import Score, score_of
from coupled_arena.records import SCORES, Battle
from coupled_arena.reports.summary import dice
from coupled_arena.shown import Shown
from coupled_arena.studies.comparing import wording
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.results.documents import rounded
from coupled_arena.tournaments.results.result import Result
from coupled_arena.tournaments.schedules import Adaptive

LEVEL = 0.95
"""Coverage of the interval of the score, of those of all domains together, and of that of the sides."""

FIRST, SECOND = "first", "second"
"""The side that spoke first and the other one, as if they were models."""

_MANY_VOID = 0.1


class Domain(NamedTuple):
    """How two models did against each other in one domain."""

    name: str
    """The domain."""
    score: Score
    """Of the first model; its interval holds jointly with those of the other domains."""


class Asked(NamedTuple):
    """How two models did against each other on one question."""

    id: str
    """The question."""
    domain: str
    """Its domain."""
    share: float | None
    """Score of the first model, in [0, 1]: its wins and half of its ties; None where no battle on it was rated."""


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Shown):
    """Which of two models is better, on which questions, and whether it is settled.

    Shown, it is the answer in a sentence with what belongs to it.
    """

    a: str
    """The first model."""
    b: str
    """The second model."""
    score: Score
    """How the first did against the second."""
    domains: tuple[Domain, ...]
    """The same for every domain, in the order of the questions."""
    questions: tuple[Asked, ...]
    """The same for every question, in their order."""
    sides: Score
    """How the side that spoke first did against the other, whoever it was; forfeits are left out."""
    caveats: tuple[str, ...]
    """What a reader of the answer must know."""
    result: Result
    """The run, with every battle."""

    @classmethod
    def of(cls, result: Result) -> "Comparison":
        """Return what a run of two models came to, whether it was played to its end or not.

        Raises:
            RatingError: the run has more than two models.
        """
        names = [model.name for model in result.tournament.models]
        if len(names) != 2:
            raise RatingError(f"a comparison is of two models; {result.run} has {len(names)}: {', '.join(names)}")
        a, b = names
        by_question, by_domain = _grouped(result.leading)
        domains = tuple(dict.fromkeys(question.domain for question in result.questions))
        jointly = 1 - (1 - LEVEL) / max(1, len(domains))
        # Whoever stops because of what the battles say can use only intervals that hold at every look.
        stops = isinstance(result.tournament.schedule, Adaptive)
        return cls(
            a=a,
            b=b,
            score=_score(result.leading, a, b, every_look=stops),
            domains=tuple(
                Domain(domain, _score(by_domain[domain], a, b, jointly, every_look=stops)) for domain in domains
            ),
            questions=tuple(Asked(q.id, q.domain, _score(by_question[q.id], a, b).share) for q in result.questions),
            sides=_sides(result.leading, every_look=stops),
            caveats=(*result.caveats, *_caveats(result.tournament, result.battles)),
            result=result,
        )

    @property
    def sentence(self) -> str:
        """The answer in one sentence, with its interval and whether it is settled."""
        asked = len(self.result.questions) if self.stops else None
        return wording.answer(self.score, len(self.result.leading), asked)

    @property
    def stops(self) -> bool:
        """Whether the two met on a few questions at a time until it was settled, with intervals for every look."""
        return isinstance(self.result.tournament.schedule, Adaptive)

    @property
    def lines(self) -> tuple[str, ...]:
        """What belongs to the answer, one line each: domains, questions, battles, sides, judges, dice, caveats."""
        sat = _sat(self.result.battles)
        judges = [judge.name for judge in self.result.tournament.judging_models if judge.name in sat or not sat]
        return (
            *wording.by_domain(self.domains),
            *wording.by_question(self.questions, self.a),
            wording.outcomes(self.result.counted(), self.score),
            *wording.of_sides(self.sides),
            *wording.looks(self.stops),
            wording.scope(judges),
            dice(self.result.shared()),
            *(f"note: {caveat}" for caveat in self.caveats),
        )

    def document(self) -> dict[str, Any]:
        """Return the comparison as plain data, the same in every execution but for the run, the calls and the cost."""
        document = self.result.document()
        return {
            "a": self.a,
            "b": self.b,
            **_figures(self.score),
            "more_questions": self.score.more_questions,
            "until_settled": self.stops,
            "sentence": self.sentence,
            "battles": {
                **self.result.counted(),
                "won": self.score.wins,
                "lost": self.score.losses,
                "tied": self.score.ties,
            },
            "domains": [
                {
                    "domain": name,
                    "questions": score.questions,
                    "won": score.wins,
                    "lost": score.losses,
                    "tied": score.ties,
                    **_figures(score),
                }
                for name, score in self.domains
            ],
            "questions": [
                {"id": asked.id, "domain": asked.domain, "score": rounded(asked.share)} for asked in self.questions
            ],
            "sides": {"battles": self.sides.battles, **_figures(self.sides)},
            **{key: document[key] for key in ("sharing", "calls", "cost")},
            "caveats": list(self.caveats),
            "run": self.result.run,
        }

    def __repr__(self) -> str:
        return "\n".join((self.sentence, *self.lines))


def _grouped(battles: Iterable[Battle]) -> tuple[defaultdict[str, list[Battle]], ...]:
    """Return the battles by question and by domain; none where there are none."""
    by_question: defaultdict[str, list[Battle]] = defaultdict(list)
    by_domain: defaultdict[str, list[Battle]] = defaultdict(list)
    for battle in battles:
        by_question[battle.question].append(battle)
        by_domain[battle.domain].append(battle)
    return by_question, by_domain


def _score(battles: Iterable[Battle], a: str, b: str, level: float = LEVEL, *, every_look: bool = False) -> Score:
    return score_of(RatingInput.from_battles(battles, models=(a, b)), a, b, level=level, every_look=every_look)


def _sides(battles: Sequence[Battle], *, every_look: bool) -> Score:
    rows = [
        (FIRST, SECOND, SCORES[battle.decision.verdict], battle.weight, battle.question)
        for battle in battles
        if battle.decision.status == "decided" and battle.decision.verdict is not None
    ]
    table = RatingInput.from_rows(rows, models=(FIRST, SECOND))
    return score_of(table, FIRST, SECOND, level=LEVEL, every_look=every_look)


def _caveats(tournament: Tournament, battles: Sequence[Battle]) -> Iterator[str]:
    """Yield what a comparison must say of its panel and its battles beside what every run says."""
    x, y = tournament.models
    if x == y.model_copy(update={"name": x.name}):
        yield f"{x.name} and {y.name} are one model with the same settings: they differ in dice and sides alone"
    sat = _sat(battles)
    for judge in tournament.judging_models:
        kin = [model for model in tournament.models if family_of(model) == family_of(judge)]
        family = f"of the family of {_named(kin)}" if kin else "by the author of a debater"
        if kin and judge.name in sat:
            yield f"{judge.name} judged although it is {family}: recuse is {tournament.committee.recuse}"
        elif sat and judge.name not in sat:
            yield f"{judge.name} judged nothing, because it is {family}: recuse is {tournament.committee.recuse}"
    void = sum(battle.decision.status == "void" for battle in battles)
    if void > _MANY_VOID * len(battles):
        yield f"void are {void} of {len(battles)} battles: the answer is about those that could be decided"


def _sat(battles: Iterable[Battle]) -> set[str]:
    """Return the judges that were asked."""
    return {opinion.judge for battle in battles for opinion in battle.opinions}


def _named(models: Iterable[Model]) -> str:
    return " and ".join(model.name for model in models)


def _figures(score: Score) -> dict[str, Any]:
    return {
        "score": rounded(score.share),
        "low": rounded(score.low),
        "high": rounded(score.high),
        "settled": score.settled,
    }
