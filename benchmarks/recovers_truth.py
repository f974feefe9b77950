"""Does a tournament find the truth that its simulated world knows?

Plays worlds of eight models with skills from N(0,1) under the quickstart's rules (8 domains x 2 questions, Swiss,
5 judges, one discussion round) and prints, per world and in the median: the rank correlation of ratings and skills, how
often one judge alone and the committee agree with the truth, the share of A in one judge's verdicts, and the rank
correlation after the verdicts were shuffled among the battles (the median of several shuffles).

    python benchmarks/recovers_truth.py [--worlds 20] [--json]
"""

import argparse
import asyncio
import json
import re
import statistics
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

import coupled_arena as ca
from coupled_arena.models.calls import Call, Message
from coupled_arena.models.simulated.backend import SimulatedBackend
from coupled_arena.models.simulated.world import ClaimBook
from coupled_arena.tournaments.playing.events import CallAnswered, Event
from coupled_arena.tournaments.results.leaderboard import rated

NAMES = ("ada", "bob", "cleo", "dan", "eve", "finn", "gus", "hal")
PROMPTS_CHECKED = 200
SHUFFLES = 25
KEYS = ("spearman", "one_judge", "committee", "share_a", "shuffled")


def tournament(world: int) -> tuple[ca.Tournament, dict[str, float]]:
    """Return a tournament in a world and the true skills of its models."""
    skills = np.random.default_rng(world).normal(size=len(NAMES))
    models = [f"sim/{name}?skill={skill:.6f}" for name, skill in zip(NAMES, skills, strict=True)]
    definition = ca.Tournament(
        name=f"world-{world}",
        models=models,
        judges=[f"sim/j{number}" for number in range(1, 6)],
        examiner="sim/examiner",
        questions_per_domain=2,
        seed=world,
    )
    return definition, {f"sim/{name}": float(skill) for name, skill in zip(NAMES, skills, strict=True)}


def spearman(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the rank correlation of two sequences without ties."""
    ranks = [np.argsort(np.argsort(values)) for values in (x, y)]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def correlation(result: ca.Result, battles: Sequence[ca.Battle], skills: dict[str, float]) -> float:
    """Return the rank correlation of skills and the ratings that these battles give."""
    ratings = rated(result.tournament, battles)
    return spearman([rating or 0.0 for rating in ratings.ratings], [skills[name] for name in ratings.names])


def shuffled(battles: Sequence[ca.Battle], seed: int) -> list[ca.Battle]:
    """Return the battles with their decisions dealt out anew."""
    order = np.random.default_rng(seed).permutation(len(battles))
    return [b.model_copy(update={"decision": battles[i].decision}) for b, i in zip(battles, order, strict=True)]


def accuracy(result: ca.Result) -> tuple[float, float, float]:
    """Return how often one judge alone and the committee are right, and one judge's share of A."""
    world = ClaimBook(result.tournament.seed)
    texts = {question.id: question.text for question in result.questions}
    alone: list[bool] = []
    committee: list[bool] = []
    for battle in result.battles:
        truth = world.truth_of(texts[battle.question], battle.turns)
        alone += [opinion.verdict == truth for opinion in battle.opinions if opinion.stage == 0]
        committee.append(battle.decision.verdict == truth)
    sides = [o.verdict for b in result.battles for o in b.opinions if o.stage == 0 and o.verdict in ("A", "B")]
    return statistics.fmean(alone), statistics.fmean(committee), sides.count("A") / len(sides)


def without_prose(call: Call) -> Call:
    """Return a call whose words outside all tags are replaced by others."""

    def scrub(text: str) -> str:
        parts = re.split(r"(<(question|reference|transcript|opinion)\b.*?</\2>)", text, flags=re.DOTALL)
        return "".join(p if p.startswith("<") else "Lorem ipsum. " for p in parts[0::3] + parts[1::3])

    messages = tuple(Message(m.role, scrub(m.content) if m.role == "user" else m.content) for m in call.messages)
    return replace(call, messages=messages)


async def moved_by_prose(calls: Sequence[Call]) -> int:
    """Return how many judges' replies change when the prose around the tagged text does."""
    backend = SimulatedBackend()
    pairs = [(await backend.complete(call), await backend.complete(without_prose(call))) for call in calls]
    return sum(one.text != other.text for one, other in pairs)


def main() -> None:
    """Play the worlds and print what they show."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--worlds", type=int, default=20)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    judged: list[Call] = []

    def listen(event: Event) -> None:
        if isinstance(event, CallAnswered) and "<transcript>" in event.call.messages[-1].content:
            judged.append(event.call)

    for world in range(options.worlds):
        definition, skills = tournament(world)
        result = definition.run(listeners=[listen] if not world else [])
        alone, committee, share_a = accuracy(result)
        row = {
            "world": world,
            "spearman": correlation(result, result.battles, skills),
            "one_judge": alone,
            "committee": committee,
            "share_a": share_a,
            "shuffled": statistics.median(
                correlation(result, shuffled(result.battles, SHUFFLES * world + n), skills) for n in range(SHUFFLES)
            ),
        }
        rows.append(row)
        if not options.json:
            print(f"world {world:>2}  " + "  ".join(f"{key} {row[key]:.3f}" for key in KEYS))
    median = {key: statistics.median(row[key] for row in rows) for key in KEYS}
    checked = judged[:PROMPTS_CHECKED]
    moved = asyncio.run(moved_by_prose(checked))
    if options.json:
        document = {"worlds": rows, "median": median, "prompts_checked": len(checked), "moved_by_prose": moved}
        print(json.dumps(document, indent=1))
        return
    lowest, highest = (extreme(row["one_judge"] for row in rows) for extreme in (min, max))
    print(f"median  {'  '.join(f'{key} {value:.3f}' for key, value in median.items())}")
    print(
        f"one judge alone is right on {lowest:.1%} to {highest:.1%} of a world's battles; "
        f"changing all words outside the tags moved {moved} of {len(checked)} judges' replies"
    )


if __name__ == "__main__":
    main()
