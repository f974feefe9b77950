"""The rules of a tournament: who judges and how a committee decides, and how a battle is fought."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from coupled_arena.models.model import Model
from coupled_arena.protocols.committee import HIDDEN_FROM_JUDGES
from coupled_arena.protocols.script import SCRIPTS, Script
from coupled_arena.protocols.voting import Vote, VoteRule, vote_at
from coupled_arena.records import Given, Name, OnFlip, Opinion, Order
from coupled_arena.tournaments.given import MOST_JUDGES, as_panel, as_script


class CommitteeRules(Given):
    """Who judges, and how a committee comes to a decision."""

    recuse: Literal["family", "author", "none"] = "family"
    """Who may not judge a battle: the debaters' families, only the same weights and settings, or nobody."""
    discussion_rounds: int = Field(default=1, ge=0, le=3)
    """How many rounds of discussion follow the lone opinions."""
    min_judges: int | None = Field(default=None, ge=1, le=MOST_JUDGES)
    """Fewest judges of a battle; None is 3 for a number of judges and 1 for a listed panel, in every domain."""
    vote: VoteRule = "plurality"
    """`plurality`: equal top counts are a tie; `majority`: half of the valid votes or fewer are a tie."""
    quorum: float = Field(default=0.5, ge=0, lt=1)
    """A decision needs more than this share of the seats to hold a valid verdict."""
    orders: Literal["one", "both"] = "one"
    """Whether each judge sees a battle once, or also with the debaters' labels exchanged."""
    on_flip: OnFlip = "tie"
    """What two different verdicts of one judge count as where it saw both orders."""
    judges_see_thoughts: bool = False
    """Whether judges are shown `think`."""
    references: bool = True
    """Whether math, reasoning and coding questions get a reference answer, where a model may write it."""
    judges_by_domain: dict[Name, Annotated[tuple[Model, ...], BeforeValidator(as_panel)]] = {}
    """Panels that take the place of `judges` in single domains: a list of models for each."""
    reason_tokens: int | None = Field(default=None, ge=1, le=1_000_000)
    """Most tokens of a judge's reasons; None is the prompt set's limit."""

    @property
    def hidden(self) -> tuple[str, ...]:
        """The actions that judges are not shown."""
        return () if self.judges_see_thoughts else HIDDEN_FROM_JUDGES

    @property
    def presented(self) -> tuple[Order, ...]:
        """The presentation orders."""
        return ("AB", "BA") if self.orders == "both" else ("AB",)

    def votes(self, opinions: Sequence[Opinion], judges: Sequence[str]) -> tuple[Vote, ...]:
        """Return how the committee's vote stood at every stage; the last one is the decision."""
        return tuple(
            vote_at(stage, opinions, judges, self.presented, rule=self.vote, quorum=self.quorum, on_flip=self.on_flip)
            for stage in range(self.discussion_rounds + 1)
        )


class BattleRules(Given):
    """How a battle is fought."""

    script: Annotated[Script, BeforeValidator(as_script)] = SCRIPTS["peer-battle"]
    """`peer-battle`, `single`, or steps of your own."""
    sides: Literal["balanced", "both"] = "balanced"
    """Each model speaks first on half of the questions, or on all of them, once each."""
    replicates: int = Field(default=1, ge=1, le=1_000)
    """How many independent draws of the dice a question is battled over in one match."""
    forfeit: Literal["loss", "void"] = "loss"
    """What a debater that gives no answer gets."""
    reveal_criticism: bool = True
    """Whether `criticize` is shown to the opponent."""
    section_tokens: int | None = Field(default=None, ge=10, le=1_000_000)
    """Most tokens of one section, beside the word budget."""
