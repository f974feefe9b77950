"""Opinions of made-up committees, for tests of the study of judges."""

from typing import Any

import numpy as np

Rows = dict[str, list[Any]]
"""Columns of the frame `opinions`, by name."""

MODELS = ("ada", "bob", "cleo")
FAMILIES = {"ada": "x", "bob": "y", "cleo": "z"}
JUDGES = {"j1": "x", "j2": "y", "j3": "w", "ada": "x"}
VOTES = {"A": 1, "tie": 0, "B": -1}


def verdict(lead: "float | np.floating[Any]") -> str:
    return "A" if lead > 0.4 else "B" if lead < -0.4 else "tie"


def opinions(
    seed: int,
    *,
    questions: int = 6,
    judges: int = 3,
    orders: tuple[str, ...] = ("AB", "BA"),
    stages: int = 2,
    missing: float = 0.1,
    position: float = 0.3,
    dice: int = 1,
) -> Rows:
    """Return the opinions of judges that favour the side shown first and listen to each other, some missing."""
    rng = np.random.default_rng(seed)
    rows: Rows = {}
    for question in range(questions):
        for i, k in ((0, 1), (0, 2), (1, 2)):
            a, b = (MODELS[i], MODELS[k]) if rng.random() < 0.5 else (MODELS[k], MODELS[i])
            lead, lengths = float(rng.normal()), rng.integers(50, 400, 2).tolist()
            for order in orders:
                for throw in range(dice):
                    seen = [lead + rng.normal() + position * (1 if order == "AB" else -1) for _ in range(judges)]
                    first = [verdict(one) for one in seen]
                    heard = np.mean([VOTES[one] for one in first])
                    last = [verdict(one + heard + rng.normal() / 3) for one in seen]
                    for stage, said in enumerate((first, last)[:stages]):
                        for name, own in zip(list(JUDGES)[:judges], said, strict=True):
                            none = rng.random() < missing
                            add(
                                rows,
                                battle=f"{question}-{i}{k}", question=f"q{question}", replicate=0, a=a, b=b,
                                family_a=FAMILIES[a], family_b=FAMILIES[b], length_a=lengths[0], length_b=lengths[1],
                                truth=verdict(lead), judge=name, family=JUDGES[name],
                                named="A" if name == a else "B" if name == b else None, stage=stage, order=order,
                                dice=throw, verdict=None if none else own, status="refused" if none else "valid",
                            )  # fmt: skip
    return rows


def add(rows: Rows, **fields: Any) -> None:
    """Add a row to columns."""
    for name, value in fields.items():
        rows.setdefault(name, []).append(value)


def permuted(rows: Rows, order: "np.ndarray[Any, np.dtype[np.intp]]") -> Rows:
    return {name: [values[at] for at in order] for name, values in rows.items()}


def exchanged(rows: Rows, battles: set[str]) -> Rows:
    """Return the same opinions with the two sides of some battles exchanged."""
    turned = {"A": "B", "B": "A", "tie": "tie", None: None, "AB": "BA", "BA": "AB"}
    found = {name: list(values) for name, values in rows.items()}
    for at, battle in enumerate(rows["battle"]):
        if battle in battles:
            for name in ("verdict", "truth", "order", "named"):
                found[name][at] = turned[rows[name][at]]
            for first, second in (("a", "b"), ("family_a", "family_b"), ("length_a", "length_b")):
                found[first][at], found[second][at] = rows[second][at], rows[first][at]
    return found
