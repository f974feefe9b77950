"""A simulated debater: an autoregressive distribution over claims, sampled with the coupled sampler.

The law of the next claim, at temperature 1, is a softmax over the claims not yet made in this statement:

    logit(claim) = SLOPE * skill * quality + taste's affinity + KEEP [own, standing] - concession [own, attacked]

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
from coupled_arena.models.simulated.claims import Claim
from coupled_arena.models.simulated.dials import Dials
from coupled_arena.models.simulated.reading import Heard
from coupled_arena.models.simulated.wording import Wording
from coupled_arena.models.simulated.world import Subject

SLOPE = 0.8
"""Logit per unit of skill and of quality."""
KEEP = 1.0
"""Logit that an own claim gains by having been made before."""
URGE = 1.5
"""How sharply a statement ends around its length."""
MOST = 16
"""Most claims of one statement."""
STATED_PER_ATTACK = 3
"""A criticism of attack 1 names one claim for so many claims of a statement."""
LEAST_WEIGHT = 1e-9
"""Weight of the claims left, relative to the likeliest, below which there is nothing more to say."""

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
        logits = SLOPE * self.skill * self.subject.quality
        if self.dials.taste:
            logits += self.subject.affinity(self.dials.taste)
        own = self.subject.places(heard.own)
        if own:
            attacked = set(self.subject.places(heard.doubted))
            logits[own] += [-self.dials.concession if place in attacked else KEEP for place in own]
        claims = self.draw(logits, MOST, offset, length=self.dials.verbosity)
        named = [self.wording.signature.format(brand=self.dials.brand)] if self.dials.brand else []
        return self.wording.join([*named, *map(self.wording.sentence, claims)])

    def criticism(self, heard: Heard, offset: int) -> str:
        """Attack what the opponent said, weak claims first if it has skill."""
        attack = self.dials.attack
        count = max(1, int(attack * self.dials.verbosity / STATED_PER_ATTACK)) if attack else 0
        targets = self._targets(heard, count, offset)
        attacks = self.wording.join(self.wording.criticize.format(code=claim.code) for claim in targets)
        return attacks or self.wording.nothing_to_criticize

    def query(self, heard: Heard, offset: int) -> str:
        """Ask about one claim of the opponent."""
        targets = self._targets(heard, 1, offset)
        return self.wording.ask.format(code=targets[0].code) if targets else self.wording.nothing_to_ask

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

    def draw(
        self, logits: NDArray[np.float64], most: int, offset: int, *, length: float | None = None
    ) -> tuple[Claim, ...]:
        """Draw different claims, at least one.

        Args:
            logits: of every claim at temperature 1, shape (claims,); -inf is never drawn.
            most: how many to draw, if so many can be.
            offset: position of the first in the shared noise.
            length: if given, the end may be drawn before: about so many claims are as likely to be the last as not.
        """
        relative = logits - logits.max()
        row = np.full(len(relative) + 1, -math.inf, dtype=np.float32)
        row[:-1] = relative
        weights = np.exp(relative).tolist()
        left = math.fsum(weights)
        places: list[int] = []
        while len(places) < most and left > LEAST_WEIGHT:
            if length is not None and places:
                row[-1] = math.log(left) + URGE * (len(places) + 0.5 - length)
            drawn = self.subject.sampler.draw(row, self.sampling, self.key, offset + len(places))
            if drawn.end:
                break
            places.append(drawn.token)
            row[drawn.token] = -math.inf
            left -= weights[drawn.token]
        return tuple(self.subject.claims[place] for place in places)

    def _targets(self, heard: Heard, count: int, offset: int) -> tuple[Claim, ...]:
        places = self.subject.places(heard.theirs)
        if not places or not count:
            return ()
        logits = np.full(len(self.subject.claims), -math.inf)
        logits[places] = -SLOPE * self.skill * self.subject.quality[places]
        return self.draw(logits, count, offset)
