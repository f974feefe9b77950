"""How the judges of a stored run judge, as a table for a page.

    python benchmarks/judges_table.py STORE [--run ID]

Every number is that of `ca.judges`, with its 95 % interval; numbers that the run cannot tell are left out.
"""

import argparse
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import coupled_arena as ca

JUDGES = {
    "position effect": ("position_effect", "position"),
    "flips": ("flip_rate", "flip"),
    "length effect": ("length_effect", "length"),
    "ties": ("ties", "ties"),
    "agrees with the others": ("agreement_with_others", "agreement"),
    "kappa with the others": ("kappa_before", "kappa_before"),
    "says the same again": ("repeatability", "repeatability"),
    "moved": ("moved", "moved"),
}
"""Columns of the table of judges: what they are called here, in the data frame, and at the ends of the interval."""
PANEL = {
    "agreement of two judges": "agreement_before",
    "after discussion": "agreement_after",
    "Fleiss' kappa": "fleiss_before",
    "Krippendorff's alpha": "alpha_before",
    "judges with independent errors that it is worth": "effective_judges",
    "share of two judges' disagreement that is dice": "disagreement_by_dice",
}
"""Rows of the table of the panel."""


def cell(row: Mapping[str, Any], name: str, ends: str) -> str:
    """Return a number with its interval, empty where there is none."""
    value, low, high = (row.get(key) for key in (name, f"{ends}_low", f"{ends}_high"))
    if value is None or math.isnan(value):
        return ""
    interval = "" if low is None or high is None or math.isnan(low) else f" [{low:.2f}, {high:.2f}]"
    return f"{value:.2f}{interval}"


def tables(store: ca.Store, run: str | None) -> list[str]:
    """Return the lines of the tables."""
    report = ca.judges(store, run=run)
    rows = [{str(key): value for key, value in row.items()} for row in report.judges.to_dict("records")]
    shown = {name: keys for name, keys in JUDGES.items() if any(cell(row, *keys) for row in rows)}
    lines = [f"| {' | '.join(('judge', 'opinions', 'valid', *shown))} |", "|" + " --- |" * (len(shown) + 3)]
    for row in rows:
        cells = [f"`{row['judge']}`", str(row["opinions"]), str(row["valid"])]
        lines.append(f"| {' | '.join((*cells, *(cell(row, *keys) for keys in shown.values())))} |")
    (panel,) = report.panel.to_dict("records")
    known = {str(key): value for key, value in panel.items()}
    lines += ["", f"| the panel: {known['battles']} battles on {known['questions']} questions | |", "| --- | --- |"]
    lines += [f"| {name} | {text} |" for name, key in PANEL.items() if (text := cell(known, key, key))]
    lines += ["", *(f"{line.line}" for line in ca.Result.of(store.run(run)).settled), *report.notes]
    return lines


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path)
    parser.add_argument("--run", help="id of the run; the newest by default")
    options = parser.parse_args()
    with ca.Store(options.store, create=False) as store:
        print("\n".join(tables(store, options.run)))


if __name__ == "__main__":
    main()
