"""What does a coupled draw cost, against a draw from a stateful generator with the same filters?

The stateful draw is written as it usually is: a uniform of the generator for every token of the vocabulary, the Gumbel
noise `-log(-log u)`, and the argmax of noise plus log probabilities, those outside the nucleus (found by sorting) or
below a filter masked. It works in buffers made once. It is timed in float64, which has the coupled sampler's 53-bit
uniforms, and in float32, whose 24-bit uniforms cannot draw a token below a probability of about 1e-8 as often as they
should.

Prints processor time a token, the least mean of several batches, and ratios taken in one run.

    python benchmarks/sampler.py [--vocabulary 128256] [--repeats 15] [--json]
"""

import argparse
import json
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import DTypeLike, NDArray

from coupled_arena.coupling import Sampler, Sampling, Vocabulary, exponentials

KEY = bytes(range(16))
BATCH = 10
SETTINGS = {
    "top-k 50": Sampling(1, top_k=50),
    "min-p 0.05": Sampling(1, min_p=0.05),
    "top-p 0.9": Sampling(1, top_p=0.9),
    "full, T 1": Sampling(1),
}
BARS = {
    "top-k 50": ("noise", 10.0),
    "min-p 0.05": ("noise", 10.0),
    "top-p 0.9": ("draw", 5.0),
    "full, T 1": ("draw", 2.0),
}
"""What is asked of each setting: how many times less noise costs, or how many times faster a draw is."""


class Stateful:
    """Draws with a generator's next uniforms, one for every token of the vocabulary."""

    def __init__(self, size: int, dtype: DTypeLike) -> None:
        self.generator = np.random.default_rng(7)
        self.noise = np.empty(size, dtype)
        self.scores = np.empty(size, dtype)
        self.weights = np.empty(size, dtype)

    def gumbel(self) -> NDArray[np.floating]:
        """Return Gumbel noise for the whole vocabulary."""
        noise = self.noise
        self.generator.random(out=noise, dtype=noise.dtype)
        np.maximum(noise, 1e-20, out=noise)
        np.log(noise, out=noise)
        np.negative(noise, out=noise)
        np.log(noise, out=noise)
        return np.negative(noise, out=noise)

    def draw(self, logits: NDArray[np.float32], sampling: Sampling) -> int:
        """Return one token."""
        scores, weights = self.scores, self.weights
        np.divide(logits, sampling.temperature, out=scores, casting="same_kind")
        scores -= scores.max()
        np.exp(scores, out=weights)
        scores -= np.log(weights.sum())
        if sampling.top_k is not None:
            scores[np.argpartition(scores, -sampling.top_k)[: -sampling.top_k]] = -np.inf
        if sampling.top_p is not None:
            weights /= weights.sum()
            order = np.argsort(-weights)
            held = np.cumsum(weights[order])
            scores[order[int(np.searchsorted(held, sampling.top_p)) + 1 :]] = -np.inf
        if sampling.min_p is not None:
            scores[scores < scores.max() + np.log(sampling.min_p)] = -np.inf
        return int(np.argmax(np.add(scores, self.gumbel(), out=scores)))


def shapes(size: int) -> dict[str, NDArray[np.float32]]:
    """Return logits as models give them, from a sure to a quite unsure next token, in no order."""
    rng = np.random.default_rng(3)
    rank = np.log(np.arange(1, size + 1))
    laws = {"sure": -2.5 * rank, "usual": -1.6 * rank, "unsure": -1.1 * rank}
    noise = rng.normal(size=size) * 0.5
    return {name: rng.permutation(law + noise).astype(np.float32) for name, law in laws.items()}


def timed(works: dict[str, Callable[[int], object]], repeats: int) -> dict[str, float]:
    """Return the processor time of each work in microseconds: the least mean of a batch, all taken in turn."""
    least = dict.fromkeys(works, float("inf"))
    for repeat in range(repeats):
        for name, work in works.items():
            start = time.process_time()
            for number in range(BATCH):
                work(repeat * BATCH + number)
            least[name] = min(least[name], (time.process_time() - start) / BATCH * 1e6)
    return least


def measure(size: int, repeats: int) -> list[dict[str, object]]:
    """Return one row for every shape of logits and setting."""
    vocabulary = Vocabulary([b"%d" % number for number in range(size)], [0])
    sampler = Sampler(vocabulary)
    stateful = {"float64": Stateful(size, np.float64), "float32": Stateful(size, np.float32)}
    rows: list[dict[str, object]] = []
    for shape, logits in shapes(size).items():
        for setting, sampling in SETTINGS.items():
            law = sampler.law(logits, sampling)
            identities = vocabulary.identities[law.tokens]

            def coupled(number: int, logits: NDArray[np.float32] = logits, sampling: Sampling = sampling) -> object:
                return sampler.draw(logits, sampling, KEY, number)

            def noise(number: int, identities: NDArray[np.uint64] = identities) -> object:
                return exponentials(KEY, number, identities)

            works: dict[str, Callable[[int], object]] = {"coupled": coupled, "noise": noise}
            for name, other in stateful.items():
                works[name] = lambda _, o=other, x=logits, s=sampling: o.draw(x, s)  # type: ignore[misc]
                works[f"noise {name}"] = lambda _, o=other: o.gumbel()  # type: ignore[misc]
            took = timed(works, repeats)
            what, bar = BARS[setting]
            ratios = {
                name: took[f"noise {name}"] / took["noise"] if what == "noise" else took[name] / took["coupled"]
                for name in stateful
            }
            rows.append(
                {
                    "logits": shape,
                    "setting": setting,
                    "candidates": len(law.tokens),
                    "microseconds": took,
                    "what": what,
                    "bar": bar,
                    "ratios": ratios,
                    "draw_ratios": {name: took[name] / took["coupled"] for name in stateful},
                }
            )
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vocabulary", type=int, default=128_256, help="tokens of the vocabulary")
    parser.add_argument("--repeats", type=int, default=15, help="batches of 10 tokens, of which the fastest counts")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    rows = measure(options.vocabulary, options.repeats)
    if options.json:
        print(json.dumps(rows))
        return
    for row in rows:
        took, ratios, draws = (dict(row[name]) for name in ("microseconds", "ratios", "draw_ratios"))  # type: ignore[call-overload]
        print(
            f"{row['logits']:7} {row['setting']:11} {row['candidates']:>7} candidates"
            f"  coupled {took['coupled']:7.0f} us, noise {took['noise']:6.0f}"
            f"  float64 {took['float64']:7.0f}, {took['noise float64']:6.0f}"
            f"  float32 {took['float32']:7.0f}, {took['noise float32']:6.0f}"
            f"  | {row['what']} x{ratios['float64']:.1f} (float32 x{ratios['float32']:.1f}), bar x{row['bar']:.0f}"
            f"  | whole draw x{draws['float64']:.1f} (x{draws['float32']:.1f})"
        )


if __name__ == "__main__":
    main()
