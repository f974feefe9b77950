"""How fast local models write: several requests at once against one, and against the engine's own server.

For every model: tokens a second with 1, 8 and 32 requests at once, how much of the time went to anything but
llama.cpp's own evaluation, and the ratio to xllamacpp's server on the same file with as many slots and equal filters.
Prompts are short and of one length, replies of a fixed number of tokens, and the median of a few repetitions counts.
Every row comes with CPU seconds, which a busy machine disturbs less than the clock.

    python benchmarks/local_throughput.py [--models local/NAME ...] [--widths 1 8 32] [--threads N] [--no-server]
"""

import argparse
import asyncio
import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coupled_arena.coupling import Sampling
from coupled_arena.models.calls import Call, Message
from coupled_arena.models.local import capi
from coupled_arena.models.local.backend import LocalBackend
from coupled_arena.models.local.cache import ModelCache
from coupled_arena.models.local.settings import LocalSettings
from coupled_arena.models.model import Model

MODELS = tuple(f"local/smollm2-135m{variant}" for variant in (":q8_0", "", ":q4_0"))
WIDTHS = (1, 8, 32)
PROMPT = "Write a long story about number {:02}, and do not stop."
TOP_K = 50


@dataclass(frozen=True, slots=True)
class Speed:
    """What one way of asking came to."""

    tokens: int
    """Tokens written."""
    wall: float
    """Seconds."""
    cpu: float
    """CPU seconds of this process."""
    inside: float = 0.0
    """Seconds within llama.cpp's evaluation."""

    @property
    def rate(self) -> float:
        """Tokens a second."""
        return self.tokens / self.wall


def median(runs: list[Speed]) -> Speed:
    """Return the run of median speed."""
    return sorted(runs, key=lambda run: run.rate)[(len(runs) - 1) // 2]


@contextmanager
def watched() -> Iterator[Callable[[], float]]:
    """Time llama.cpp's evaluations while the block runs; gives a function that tells the seconds so far."""
    lib: Any = capi.library()
    evaluate, spent = lib.llama_decode, 0.0

    def timed(state: int, batch: object) -> int:
        nonlocal spent
        began = time.perf_counter()
        status: int = evaluate(state, batch)
        spent += time.perf_counter() - began
        return status

    lib.llama_decode = timed
    try:
        yield lambda: spent
    finally:
        lib.llama_decode = evaluate


async def ours(model: str, width: int, tokens: int, repeats: int, threads: int | None) -> Speed:
    """Measure this package: so many requests at once."""
    backend = LocalBackend(LocalSettings(threads=threads))

    def call(number: int) -> Call:
        sampling, noise = Sampling(0.7, top_k=TOP_K), number.to_bytes(16, "little")
        return Call(Model(model), (Message("user", PROMPT.format(number % 100)),), sampling, tokens, noise)

    await asyncio.gather(*(backend.complete(call(number)) for number in range(width)))
    runs = []
    with watched() as inside:
        for repeat in range(1, repeats + 1):
            begun, wall, cpu = inside(), time.perf_counter(), time.process_time()
            replies = await asyncio.gather(*(backend.complete(call(width * repeat + n)) for n in range(width)))
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            runs.append(Speed(sum(r.usage.completion_tokens for r in replies), wall, cpu, inside() - begun))
    await backend.aclose()
    return median(runs)


def theirs(path: Path, width: int, tokens: int, repeats: int, threads: int) -> Speed:
    """Measure the engine's own server with its own sampling and as many slots."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx, parameters.n_parallel, parameters.warmup = 1024 * width, width, True
    parameters.n_batch, parameters.n_ubatch = 2048, 512
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.verbosity = 0
    server = xllamacpp.Server(parameters)

    def ask(number: int) -> int:
        prompt = f"<|im_start|>user\n{PROMPT.format(number % 100)}<|im_end|>\n<|im_start|>assistant\n"
        settings = {"temperature": 0.7, "top_k": TOP_K, "top_p": 1.0, "min_p": 0.0, "seed": number}
        asked = {"prompt": prompt, "max_tokens": tokens, "cache_prompt": False, "samplers": ["top_k", "temperature"]}
        found: list[dict[str, Any]] = []
        server.handle_completions(json.dumps(settings | asked), lambda answer: found.append(_parsed(answer)))
        return sum(int(answer["usage"]["completion_tokens"]) for answer in found if "usage" in answer)

    runs = []
    with ThreadPoolExecutor(width) as pool:
        list(pool.map(ask, range(width)))
        for repeat in range(1, repeats + 1):
            wall, cpu = time.perf_counter(), time.process_time()
            written = sum(pool.map(ask, range(width * repeat, width * (repeat + 1))))
            runs.append(Speed(written, time.perf_counter() - wall, time.process_time() - cpu))
    return median(runs)


def _parsed(answer: Any) -> dict[str, Any]:
    value = json.loads(answer) if isinstance(answer, str | bytes) else answer
    return value if isinstance(value, dict) else {}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--widths", nargs="+", type=int, default=WIDTHS)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, help="left out: one is timed against all, and the server takes all")
    parser.add_argument("--no-server", action="store_true")
    options = parser.parse_args()
    from coupled_arena.models.local.threads import cores

    for model in options.models:
        print(model)
        rates: dict[int, float] = {}
        for width in options.widths:
            speed = asyncio.run(ours(model, width, options.tokens, options.repeats, options.threads))
            rates[width] = speed.rate
            line = f"  {width:>2} at once {speed.rate:8.1f} tokens/s ({1000 * speed.cpu / speed.tokens:6.2f} CPU ms)"
            line += f", {1 - speed.inside / speed.wall:6.1%} outside the model"
            if not options.no_server:
                path = ModelCache().resolve(model.removeprefix("local/"))
                other = theirs(path, width, options.tokens, options.repeats, options.threads or cores())
                line += f"; the engine's server {other.rate:8.1f} ({1000 * other.cpu / other.tokens:6.2f} CPU ms)"
                line += f", ratio {speed.rate / other.rate:.2f}"
            print(line, flush=True)
        print(f"  {max(rates)} at once against {min(rates)}: {rates[max(rates)] / rates[min(rates)]:.2f}")


if __name__ == "__main__":
    main()
