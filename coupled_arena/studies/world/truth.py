"""What the results of a tournament in a world should come to."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from coupled_arena.analysis.judges import Estimate, Opinions, outcomes
from coupled_arena.analysis.judges.estimate import mean_of
from coupled_arena.coupling import noise_key
from coupled_arena.coupling.keys import Mode
from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.models.simulated.dials import read_dials
from coupled_arena.models.simulated.world import ClaimBook
from coupled_arena.prompts import load_prompts
from coupled_arena.records import Question, Verdict
from coupled_arena.studies.judging.measures import JUDGES, PANEL
from coupled_arena.studies.world.committee import opinions_of
from coupled_arena.studies.world.debates import Answering, Debates, debates_of
from coupled_arena.tournaments.definition import Tournament
from coupled_arena.tournaments.playing.seating import Seating
from coupled_arena.tournaments.results.result import Result

if TYPE_CHECKING:
    import pandas as pd

_SEED_BYTES = 8
_LEVEL = 0.95


@dataclass(frozen=True, kw_only=True)
class Truth:
    """The truth of a world, computed when it is first asked for.

    It is that of a tournament of endlessly many further questions, on each of which every possible pair meets. Skills
    and verdicts are exact. All else is played and drawn, and comes with the standard error that the finite number of
    questions leaves (`..._error`), clustered by question.
    """

    tournament: Tournament
    """The definition."""
    book: ClaimBook = field(repr=False)
    """The world's claims."""
    questions: tuple[Question, ...] = field(repr=False)
    """The further questions."""
    draws: int
    """How often the opinions of judges are drawn on each debate."""

    @cached_property
    def skills(self) -> "pd.DataFrame":
        """The skill of every model in every domain.

        Columns `model`, `domain`, `skill`; `domain` is empty for the mean over the questions' domains.
        """
        import pandas as pd

        rows = []
        asked = [question.domain for question in self.questions]
        for model in self.tournament.models:
            dials = read_dials(self.tournament.model_of(model).model)
            mean = float(np.mean([dials.skill_in(domain) for domain in asked]))
            rows.append((model.name, "", mean))
            rows += [(model.name, domain, dials.skill_in(domain)) for domain in dict.fromkeys(asked)]
        return pd.DataFrame(rows, columns=["model", "domain", "skill"])

    @cached_property
    def win_probabilities(self) -> "pd.DataFrame":
        """How often each model wins against each other before a perfect judge, with shared dice and with own ones.

        A row for every two models in listing order. Columns `a`, `b`, `coupled`, `coupled_tie`, `coupled_error`, and
        the same for `independent`: the share of debates that `a` wins, that neither does, and the standard error of the
        first. A debate that a model gives away is won by the other; void ones do not count.
        """
        import pandas as pd

        rows: dict[tuple[str, str], dict[str, Any]] = {}
        arms: tuple[Mode, ...] = ("coupled", "independent")
        for arm in arms:
            debates = self.debates(arm)
            known = ~np.isnan(debates.score)
            for x, y in self.tournament.possible_pairs:
                first, second = (debates.models.index(model.name) for model in (x, y))
                forward = (debates.a == first) & (debates.b == second) & known
                own = forward | ((debates.a == second) & (debates.b == first) & known)
                score = np.where(forward, debates.score, 1 - debates.score)[own]
                wins = mean_of((score == 1).astype(np.float64), debates.question[own], level=_LEVEL, none="void")
                row = rows.setdefault((x.name, y.name), {"a": x.name, "b": y.name})
                ties = float(np.mean(score == 0.5)) if len(score) else None
                row.update({arm: wins.value, f"{arm}_tie": ties, f"{arm}_error": wins.se})
        return pd.DataFrame(list(rows.values())).set_index(["a", "b"]).astype(float).reset_index()

    @cached_property
    def scores(self) -> "pd.DataFrame":
        """The mean score of every model over its possible opponents before a perfect judge, with shared dice.

        Columns `model`, `score`, `error`; 1 is a win, 1/2 a tie. The order of the models by it is the true ranking.
        """
        import pandas as pd

        debates, rows = self.debates("coupled"), []
        for place, name in enumerate(debates.models):
            own = ((debates.a == place) | (debates.b == place)) & ~np.isnan(debates.score)
            score = np.where(debates.a == place, debates.score, 1 - debates.score)[own]
            mean = mean_of(score, debates.question[own], level=_LEVEL, none="void")
            rows.append((name, mean.value, mean.se))
        return pd.DataFrame(rows, columns=["model", "score", "error"])

    def verdicts(self, result: Result) -> dict[str, Verdict]:
        """Return what a perfect judge says of the battles of a run, by id; battles that ended early are left out."""
        texts = {question.id: question.text for question in result.questions}
        ended = [battle for battle in result.battles if battle.opinions]
        return {battle.id: self.book.truth_of(texts[battle.question], battle.turns) for battle in ended}

    @cached_property
    def judges(self) -> "pd.DataFrame":
        """What a study of every judge measures, as it would be with endlessly many questions; a row for every judge.

        Columns `judge`, for every measure of `ca.judges` its name and the same with `_error`, its standard error, and
        `unparsable_share`, `refused_share` and `failed_share`, shares of the opinions that are asked for.
        """
        import pandas as pd

        found = {measure.name: measure.of(self.opinions, _LEVEL) for measure in JUDGES}
        rows = []
        for judge, counted in outcomes(self.opinions).items():
            row: dict[str, Any] = {"judge": judge}
            for name, estimates in found.items():
                row.update(_cells(name, estimates[judge]))
            for status in ("unparsable", "refused", "failed"):
                row[f"{status}_share"] = getattr(counted, status) / counted.opinions if counted.opinions else None
            rows.append(row)
        return pd.DataFrame(rows).set_index("judge").astype(float).reset_index()

    @cached_property
    def panel(self) -> "pd.DataFrame":
        """What a study of the committee measures, as it would be with endlessly many questions: one row.

        For every measure of `ca.judges` its name and the same with `_error`.
        """
        import pandas as pd

        row: dict[str, Any] = {}
        for measure in PANEL:
            row.update(_cells(measure.name, measure.of(self.opinions, _LEVEL)))
        return pd.DataFrame([row]).astype(float)

    @cached_property
    def opinions(self) -> Opinions:
        """Opinions of the panel on the debates of the arm that is rated, drawn from the judges' equations.

        Raises:
            ConfigurationError: the committee is not listed, so that who judges depends on ratings.
        """
        listed = {domain: self.tournament.judges_in(domain) for domain in (q.domain for q in self.questions)}
        if any(isinstance(judges, int) for judges in listed.values()):
            message = (
                "with a number of judges those are seated that a run has rated best so far, others in every round, so "
                "there is no one committee to be true of; list the judges by name (skills, scores, win_probabilities "
                "and verdicts need no committee)"
            )
            raise ConfigurationError([Problem("World", "judges", message)])
        author_of = Seating(self.tournament, Answering(), load_prompts(self.tournament.prompt_set)).author_of
        return opinions_of(
            self.tournament,
            self.book,
            self.debates(self.tournament.arms[0]),
            author_of,
            draws=self.draws,
            seed=self._seed,
        )

    def debates(self, arm: Mode) -> Debates:
        """Return the debates over the further questions in one arm; they are held once."""
        if arm not in self._held:
            self._held[arm] = debates_of(self.tournament, self.book, self.questions, arm)
        return self._held[arm]

    @cached_property
    def _held(self) -> dict[Mode, Debates]:
        return {}

    @property
    def _seed(self) -> int:
        key = noise_key(seed=self.tournament.seed, scope=("truth",), role=("judges",), label=(), part="draws")
        return int.from_bytes(key[:_SEED_BYTES])


def _cells(name: str, estimate: Estimate) -> dict[str, float | None]:
    return {name: estimate.value, f"{name}_error": estimate.se}
