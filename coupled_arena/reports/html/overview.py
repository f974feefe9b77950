"""Everything of a run but its battles, as a page draws it."""

from typing import Any

from coupled_arena.ratings import Ratings
from coupled_arena.records import Battle
from coupled_arena.reports.html.committee import committee
from coupled_arena.reports.html.document import Asked, Committee, Dice, Overview, Place
from coupled_arena.reports.html.field import cards, domains, meetings, unpriced
from coupled_arena.reports.html.reproduction import steps, toml_of
from coupled_arena.reports.html.study import study_of
from coupled_arena.studies.judging.gathering import Gathered
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.results.documents import rounded
from coupled_arena.tournaments.results.result import Result
from coupled_arena.tournaments.storage.columns import FRAMES
from coupled_arena.tournaments.storage.reader import RunReader

VOID_WARNING = 0.1
"""Share of void battles from which on a page warns of them."""


def overview(result: Result, gathered: Gathered | None = None) -> Overview:
    """Return what a page shows of a run, as far as it was played.

    Args:
        result: what it comes to.
        gathered: the opinions of all its battles; by default they are read from the store.

    Raises:
        StoreError: the store cannot be read.
    """
    with result.source() as run:
        history, manifest, finished = _history(run), _manifest(run, result.tournament), run.status == "finished"
    ranked = [row.model for row in result.rows]
    judged, without_price = committee(result.tournament, result.leading), unpriced(result.tournament)
    return Overview(
        title=result.tournament.name,
        result=result.document(),
        finished=finished,
        top=_top(result.ratings),
        ties=result.ratings.ties,
        components=result.ratings.components,
        unpriced=without_price,
        models=cards(result, ranked),
        history=history,
        meetings=meetings(result, ranked),
        domains=domains(result, ranked),
        questions=_questions(result),
        committee=judged,
        study=study_of(result, gathered),
        dice=_dice(result),
        caveats=_caveats(result, judged, without_price),
        manifest=manifest,
    )


def _top(ratings: Ratings) -> tuple[str, ...]:
    """Return the models that may be the best one; none that lost every battle, of which battles say nothing more."""
    counts = dict(zip(ratings.names, ratings.counts, strict=True))
    found = ratings.top_set()
    return tuple(name for name in found if counts[name].losses < counts[name].battles) or found


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


def _caveats(result: Result, judged: Committee, without_price: tuple[str, ...]) -> tuple[str, ...]:
    """Return what must be known, each once."""
    void, battles = result.counted()["void"], len(result.battles)
    found = [*result.caveats, *result.ratings.notes, *judged.overlap]
    if battles and void / battles >= VOID_WARNING:
        found.append(f"{void} of {battles} battles are void, and those that are decided are not drawn at random")
    if judged.covered is not None and judged.covered < 1:
        found.append(f"{100 * (1 - judged.covered):.1f} % of the judges' seats held no verdict in the end")
    if without_price:
        found.append(f"the run cost more than is counted: no price is known of {', '.join(without_price)}")
    return tuple(dict.fromkeys(found))
