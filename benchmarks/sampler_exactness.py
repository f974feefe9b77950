"""Does the sampler draw from exactly the law it says, and would one that is 1 % wrong be noticed?

Every case draws from a law that is known and takes two-sided p values of three statistics: chi-squared over pooled
cells, and the likelihood ratio against two samplers that are 1 % wrong, one with a temperature 1 % too high, one that
takes any candidate in 1 draw of 100. A case is rejected where a p value is below `LEVEL` over the number of p values
taken in all (Bonferroni), so that a right sampler passes all of them with a probability of at least 1 - `LEVEL`. Each
case is then drawn by samplers that really are that wrong, and those must be rejected.

What frequencies can show is limited. Raising one weight of share p by 1 % moves a frequency by p (1 - p) / 100, at most
2.2 standard errors of 200,000 draws; a temperature 1 % too high moves the likelihood ratio by the square root of
20 Var(log p), 5 standard errors for the best law of five candidates, where the threshold is 4.9. So laws of few
candidates are drawn from more often, and the smallest errors are found by `differences`, draw for draw, against an
argmax over the noise of the whole vocabulary.

    python benchmarks/sampler_exactness.py [--draws 200000] [--json]
"""

import argparse
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from coupled_arena.coupling import Sampler, Sampling, Vocabulary, exponentials, noise_key
from coupled_arena.coupling.alignment import ALIGNMENTS, Alignment
from coupled_arena.coupling.laws import joint_law

Floats = NDArray[np.float64]
Logits = NDArray[np.float32]
Counts = NDArray[np.int64]

DRAWS = 200_000
LEVEL = 1e-4
"""Chance that a right sampler fails any of the statistics."""
P_VALUES = 60
"""More p values than are taken in all, for the correction."""
THRESHOLD = LEVEL / P_VALUES
WRONG = 1.01
"""A sampler that is 1 % wrong has its temperature so many times too high."""
LEAST_EXPECTED = 10
MOST_CELLS = 64


def key(name: str) -> bytes:
    """Return the noise key of a case."""
    return noise_key(seed=7, scope=("exactness",), role=(), label=(name,), part="whole")


def words(size: int) -> list[bytes]:
    """Return so many tokens."""
    return [b"%d" % number for number in range(size)]


def plain_law(logits: Logits, vocabulary: Vocabulary, sampling: Sampling) -> Floats:
    """Return the probability of every token after temperature, merging and filters, by sorting everything."""
    ends = vocabulary.end_tokens
    scaled = (logits.astype(np.float64) - float(logits.max())) / sampling.temperature
    if len(ends):
        merged = np.logaddexp.reduce(scaled[ends])
        scaled[ends] = -np.inf
        scaled[ends[0]] = merged
    order = np.lexsort((vocabulary.identities, -scaled))[: sampling.top_k]
    weights = np.exp(scaled[order])
    if sampling.top_p is not None and sampling.top_p < 1:
        order = order[: int(np.searchsorted(np.cumsum(weights), sampling.top_p * weights.sum())) + 1]
    if sampling.min_p is not None:
        order = order[scaled[order] >= scaled[order[0]] + math.log(sampling.min_p)]
    law = np.zeros(len(logits))
    law[order] = np.exp(scaled[order])
    law /= law.sum()
    return law


def plain_argmax(law: Floats, vocabulary: Vocabulary, key: bytes, position: int) -> int:
    """Return the token that noise for the whole vocabulary draws from a law."""
    with np.errstate(divide="ignore"):
        return int(np.argmax(np.log(law) - np.log(exponentials(key, position, vocabulary.identities))))


def hotter(law: Floats) -> Floats:
    """Return the law at a temperature 1 % higher, of the same candidates."""
    heated: Floats = law ** (1 / WRONG)
    heated /= heated.sum()
    return heated


def astray(law: Floats) -> Floats:
    """Return the law of a sampler that takes any candidate in 1 draw of 100."""
    return np.where(law > 0, 0.99 * law + 0.01 / np.count_nonzero(law), 0)


def p_of_normal(z: float) -> float:
    """Return the two-sided p value of a standard normal statistic."""
    return math.erfc(abs(z) / math.sqrt(2))


def chi_squared(counts: Counts, law: Floats) -> float:
    """Return the p value of chi-squared over cells pooled in the order of their shares.

    A cell expects at least 10 draws and a 64th of all of them, unless a single token does alone. The p value is Wilson
    and Hilferty's (1931), which is a little too large in the tail for few cells.
    """
    total = int(counts.sum())
    order = np.argsort(-law, kind="stable")
    least = max(LEAST_EXPECTED, total / MOST_CELLS) if np.count_nonzero(law) > MOST_CELLS else LEAST_EXPECTED
    cells = np.floor(np.minimum(np.cumsum(law[order]) * total / least, 1e9) - 1e-9).astype(np.int64)
    cells = np.unique(cells, return_inverse=True)[1]
    expected = np.bincount(cells, law[order] * total)
    observed = np.bincount(cells, counts[order])
    if len(expected) > 1 and expected[-1] < LEAST_EXPECTED:
        for column in (expected, observed):
            column[-2] += column[-1]
        expected, observed = expected[:-1], observed[:-1]
    freedom = len(expected) - 1
    ratio = float(((observed - expected) ** 2 / expected).sum()) / freedom
    spread = 2 / (9 * freedom)
    return math.erfc((ratio ** (1 / 3) - (1 - spread)) / math.sqrt(2 * spread)) / 2


def likelihood_ratio(counts: Counts, law: Floats, alternative: Floats) -> float:
    """Return how many standard errors the log likelihood ratio lies from what the law lets expect."""
    possible = law > 0
    law, seen = law[possible], counts[possible]
    gain = np.log(alternative[possible] / law)
    mean = law @ gain
    return float((seen @ gain - seen.sum() * mean) / math.sqrt(seen.sum() * (law @ (gain - mean) ** 2)))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the statistics say about a sample."""

    chi: float
    """p value of chi-squared."""
    hotter: float
    """Standard errors towards a temperature 1 % too high."""
    astray: float
    """Standard errors towards any candidate in 1 draw of 100."""
    impossible: int
    """Draws of tokens that have no probability."""

    @property
    def p(self) -> float:
        """The smallest p value."""
        return min(self.chi, p_of_normal(self.hotter), p_of_normal(self.astray)) if not self.impossible else 0.0

    @property
    def rejected(self) -> bool:
        """Whether the sample is not from the law, at the family-wise level."""
        return self.p < THRESHOLD


def verdict(counts: Counts, law: Floats, alternative: Floats | None = None) -> Verdict:
    """Return what the statistics say about counts of tokens; the alternative is the law 1 % hotter if None."""
    return Verdict(
        chi_squared(counts, law),
        likelihood_ratio(counts, law, hotter(law) if alternative is None else alternative),
        likelihood_ratio(counts, law, astray(law)),
        int(counts[law == 0].sum()),
    )


@dataclass(frozen=True, slots=True)
class Case:
    """Logits and settings to draw with."""

    name: str
    """What is drawn."""
    logits: Logits
    """Shape (vocabulary,)."""
    sampling: Sampling
    """Temperature and filters."""
    ends: tuple[int, ...] = ()
    """End tokens."""
    times: int = 1
    """How many times as many draws as asked for are made; laws of few candidates need more to show 1 %."""
    alignment: Alignment = "step"
    """Where the positions come from."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The tokens, which are numbers in decimal digits."""
        return Vocabulary(words(len(self.logits)), self.ends)

    @property
    def law(self) -> Floats:
        """The exact law, shape (vocabulary,)."""
        return plain_law(self.logits, self.vocabulary, self.sampling)


def two_levels(size: int, likely: int, gap: float, spread: float = 0.5) -> Logits:
    """Return logits of a few likely tokens and many unlikely ones: laws whose log probabilities vary much."""
    noise = np.random.default_rng(size).normal(size=size) * spread
    return (noise + np.where(np.arange(size) < likely, gap, 0)).astype(np.float32)


CASES = (
    Case("5 candidates", two_levels(5, 1, 2.1, 0.2), Sampling(0.7), times=4),
    Case("50 candidates", two_levels(50, 3, 3.6), Sampling(1)),
    Case("50 candidates, T 0.7", two_levels(50, 3, 2.6), Sampling(0.7)),
    Case("1,000 candidates", two_levels(1000, 5, 5.4), Sampling(1)),
    Case("top-k 50", two_levels(1000, 3, 3.6), Sampling(1, top_k=50), times=2),
    Case("top-p 0.9", two_levels(100, 3, 3.9), Sampling(1, top_p=0.9), times=2),
    Case("min-p 0.01", two_levels(70, 2, 3.6, 0.8), Sampling(1, min_p=0.01), times=2),
    Case("two end tokens, T 0.7", two_levels(30, 4, 2.3), Sampling(0.7), ends=(0, 2), times=2),
    Case("context", two_levels(40, 3, 3.4, 0.3), Sampling(1), alignment="context"),
)
FULL = Case("full vocabulary of 49,152", two_levels(49_152, 10, 8.5, 1.0), Sampling(1))


def replied(case: Case, draws: int, sampling: Sampling | None = None) -> NDArray[np.intp]:
    """Return the tokens of one reply of so many tokens, placed as its alignment places them."""
    law = Sampler(case.vocabulary).law(case.logits, sampling or case.sampling)
    if case.alignment == "step":
        return law.tokens_at(key(case.name), np.arange(draws, dtype=np.uint64))
    positions, tokens, name = ALIGNMENTS[case.alignment](), np.empty(draws, dtype=np.intp), key(case.name)
    for number in range(draws):
        token = law.draw(name, positions.next()).token
        positions.append(b"%d" % token)
        tokens[number] = token
    return tokens


def judged(case: Case, tokens: NDArray[np.intp]) -> Verdict:
    """Return what the statistics say about the tokens of a case."""
    return verdict(np.bincount(tokens, minlength=len(case.logits)), case.law)


def too_hot(case: Case, draws: int) -> NDArray[np.intp]:
    """Draw with a temperature 1 % too high."""
    return replied(case, draws, replace(case.sampling, temperature=case.sampling.temperature * WRONG))


def led_astray(tokens: NDArray[np.intp], law: Floats) -> NDArray[np.intp]:
    """Return the tokens with any candidate in the place of every 100th."""
    tokens, candidates = tokens.copy(), np.flatnonzero(law)
    tokens[::100] = np.random.default_rng(1).choice(candidates, len(tokens[::100]))
    return tokens


def edges_off(case: Case, draws: int) -> list[NDArray[np.intp]]:
    """Draw with one candidate too many and with one too few behind the filter."""
    kept = np.count_nonzero(case.law)
    return [replied(case, draws, Sampling(case.sampling.temperature, top_k=int(k))) for k in (kept - 1, kept + 1)]


def unmerged(case: Case, draws: int) -> NDArray[np.intp]:
    """Draw with end tokens that are candidates each by itself, with the one noise of the end."""
    vocabulary = case.vocabulary
    scaled = case.logits.astype(np.float64) / case.sampling.temperature
    noise = exponentials(key(case.name), np.arange(draws, dtype=np.uint64), vocabulary.identities)
    tokens = np.argmax(scaled - np.log(noise), axis=1)
    return np.where(np.isin(tokens, case.ends), case.ends[0], tokens)


def merged_early(case: Case, draws: int) -> NDArray[np.intp]:
    """Draw with end tokens that were merged before the temperature was applied."""
    logits = case.logits.copy()
    logits[case.ends[0]] = np.logaddexp.reduce(case.logits[list(case.ends)])
    logits[list(case.ends[1:])] = -np.inf
    return replied(replace(case, logits=logits), draws)


PAIR = (np.array([0.45, 0.25, 0.15, 0.1, 0.05]), np.array([0.3, 0.3, 0.1, 0.1, 0.2]))
SHUFFLE = np.array([3, 0, 5, 1, 4])
"""Where the second model of the pair keeps the tokens of the first; its vocabulary has one more."""


def pair_law(alternative: bool = False) -> Floats:
    """Return the joint law of the pair, or of the pair with a second model that is 1 % too hot, shape (25,)."""
    return joint_law(PAIR[0], hotter(PAIR[1]) if alternative else PAIR[1]).ravel()


def pair_counts(draws: int, temperature: float = 1.0, other: str = "pair") -> Counts:
    """Return how often two models with different vocabularies answer what together, shape (25,)."""
    positions = np.arange(draws, dtype=np.uint64)
    names, more = words(5), [b"" for _ in range(6)]
    rows = np.full(6, -np.inf, dtype=np.float32)
    for answer, place in enumerate(SHUFFLE):
        more[place], rows[place] = names[answer], np.log(PAIR[1][answer])
    one = Sampler(Vocabulary(names, [])).law(np.log(PAIR[0]).astype(np.float32), Sampling(1))
    two = Sampler(Vocabulary(more, [])).law(rows, Sampling(temperature))
    back = np.argsort(np.append(SHUFFLE, 2))
    answers = one.tokens_at(key("pair"), positions) * 5 + back[two.tokens_at(key(other), positions)]
    return np.bincount(answers, minlength=25)


Draw = Callable[[Logits, Vocabulary, Sampling, bytes, int], int]
"""How a token is drawn from logits: what is checked by `differences`."""


def as_it_is(logits: Logits, vocabulary: Vocabulary, sampling: Sampling, key: bytes, position: int) -> int:
    """Draw with the sampler."""
    return Sampler(vocabulary).draw(logits, sampling, key, position).token


def random_cases(number: int, seed: int = 11) -> list[tuple[Logits, Vocabulary, Sampling]]:
    """Return random logits and settings: ties, impossible tokens, huge and tiny logits, extreme temperatures."""
    rng = np.random.default_rng(seed)
    vocabularies = [Vocabulary(words(size), ends) for size in (2, 5, 40, 300, 2500, 6000) for ends in ([], [1, 0])]
    cases = []
    for _ in range(number):
        vocabulary = vocabularies[min(int(rng.geometric(0.2)) - 1, len(vocabularies) - 1)]
        size = len(vocabulary)
        values = rng.normal(size=size) * 10 ** rng.uniform(-1, 1.3)
        if rng.random() < 0.3:
            values = np.round(values)
        if rng.random() < 0.2:
            values[rng.random(size) < 0.5] = -np.inf
        if rng.random() < 0.05:
            values *= 10 ** rng.uniform(3, 30)
        values[rng.integers(size)] = max(0.0, float(values.max()))
        temperature = float(10 ** (rng.uniform(-9, 9) if rng.random() < 0.1 else rng.uniform(-1, 0.7)))
        filters = {
            "top_k": int(rng.integers(1, size + 3)) if rng.random() < 0.3 else None,
            "top_p": float(rng.uniform(0.05, 1)) if rng.random() < 0.3 else None,
            "min_p": float(10 ** rng.uniform(-4, 0)) if rng.random() < 0.3 else None,
        }
        cases.append((values.astype(np.float32), vocabulary, Sampling(temperature, **filters)))  # type: ignore[arg-type]
    return cases


def differences(cases: list[tuple[Logits, Vocabulary, Sampling]], draw: Draw) -> int:
    """Return in how many random cases a draw is not the plain argmax over the noise of the whole vocabulary."""
    found, name, law, last = 0, key("argmax"), np.empty(0), None
    for position, (logits, vocabulary, sampling) in enumerate(cases):
        if logits is not last:
            law, last = plain_law(logits, vocabulary, sampling), logits
        found += draw(logits, vocabulary, sampling, name, position) != plain_argmax(law, vocabulary, name, position)
    return found


def report(draws: int) -> list[dict[str, object]]:
    """Return one row a case: the verdict on the sampler and the smallest p values of wrong ones."""
    rows: list[dict[str, object]] = []

    def add(name: str, number: int, right: Verdict, wrong: dict[str, Verdict]) -> None:
        rows.append(
            {
                "case": name,
                "draws": number,
                "chi": right.chi,
                "z_hotter": right.hotter,
                "z_astray": right.astray,
                "exact": not right.rejected,
                "wrong": {mutant: {"p": found.p, "rejected": found.rejected} for mutant, found in wrong.items()},
            }
        )

    for case in (*CASES, FULL):
        number = draws * case.times
        tokens = replied(case, number)
        wrong = {"1 % too hot": judged(case, too_hot(case, number))}
        wrong["1 % astray"] = judged(case, led_astray(tokens, case.law))
        if case.sampling.top_k or case.sampling.top_p or case.sampling.min_p:
            few, many = edges_off(case, number)
            wrong |= {"one too few": judged(case, few), "one too many": judged(case, many)}
        if case.ends:
            wrong |= {"ends not merged": judged(case, unmerged(case, number))}
            wrong |= {"ends merged before T": judged(case, merged_early(case, number))}
        add(case.name, number, judged(case, tokens), wrong)
    pair = {"second 1 % too hot": pair_counts(draws, WRONG), "dice of its own": pair_counts(draws, other="own")}
    null, alternative = pair_law(), pair_law(alternative=True)
    add(
        "two models together",
        draws,
        verdict(pair_counts(draws), null, alternative),
        {name: verdict(counts, null, alternative) for name, counts in pair.items()},
    )
    return rows


def main() -> None:
    """Draw, judge and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=DRAWS, help="draws of a case")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args()
    rows = report(options.draws)
    wrong = differences(random_cases(10_000), as_it_is)
    if options.json:
        print(json.dumps({"threshold": THRESHOLD, "cases": rows, "differences_from_argmax": wrong}))
        return
    print(f"rejected below p = {THRESHOLD:.2g}")
    for row in rows:
        print(
            f"{row['case']:28} {row['draws']:>8} draws: chi p {row['chi']:.3f}, hotter z {row['z_hotter']:+.2f}", end=""
        )
        print(f", astray z {row['z_astray']:+.2f}: {'exact' if row['exact'] else 'WRONG'}")
        for name, found in dict(row["wrong"]).items():  # type: ignore[call-overload]
            print(f"    {name:24} p {found['p']:.1e}: {'noticed' if found['rejected'] else 'NOT NOTICED'}")
    print(f"draws that are not the plain argmax: {wrong} of 10000")


if __name__ == "__main__":
    main()
