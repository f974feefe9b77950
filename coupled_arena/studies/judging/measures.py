"""What the study of judges measures, each with its name in data frames and JSON and its meaning."""

from collections.abc import Callable
from typing import NamedTuple

from coupled_arena.analysis import judges as study
from coupled_arena.analysis.judges import Estimate, Opinions

OfJudges = Callable[[Opinions, float], dict[str, Estimate]]
"""From opinions and the coverage of intervals to an estimate for every judge."""

OfPanel = Callable[[Opinions, float], Estimate]
"""From opinions and the coverage of intervals to an estimate of the whole committee."""


class JudgeMeasure(NamedTuple):
    """One number that is told of every judge."""

    name: str
    """Its column; the ends of its interval are `ends` with `_low` and `_high`."""
    ends: str
    """What the columns of its interval begin with."""
    meaning: str
    """One sentence for the reader."""
    of: OfJudges
    """Estimates it."""


class PanelMeasure(NamedTuple):
    """One number that is told of the committee."""

    name: str
    """Its column, and what the columns of its interval begin with."""
    meaning: str
    """One sentence for the reader."""
    of: OfPanel
    """Estimates it."""


JUDGES: tuple[JudgeMeasure, ...] = (
    JudgeMeasure(
        "position_effect",
        "position",
        "mean score of the side shown first less 1/2, where it saw both orders; from -0.5 to 0.5",
        lambda table, level: study.position_effect(table, level=level),
    ),
    JudgeMeasure(
        "flip_rate",
        "flip",
        "share of battles on which its verdict is not the same in both orders",
        lambda table, level: study.flip_rate(table, level=level),
    ),
    JudgeMeasure(
        "length_effect",
        "length",
        "by how much its score of a side rises where that side's text is twice as long beside the other's",
        lambda table, level: study.length_effect(table, level=level),
    ),
    JudgeMeasure(
        "family_preference",
        "family",
        "by how much more than uninvolved judges it scores models of its family; from -1 to 1",
        lambda table, level: study.preference(table, "family", level=level),
    ),
    JudgeMeasure(
        "self_preference",
        "self",
        "by how much more than uninvolved judges it scores itself; from -1 to 1",
        lambda table, level: study.preference(table, "self", level=level),
    ),
    JudgeMeasure(
        "name_preference",
        "name",
        "by how much more than uninvolved judges it scores the one side whose text names it; from -1 to 1",
        lambda table, level: study.preference(table, "name", level=level),
    ),
    JudgeMeasure(
        "ties", "ties", "share of its verdicts that are ties", lambda table, level: study.ties(table, level=level)
    ),
    JudgeMeasure(
        "agreement_with_others",
        "agreement",
        "share of its verdicts alone that are those of the majority of the other judges",
        lambda table, level: study.agreement_with_others(table, level=level),
    ),
    JudgeMeasure(
        "kappa_before",
        "kappa_before",
        "Cohen's kappa of its verdicts alone with the majority of the others",
        lambda table, level: study.kappa_with_others(table, level=level),
    ),
    JudgeMeasure(
        "kappa_after",
        "kappa_after",
        "the same after all discussion",
        lambda table, level: study.kappa_with_others(table, when="last", level=level),
    ),
    JudgeMeasure(
        "discrimination",
        "discrimination",
        "slope of its score on the mean score of the others: 0 sees nothing of what they see",
        lambda table, level: study.discrimination(table, level=level),
    ),
    JudgeMeasure(
        "accuracy_before",
        "accuracy_before",
        "share of its verdicts alone that are the truth, where that is known",
        lambda table, level: study.accuracy(table, level=level),
    ),
    JudgeMeasure(
        "accuracy_after",
        "accuracy_after",
        "the same after all discussion",
        lambda table, level: study.accuracy(table, when="last", level=level),
    ),
    JudgeMeasure(
        "moved",
        "moved",
        "share of its verdicts that are others after all discussion",
        lambda table, level: study.moved(table, level=level),
    ),
    JudgeMeasure(
        "moved_to_others",
        "moved_to_others",
        "share of its moves that came nearer to the first majority of the others",
        lambda table, level: study.moved_to_others(table, level=level),
    ),
    JudgeMeasure(
        "moved_to_truth",
        "moved_to_truth",
        "share of its moves that came nearer to the truth, where that is known",
        lambda table, level: study.moved_to_truth(table, level=level),
    ),
    JudgeMeasure(
        "conformity",
        "conformity",
        "how far its vote (from -1 to 1) moves in the first round of discussion for each unit of the others' mean vote",
        lambda table, level: study.conformity(table, level=level),
    ),
    JudgeMeasure(
        "repeatability",
        "repeatability",
        "chance that it says the same of the same battle with new dice",
        lambda table, level: study.repeatability(table, level=level),
    ),
)
"""What is told of every judge."""

PANEL: tuple[PanelMeasure, ...] = (
    PanelMeasure(
        "agreement_before",
        "share of pairs of judges that say the same alone",
        lambda table, level: study.agreement(table, level=level),
    ),
    PanelMeasure(
        "agreement_after",
        "the same after all discussion",
        lambda table, level: study.agreement(table, when="last", level=level),
    ),
    PanelMeasure(
        "fleiss_before",
        "Fleiss' kappa of the verdicts alone",
        lambda table, level: study.fleiss(table, level=level),
    ),
    PanelMeasure(
        "fleiss_after",
        "the same after all discussion",
        lambda table, level: study.fleiss(table, when="last", level=level),
    ),
    PanelMeasure(
        "alpha_before",
        "Krippendorff's alpha of the verdicts alone",
        lambda table, level: study.alpha(table, level=level),
    ),
    PanelMeasure(
        "alpha_after",
        "the same after all discussion",
        lambda table, level: study.alpha(table, when="last", level=level),
    ),
    PanelMeasure(
        "effective_judges",
        "how many judges with independent errors would be worth as much as the committee alone",
        lambda table, level: study.effective_judges(table, level=level),
    ),
    PanelMeasure(
        "effective_judges_after",
        "the same after all discussion",
        lambda table, level: study.effective_judges(table, when="last", level=level),
    ),
    PanelMeasure(
        "intransitive_triples",
        "share of three models on one question that a judge prefers in a circle",
        lambda table, level: study.intransitive(table, level=level).rate,
    ),
    PanelMeasure(
        "intransitive_by_chance",
        "the same share if the preferences were independent, with the shares of wins that each pair has",
        lambda table, level: study.intransitive(table, level=level).chance,
    ),
    PanelMeasure(
        "disagreement_by_dice",
        "share of two judges' disagreement that is dice: what they would disagree on with themselves",
        lambda table, level: study.share_of_dice(table, level=level),
    ),
)
"""What is told of the committee."""
