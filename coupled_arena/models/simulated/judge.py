"""A simulated judge: sees the quality of claims through noise, has biases, and listens to the others.

Alone, the lead it gives to the side shown as A is

    value(A) - value(B) + position + length * ln(length of A / length of B) + name * (A's names - B's names)

where a value is the world's, with the quality of each claim seen as `acuity * quality + family * affinity + noise`,
the noise standard normal and drawn from the judge's own dice, the affinity that of its own taste. So leads, ties and
biases are in units of the error with which it reads one claim; `A's names` is 1 where A calls itself by the judge's
brand, else 0. Leads up to `tie` are ties. In discussion it starts from the lead it stated before and adds `conformity`
times the mean of the others' verdicts (A = 1, tie = 0, B = -1) and `waver` times a standard normal number. At the rate
`lapse` a verdict is A, B or tie at random whatever the lead, at the rate `malformed` a reply ends without one; both
are slips of the hand, and the lead that is stated stays.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coupled_arena.coupling import token_identity
from coupled_arena.models.simulated.dials import Dials
from coupled_arena.models.simulated.noise import chance, normals
from coupled_arena.models.simulated.reading import Hearing
from coupled_arena.models.simulated.wording import Wording
from coupled_arena.models.simulated.world import Subject, verdict_of
from coupled_arena.records import VERDICTS, Verdict

_VOTES = {"A": 1.0, "B": -1.0, "tie": 0.0}
_SECOND_LOOK = np.array([token_identity(b"second look")], dtype=np.uint64)


@dataclass(frozen=True, slots=True)
class Judge:
    """One simulated judge before one battle."""

    dials: Dials
    """What kind of judge it is."""
    subject: Subject
    """The question as its world knows it."""
    wording: Wording
    """The language it writes."""
    labels: tuple[str, str, str]
    """The markers for A, B and tie."""
    key: bytes
    """Its dice, 16 bytes."""

    def seen(self) -> list[float]:
        """Return the quality of every claim as this judge sees it."""
        seen = self.dials.acuity * self.subject.quality + normals(self.key, self.subject.identities)
        if self.dials.family:
            seen += self.dials.family * self.subject.affinity(self.dials.taste)
        return [float(quality) for quality in seen]

    def lead(self, hearing: Hearing, seen: Sequence[float]) -> float:
        """Return the lead the judge gives alone to the side shown as A."""
        silent = self.dials.acuity * self.subject.silent
        lead = self.subject.value(hearing.a.position, seen, silent)
        lead -= self.subject.value(hearing.b.position, seen, silent)
        lead += self.dials.position
        if self.dials.length:
            lead += self.dials.length * math.log((hearing.a.length or 1) / (hearing.b.length or 1))
        if self.dials.name:
            lead += self.dials.name * ((self.dials.brand in hearing.a.brands) - (self.dials.brand in hearing.b.brands))
        return lead

    def discussed(self, lead: float, others: tuple[Verdict, ...]) -> float:
        """Return a lead after hearing the others' verdicts."""
        if not others:
            return lead
        return lead + self.dials.conformity * math.fsum(_VOTES[verdict] for verdict in others) / len(others)

    def opinion(self, hearing: Hearing, others: tuple[Verdict, ...], stated: float | None) -> str:
        """Return an opinion: two short reasons, then the marker on a line of its own.

        Args:
            hearing: the battle as it is shown.
            others: the other judges' verdicts, none alone.
            stated: the lead that the judge stated before, None if it speaks for the first time.
        """
        if stated is None:
            seen = self.seen()
            reason, lead = self._strongest(hearing, seen), self.lead(hearing, seen)
        else:
            reason, lead = self.wording.again, stated
            if others and self.dials.waver:
                lead += self.dials.waver * normals(self.key, _SECOND_LOOK).item()
        # What is written and what is decided must be the same number, since the judge reads it again in discussion.
        lead = round(self.discussed(lead, others), 2)
        reasons = self.wording.join((reason, self.wording.margin.format(margin=f"{lead:+.2f}")))
        if self.dials.malformed and chance(self.key, "malformed") < self.dials.malformed:
            return reasons
        return f"{reasons}\n{self.labels[VERDICTS.index(self.verdict(lead))]}"

    def verdict(self, lead: float) -> Verdict:
        """Return the verdict that follows from a lead, but for a lapse."""
        if self.dials.lapse and chance(self.key, "lapse") < self.dials.lapse:
            return VERDICTS[int(chance(self.key, "lapsed verdict") * len(VERDICTS))]
        return verdict_of(lead, self.dials.tie)

    def _strongest(self, hearing: Hearing, seen: Sequence[float]) -> str:
        """Return a sentence that names the claim the judge likes best."""
        best, spoken = -math.inf, self.wording.silent
        for side, position in (("A", hearing.a.position), ("B", hearing.b.position)):
            for place in self.subject.places(code for statement in position for code in statement):
                if seen[place] > best:
                    best = seen[place]
                    spoken = self.wording.strongest.format(side=side, code=self.subject.claims[place].code)
        return spoken
