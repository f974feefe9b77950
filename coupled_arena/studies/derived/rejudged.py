"""What judging a run anew comes to: which decisions change, and how the ranking shifts."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

from coupled_arena.analysis import Agreement, kappa, percent_agreement
from coupled_arena.errors import RatingError
from coupled_arena.ratings.arms import Arms, compare_arms
from coupled_arena.ratings.shifts import Shift, rank_shifts
from coupled_arena.records import VERDICTS, Battle
from coupled_arena.shown import Shown
from coupled_arena.studies.derived import rejudged_words
from coupled_arena.tournaments.derived import JudgedAnew
from coupled_arena.tournaments.results.documents import rounded, spending_document
from coupled_arena.tournaments.results.leaderboard import PRIOR, Row, leading, rated, row_document, rows_of
from coupled_arena.tournaments.results.result import Result

BEFORE, AFTER = "before", "after"
"""The arms of the comparison."""


class Turned(NamedTuple):
    """How many battles went from one decision to another."""

    before: str
    """The old decision: `A`, `B`, `tie` or `void`."""
    after: str
    """The new one."""
    battles: int
    """How many battles."""


@dataclass(frozen=True, slots=True, repr=False)
class Rejudged(Shown):
    """What another committee makes of the debates of a run.

    Shown, it is the answer in a sentence with what belongs to it.
    """

    base: str
    """Id of the run whose debates were judged, or of another rejudging of them that this one is compared with."""
    before: tuple[Row, ...]
    """The old leaderboard, best first."""
    after: tuple[Row, ...]
    """The new one."""
    shifts: tuple[Shift, ...]
    """How far every model moves, in the order of the new leaderboard."""
    arms: Arms
    """How the differences of every two models change."""
    judged: int
    """How many battles were judged anew."""
    turned: tuple[Turned, ...]
    """Every two different decisions that battles went between, the most frequent first."""
    agreement: Agreement
    """Share of equal decisions among the battles that both committees decided, clustered by question."""
    kappa: Agreement
    """The same beyond chance (Cohen's kappa)."""
    result: Result
    """The new run, with every battle."""

    @classmethod
    def of(cls, result: Result, before: Result | None = None) -> "Rejudged":
        """Return what a run that judges another one comes to, whether it was judged to its end or not.

        Args:
            result: the run.
            before: what it is compared with: another run that judges the same debates; None is the run they are of.

        Raises:
            RatingError: the run was played, not judged anew, or the other one has other debates.
        """
        definition = result.tournament
        if not isinstance(definition, JudgedAnew):
            raise RatingError(f"{result.run} was not judged anew by `rejudge`, so there is nothing to compare it with")
        base = definition.base if before is None else before
        old = {battle.id: battle for battle in leading(definition, base.battles)}
        if any(battle.id not in old for battle in result.leading):
            raise RatingError(f"{base.run} has other debates than {result.run}, so the two cannot be compared")
        pairs = [(old[battle.id], battle) for battle in result.leading]
        judged = [(was, now) for was, now in pairs if was.opinions]
        decisions = [(_decision(was), _decision(now)) for was, now in judged]
        turned = Counter((before, after) for before, after in decisions if before != after)
        labels = [[None if verdict == "void" else verdict for verdict in side] for side in zip(*decisions, strict=True)]
        first, second = labels or ([], [])
        questions = [battle.question for _, battle in judged]
        models = sorted(model.name for model in definition.models)
        battles = [
            battle.model_copy(update={"arm": arm})
            for pair in pairs
            for arm, battle in zip((BEFORE, AFTER), pair, strict=True)
        ]
        played = [battle for battle, _ in pairs]
        return cls(
            base=base.run,
            before=rows_of(rated(definition, played), played),
            after=result.rows,
            shifts=rank_shifts(battles, BEFORE, AFTER, models=models, prior=PRIOR),
            arms=compare_arms(battles, BEFORE, AFTER, models=models, prior=PRIOR),
            judged=len(judged),
            turned=tuple(
                Turned(*pair, count) for pair, count in sorted(turned.items(), key=lambda item: (-item[1], item[0]))
            ),
            agreement=percent_agreement(first, second, categories=VERDICTS, cluster=questions),
            kappa=kappa(first, second, categories=VERDICTS, cluster=questions),
            result=result,
        )

    @property
    def changed(self) -> int:
        """How many decisions changed."""
        return sum(turned.battles for turned in self.turned)

    @property
    def reordered(self) -> bool:
        """Whether the new leaderboard lists the models in another order, settled or not."""
        return [row.model for row in self.before] != [row.model for row in self.after]

    @property
    def differ(self) -> bool:
        """Whether the rankings differ beyond chance: two models change places, and that is resolved."""
        return self.arms.differ

    @property
    def sentence(self) -> str:
        """The answer in one sentence."""
        return rejudged_words.answer(self)

    @property
    def lines(self) -> tuple[str, ...]:
        """What belongs to the answer, one line each: models, decisions, agreement, pairs, caveats."""
        return tuple(rejudged_words.lines(self))

    def document(self) -> dict[str, Any]:
        """Return the comparison as plain data, the same in every execution but for the run, the calls and the cost."""
        document = self.result.document()
        return {
            "base": self.base,
            "run": self.result.run,
            "sentence": self.sentence,
            "judged": self.judged,
            "changed": self.changed,
            "turned": [turned._asdict() for turned in self.turned],
            "agreement": _agreement_document(self.agreement),
            "kappa": _agreement_document(self.kappa),
            "reordered": self.reordered,
            "differ": self.differ,
            "shifts": [_shift_document(shift) for shift in self.shifts],
            "pairs": [
                {
                    "a": change.a,
                    "b": change.b,
                    "before": rounded(change.first),
                    "after": rounded(change.second),
                    "low": rounded(change.low),
                    "high": rounded(change.high),
                    "turned": change.turned,
                    "resolved": change.resolved,
                }
                for change in self.arms.changes
            ],
            "before": [row_document(row) for row in self.before],
            "after": document["leaderboard"],
            "battles": document["battles"],
            **spending_document(self.result.counts, self.result.spent),
            "caveats": document["caveats"],
        }

    def __repr__(self) -> str:
        return "\n".join((self.sentence, *self.lines))


def _decision(battle: Battle) -> str:
    return battle.decision.verdict or "void"


def _agreement_document(found: Agreement) -> dict[str, Any]:
    return {
        "value": rounded(found.value),
        "low": rounded(found.low),
        "high": rounded(found.high),
        "battles": found.items,
        "reason": found.reason,
    }


def _shift_document(shift: Shift) -> dict[str, Any]:
    return {
        "model": shift.model,
        "rank_before": shift.before,
        "rank_after": shift.after,
        "shift": shift.shift,
        "low": shift.low,
        "high": shift.high,
        "rating_before": rounded(shift.rating_before),
        "rating_after": rounded(shift.rating_after),
        "change": rounded(shift.change),
        "change_low": rounded(shift.change_low),
        "change_high": rounded(shift.change_high),
    }
