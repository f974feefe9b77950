"""What scores and labels say about models, judges and shared dice: pure computations on arrays.

Scores of models on the same questions go to `paired`, `two_runs`, `contest` and `mean_score`, labels of raters to
`kappa` and its kin; `error_curves` and `largest_gain` recompute published numbers.
"""

from coupled_arena.analysis.agreement import Agreement, kappa, percent_agreement
from coupled_arena.analysis.contest import Change, Contest, WinTable, contest
from coupled_arena.analysis.curves import error_curves, largest_gain, sample_sizes
from coupled_arena.analysis.mean import Mean, mean_score
from coupled_arena.analysis.paired import Paired, paired
from coupled_arena.analysis.panel import fleiss_kappa, krippendorff_alpha
from coupled_arena.analysis.two_runs import TwoRuns, two_runs

__all__ = [
    "Agreement",
    "Change",
    "Contest",
    "Mean",
    "Paired",
    "TwoRuns",
    "WinTable",
    "contest",
    "error_curves",
    "fleiss_kappa",
    "kappa",
    "krippendorff_alpha",
    "largest_gain",
    "mean_score",
    "paired",
    "percent_agreement",
    "sample_sizes",
    "two_runs",
]
