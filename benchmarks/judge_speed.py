"""How long does a study of judges take, reading the file included?

Writes made-up opinions of five judges in both orders, alone and after one round of discussion, as JSONL, CSV and
Parquet, with reasons of about 220 characters each, and studies each file.

    python benchmarks/judge_speed.py [--opinions 100000] [--json]
"""

import argparse
import csv
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from coupled_arena.studies.judging.reading import read_opinions
from coupled_arena.studies.judging.study import studied

JUDGES, MODELS, SEED = 5, 10, 8
REASONS = "I compared both sides carefully and weighed the reasons. " * 4


def opinions(count: int) -> Iterator[dict[str, Any]]:
    """Yield about so many opinions."""
    rng = np.random.default_rng(SEED)
    pairs = [(i, k) for i in range(MODELS) for k in range(i + 1, MODELS)]
    for battle in range(count // (4 * JUDGES)):
        question, pair = divmod(battle, len(pairs))
        a, b = rng.permutation(pairs[pair]).tolist()
        lead, lengths = 0.2 * (b - a) + rng.normal() / 2, rng.integers(100, 900, 2).tolist()
        for order, sign in (("AB", 1), ("BA", -1)):
            leads = lead + rng.normal(size=JUDGES) + 0.2 * sign
            for stage in (0, 1):
                for judge, own in enumerate(leads + 0.3 * stage * np.sign(leads.sum())):
                    yield {
                        "battle": f"b{battle}", "question": f"q{question}", "replicate": 0,
                        "a": f"m{a}", "b": f"m{b}", "family_a": f"f{a}", "family_b": f"f{b}",
                        "length_a": lengths[0], "length_b": lengths[1], "truth": "A" if lead > 0 else "B",
                        "judge": f"j{judge}", "family": f"f{judge}", "stage": stage, "order": order,
                        "verdict": "A" if own > 0.3 else "B" if own < -0.3 else "tie", "status": "valid",
                        "carried": False, "reasons": REASONS, "completion_tokens": 60,
                    }  # fmt: skip


def written(folder: Path, rows: list[dict[str, Any]]) -> list[Path]:
    """Write the opinions in every format and return the files."""
    import pandas as pd

    files = [folder / f"opinions.{ending}" for ending in ("jsonl", "csv", "parquet")]
    files[0].write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    with files[1].open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    pd.DataFrame(rows).to_parquet(files[2])
    return files


def timed(path: Path) -> dict[str, Any]:
    """Return seconds of reading and studying a file, by the clock and by the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    read = read_opinions(path)
    between = time.perf_counter()
    studied(read)
    end = time.perf_counter()
    return {
        "format": path.suffix[1:],
        "opinions": len(read.table.judge),
        "read": round(between - clock, 2),
        "study": round(end - between, 2),
        "seconds": round(end - clock, 2),
        "processor": round(time.process_time() - processor, 2),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--opinions", type=int, default=100_000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [timed(path) for path in written(Path(folder), list(opinions(options.opinions)))]
    if options.json:
        print(json.dumps(rows))
        return
    print(" | ".join(rows[0]))
    for row in rows:
        print(" | ".join(map(str, row.values())))


if __name__ == "__main__":
    main()
