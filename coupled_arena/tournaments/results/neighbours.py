"""Whether neighbours on a leaderboard are settled, and what shared dice had to do with it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coupled_arena.analysis.two_runs import TwoRuns, two_runs
from coupled_arena.ratings.settled import Settled
from coupled_arena.records import SHARING_ORDER, Battle, Sharing
from coupled_arena.shown import plural
from coupled_arena.tournaments.results.points import scores_in, whole

NO_BATTLE = "no battle of their own"
"""What is said of two models that have not met."""

_Scores = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Two neighbours on a leaderboard: whether their order is settled, and what their battles shared."""

    settled: Settled
    """Whether it is settled."""
    battles: int
    """Rated battles of the two with each other, in the arm that is rated."""
    sharing: Mapping[Sharing, int]
    """How many of them have openings that shared dice, by what they shared (`Battle.sharing`)."""
    saved: TwoRuns | None
    """What sharing dice saved: how much less than in the arm without it the outcome of these battles varies. None where
    there is no such arm, or no dice were shared: outcomes of judged battles cannot be told from one arm alone."""

    @property
    def line(self) -> str:
        """One sentence: the difference, whether it is settled, and what shared dice saved, or that there were none."""
        line, dice = self.settled.line, self.dice
        return line if line.endswith(dice) else f"{line}; {dice}"

    @property
    def dice(self) -> str:
        """What the dice of the two had in common, in words."""
        if not self.battles:
            return NO_BATTLE
        shared = ", ".join(f"{sharing} in {count}" for sharing, count in self.sharing.items() if sharing != "none")
        if not shared:
            return "no shared dice"
        words = f"dice {shared} of {plural(self.battles, 'battle')}"
        if self.saved is None:
            return words
        if self.saved.saved is None:
            return f"{words}, what that saved cannot be told"
        ends = [f"{100 * end:.0f}" for end in (self.saved.low, self.saved.high) if end is not None]
        return f"{words}, which saved {100 * self.saved.saved:.0f} % of the questions" + (
            f" [{', '.join(ends)}]" if ends else ""
        )


def neighbours(settled: Iterable[Settled], battles: Iterable[Battle], arms: Sequence[str]) -> tuple[Neighbours, ...]:
    """Return what the battles of each two neighbours shared beside whether they are settled.

    Where every battle was played in two arms, with shared dice and without, what coupling saved is `1 - V_c / V_i`, V
    being the variance of the outcome of the two models' own battles in each arm (see `analysis.two_runs`).

    Args:
        settled: what `Ratings.settled` returned.
        battles: of all arms.
        arms: names of the arms, the rated one first.
    """
    own: defaultdict[tuple[str, tuple[str, str]], list[Battle]] = defaultdict(list)
    for battle in battles:
        if battle.decision.verdict is not None:
            own[battle.arm, battle.pair].append(battle)
    found = []
    for pair in settled:
        first, second = sorted((pair.a, pair.b))
        played = [own[arm, (first, second)] for arm in arms]
        counts = Counter(battle.sharing for battle in played[0])
        sharing = {name: counts[name] for name in SHARING_ORDER if counts[name]}
        saved = _saved(played[0], played[1], pair.a) if len(arms) == 2 and set(sharing) - {"none"} else None
        found.append(Neighbours(pair, len(played[0]), sharing, saved))
    return tuple(found)


def _saved(coupled: Sequence[Battle], independent: Sequence[Battle], a: str) -> TwoRuns:
    questions = sorted({battle.question for battle in (*coupled, *independent)})
    return two_runs(_scores(coupled, a, questions), _scores(independent, a, questions))


def _scores(battles: Sequence[Battle], a: str, questions: Sequence[str]) -> _Scores:
    """Return the scores of a and of the other model, each of shape (questions, replicates), NaN for none."""
    units: defaultdict[tuple[str, int], list[Battle]] = defaultdict(list)
    for battle in whole(battles):
        units[battle.question, battle.replicate].append(battle)
    place = {question: row for row, question in enumerate(questions)}
    own = np.full((len(questions), 1 + max((battle.replicate for battle in battles), default=0)), np.nan)
    for (question, replicate), played in units.items():
        own[place[question], replicate] = sum(scores_in(battle)[a] for battle in played) / len(played)
    return own, 1 - own
