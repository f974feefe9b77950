"""How the judges of a run behaved."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

from coupled_arena.analysis.agreement import Agreement, kappa
from coupled_arena.analysis.panel import krippendorff_alpha
from coupled_arena.models.families import family_of
from coupled_arena.records import VERDICTS, Battle, Verdict
from coupled_arena.reports.html.document import Agreed, Committee, Judge, last_stage, verdicts_at
from coupled_arena.reports.summary import JudgeCounts, judge_counts
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.results.documents import rounded

_RECUSED = {
    "family": "nobody judges a battle of a model of its own family",
    "author": "nobody judges a battle of a model with its own weights",
    "none": "nobody judges a battle of its own, but relatives may",
}

Votes = dict[str, dict[str, Verdict | None]]
"""Verdicts by judge and battle, in the order of presentation that was asked first."""


def committee(tournament: Tournament, battles: Sequence[Battle]) -> Committee:
    """Return how the judges of these battles behaved, before and after they discussed."""
    votes = {stage: _votes(battles, last=stage == "last") for stage in ("first", "last")}
    questions = {battle.id: battle.question for battle in battles}
    stages = max(map(last_stage, battles), default=0)
    agreement = [found for stage, name in ((0, "first"), (stages, "last")) if stage or name == "first"
                 for found in _agreement(votes[name], questions, stage)]  # fmt: skip
    seats = [verdict for own in votes["last"].values() for verdict in own.values()]
    return Committee(
        judges=tuple(_judge(counts, votes, battles, stages) for counts in judge_counts(battles)),
        agreement=tuple(agreement),
        overlap=_overlap(tournament),
        recuse=_RECUSED[tournament.committee.recuse],
        covered=rounded(sum(verdict is not None for verdict in seats) / len(seats)) if seats else None,
    )


def _votes(battles: Sequence[Battle], *, last: bool) -> Votes:
    found: Votes = {}
    for battle in battles:
        for (judge, order), verdict in verdicts_at(battle, last_stage(battle) if last else 0).items():
            own = found.setdefault(judge, {})
            if order == "AB" or battle.id not in own:
                own[battle.id] = verdict
    return found


def _agreement(votes: Votes, questions: dict[str, str], stage: int) -> list[Agreed]:
    """Return the agreement of all judges, then of every two."""
    judges = sorted(votes)
    if len(judges) < 2:
        return []
    labels = {judge: [votes[judge].get(battle) for battle in questions] for judge in judges}
    clusters = list(questions.values())
    whole = krippendorff_alpha(list(labels.values()), categories=VERDICTS, cluster=clusters)
    pairs = (
        _agreed(a, b, stage, kappa(labels[a], labels[b], categories=VERDICTS, cluster=clusters))
        for a, b in combinations(judges, 2)
    )
    return [_agreed("", "", stage, whole), *pairs]


def _agreed(a: str, b: str, stage: int, found: Agreement) -> Agreed:
    return Agreed(
        a=a,
        b=b,
        stage=stage,
        value=rounded(found.value),
        low=rounded(found.low),
        high=rounded(found.high),
        items=found.items,
        reason=found.reason,
    )


def _judge(counts: JudgeCounts, votes: dict[str, Votes], battles: Sequence[Battle], stages: int) -> Judge:
    first, last = (votes[name].get(counts.judge, {}) for name in ("first", "last"))
    decided = {battle.id: battle.decision.verdict for battle in battles if battle.decision.status == "decided"}
    both = [(verdict, last[battle]) for battle, verdict in first.items() if verdict and last.get(battle)]
    with_others = [verdict == decided[battle] for battle, verdict in last.items() if verdict and battle in decided]
    turned = [flip for battle in battles if (flip := _flip(battle, counts.judge)) is not None]
    return Judge(
        judge=counts.judge,
        opinions=counts.opinions,
        a=counts.a,
        b=counts.b,
        ties=counts.ties,
        share_a=rounded(counts.share_a),
        changed=_share([before != after for before, after in both]) if stages else None,
        with_majority=_share(with_others),
        flips=_share(turned),
        without=Counter(
            {name: n for name in ("unparsable", "truncated", "refused", "failed") if (n := getattr(counts, name))}
        ),
    )


def _flip(battle: Battle, judge: str) -> bool | None:
    """Return whether a judge judged otherwise when the sides were exchanged; None unless it gave both verdicts."""
    own = {
        order: verdict for (name, order), verdict in verdicts_at(battle, last_stage(battle)).items() if name == judge
    }
    if own.get("AB") is None or own.get("BA") is None:
        return None
    return own["AB"] != own["BA"]


def _share(values: Sequence[bool]) -> float | None:
    return rounded(sum(values) / len(values)) if values else None


def _overlap(tournament: Tournament) -> tuple[str, ...]:
    families: dict[str, set[str]] = {}
    for model in tournament.models:
        families.setdefault(family_of(model), set()).add(model.name)
    judges = tournament.judging_models if tournament.is_panel else ()
    playing = [judge.name for judge in judges if judge.name in {model.name for model in tournament.models}]
    related = [judge.name for judge in judges if families.get(family_of(judge), set()) - {judge.name}]
    told = {"play themselves": playing, "are of the family of another model that plays": related}
    return tuple(f"these judges {what}: {', '.join(names)}" for what, names in told.items() if names)
