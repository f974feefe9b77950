"""What a study of judges must know of a battle beside the opinions: lengths, families, names said, and the truth."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from coupled_arena.models.families import family_of
from coupled_arena.models.model import Model
from coupled_arena.models.simulated.dials import read_dials
from coupled_arena.models.simulated.world import ClaimBook
from coupled_arena.protocols.committee import HIDDEN_FROM_JUDGES
from coupled_arena.records import VERDICTS, Battle, Question, Side, Verdict
from coupled_arena.tournaments.definition import Tournament

SIDES: tuple[Side, Side] = ("A", "B")

_OF_OPINION = ("judge", "stage", "order", "verdict", "status", "carried", "reasons", "repairs", "sharing", "detail")


class _BattleFacts(NamedTuple):
    """What is known of one battle."""

    columns: dict[str, Any]
    """The columns of the frame `opinions` that it fills."""
    text_a: str
    """What the judges were shown of side A, without tags."""
    text_b: str
    """The same of side B."""


@dataclass(frozen=True)
class JudgedFacts:
    """What the definition of a run says of its judges and debaters."""

    run: str
    """Id of the run."""
    tournament: Tournament | None
    """The definition; None of a run that has none, of which only lengths are known."""
    openings: bool
    """Whether the judges were shown the openings only."""
    questions: Mapping[str, Question]
    """The questions, by id."""

    @classmethod
    def of(
        cls, run: str, definition: Mapping[str, Any], manifest: Mapping[str, Any], questions: Iterable[Question]
    ) -> "JudgedFacts":
        """Return the facts of a stored run, from its definition and manifest as plain data."""
        tournament = Tournament.stored(definition) if "models" in definition else None
        openings = manifest.get("base", {}).get("judged") == "openings"
        return cls(run, tournament, openings, {question.id: question for question in questions})

    @cached_property
    def models(self) -> dict[str, Model]:
        """Every debater and judge, by name."""
        found = self.tournament
        return {} if found is None else {model.name: model for model in (*found.judging_models, *found.models)}

    @cached_property
    def families(self) -> dict[str, str]:
        """The family of every model, by name."""
        return {name: family_of(model) for name, model in self.models.items()}

    @cached_property
    def names(self) -> dict[str, re.Pattern[str]]:
        """How a text names every model: a simulated one by its brand, any other by its family or name."""
        found = {}
        for name, model in self.models.items():
            words = [read_dials(model.model).brand] if model.kind == "sim" else [self.families[name], name]
            shown = sorted({re.escape(word.rpartition("/")[2]) for word in words if word})
            if shown:
                found[name] = re.compile(rf"(?<!\w)(?:{'|'.join(shown)})(?!\w)", re.IGNORECASE)
        return found

    def opinions(self, battle: Battle) -> Iterator[dict[str, Any]]:
        """Yield every opinion on a battle as a row of the frame `opinions`."""
        facts = self._facts(battle)
        about = {name: getattr(battle, name) for name in ("round", "question", "domain", "replicate", "arm", "a", "b")}
        named = {judge: self._named(judge, facts) for judge in {opinion.judge for opinion in battle.opinions}}
        for opinion in battle.opinions:
            chances = {f"probability_{name.lower()}": opinion.probabilities.get(name) for name in VERDICTS}
            yield {
                "run": self.run,
                "battle": battle.id,
                **about,
                **facts.columns,
                **chances,
                **{name: getattr(opinion, name) for name in _OF_OPINION},
                "prompt_tokens": opinion.usage.prompt_tokens,
                "completion_tokens": opinion.usage.completion_tokens,
                "family": self.families.get(opinion.judge),
                "named": named[opinion.judge],
            }

    def _facts(self, battle: Battle) -> _BattleFacts:
        """Return what is known of a battle from its transcript."""
        said = {side: [turn for turn in battle.turns if turn.speaker == side] for side in SIDES}
        hidden: tuple[str, ...] = HIDDEN_FROM_JUDGES
        if self.tournament is not None:
            hidden, first = self.tournament.committee.hidden, self.tournament.battle.script.openings
            if self.openings:
                said = {side: [turn for turn in own if turn.step in first] for side, own in said.items()}
        shown = [[s.text for turn in said[side] for s in turn.sections if s.tag not in hidden] for side in SIDES]
        length_a, length_b = (sum(map(len, texts)) for texts in shown)
        columns = {
            "family_a": self.families.get(battle.a),
            "family_b": self.families.get(battle.b),
            "length_a": length_a,
            "length_b": length_b,
            "truth": self._truth(battle),
        }
        first_text, second_text = ("\n".join(texts) for texts in shown)
        return _BattleFacts(columns, first_text, second_text)

    def _named(self, judge: str, battle: _BattleFacts) -> Side | None:
        """Return the side whose text names a judge; None where neither or both do."""
        pattern = self.names.get(judge)
        if pattern is None:
            return None
        found: list[Side] = [
            side for side, text in zip(SIDES, (battle.text_a, battle.text_b), strict=True) if pattern.search(text)
        ]
        return found[0] if len(found) == 1 else None

    def _truth(self, battle: Battle) -> Verdict | None:
        """Return what a perfect judge says of a battle; None unless both debaters live in one simulated world."""
        found, models = self.tournament, [self.models.get(name) for name in (battle.a, battle.b)]
        question = self.questions.get(battle.question)
        if found is None or question is None or any(m is None or m.kind != "sim" for m in models):
            return None
        worlds = {read_dials(found.model_of(model).model).world for model in models if model is not None}
        return ClaimBook(worlds.pop()).truth_of(question.text, battle.turns) if len(worlds) == 1 else None
