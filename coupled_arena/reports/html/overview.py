"""Everything of a run but its battles, as a page draws it."""

from typing import Any

from coupled_arena.records import Battle
from coupled_arena.reports.html.committee import committee
from coupled_arena.reports.html.document import Asked, Dice, Overview, Place
from coupled_arena.reports.html.field import cards, domains, meetings
from coupled_arena.reports.html.reproduction import steps, toml_of
from coupled_arena.tournaments.columns import FRAMES
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.documents import rounded
from coupled_arena.tournaments.reader import RunReader
from coupled_arena.tournaments.result import Result

VOID_WARNING = 0.1
"""Share of void battles from which on a page warns of them."""


def overview(result: Result) -> Overview:
    """Return what a page shows of a run, as far as it was played.

    Raises:
        StoreError: the store cannot be read.
    """
    with result.source() as run:
        history, manifest, finished = _history(run), _manifest(run, result.tournament), run.status == "finished"
    ranked = [row.model for row in result.rows]
    judged = committee(result.tournament, result.leading)
    return Overview(
        title=result.tournament.name,
        result=result.document(),
        finished=finished,
        top=result.ratings.top_set(),
        ties=result.ratings.ties,
        components=result.ratings.components,
        models=cards(result, ranked),
        history=history,
        meetings=meetings(result, ranked),
        domains=domains(result, ranked),
        questions=_questions(result),
        committee=judged,
        dice=_dice(result),
        caveats=_caveats(result, judged.covered, judged.overlap),
        manifest=manifest,
    )


def _history(run: RunReader) -> tuple[Place, ...]:
    names = [column.name for column in FRAMES["ratings"]]
    rows = (dict(zip(names, row, strict=True)) for row in run.rows("ratings"))
    return tuple(
        Place(
            round=row["round"],
            model=row["model"],
            rating=rounded(row["rating"]),
            low=rounded(row["low"]),
            high=rounded(row["high"]),
        )
        for row in rows
    )


def _manifest(run: RunReader, tournament: Tournament) -> dict[str, Any]:
    definition = run.definition
    toml = toml_of(tournament, definition)
    again = {"toml": toml, "steps": list(steps(tournament, written=toml is not None))}
    return {"run": run.id, **run.manifest, "definition": definition, **again}


def _questions(result: Result) -> tuple[Asked, ...]:
    fared = {found.question: found for found in result.question_standings}
    found = []
    for question in result.questions:
        standing = fared.get(question.id)
        found.append(
            Asked(
                question=question.id,
                domain=question.domain,
                author=question.author,
                difficulty=question.difficulty,
                text=question.text,
                reference=question.reference,
                battles=0 if standing is None else standing.battles,
                hardness=None if standing is None else rounded(standing.hardness),
                contested=None if standing is None else rounded(standing.contested),
                changed=None if standing is None else rounded(standing.changed),
            )
        )
    return tuple(found)


def _dice(result: Result) -> Dice:
    shared = [found for battle in result.leading if (found := openings(battle)) is not None]
    return Dice(
        coupling=result.tournament.arms[0],
        sharing=result.shared(),
        openings=len(shared),
        identical=sum(first == second for first, second in shared),
        prefix=rounded(sum(common_prefix(*pair) for pair in shared) / len(shared)) if shared else None,
        lines=tuple(pair.line for pair in result.neighbours if pair.saved is not None),
    )


def openings(battle: Battle) -> tuple[str, str] | None:
    """Return what the two sides said first, thoughts included; None unless they shared dice and both spoke."""
    if battle.sharing != "shared":
        return None
    said = {
        turn.speaker: "\n".join(section.text for section in turn.sections)
        for turn in reversed(battle.turns)
        if turn.speaker in ("A", "B")
    }
    return (said["A"], said["B"]) if len(said) == 2 and all(said.values()) else None


def common_prefix(first: str, second: str) -> float:
    """Return which share of the shorter of two texts is the other's beginning, in whole words.

    >>> common_prefix("ice floats on water", "ice floats in gin"), common_prefix("ice", "water")
    (0.5, 0.0)
    """
    one, other = first.split(), second.split()
    same = next((at for at, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))
    return same / min(len(one), len(other)) if one and other else 0.0


def _caveats(result: Result, covered: float | None, overlap: tuple[str, ...]) -> tuple[str, ...]:
    counted, ratings = result.counted(), result.ratings
    found = [*result.caveats, *ratings.notes, *overlap]
    if len(result.battles) and counted["void"] / len(result.battles) >= VOID_WARNING:
        found.append(f"{counted['void']} of {len(result.battles)} battles are void, which selects those that are not")
    if covered is not None and covered < 1:
        found.append(f"{100 * (1 - covered):.1f} % of the judges' seats held no verdict in the end")
    if result.spent.usd and (unpriced := sorted(result.counts.unpriced)):
        found.append(f"costs are at least so high: no price is known of {', '.join(unpriced)}")
    return tuple(dict.fromkeys(found))
