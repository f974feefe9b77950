"""What a run holds: its records, and data frames of them in a fixed order."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import starmap
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Table, and_, func, literal, select

from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.models.calls import Spent
from coupled_arena.prompts import leak, turn_leak
from coupled_arena.records import Battle, Question
from coupled_arena.tournaments.storage import packing, schema
from coupled_arena.tournaments.storage.columns import FRAMES, ColumnKind, FrameName
from coupled_arena.tournaments.storage.database import decoded
from coupled_arena.tournaments.storage.human_votes import HumanVotes
from coupled_arena.tournaments.storage.judged_facts import JudgedFacts

if TYPE_CHECKING:
    import pandas as pd

AT_ONCE = 100
"""How many whole battles are in memory while a run is gone through."""

MOST_IDS = 8
"""Most battles that are named where one id was meant."""

_DTYPES: Mapping[ColumnKind, str] = {
    "text": "str",
    "integer": "int64",
    "optional integer": "Int64",
    "number": "float64",
    "flag": "bool",
    "json": "str",
}


class RunReader:
    """What a run holds. Order never depends on the order of events: by round and id, then by position."""

    def __init__(self, connection: Connection, where: str, run: str) -> None:
        self.id = run
        """Id of the run."""
        self.where = where
        """The store, as messages name it."""
        self._connection = connection

    def __repr__(self) -> str:
        return f"RunReader({self.id!r})"

    @property
    def definition(self) -> dict[str, Any]:
        """The definition as plain data, secrets masked."""
        return self._json_of("definition")

    @property
    def is_bench(self) -> bool:
        """Whether it is a bench, which has no battles, and no tournament."""
        return "task" in self.definition

    @property
    def manifest(self) -> dict[str, Any]:
        """What `Store.open_run` was given as the run was first played, and `created`, its date (ISO 8601, UTC)."""
        with decoded(self.where):
            created = datetime.fromtimestamp(self._run_column("created"), UTC)
            return {**self._json_of("manifest"), "created": created.isoformat(timespec="seconds")}

    @property
    def caveats(self) -> tuple[str, ...]:
        """What a reader of the leaderboard must know."""
        with decoded(self.where):
            return tuple(json.loads(self._run_column("caveats")))

    @property
    def status(self) -> str:
        """What became of the run, as last written."""
        return str(self._run_column("status"))

    @property
    def spent(self) -> Spent:
        """What the run has paid for: its calls but those whose answer another run paid for."""
        call = schema.calls.c
        tokens = call.prompt_tokens + call.completion_tokens
        with decoded(self.where):
            usd, read, calls = self._connection.execute(
                select(func.total(call.cost), func.coalesce(func.sum(tokens), 0), func.count()).where(
                    call.run == self.id, call.reused_from.is_(None)
                )
            ).one()
        return Spent(usd, read, calls)

    @property
    def name(self) -> str:
        """Name of the definition."""
        return str(self._run_column("name"))

    @property
    def digest(self) -> str:
        """Digest of the definition."""
        return str(self._run_column("digest"))

    def load_questions(self) -> tuple[Question, ...]:
        """Return every question by id, numbers within an id by size."""
        with decoded(self.where):
            return tuple(packing.question_of(row) for row in self._all(schema.questions))

    def battle_ids(self) -> tuple[str, ...]:
        """Return the id of every battle, by round and id, numbers within an id by size."""
        table = schema.battles.c
        with decoded(self.where):
            rows = self._connection.execute(select(table.id, table.round).where(table.run == self.id)).all()
            return tuple(row.id for row in sorted(rows, key=_KEYS["battles"]))

    def load_battles(self, ids: Sequence[str] | None = None) -> tuple[Battle, ...]:
        """Return battles exactly as they were saved, by round and id, numbers within an id by size.

        Args:
            ids: which of them, at most 10,000; None is all.
        """
        turns, opinions = defaultdict(list), defaultdict(list)
        with decoded(self.where):
            for row in self._all(schema.turns, ids):
                turns[row.battle].append(packing.turn_of(row))
            for row in self._all(schema.opinions, ids):
                opinions[row.battle].append(packing.opinion_of(row))
            decisions = {row.battle: packing.decision_of(row) for row in self._all(schema.decisions, ids)}
            return tuple(
                packing.battle_of(row, turns[row.id], opinions[row.id], decisions[row.id])
                for row in self._all(schema.battles, ids)
            )

    def battle(self, name: str) -> tuple[Battle, Question]:
        """Return one battle and its question.

        Args:
            name: its id, or how no other id of the run begins.

        Raises:
            ConfigurationError: no battle, or more than one, has an id that begins so.
            StoreError: it cannot be read, or the store has lost its question.
        """
        ids = self.battle_ids()
        found = [name] if name in ids else [one for one in ids if one.startswith(name)]
        if len(found) != 1:
            what = f"{name!r} begins the ids of {len(found)} battles" if found else f"no battle has the id {name!r}"
            known = ", ".join((found or ids)[:MOST_IDS]) or "none"
            more = f" and {len(found or ids) - MOST_IDS} more" if len(found or ids) > MOST_IDS else ""
            raise ConfigurationError([Problem(f"run {self.id}", "battle", f"{what}; there are {known}{more}")])
        (battle,) = self.load_battles(found)
        with decoded(self.where):
            return battle, {question.id: question for question in self.load_questions()}[battle.question]

    def each_battle(self, ids: Sequence[str] | None = None) -> Iterator[Battle]:
        """Yield what `load_battles` returns, `AT_ONCE` battles in memory at a time and of any number of ids."""
        ids = self.battle_ids() if ids is None else ids
        for start in range(0, len(ids), AT_ONCE):
            yield from self.load_battles(ids[start : start + AT_ONCE])

    def judged_facts(self) -> JudgedFacts:
        """Return what the run says of its judges and debaters."""
        with decoded(self.where):
            return JudgedFacts.of(self.id, self.definition, self._json_of("manifest"), self.load_questions())

    def battles_with(self, text: str) -> tuple[str, ...]:
        """Return the ids of the battles in which a debater or a judge said something, by round and id.

        Args:
            text: what was said, letters A to Z in any case, at most 10,000 characters. One that holds a NUL is found
                in what debaters said only.
        """
        quoted = re.sub(r"([\\%_])", r"\\\1", text)
        as_stored = re.sub(r"([\\%_])", r"\\\1", packing.as_json(text)[1:-1])
        turns, opinions = schema.turns.c, schema.opinions.c
        with decoded(self.where):
            found = set(
                self._connection.execute(
                    select(turns.battle)
                    .where(turns.run == self.id, turns.sections.like(f"%{as_stored}%", escape="\\"))
                    .union(
                        select(opinions.battle).where(
                            # To SQLite a pattern ends at a NUL, and would be found everywhere.
                            literal("\0" not in text),
                            opinions.run == self.id,
                            opinions.reasons.like(f"%{quoted}%", escape="\\"),
                        )
                    )
                ).scalars()
            )
        return tuple(name for name in self.battle_ids() if name in found)

    def rows(self, frame: FrameName) -> list[tuple[Any, ...]]:
        """Return the rows of a data frame as tuples in the order of its columns; `None` where a value is missing."""
        names, source = [column.name for column in FRAMES[frame]], _SOURCES[frame]
        with decoded(self.where):
            return [tuple(values[name] for name in names) for values in source(self)]

    def frame(self, frame: FrameName) -> "pd.DataFrame":
        """Return a data frame; `columns.COLUMNS` says what its columns mean."""
        import pandas as pd

        columns = FRAMES[frame]
        rows = self.rows(frame)
        with decoded(self.where):
            table = pd.DataFrame(rows, columns=[column.name for column in columns])
            return table.astype({column.name: _DTYPES[column.kind] for column in columns})

    def _run_column(self, name: str) -> Any:
        with decoded(self.where):
            return self._connection.execute(select(schema.runs.c[name]).where(schema.runs.c.id == self.id)).scalar_one()

    def _json_of(self, name: str) -> dict[str, Any]:
        with decoded(self.where):
            return dict(json.loads(self._run_column(name)))

    def _all(self, table: Table, ids: Sequence[str] | None = None) -> list[Any]:
        wanted = select(table).where(table.c.run == self.id)
        if ids is not None:
            wanted = wanted.where((table.c.id if table is schema.battles else table.c.battle).in_(ids))
        return sorted(starmap(schema.row_of(table), self._connection.execute(wanted)), key=_KEYS[table.name])

    def _of_battles(self, table: Table) -> list[dict[str, Any]]:
        """Return rows of a table of battle parts with the battle's own columns beside them, by battle."""
        battles = schema.battles
        joined = table.join(battles, and_(table.c.run == battles.c.run, table.c.battle == battles.c.id))
        rows = self._connection.execute(
            select(
                table,
                *(battles.c[name] for name in ("question", "domain", "replicate", "arm", "a", "b")),
                battles.c.round.label("_"),
            )
            .select_from(joined)
            .where(table.c.run == self.id)
        ).mappings()
        return sorted(map(dict, rows), key=lambda row: (row["_"], _natural(row["battle"]), row.get("position", 0)))


def _natural(text: str) -> list[tuple[bool, int, str]]:
    """Return a sort key by which `math-2` comes before `math-10`."""
    return [(not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in re.split(r"(\d+)", text)]


_KEYS: Mapping[str, Callable[[Any], Any]] = {
    "questions": lambda row: (_natural(row.id), row.id),
    "battles": lambda row: (row.round, _natural(row.id), row.id),
    "turns": lambda row: (row.battle, row.position),
    "opinions": lambda row: (row.battle, row.position),
    "decisions": lambda row: row.battle,
    "rejected": lambda row: row.position,
    "ratings": lambda row: (row.round, row.rank is None, row.rank or 0, row.model),
}


def _questions(run: RunReader) -> Iterable[dict[str, Any]]:
    for row in run._all(schema.questions):
        found = leak(row.text, row.language)
        yield {**asdict(row), "question": row.id, "leak": None if found is None else found.language}


def _rejected(run: RunReader) -> Iterable[dict[str, Any]]:
    for row in run._all(schema.rejected):
        yield asdict(row)


def _battles(run: RunReader) -> Iterable[dict[str, Any]]:
    for battle in run.each_battle():
        verdict = battle.decision.verdict
        yield {
            "run": run.id,
            "battle": battle.id,
            **{name: getattr(battle, name) for name in ("round", "question", "domain", "replicate", "arm", "a", "b")},
            "weight": battle.weight,
            "sharing": battle.sharing,
            "status": battle.decision.status,
            "verdict": verdict,
            "winner": battle.model(verdict) if verdict in ("A", "B") else None,
        }


def _turns(run: RunReader) -> Iterable[dict[str, Any]]:
    language = str(run.definition.get("language", ""))
    for row in run._of_battles(schema.turns):
        found = turn_leak(json.loads(row["sections"]), language)
        strayed = None if found is None else found.language
        yield {**row, "cut": bool(row["cut"]), "by_section": bool(row["by_section"]), "leak": strayed}


def _opinions(run: RunReader) -> Iterable[dict[str, Any]]:
    known = run.judged_facts()
    for battle in run.each_battle():
        yield from known.opinions(battle)


def _decisions(run: RunReader) -> Iterable[dict[str, Any]]:
    for row in run._of_battles(schema.decisions):
        votes = json.loads(row["votes"])
        yield {**row, **{f"votes_{verdict.lower()}": votes.get(verdict, 0) for verdict in ("A", "B", "tie")}}


def _calls(run: RunReader) -> Iterable[dict[str, Any]]:
    table = schema.calls
    rows = run._connection.execute(
        # Not by number, which follows the order of events.
        select(table).where(table.c.run == run.id).order_by(table.c.model, table.c.noise, table.c.key)
    ).mappings()
    calls = [dict(row) for row in rows]
    wanted = {digest for call in calls for _, digest, *_ in json.loads(call["messages"])}
    texts = {
        row.digest.hex(): row.content
        for row in run._connection.execute(select(schema.texts))
        if row.digest.hex() in wanted
    }
    for call in calls:
        messages = [[role, texts[digest], *extra] for role, digest, *extra in json.loads(call["messages"])]
        yield {**call, "noise": call["noise"].hex(), "messages": packing.as_json(messages)}


def _ratings(run: RunReader) -> Iterable[dict[str, Any]]:
    for row in run._all(schema.ratings):
        yield asdict(row)


def _human_votes(run: RunReader) -> Iterable[dict[str, Any]]:
    from coupled_arena.tournaments.shown import shown_in

    votes = HumanVotes(run._connection, run.where).by_text()
    for shown, battle in shown_in(run) if votes else ():
        named = {name: getattr(battle, name) for name in ("question", "domain", "a", "b")}
        for vote in votes.get(shown, ()):
            if vote.verdict is not None:
                cast = {name: getattr(vote, name) for name in ("annotator", "order", "verdict", "created")}
                yield {"run": run.id, "battle": battle.id, **named, **cast}


_SOURCES: Mapping[FrameName, Callable[[RunReader], Iterable[dict[str, Any]]]] = {
    "battles": _battles,
    "turns": _turns,
    "opinions": _opinions,
    "decisions": _decisions,
    "questions": _questions,
    "rejected": _rejected,
    "calls": _calls,
    "ratings": _ratings,
    "human_votes": _human_votes,
}
