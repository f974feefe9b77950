"""The shape of what a page draws: one overview, a line for every battle, and every battle as it was stored.

A page asks for three things: the `Overview`, the `Lines` of all battles, and single battles (`battle_document`). The
report carries them packed; the viewer answers them over HTTP.
"""

from collections.abc import Sequence
from typing import Any

from coupled_arena.records import VERDICTS, Battle, DecisionStatus, Record, Verdict

FORMAT = 1
"""Version of the shape."""

LINE_COLUMNS = (
    "battle", "round", "question", "domain", "replicate", "arm", "a", "b", "sharing", "status", "verdict", "votes",
    "changed", "split", "judges", "cut", "missing",
)  # fmt: skip
"""What is known of a battle before it is opened, in order (see `line`)."""


class Card(Record):
    """One model."""

    name: str
    """Its name."""
    model: str
    """Its model string."""
    family: str
    """Its family."""
    x: float
    """Where it stands in the match graph, from left to right, in [0, 1]."""
    y: float
    """Where it stands, from top to bottom, in [0, 1]."""
    tokens: float | None
    """Tokens it wrote in a battle, on average; None without a turn."""
    usd: float | None
    """US dollars that its turns in a battle would cost at list price, on average; None where there is no price."""


class Place(Record):
    """A model's rating after a round."""

    round: int
    """The round, from 1."""
    model: str
    """The model."""
    rating: float | None
    """Its rating; None without one."""
    low: float | None
    """Lower end of the interval; None where there is none."""
    high: float | None
    """Upper end of the interval; None where there is none."""


class Meeting(Record):
    """How a model did against another."""

    a: str
    """The model whose score it is."""
    b: str
    """The other one."""
    wins: int
    """Battles that a won."""
    losses: int
    """Battles that a lost."""
    ties: int
    """Battles tied."""
    questions: int
    """Questions with a rated battle."""
    share: float | None
    """Mean score of a, a tie being half a win, in [0, 1]; None without a rated battle."""
    low: float | None
    """Lower end of its 95 % interval; None with fewer than three questions."""
    high: float | None
    """Upper end; None as `low`."""


class DomainRating(Record):
    """How a model did in a domain."""

    model: str
    """The model."""
    battles: int
    """Its rated battles there."""
    rating: float | None
    """Its rating from these battles alone; None where there are too few."""
    low: float | None
    """Lower end of the 95 % interval; None where there is none."""
    high: float | None
    """Upper end; None where there is none."""


class Domain(Record):
    """One domain."""

    domain: str
    """Its name."""
    questions: int
    """Questions asked."""
    battles: int
    """Rated battles."""
    shown: bool
    """Whether there are enough battles to rate models by them."""
    models: tuple[DomainRating, ...]
    """Every model, in the order of the leaderboard."""


class Asked(Record):
    """One question and how it fared."""

    question: str
    """Its id."""
    domain: str
    """Its domain."""
    author: str
    """Who wrote it."""
    difficulty: str | None
    """How hard it was meant to be; None where nobody said."""
    text: str
    """The question."""
    reference: str | None
    """The reference answer, if there is one."""
    battles: int
    """Battles over it that say something of its hardness."""
    hardness: float | None
    """See `analysis.questions`; None without a battle."""
    contested: float | None
    """Chance that two judges disagreed before they discussed; None where no two judged."""
    changed: float | None
    """Share of judges that changed their mind; None without discussion."""


class Judge(Record):
    """How one judge voted."""

    judge: str
    """Its name."""
    opinions: int
    """Opinions at the last stage."""
    a: int
    """Verdicts for the side that spoke first."""
    b: int
    """Verdicts for the other side."""
    ties: int
    """Verdicts `tie`."""
    share_a: float | None
    """Share of A among verdicts for a side; None without one."""
    changed: float | None
    """Share of battles in which its last verdict is not its first; None without discussion."""
    with_majority: float | None
    """Share of its last verdicts that are the committee's; None without one."""
    flips: float | None
    """Share of battles in which it judged otherwise when the sides were exchanged; None unless asked in both orders."""
    without: dict[str, int]
    """Replies without a verdict, at any stage, by what became of them."""


class Agreed(Record):
    """How far two judges, or the whole committee, agree beyond chance."""

    a: str
    """A judge; empty for the whole committee."""
    b: str
    """Another judge; empty for the whole committee."""
    stage: int
    """0 is before they discussed, else the last stage."""
    value: float | None
    """Cohen's kappa of two, Krippendorff's alpha of all; None where undefined."""
    low: float | None
    """Lower end of the 95 % interval by question; None where there is none."""
    high: float | None
    """Upper end; None where there is none."""
    items: int
    """Battles they both judged, or that two at least judged."""
    reason: str
    """Why there is no value or no interval; empty otherwise."""


class Committee(Record):
    """How the judges behaved."""

    judges: tuple[Judge, ...]
    """Every judge, by name."""
    agreement: tuple[Agreed, ...]
    """The committee's agreement before and after discussion, then every two judges'."""
    overlap: tuple[str, ...]
    """Which judges also play, and which are of the family of a model that does, a sentence each."""
    recuse: str
    """Whom the rules keep from judging, in words."""
    covered: float | None
    """Share of seats that held a verdict in the end; None without judges."""


class Measured(Record):
    """An estimate with its interval."""

    name: str
    """The judge it is of, or what it says of the committee."""
    value: float | None
    """The estimate; None where nothing can be said, and `reason` says why."""
    low: float | None
    """Lower end of the 95 % interval by question; None where there is none."""
    high: float | None
    """Upper end; None where there is none."""
    reason: str
    """Why there is no value or no interval; empty otherwise."""


class Measures(Record):
    """One measure of every judge."""

    title: str
    """What it is called."""
    meaning: str
    """One sentence for the reader."""
    judges: tuple[Measured, ...]
    """Every judge, by name."""


class Freed(Record):
    """A model's rating by single opinions, with and without what is known of the judges' biases."""

    model: str
    """The model."""
    raw: float | None
    """Its rating by the opinions before any discussion."""
    corrected: float | None
    """Its rating by the same opinions, freed of the biases that could be estimated."""
    low: float | None
    """Lower end of the 95 % interval of the corrected rating; None where there is none."""
    high: float | None
    """Upper end; None where there is none."""


class Study(Record):
    """What a study of the judges finds."""

    measures: tuple[Measures, ...]
    """What is known of one judge at least."""
    panel: tuple[Measured, ...]
    """What is known of the committee."""
    minority: tuple[tuple[str, str], ...]
    """Battle and judge of every vote that stood against the decision in the end."""
    notes: tuple[str, ...]
    """What the opinions cannot tell, and why."""
    corrected: tuple[Freed, ...]
    """Ratings freed of the judges' biases, best first; empty where none could be estimated."""
    corrected_notes: tuple[str, ...]
    """What must be known of them, or why there are none."""


class Dice(Record):
    """What models shared, and what came of it."""

    coupling: str
    """How the dice of the rated arm were coupled."""
    sharing: dict[str, int]
    """Battles by what their openings shared."""
    openings: int
    """Battles in which openings shared dice and both were spoken."""
    identical: int
    """Of these, those whose openings are the same text."""
    prefix: float | None
    """Share of the shorter opening that is word for word the other's beginning, on average; None without such
    battles."""
    lines: tuple[str, ...]
    """What was saved, a sentence for every two neighbours."""


class Overview(Record):
    """Everything of a run but its battles."""

    format: int = FORMAT
    """Version of the shape."""
    title: str
    """Name of the run."""
    result: dict[str, Any]
    """What `--json` prints (`Result.document`): leaderboard, neighbours, caveats and the rest."""
    finished: bool
    """Whether the run was played to its end."""
    top: tuple[str, ...]
    """Models that may be the best one, at 95 %."""
    ties: str
    """The tie model of the ratings."""
    components: tuple[tuple[str, ...], ...]
    """Groups of models that battles connect."""
    unpriced: tuple[str, ...]
    """Hosted models of which no price is known, so that the run cost more than is counted."""
    models: tuple[Card, ...]
    """Every model, in the order of the leaderboard."""
    history: tuple[Place, ...]
    """Ratings after every round."""
    meetings: tuple[Meeting, ...]
    """Every two models that met, once."""
    domains: tuple[Domain, ...]
    """Every domain, in the order of the questions."""
    questions: tuple[Asked, ...]
    """Every question, in the order of its id."""
    committee: Committee
    """The judges."""
    study: Study | None
    """What sways the judges; None where nobody gave an opinion."""
    dice: Dice
    """The coupling."""
    caveats: tuple[str, ...]
    """Everything a reader must know, a sentence each."""
    manifest: dict[str, Any]
    """How to reproduce the run: its definition, versions, prompts, seed and date."""


class Lines(Record):
    """A line for every battle, in the order of the schedule."""

    columns: tuple[str, ...] = LINE_COLUMNS
    """What the values of a row are."""
    rows: tuple[tuple[Any, ...], ...]
    """The battles."""


def line(battle: Battle) -> tuple[Any, ...]:
    """Return what is known of a battle before it is opened, in the order of `LINE_COLUMNS`.

    `votes` counts A, B and tie at the last stage, `changed` judges whose last verdict is not their first, `split` says
    whether first verdicts differed, `judges` counts seats, `cut` turns cut and `missing` sections that stayed absent.
    """
    status: DecisionStatus = battle.decision.status
    verdict: Verdict | None = battle.decision.verdict
    first, last = verdicts_at(battle, 0), verdicts_at(battle, last_stage(battle))
    given = {found for found in first.values() if found is not None}
    return (
        battle.id,
        battle.round,
        battle.question,
        battle.domain,
        battle.replicate,
        battle.arm,
        battle.a,
        battle.b,
        battle.sharing,
        status,
        verdict,
        [battle.decision.votes.get(name, 0) for name in VERDICTS],
        changes(first, last),
        len(given) > 1,
        len(first),
        sum(turn.cut for turn in battle.turns),
        sum(len(turn.missing) for turn in battle.turns),
    )


def lines(battles: Sequence[Battle]) -> Lines:
    """Return a line for every battle."""
    return Lines(rows=tuple(map(line, battles)))


def battle_document(battle: Battle) -> dict[str, Any]:
    """Return a battle as plain data; what has its usual value is left out (docs/data.md explains the fields)."""
    return battle.model_dump(exclude_defaults=True)


def last_stage(battle: Battle) -> int:
    """Return the last stage at which judges spoke, 0 without opinions."""
    return max((opinion.stage for opinion in battle.opinions), default=0)


def verdicts_at(battle: Battle, stage: int) -> dict[tuple[str, str], Verdict | None]:
    """Return the verdicts of a stage by judge and presentation order."""
    return {(found.judge, found.order): found.verdict for found in battle.opinions if found.stage == stage}


def changes(first: dict[tuple[str, str], Verdict | None], last: dict[tuple[str, str], Verdict | None]) -> int:
    """Return how many judges gave another verdict in the end than at first; who gave none at either time did not."""
    return sum(
        verdict is not None and last.get(key) is not None and last[key] != verdict for key, verdict in first.items()
    )
