"""How judges judge: estimates with question-clustered intervals from a table of opinions, pure numpy.

Every function takes the table that `opinions_of` makes of columns and returns an `Estimate`, or one for every judge.
"""

from coupled_arena.analysis.judges.ballots import Ballots, ballots, decided
from coupled_arena.analysis.judges.columns import LACKING, NEEDED, OPTIONAL, opinions_of
from coupled_arena.analysis.judges.committee import (
    LeftOut,
    Size,
    Stage,
    committee_sizes,
    left_out,
    ratings_of,
    stages,
)
from coupled_arena.analysis.judges.company import (
    accuracy,
    agreement_with_others,
    discrimination,
    kappa_with_others,
    ties,
)
from coupled_arena.analysis.judges.discussion import conformity, moved, moved_to_others, moved_to_truth
from coupled_arena.analysis.judges.estimate import Estimate
from coupled_arena.analysis.judges.human import WithPeople, among_people, with_people
from coupled_arena.analysis.judges.length import length_effect
from coupled_arena.analysis.judges.orders import GapFlips, flip_rate, flips_by_gap, position_effect
from coupled_arena.analysis.judges.outcomes import Outcomes, outcomes
from coupled_arena.analysis.judges.panel import agreement, alpha, effective_judges, fleiss
from coupled_arena.analysis.judges.preference import preference
from coupled_arena.analysis.judges.repeatability import repeatability, share_of_dice
from coupled_arena.analysis.judges.table import Looks, Opinions
from coupled_arena.analysis.judges.triples import Triples, intransitive

__all__ = [
    "LACKING",
    "NEEDED",
    "OPTIONAL",
    "Ballots",
    "Estimate",
    "GapFlips",
    "LeftOut",
    "Looks",
    "Opinions",
    "Outcomes",
    "Size",
    "Stage",
    "Triples",
    "WithPeople",
    "accuracy",
    "agreement",
    "agreement_with_others",
    "alpha",
    "among_people",
    "ballots",
    "committee_sizes",
    "conformity",
    "decided",
    "discrimination",
    "effective_judges",
    "fleiss",
    "flip_rate",
    "flips_by_gap",
    "intransitive",
    "kappa_with_others",
    "left_out",
    "length_effect",
    "moved",
    "moved_to_others",
    "moved_to_truth",
    "opinions_of",
    "outcomes",
    "position_effect",
    "preference",
    "ratings_of",
    "repeatability",
    "share_of_dice",
    "stages",
    "ties",
    "with_people",
]
