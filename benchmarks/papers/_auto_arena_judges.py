"""How far Auto-Arena's judges and its volunteers agree, and its other studies of questions."""

from collections.abc import Hashable, Iterator, Sequence
from math import comb, isclose

import numpy as np

from benchmarks.papers._auto_arena_files import NO_BATTLES, Files, number, share
from benchmarks.papers._rows import Row, agree
from coupled_arena.analysis.agreement import Agreement, kappa, percent_agreement
from coupled_arena.analysis.panel import krippendorff_alpha

VERDICTS = ("A", "tie", "B")


def judges(files: Files) -> Iterator[Row]:
    """The judges' agreement before and after they discussed."""
    said = {"v4": {"before": (53, 0.156, 0.409), "after": (64, 0.271, 0.537)}}
    said["v1"] = {"before": (48, 0.115, 0.362), "after": (68, 0.377, 0.558)}
    for version, stages in said.items():
        table = f"{version}: agreement of judges"
        for stage, (together, among, with_majority) in stages.items():
            how = "pairs of votes pooled" if version == "v4" else "mean over pairs of judges"
            yield Row(
                table=table,
                what=f"agreement {stage} discussion, %",
                n=None,
                recomputed=None,
                published=together,
                note=f"{NO_BATTLES}; {how}",
            )
            lines = files.rows(f"kappa_judges_{version}_{stage}.csv")
            names = [row["judge"] for row in lines]
            pairs = [number(a[b]) for place, a in enumerate(lines) for b in names[place + 1 :]]
            yield _mean(table, f"kappa among judges {stage} discussion", pairs, among, "pairs of judges")
            column = f"kappa_with_majority_{stage}"
            own = [
                number(row[column]) for row in files.rows("kappa_vs_majority.csv") if row["paper_version"] == version
            ]
            yield _mean(table, f"kappa with the majority {stage} discussion", own, with_majority, "judges")


def _mean(table: str, what: str, values: Sequence[float], published: float, of: str) -> Row:
    mean = float(np.mean(values))
    note = f"mean of {of}, from values printed with two digits"
    # Rounded to two digits, they leave their mean uncertain by half of the second.
    return Row(
        table=table,
        what=what,
        n=len(values),
        recomputed=mean,
        published=published,
        match=abs(mean - published) < 0.0055,
        note=note,
    )


def people(files: Files) -> Iterator[Row]:
    """Two volunteers and the committee on the same 24 battles."""
    table = "human study: 24 battles, 21 with votes"
    battles = files.rows("human_eval_debates.csv")
    questions = [row["qid"] for row in battles]
    committee: list[Hashable] = [row["winner"] for row in battles]
    # The form repeats one column name, so its lines are read by place; an empty cell is no vote.
    votes: list[list[Hashable]] = [
        [cell or None for cell in line[1:]] for line in files.lines("human_eval_responses_raw.csv")
    ]
    first, second, discussed = votes[1], votes[2], votes[4]
    yield _agreement(table, "annotators: kappa", kappa(first, second, cluster=questions), 0.4227)
    whom = {
        "annotator 1": (first, 0.1020),
        "annotator 2": (second, 0.0841),
        "annotators after talking": (discussed, 0.0597),
    }
    for who, (labels, published) in whom.items():
        apart = "the files write Tie for people and tie for the committee, which the code takes for two labels"
        yield _agreement(
            table, f"committee and {who}: kappa", kappa(labels, committee, cluster=questions), published, apart
        )
    for who, (labels, _) in whom.items():
        own = [_verdict(label) for label in labels]
        other = [_verdict(label) for label in committee]
        found = kappa(own, other, categories=VERDICTS, cluster=questions)
        yield _agreement(table, f"committee and {who}: kappa, one spelling", found)
        found = percent_agreement(own, other, categories=VERDICTS, cluster=questions)
        yield _agreement(table, f"committee and {who}: agreement, %", found, unit=100)
        found = percent_agreement(own, other, categories=VERDICTS, without=["tie"], cluster=questions)
        yield _agreement(table, f"committee and {who}: agreement without ties, %", found, unit=100)
    panel = [[_verdict(label) for label in labels] for labels in (first, second, committee)]
    panel[2] = [None if first_vote is None else label for first_vote, label in zip(panel[0], panel[2], strict=True)]
    yield _agreement(table, "annotators and committee: alpha", krippendorff_alpha(panel, cluster=questions))
    for who, labels in (("annotator 1", panel[0]), ("annotator 2", panel[1]), ("committee", panel[2])):
        given = [label for label in labels if label is not None]
        for verdict in VERDICTS:
            yield Row(table=table, what=f"{who}: verdicts {verdict}", n=len(given), recomputed=given.count(verdict))


def _verdict(label: Hashable) -> Hashable:
    return "tie" if label == "Tie" else label


def _agreement(
    table: str, what: str, found: Agreement, published: float | None = None, note: str = "", unit: int = 1
) -> Row:
    value, low, high = (None if number is None else unit * number for number in (found.value, found.low, found.high))
    note = "; ".join(part for part in (note, found.reason) if part)
    match = agree(value, published, 4)
    return Row(
        table=table,
        what=what,
        n=found.items,
        recomputed=value,
        low=low,
        high=high,
        published=published,
        match=match,
        note=note,
    )


def question_source(files: Files) -> Iterator[Row]:
    """GPT-4 against Haiku on math questions from three sources."""
    table = "ablation: who writes the questions"
    wins = {
        row["question_source"]: (int(row["gpt4_wins"]), int(row["haiku_wins"]))
        for row in files.rows("ablation_question_source_wins.csv")
    }
    for source, (won, lost) in wins.items():
        value, low, high = share(won, won + lost)
        note = "ties left out; counts recovered from the printed rates"
        what = f"GPT-4 against Haiku, questions {source}: wins, %"
        yield Row(table=table, what=what, n=won + lost, recomputed=value, low=low, high=high, note=note)
    for source, published in (("haiku_generated", 1.0), ("real_life", 0.76)):
        value = fisher(wins["gpt4_generated"], wins[source])
        yield Row(
            table=table,
            what=f"gpt4_generated and {source}: Fisher's p",
            n=sum(wins["gpt4_generated"] + wins[source]),
            recomputed=value,
            published=published,
            match=agree(value, published, 2),
            note="from counts recovered from printed rates; with 30 battles each only large shifts would show",
        )


def fisher(first: tuple[int, int], second: tuple[int, int]) -> float:
    """Return the two-sided p value of Fisher's exact test of two rows of counts."""
    row, column, total = sum(first), first[0] + second[0], sum(first + second)

    def chance(count: int) -> float:
        return comb(row, count) * comb(total - row, column - count) / comb(total, column)

    every = [chance(count) for count in range(max(0, column - (total - row)), min(row, column) + 1)]
    seen = chance(first[0])
    return sum(value for value in every if value < seen or isclose(value, seen))


def synthetic(files: Files) -> Iterator[Row]:
    """Whether volunteers can tell written questions from real ones."""
    table = "v4 table 8: synthetic or real, 59 items"
    printed = {
        "volunteer_1": {"cannot_tell": 46, "incorrect": 27},
        "volunteer_2": {"cannot_tell": 49, "incorrect": 12},
    }
    for row in files.rows("synthetic_vs_real_human_study.csv"):
        who, total = row["rater"], int(row["n"])
        for answer in ("correct", "cannot_tell", "incorrect"):
            value, low, high = share(int(row[answer]), total)
            published = printed[who].get(answer)
            swapped = "the table prints these two rows in each other's place; the counts are the notebook's"
            yield Row(
                table=table,
                what=f"{who}: {answer.replace('_', ' ')}, %",
                n=total,
                recomputed=value,
                low=low,
                high=high,
                published=published,
                match=agree(value, published, 0),
                note="" if published is None else swapped,
            )
    note = "only the volunteers' totals were published, not their answers"
    yield Row(table=table, what="volunteers: kappa", n=None, recomputed=None, published=-0.12, note=note)


def contamination(files: Files) -> Iterator[Row]:
    """How many questions a search engine finds."""
    table = "contamination: questions found by a search engine, %"
    said = {"ours": (2, 28), "MMLU": (42, 41), "ARC-Challenge": (33, 35), "HellaSwag": (18, 43)}
    for row in files.rows("contamination.csv"):
        total = int(row["n_questions"])
        for column, published in zip(("substring_pct", "embedding_pct"), said[row["benchmark"]], strict=True):
            count = round(number(row[column]) * total / 100)
            value, low, high = share(count, total)
            yield Row(
                table=table,
                what=f"{row['benchmark']}, {column.removesuffix('_pct')}",
                n=total,
                recomputed=value,
                low=low,
                high=high,
                published=published,
                match=agree(value, published, 0),
                note="the file holds the shares; what the engine answered was not published",
            )
