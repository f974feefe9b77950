"""What a check comes to."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

MOST_FINDINGS = 100
"""How many findings of one kind are listed before the rest is only counted."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be."""

    where: str
    """`file`, or the id of a run."""
    what: str
    """What is wrong, with the record or the table."""

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


@dataclass(frozen=True, slots=True)
class Checked:
    """What was looked at, and what was found."""

    runs: int
    """Runs in the store."""
    battles: int
    """Battles whose decisions were made again from their opinions."""
    calls: int
    """Calls that were looked at."""
    texts: int
    """Stored texts whose digests were made again."""
    findings: tuple[Finding, ...]
    """Everything that is not as it should be; empty for a sound store."""

    def document(self) -> dict[str, Any]:
        """Return the check as plain data."""
        return {**asdict(self), "findings": [asdict(finding) for finding in self.findings], "sound": not self.findings}


def listed(where: str, problems: Iterable[str]) -> Iterator[Finding]:
    """Yield the findings of one kind, and how many more there are than are listed.

    >>> [str(found) for found in listed("file", (f"page {n}" for n in range(102)))][-1]
    'file: 2 more of this kind'
    """
    more = 0
    for number, problem in enumerate(problems):
        if number < MOST_FINDINGS:
            yield Finding(where, problem)
        else:
            more += 1
    if more:
        yield Finding(where, f"{more} more of this kind")
