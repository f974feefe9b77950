"""Noise keys: the names of sources of randomness, and the table of who shares which.

Coupling is leaving the model's name out of the noise key: two calls with equal keys share their dice.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from coupled_arena.errors import ConfigurationError, Problem

Mode = Literal["coupled", "independent", "fresh"]
"""Who shares dice: all models, each model with itself, or nobody."""

KEY_BYTES = 16
"""Length of a noise key."""


def _text(value: str) -> bytes:
    data = value.encode("utf-8", "surrogatepass")
    return len(data).to_bytes(8, "little") + data


def _list(name: str, values: Sequence[str]) -> bytes:
    try:
        # A text is a sequence of texts too, and two of them could mean the same dice by their letters alone.
        if not isinstance(values, str):
            return len(values).to_bytes(8, "little") + b"".join(map(_text, values))
    except (AttributeError, TypeError):
        pass
    message = f"must be a tuple of texts, such as ('math-1', '0'), not {values!r}"
    raise ConfigurationError([Problem("noise_key", name, message)])


def noise_key(
    *, seed: int, scope: Sequence[str], role: Sequence[str], label: Sequence[str], part: str, sample: int = 0
) -> bytes:
    """Return the 16-byte noise key of one call: BLAKE2b-128 of a canonical, length-prefixed encoding.

    Every string and every list carries its length, so that no two different arguments are encoded alike.

    Args:
        seed: the tournament's seed, any integer.
        scope: what the dice belong to (question and replicate, or domain, language and batch).
        role: who rolls them, and the names that keep them from being shared.
        label: when they are rolled (`opening`, `step 3`, a stage and an order).
        part: the call within the label (`whole`, a section, `repair 1`).
        sample: index of an independent draw, for calls that are asked for several times.

    Raises:
        ConfigurationError: scope, role or label is one text, or holds something else.

    Example:
        >>> noise_key(seed=7, scope=("math-1", "0"), role=("debater",), label=("opening",), part="whole").hex()
        '7951a6109ac5dd15107b5f4ee341959e'
    """
    encoded = b"".join(
        (
            _text(str(seed)),
            _list("scope", scope),
            _list("role", role),
            _list("label", label),
            _text(part),
            _text(str(sample)),
        )
    )
    return hashlib.blake2b(encoded, digest_size=KEY_BYTES).digest()


@dataclass(frozen=True, slots=True)
class Dice:
    """The dice of one turn, opinion or request, before it is known which of its calls will roll them."""

    seed: int
    """The tournament's seed."""
    scope: tuple[str, ...]
    """What the dice belong to."""
    role: tuple[str, ...]
    """Who rolls them, and the names that keep them from being shared."""
    label: tuple[str, ...]
    """When they are rolled."""
    sample: int = 0
    """Index of an independent draw."""

    def key(self, part: str) -> bytes:
        """Return the noise key of one call: `whole`, a section, `request 1`, `repair 1`, `reasons`, `choice`."""
        return noise_key(
            seed=self.seed, scope=self.scope, role=self.role, label=self.label, part=part, sample=self.sample
        )


class DiceTable:
    """Who shares dice with whom, for every call of a tournament.

    Two calls share their dice if and only if their rows below agree in scope, role, label and whatever the mode adds.

    | call | scope | role | label | `independent` adds | `fresh` adds also |
    | --- | --- | --- | --- | --- | --- |
    | examiner | domain, language, batch | examiner, its name | - | - | - |
    | opening of either side | question, replicate | debater | opening | the model | opponent, side |
    | step k of the script, k > 2 | question, replicate | debater | step k | the model | opponent, side |
    | reference answer | question | reference, its name | - | - | - |
    | judge | question, replicate | judge, its name | stage, presentation order | the two models | - |
    | bench answer | item, repeat | answer | - | the model | - |
    | any other role | question, replicate | the role's name, its model | step | the two models | - |

    An opening is any first step that sees only the question. The two models are taken in alphabetical order. A judge
    may give several opinions on one battle, each an independent draw (`sample`) from the same source.

    Args:
        seed: the tournament's seed.
        mode: `coupled`, `independent` or `fresh`; anything else raises `ConfigurationError`.

    Example:
        >>> table = DiceTable(7, "coupled")
        >>> ada = table.step("math-1", 0, "opening", model="ada", opponent="bob", side="A")
        >>> bob = table.step("math-1", 0, "opening", model="bob", opponent="ada", side="B")
        >>> ada.key("whole") == bob.key("whole")
        True
    """

    def __init__(self, seed: int, mode: str) -> None:
        if mode not in get_args(Mode):
            message = f"must be one of {', '.join(get_args(Mode))}, not {mode!r}"
            raise ConfigurationError([Problem("Tournament", "coupling", message)])
        self.seed = seed
        self.mode = mode

    def examiner(self, domain: str, language: str, batch: int, examiner: str) -> Dice:
        """Return the dice of a request for questions; `batch` counts the requests of a domain from 0."""
        return self._dice((domain, language, str(batch)), ("examiner", examiner), ())

    def step(self, question: str, replicate: int, step: str, model: str, opponent: str, side: str) -> Dice:
        """Return the dice of a debater's turn; `step` is `opening` or `step 3`."""
        return self._dice(
            (question, str(replicate)), ("debater",), (step,), independent=(model,), fresh=(opponent, side)
        )

    def reference(self, question: str, model: str) -> Dice:
        """Return the dice of the reference answer to a question."""
        return self._dice((question,), ("reference", model), ())

    def judge(
        self,
        question: str,
        replicate: int,
        judge: str,
        stage: int,
        order: str,
        models: tuple[str, str],
        *,
        sample: int = 0,
    ) -> Dice:
        """Return the dice of a judge's opinion; `order` is `AB` or `BA`, `models` are the debaters in any order."""
        own = tuple(sorted(models))
        dice = self._dice((question, str(replicate)), ("judge", judge), (str(stage), order), independent=own)
        return replace(dice, sample=sample) if sample else dice

    def answer(self, item: str, repeat: int, model: str) -> Dice:
        """Return the dice of a model's answer to an item of a bench task."""
        return self._dice((item, str(repeat)), ("answer",), (), independent=(model,))

    def role(self, question: str, replicate: int, role: str, model: str, step: str, models: tuple[str, str]) -> Dice:
        """Return the dice of an added role's turn; `models` are the debaters in any order."""
        return self._dice((question, str(replicate)), (role, model), (step,), independent=tuple(sorted(models)))

    def _dice(
        self,
        scope: tuple[str, ...],
        role: tuple[str, ...],
        label: tuple[str, ...],
        *,
        independent: tuple[str, ...] = (),
        fresh: tuple[str, ...] = (),
    ) -> Dice:
        added = {"coupled": (), "independent": independent, "fresh": independent + fresh}[self.mode]
        return Dice(self.seed, scope, role + added, label)
