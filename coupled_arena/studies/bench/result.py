"""What a bench comes to."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from coupled_arena.models.calls import Counts, Spent
from coupled_arena.shown import Shown
from coupled_arena.studies.bench import wording
from coupled_arena.studies.bench.asking import Answer, Place
from coupled_arena.studies.bench.plan import Plan
from coupled_arena.studies.bench.rows import ModelRow, PairRow
from coupled_arena.tournaments.results.documents import rounded, spending_document

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True, repr=False)
class Bench(Shown):
    """How often models are right, how sure their differences are, and what shared dice saved.

    Shown, it is the two tables with what belongs to them.
    """

    run: str
    """Id of the run."""
    plan: Plan
    """What was asked."""
    replies: Mapping[Place, Answer]
    """What came of it."""
    model_rows: tuple[ModelRow, ...]
    """How every model did at every setting."""
    pair_rows: tuple[PairRow, ...]
    """How every two models did against each other at every setting."""
    counts: Counts
    """Calls of this invocation."""
    spent: Spent
    """What the run has paid for in all its executions."""
    caveats: tuple[str, ...]
    """What a reader of the tables must know."""

    @property
    def models(self) -> "pd.DataFrame":
        """The fields of `ModelRow` as a data frame, a line for every setting and model."""
        return _frame(ModelRow, self.model_rows)

    @property
    def pairs(self) -> "pd.DataFrame":
        """The fields of `PairRow` as a data frame, a line for every setting and pair."""
        return _frame(PairRow, self.pair_rows)

    @property
    def answers(self) -> "pd.DataFrame":
        """Every answer as a data frame, in the order of settings, models, items and repeats.

        Columns: `model`, `temperature`, `top_p`, `item`, `subject`, `repeat`, `gold`, `text`, `outcome`, `score` (NaN
        where it is missing), `sharing`, `detail`.
        """
        import pandas as pd

        plan, columns = self.plan, ("model", "temperature", "top_p", "item", "subject", "repeat", "gold")
        at = {
            (number, place): plan.asked_at(plan.models[place], setting)
            for number, setting in enumerate(plan.settings)
            for place in range(len(plan.models))
        }
        rows = []
        for place, answer in sorted(self.replies.items()):
            item, setting = plan.items[place.item], at[place.setting, place.model]
            named = (plan.models[place.model].name, *setting, item.id, item.subject, place.repeat, item.gold)
            rows.append((*named, answer.text, answer.outcome, answer.score, answer.sharing, answer.detail))
        frame = pd.DataFrame(rows, columns=[*columns, "text", "outcome", "score", "sharing", "detail"])
        return frame.astype({"score": float, "top_p": float})

    @property
    def lines(self) -> tuple[str, ...]:
        """The tables and what belongs to them, line by line."""
        return tuple(wording.shown(self.plan, self.model_rows, self.pair_rows, self.caveats))

    def document(self) -> dict[str, Any]:
        """Return the bench as plain data, the same in every execution but for the run, the calls and the cost."""
        return {
            "run": self.run,
            **{key: value for key, value in self.plan.document().items() if key != "models"},
            "settings": [self.plan.common(self.plan.models, setting)._asdict() for setting in self.plan.settings],
            "models": [_rounded(asdict(row)) for row in self.model_rows],
            "pairs": [_rounded(asdict(row)) for row in self.pair_rows],
            **spending_document(self.counts, self.spent),
            "caveats": list(self.caveats),
        }

    def __repr__(self) -> str:
        return "\n".join(self.lines)


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {key: rounded(value) for key, value in row.items()}


def _frame(kind: type[ModelRow] | type[PairRow], rows: tuple[ModelRow, ...] | tuple[PairRow, ...]) -> "pd.DataFrame":
    import pandas as pd

    columns = list(kind.__dataclass_fields__)
    numbers = [name for name, field in kind.__dataclass_fields__.items() if field.type == float | None]
    return pd.DataFrame([asdict(row) for row in rows], columns=columns).astype(dict.fromkeys(numbers, float))
