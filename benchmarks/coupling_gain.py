"""What shared dice save between local models, and between ways of aligning their noise.

40 short questions are put to each model 16 times. A reply scores 1 if it holds the accepted answer; its number of words
is a second score. For every pair of models the table shows with shared dice and, in brackets, with dice of each
model's own, formed from the same replies by pairing different replicates:

    identical   share of (question, replicate) whose two replies are one text
    prefix      mean number of leading characters they have in common
    ratio       variance of the score difference within a question, shared over own, with its 95 % interval; below 1
                shared dice save samples; `words` is the same for the number of words

Alignments: `step` and `context` are the product's. `recycled` is a baseline that uses the noise of eight steps over and
over: repetitive dice meet again more often, at the price of the model's own law.

    python benchmarks/coupling_gain.py [--models A B ...] [--questions 40] [--repeats 16] [--tokens 48] [--few-shot]

`--few-shot` continues a list of answered questions instead of a chat, for models without a chat template. Replies are
kept in the folder `--keep`, if given, and not made again.
"""

import argparse
import asyncio
import hashlib
import json
import math
from itertools import combinations
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from coupled_arena.analysis.paired import paired
from coupled_arena.coupling import Sampling, noise_key
from coupled_arena.coupling.alignment import ALIGNMENTS, Alignment, ByStep
from coupled_arena.models.calls import Call, Message
from coupled_arena.models.local.backend import LocalBackend
from coupled_arena.models.local.settings import LocalSettings
from coupled_arena.models.model import Model

MODELS = ("local/smollm2-135m", "local/smollm2-135m:q8_0", "local/smollm2-135m:q4_0")
ITEMS = (
    ("What is the capital of France?", "paris"),
    ("What is the capital of Italy?", "rome"),
    ("What is the capital of Japan?", "tokyo"),
    ("What is the capital of Egypt?", "cairo"),
    ("What is the capital of Spain?", "madrid"),
    ("What is the capital of Russia?", "moscow"),
    ("Which planet do we live on?", "earth"),
    ("Which planet is known as the red planet?", "mars"),
    ("Which planet is the largest of all?", "jupiter"),
    ("Which star is closest to us?", "sun"),
    ("What is the opposite of hot?", "cold"),
    ("What is the opposite of up?", "down"),
    ("What is the opposite of day?", "night"),
    ("What is the opposite of left?", "right"),
    ("What is the opposite of big?", "small"),
    ("How many legs does a spider have?", "eight"),
    ("How many days are in a week?", "seven"),
    ("How many months are in a year?", "twelve"),
    ("How many sides does a triangle have?", "three"),
    ("What is two plus two?", "four"),
    ("Who wrote Romeo and Juliet?", "shakespeare"),
    ("Who painted the Mona Lisa?", "vinci"),
    ("Who was the first president of the United States?", "washington"),
    ("Who developed the theory of relativity?", "einstein"),
    ("What colour is the sky on a clear day?", "blue"),
    ("What colour is fresh grass?", "green"),
    ("What colour is snow?", "white"),
    ("What colour do you get by mixing blue and yellow?", "green"),
    ("What gas do plants take in from the air?", "carbon"),
    ("What is frozen water called?", "ice"),
    ("What do bees make?", "honey"),
    ("What do cows give us to drink?", "milk"),
    ("Which animal is called the king of the jungle?", "lion"),
    ("Which animal has a long trunk?", "elephant"),
    ("Which ocean is the largest?", "pacific"),
    ("Which continent is Brazil in?", "south america"),
    ("In which country are the pyramids of Giza?", "egypt"),
    ("What language is spoken in Brazil?", "portuguese"),
    ("What is the first month of the year?", "january"),
    ("What is the season after winter?", "spring"),
)
"""Questions and what an accepted answer holds."""

SHOTS = (
    "Question: What is the opposite of wet?\nAnswer: dry\nQuestion: What is the capital of Greece?\nAnswer: Athens\n"
)
PERIOD = 8

Floats = NDArray[np.float64]


class Recycled(ByStep):
    """Places the tokens of a reply by step, and begins anew after `PERIOD` of them."""

    def next(self) -> int:
        """Return the position of the next token."""
        return super().next() % PERIOD


WAYS = cast("dict[str, Any]", ALIGNMENTS)
WAYS["recycled"] = Recycled


async def replies(
    model: str, alignment: str, temperature: float, options: argparse.Namespace
) -> tuple[tuple[str, ...], ...]:
    """Return the texts of a model, by question and replicate."""
    settings = [model, alignment, temperature, options.questions, options.repeats, options.tokens, options.few_shot]
    name = hashlib.blake2b(json.dumps(settings).encode(), digest_size=8).hexdigest()
    kept = options.keep / f"{name}.json" if options.keep else None
    if kept and kept.exists():
        return tuple(tuple(row) for row in json.loads(kept.read_text(encoding="utf-8"))["texts"])
    backend = LocalBackend(LocalSettings(threads=options.threads))

    def call(question: int, repeat: int) -> Call:
        text = ITEMS[question][0]
        asked = (SHOTS + f"Question: {text}\nAnswer:") if options.few_shot else text
        return Call(
            Model(model),
            () if options.few_shot else (Message("user", asked),),
            Sampling(temperature),
            options.tokens,
            noise_key(seed=1, scope=(str(question), str(repeat)), role=("answer",), label=(), part="whole"),
            prefix=asked if options.few_shot else "",
            stop=("\n",) if options.few_shot else (),
            alignment=cast(Alignment, alignment),
        )

    rows = []
    for first in range(0, options.questions, 4):
        some = range(first, min(first + 4, options.questions))
        calls = [call(question, repeat) for question in some for repeat in range(options.repeats)]
        answers = iter(await asyncio.gather(*map(backend.complete, calls)))
        rows += [tuple(next(answers).text for _ in range(options.repeats)) for _ in some]
    await backend.aclose()
    if kept:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps({"settings": settings, "texts": rows}), encoding="utf-8")
    return tuple(rows)


def scores(texts: tuple[tuple[str, ...], ...]) -> tuple[Floats, Floats]:
    """Return whether each reply holds the accepted answer, and its number of words, shape (questions, repeats)."""
    right = [[ITEMS[row][1] in text.lower() for text in texts[row]] for row in range(len(texts))]
    words = [[len(text.split()) for text in row] for row in texts]
    return np.array(right, dtype=np.float64), np.array(words, dtype=np.float64)


def ratio(one: Floats, other: Floats, seed: int = 0) -> tuple[float, float, float]:
    """Return the variance of the difference within a question, shared over own dice, with a bootstrap interval."""
    questions, repeats = one.shape
    within = (one - other).var(axis=1, ddof=1)
    covariance = ((one - one.mean(1, keepdims=True)) * (other - other.mean(1, keepdims=True))).sum(1) / (repeats - 1)
    own = within + 2 * covariance
    drawn = np.random.default_rng(seed).integers(questions, size=(2000, questions))
    many = within[drawn].sum(1), own[drawn].sum(1)
    varied = many[1] > 0
    if not varied.any():
        return math.nan, math.nan, math.nan
    low, high = np.quantile(many[0][varied] / many[1][varied], (0.025, 0.975))
    return float(within.sum() / own.sum()), float(low), float(high)


def alike(one: tuple[tuple[str, ...], ...], other: tuple[tuple[str, ...], ...], shift: int) -> tuple[float, float]:
    """Return the share of equal texts and the mean common prefix, replicates shifted against each other."""
    pairs = [
        (text, row[(place + shift) % len(row)])
        for texts, row in zip(one, other, strict=True)
        for place, text in enumerate(texts)
    ]
    return sum(x == y for x, y in pairs) / len(pairs), sum(common(x, y) for x, y in pairs) / len(pairs)


def common(one: str, other: str) -> int:
    """Return how many leading characters two texts have in common."""
    shorter = min(len(one), len(other))
    return next((place for place in range(shorter) if one[place] != other[place]), shorter)


def main() -> None:
    """Ask and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--alignments", nargs="+", default=["step", "context", "recycled"], choices=sorted(WAYS))
    parser.add_argument("--temperatures", nargs="+", type=float, default=[0.7, 1.0])
    parser.add_argument("--questions", type=int, default=len(ITEMS))
    parser.add_argument("--repeats", type=int, default=16)
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--few-shot", action="store_true")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    for alignment in options.alignments:
        for temperature in options.temperatures:
            texts = {model: asyncio.run(replies(model, alignment, temperature, options)) for model in options.models}
            print(f"{alignment}, T = {temperature}", flush=True)
            for a, b in combinations(options.models, 2):
                right, words = zip(scores(texts[a]), scores(texts[b]), strict=True)
                same, prefix = alike(texts[a], texts[b], 0)
                others = [alike(texts[a], texts[b], shift) for shift in range(1, options.repeats)]
                apart, begun = np.mean(others, axis=0) if others else (0.0, 0.0)
                found = paired(*right)
                saved = "" if found.saved is None else f", saved {found.saved:.0%} in all"
                print(
                    f"  {a.removeprefix('local/')} and {b.removeprefix('local/')}: identical {same:.3f} ({apart:.3f}), "
                    f"prefix {prefix:.1f} ({begun:.1f}), right {right[0].mean():.2f} and {right[1].mean():.2f}, "
                    "ratio {:.2f} [{:.2f}, {:.2f}]".format(*ratio(*right))
                    + ", words {:.2f} [{:.2f}, {:.2f}]".format(*ratio(*words))
                    + saved,
                    flush=True,
                )


if __name__ == "__main__":
    main()
