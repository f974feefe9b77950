"""Reads what was published with the paper on coupled generation: a clone of its files, or the compact ones.

A clone holds `outputs/<dataset>/<family>/results.csv`: 20 rows for each question, the coupled half first, ten
replicates after each other, True or False for every model. The compact files hold the same, gzipped, one line for each
question and noise with a word of ten digits for every model; of MMLU they hold the letters that three models answered.
"""

import csv
import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

DATASETS = {"gsm8k": "GSM8K", "humaneval": "HumanEval", "mmlu": "MMLU"}
"""Names of data sets by the letters and digits of their folder or file."""

REPEATS = 10

AREAS = {
    "college_chemistry": (896, 996),
    "college_computer_science": (996, 1096),
    "professional_accounting": (10349, 10631),
    "professional_law": (10631, 12165),
    "professional_medicine": (12165, 12437),
}
"""Where the areas that the paper draws begin and end in MMLU's order, for files that name no areas."""


@dataclass(frozen=True, slots=True)
class Results:
    """The scores of one family of models on one data set."""

    dataset: str
    """The data set."""
    family: str
    """The family of models."""
    coupled: dict[str, Floats]
    """By model, shape (questions, replicates): scores with shared dice."""
    independent: dict[str, Floats]
    """Likewise with a seed for each model."""
    areas: dict[str, NDArray[np.int64]]
    """Questions of every area; empty where there are none."""

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models, in the order of the file."""
        return tuple(self.coupled)

    @property
    def questions(self) -> int:
        """How many questions there are."""
        return len(next(iter(self.coupled.values())))

    def of(self, area: str) -> "Results":
        """Return the scores on the questions of one area."""
        chosen = self.areas[area]
        coupled, independent = (
            {model: scores[chosen] for model, scores in arm.items()} for arm in (self.coupled, self.independent)
        )
        return Results(self.dataset, self.family, coupled, independent, {})


def read(folder: Path) -> list[Results]:
    """Return all that the folder holds, by data set and family.

    Raises:
        FileNotFoundError: it holds neither kind of files.
    """
    found = [*_clone(folder), *_compact(folder)]
    if not found:
        raise FileNotFoundError(
            f"{folder}: neither outputs/<dataset>/<family>/results.csv nor <dataset>_<family>.csv.gz is there"
        )
    return sorted(found, key=lambda results: (results.dataset, results.family))


def _clone(folder: Path) -> Iterator[Results]:
    for path in sorted(folder.glob("outputs/*/*/results.csv")):
        dataset = DATASETS.get(_plain(path.parent.parent.name))
        if dataset is not None:
            with path.open(encoding="utf-8", newline="") as file:
                header, *rows = csv.reader(file)
            half = len(rows) // 2
            if {row[0] for row in rows[:half]} != {"Coupled"} or {row[0] for row in rows[half:]} != {"Independent"}:
                raise ValueError(f"{path}: its first half is not the coupled one")
            table = np.array([[cell == "True" for cell in row[1:]] for row in rows], dtype=np.float64)
            coupled, independent = (
                dict(zip(header[1:], _split(part), strict=True)) for part in (table[:half], table[half:])
            )
            areas = {name: np.arange(*ends) for name, ends in AREAS.items()} if dataset == "MMLU" else {}
            yield Results(dataset, path.parent.name, coupled, independent, areas)


def _split(table: Floats) -> list[Floats]:
    return [column.reshape(-1, REPEATS) for column in table.T]


def _compact(folder: Path) -> Iterator[Results]:
    for path in sorted(folder.glob("*.csv.gz")):
        named = re.fullmatch(r"(gsm8k|human_eval)_(\w+)\.csv\.gz", path.name)
        if named:
            header, *rows = _lines(path)
            coupled, independent = (
                {model: _digits(rows, noise, column) for column, model in enumerate(header) if column > 1}
                for noise in ("coupled", "independent")
            )
            yield Results(DATASETS[_plain(named[1])], named[2], coupled, independent, {})
        elif path.name == "mmlu_llama3_letters.csv.gz":
            yield _letters(path)


def _letters(path: Path) -> Results:
    header, *rows = _lines(path)
    gold = np.array([row[1] for row in rows])
    arms: dict[str, dict[str, Floats]] = {"coupled": {}, "independent": {}}
    for column, name in enumerate(header[2:], start=2):
        model, noise = name.split("|")
        answers = np.array([list(row[column]) for row in rows])
        arms[noise][model] = (answers == gold[:, None]).astype(np.float64)
    subject = np.array([row[0] for row in rows])
    areas = {str(name): np.flatnonzero(subject == name) for name in np.unique(subject)}
    return Results("MMLU", "llama", arms["coupled"], arms["independent"], areas)


def _lines(path: Path) -> list[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def _digits(rows: list[list[str]], noise: str, column: int) -> Floats:
    return np.array([[float(digit) for digit in row[column]] for row in rows if row[1] == noise])


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())
