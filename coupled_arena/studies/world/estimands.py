"""What a study of judges estimates, by the names that its results have."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import numpy as np

from coupled_arena.analysis import judges as study
from coupled_arena.analysis.judges import Estimate, Opinions
from coupled_arena.analysis.judges.estimate import mean_of
from coupled_arena.analysis.judges.table import STATUSES

OfJudges = Callable[[Opinions], Mapping[str, Estimate]]
OfPanel = Callable[[Opinions], Estimate]


def without_verdict(table: Opinions, status: str) -> dict[str, Estimate]:
    """Return for every judge the share of opinions that were asked for and ended in a status, in [0, 1]."""
    asked = table.status != STATUSES.index("not asked")
    found = {}
    for code, name in enumerate(table.judges):
        own = asked & (table.judge == code)
        values = (table.status[own] == STATUSES.index(status)).astype(np.float64)
        found[name] = mean_of(values, table.question[table.battle[own]], level=0.95, none="it was asked for none")
    return found


JUDGES: Mapping[str, OfJudges] = MappingProxyType(
    {
        "position_effect": study.position_effect,
        "flip_rate": study.flip_rate,
        "length_effect": study.length_effect,
        "family_preference": partial(study.preference, favour="family"),
        "self_preference": partial(study.preference, favour="self"),
        "name_preference": partial(study.preference, favour="name"),
        "ties": study.ties,
        "accuracy_before": study.accuracy,
        "accuracy_after": partial(study.accuracy, when="last"),
        "agreement_with_others": study.agreement_with_others,
        "kappa_before": study.kappa_with_others,
        "kappa_after": partial(study.kappa_with_others, when="last"),
        "discrimination": study.discrimination,
        "moved": study.moved,
        "moved_to_others": study.moved_to_others,
        "moved_to_truth": study.moved_to_truth,
        "conformity": study.conformity,
        "refused_share": partial(without_verdict, status="refused"),
        "unparsable_share": partial(without_verdict, status="unparsable"),
        "failed_share": partial(without_verdict, status="failed"),
    }
)
"""What is estimated of every judge."""

PANEL: Mapping[str, OfPanel] = MappingProxyType(
    {
        "agreement_before": study.agreement,
        "agreement_after": partial(study.agreement, when="last"),
        "fleiss_before": study.fleiss,
        "fleiss_after": partial(study.fleiss, when="last"),
        "alpha_before": study.alpha,
        "alpha_after": partial(study.alpha, when="last"),
        "effective_judges": study.effective_judges,
        "effective_judges_after": partial(study.effective_judges, when="last"),
    }
)
"""What is estimated of a panel."""
