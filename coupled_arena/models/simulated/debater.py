"""A simulated debater: an autoregressive distribution over claims, sampled with the coupled sampler.

The law of the next claim, at temperature 1, is a softmax over the claims not yet made in this statement:

    logit(claim) = SLOPE * skill * quality + taste's affinity + KEEP [own, standing] - DOUBT [own, attacked]

and the end of the statement has the logit `log(sum of exp(logits)) + URGE * (made + 1/2 - verbosity)` once a claim is
made: at temperature 1 it is as likely as all further claims together when about `verbosity` claims are made. Position
in the shared noise is the number of claims made, identity is the claim's code, so debaters of nearly equal skill that
share their dice say nearly the same. Attacks pick the opponent's claims by the same law with the sign of skill turned.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from coupled_arena.coupling import Sampling
from coupled_arena.models.simulated.dials import Dials
from coupled_arena.models.simulated.reading import Heard
from coupled_arena.models.simulated.wording import Wording
from coupled_arena.models.simulated.world import Subject

SLOPE = 0.6
"""Logit per unit of skill and of quality."""
KEEP = 1.0
"""Logit that an own claim gains by having been made before."""
DOUBT = 2.0
"""Logit that an own claim loses by having been attacked."""
URGE = 1.5
"""How sharply a statement ends around its length."""
MOST = 16
"""Most claims of one statement."""
ATTACKS = 2
"""Most claims one criticism names."""

_OFFSETS = {"respond": 0, "criticize": 1_000, "raise": 2_000}
_FURTHER = 3_000


@dataclass(frozen=True, slots=True)
class Debater:
    """One simulated debater before one question."""

    dials: Dials
    """What kind of debater it is."""
    skill: float
    """Its skill in the question's domain."""
    subject: Subject
    """The question as its world knows it."""
    wording: Wording
    """The language it speaks."""
    sampling: Sampling
    """Temperature and filters."""
    key: bytes
    """Its dice, 16 bytes."""

    def statement(self, heard: Heard, offset: int = 0) -> str:
        """State claims: freely in an opening, later holding on to what stands of its own."""
        logits = SLOPE * self.skill * self.subject.quality + self.subject.affinity(self.dials.taste)
        own = self.subject.places(heard.own)
        if own:
            attacked = set(self.subject.places(heard.doubted))
            logits[own] += [-DOUBT if place in attacked else KEEP for place in own]
        return self.wording_of(self.draw(logits, self.dials.verbosity, MOST, offset))

    def criticism(self, heard: Heard, offset: int) -> str:
        """Attack what the opponent said, weak claims first if it has skill."""
        places = self._targets(heard, self.dials.verbosity / 2, ATTACKS, offset)
        codes = [self.subject.claims[place].code for place in places]
        return " ".join(self.wording.criticize.format(code=code) for code in codes) or self.wording.nothing_to_criticize

    def query(self, heard: Heard, offset: int) -> str:
        """Ask about one claim of the opponent."""
        places = self._targets(heard, 1.0, 1, offset)
        return (
            self.wording.ask.format(code=self.subject.claims[places[0]].code) if places else self.wording.nothing_to_ask
        )

    def turn(self, heard: Heard, wanted: Sequence[tuple[str, str]]) -> str:
        """Return a turn with a section for every wanted tag, given as written and in its canonical form."""
        sections = []
        for number, (written, action) in enumerate(wanted):
            offset = _OFFSETS.get(action, _FURTHER + 1_000 * number)
            match action:
                case "think":
                    text = self.wording.think
                case "criticize":
                    text = self.criticism(heard, offset)
                case "raise":
                    text = self.query(heard, offset)
                case _:
                    text = self.statement(heard, offset)
            sections.append(f"<{written}>{text}</{written}>")
        return "\n".join(sections)

    def draw(self, logits: NDArray[np.float64], length: float, most: int, offset: int) -> list[int]:
        """Draw the places of different claims, at least one, until the end is drawn or `most` are.

        Args:
            logits: of every claim at temperature 1, shape (claims,); -inf is never drawn.
            length: how many claims are about as likely to be the last as not.
            most: bound on their number.
            offset: position of the first in the shared noise.
        """
        weights = np.exp(logits - logits.max())
        left = float(weights.sum())
        row = np.append(logits - logits.max(), -math.inf).astype(np.float32)
        drawn: list[int] = []
        most = min(most, int(np.isfinite(logits).sum()))
        while len(drawn) < most:
            if drawn:
                row[-1] = math.log(left) + URGE * (len(drawn) + 0.5 - length)
            draw = self.subject.sampler.draw(row, self.sampling, self.key, offset + len(drawn))
            if draw.end:
                break
            drawn.append(draw.token)
            left = max(left - float(weights[draw.token]), 1e-300)
            row[draw.token] = -math.inf
        return drawn

    def wording_of(self, places: Sequence[int]) -> str:
        """Return claims as sentences."""
        return " ".join(self.wording.sentence(self.subject.claims[place]) for place in places)

    def _targets(self, heard: Heard, length: float, most: int, offset: int) -> list[int]:
        places = self.subject.places(heard.theirs)
        if not places:
            return []
        logits = np.full(len(self.subject.claims), -math.inf)
        logits[places] = -SLOPE * self.skill * self.subject.quality[places]
        return self.draw(logits, length, most, offset)
