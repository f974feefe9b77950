"""How far people agree with the committee, with every judge, and with each other, on the battles of a run."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from coupled_arena.analysis.agreement import Agreement, kappa, percent_agreement
from coupled_arena.protocols.voting import ballot, count, exchanged
from coupled_arena.records import VERDICTS, Battle, Verdict
from coupled_arena.tournaments.results.documents import rounded
from coupled_arena.tournaments.rules import CommitteeRules
from coupled_arena.tournaments.shown import shown_in
from coupled_arena.tournaments.storage.human_votes import HumanVote, HumanVotes
from coupled_arena.tournaments.storage.reader import RunReader
from coupled_arena.tournaments.stored import definition_of

COMMITTEE = "committee"
"""What the committee is called among the raters."""

Labels = list[Verdict | None]


@dataclass(frozen=True, slots=True)
class WithPeople:
    """How far one rater agrees with the people who voted."""

    rater: str
    """A judge, `committee`, or an annotator."""
    other: str
    """`people`, or another annotator."""
    stage: int | None
    """0 before discussion, else the last stage; None between annotators."""
    kappa: Agreement
    """Cohen's kappa over A, B and tie, clustered by question."""
    same: Agreement
    """Share of battles with the same verdict, ties included."""
    same_winner: Agreement
    """Share of the same winner where both named one."""

    def document(self) -> dict[str, Any]:
        """Return it as plain data."""
        names = {"rater": self.rater, "other": self.other, "stage": self.stage}
        measures = {name: _measure(getattr(self, name)) for name in ("kappa", "same", "same_winner")}
        return {**names, **measures}


@dataclass(frozen=True, slots=True)
class HumanAgreement:
    """How far people agree with those who judged the battles of a run."""

    run: str
    """Id of the run."""
    battles: int
    """Battles that were judged."""
    voted: int
    """Battles that somebody voted on."""
    annotators: Mapping[str, int]
    """By annotator, the battles they voted on."""
    passed: int
    """Votes that were passed over."""
    shown_first: Agreement
    """Share of the side shown first among votes for a side: one half, but for what order does to people."""
    committee: tuple[WithPeople, ...]
    """The committee, before and after discussion."""
    judges: tuple[WithPeople, ...]
    """Every judge, by name, before and after discussion."""
    between: tuple[WithPeople, ...]
    """Every two annotators, by name."""

    def document(self) -> dict[str, Any]:
        """Return it as plain data."""
        counts = {name: getattr(self, name) for name in ("run", "battles", "voted", "passed")}
        parts = {name: [line.document() for line in getattr(self, name)] for name in ("committee", "judges", "between")}
        return {
            **counts,
            "annotators": dict(self.annotators),
            "shown_first": _measure(self.shown_first),
            **parts,
        }


def human_agreement(run: RunReader, votes: HumanVotes) -> HumanAgreement:
    """Return how far the people who voted on a run's battles agree with who judged them.

    The people's verdict on a battle is the plurality of its votes, equal top counts being a tie, as the committee's. A
    judge that was asked in both orders has the vote it had in the committee.

    Args:
        run: the run.
        votes: those of its store; they count for this run where it holds the text they are about.

    Raises:
        RunNotFound: the run is no tournament but a bench.
        StoreError: the store cannot be read.

    Example:
        >>> import coupled_arena as ca
        >>> from coupled_arena.studies.annotation.desk import Desk
        >>> with ca.Store(":memory:") as store:
        ...     result = ca.Tournament(models=["sim/a", "sim/b"], judges=["sim/j"], domains=["math"]).run(store)
        ...     desk = Desk(store, annotator="me")
        ...     while slip := desk.next():
        ...         desk.vote(slip.shown, "tie")
        ...     human_agreement(store.run(), store.human_votes).annotators
        {'me': 5}
    """
    rules, found = definition_of(run).committee, _Voted.on(run, votes)
    last = max((opinion.stage for battle in found.battles for opinion in battle.opinions), default=0)
    stages = (0, last) if last else (0,)
    judges = sorted({opinion.judge for battle in found.battles for opinion in battle.opinions})
    people, of = found.plurality(), {name: found.of(name) for name in found.annotators()}
    return HumanAgreement(
        run=run.id,
        battles=found.judged,
        voted=sum(label is not None for label in people),
        annotators={name: sum(label is not None for label in labels) for name, labels in of.items()},
        passed=sum(vote.verdict is None for own in found.cast for vote in own),
        shown_first=_shown_first(found.cast, found.questions()),
        committee=tuple(
            found.line(COMMITTEE, "people", stage, [_stage_of(battle, stage, last) for battle in found.battles], people)
            for stage in stages
        ),
        judges=tuple(
            found.line(judge, "people", stage, found.judge_at(judge, stage, rules), people)
            for judge in judges
            for stage in stages
        ),
        between=tuple(found.line(a, b, None, of[a], of[b]) for a, b in combinations(of, 2)),
    )


@dataclass(frozen=True, slots=True)
class _Voted:
    """The battles of a run that people voted on, and what everyone said of each."""

    judged: int
    """Battles of the run that were judged, with or without a vote."""
    battles: list[Battle]
    """Those that somebody voted on, without their turns."""
    cast: list[list[HumanVote]]
    """The votes on each."""

    @classmethod
    def on(cls, run: RunReader, votes: HumanVotes) -> "_Voted":
        """Return the battles of a run whose texts were voted on."""
        by_text, judged = votes.by_text(), 0
        battles: list[Battle] = []
        cast: list[list[HumanVote]] = []
        for shown, battle in shown_in(run):
            judged += 1
            if shown in by_text:
                cast.append(by_text[shown])
                battles.append(battle.model_copy(update={"turns": ()}))
        return cls(judged, battles, cast)

    def questions(self) -> list[str]:
        """Return the question of each battle."""
        return [battle.question for battle in self.battles]

    def annotators(self) -> list[str]:
        """Return who voted, by name."""
        return sorted({vote.annotator for own in self.cast for vote in own})

    def of(self, annotator: str) -> Labels:
        """Return what an annotator says of each battle."""
        return [next((vote.verdict for vote in own if vote.annotator == annotator), None) for own in self.cast]

    def plurality(self) -> Labels:
        """Return what the people say of each battle."""
        return [count([vote.verdict for vote in own if vote.verdict]).verdict for own in self.cast]

    def judge_at(self, judge: str, stage: int, rules: CommitteeRules) -> Labels:
        """Return what a judge says of each battle at a stage."""
        own = ([o for o in battle.opinions if o.judge == judge and o.stage == stage] for battle in self.battles)
        return [ballot(opinions, rules.presented, rules.on_flip) for opinions in own]

    def line(self, rater: str, other: str, stage: int | None, labels: Labels, others: Labels) -> WithPeople:
        """Return how far two agree on the battles."""
        questions = self.questions()
        return WithPeople(
            rater,
            other,
            stage,
            kappa(labels, others, categories=VERDICTS, cluster=questions),
            percent_agreement(labels, others, categories=VERDICTS, cluster=questions),
            percent_agreement(labels, others, categories=VERDICTS, cluster=questions, without=("tie",)),
        )


def _stage_of(battle: Battle, stage: int, last: int) -> Verdict | None:
    """Return what the committee's decision was, or would have been before discussion."""
    if stage == last:
        return battle.decision.verdict
    return battle.decision.stages[stage] if stage < len(battle.decision.stages) else None


def _shown_first(cast: Sequence[Sequence[HumanVote]], questions: Sequence[str]) -> Agreement:
    said: list[Hashable] = []
    cluster: list[Hashable] = []
    for votes, question in zip(cast, questions, strict=True):
        for vote in votes:
            said.append(vote.verdict if vote.order == "AB" else exchanged(vote.verdict))
            cluster.append(question)
    return percent_agreement(said, ["A"] * len(said), categories=VERDICTS, cluster=cluster, without=("tie",))


def _measure(found: Agreement) -> dict[str, Any]:
    numbers = {name: rounded(getattr(found, name)) for name in ("value", "low", "high")}
    return {**numbers, "items": found.items, "reason": found.reason}


def table_rows(found: HumanAgreement) -> list[tuple[str, ...]]:
    """Return the agreement as rows of text: rater, with whom, when, battles, kappa, same verdict, same winner.

    >>> from coupled_arena.analysis.agreement import kappa, percent_agreement
    >>> same = percent_agreement(["A"], ["A"])
    >>> line = WithPeople("committee", "people", 0, kappa(["A"], ["A"]), same, same)
    >>> table_rows(HumanAgreement("r", 1, 1, {"me": 1}, 0, same, (line,), (), ()))
    [('committee', 'people', 'alone', '1', '-', '100 %', '100 %')]
    """
    return [
        (
            line.rater,
            line.other,
            "" if line.stage is None else "after discussion" if line.stage else "alone",
            str(line.same.items),
            _shown(line.kappa, "{:.2f}"),
            _shown(line.same, "{:.0%}"),
            _shown(line.same_winner, "{:.0%}"),
        )
        for line in (*found.committee, *found.judges, *found.between)
    ]


def _shown(found: Agreement, how: str) -> str:
    """Return a measure with its interval."""
    if found.value is None:
        return "-"
    text = how.format(found.value)
    if found.low is not None and found.high is not None:
        text += f" [{how.format(found.low)}, {how.format(found.high)}]"
    return text.replace("%", " %")
