"""Whether another harness gets coupled replies from the server: lm-evaluation-harness on two models.

It knows nothing of coupling and sends a `seed` with every request. Two models are asked the same sums, with one seed
and with two; the share of identical replies tells whether they rolled the same dice. Needs the harness, in any
environment: `pip install 'lm_eval[api]'`.

    python benchmarks/harness_coupled.py [--lm-eval COMMAND] [--models local/NAME local/NAME] [--items N] [--tokens N]
"""

import argparse
import json
import os
import shutil
import subprocess
import tempfile
from itertools import chain
from pathlib import Path

from coupled_arena.models.model import Model
from coupled_arena.models.serving.server import Server

MODELS = ("local/smollm2-135m", "local/smollm2-135m:q8_0")
SEED = 7
TASK = "sums"
OFFLINE = {"HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1", "OPENAI_API_KEY": "none"}
"""Environment of the harness, which would otherwise ask its own server about everything, and OpenAI's for a key."""


def write_task(folder: Path, items: int, tokens: int, temperature: float) -> None:
    """Write a task of the harness: sums of two numbers."""
    lines = [
        json.dumps({"question": f"What is {a} plus {7 * a % 13 + 2}?", "answer": str(a + 7 * a % 13 + 2)})
        for a in range(3, 3 + items)
    ]
    (folder / "items.jsonl").write_text("\n".join(lines), encoding="utf-8")
    task = {
        "task": TASK,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(folder / "items.jsonl")}},
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "{{question}}",
        "doc_to_target": "{{answer}}",
        "generation_kwargs": {"until": [], "do_sample": True, "temperature": temperature, "max_gen_toks": tokens},
        "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
    }
    # JSON is YAML too.
    (folder / f"{TASK}.yaml").write_text(json.dumps(task), encoding="utf-8")


def replies(command: str, server: Server, model: str, seed: int, folder: Path) -> dict[int, str]:
    """Return what a model replied to every item, as the harness has logged it."""
    out = folder / f"{model.replace('/', '-').replace(':', '-')}-{seed}"
    address = f"{server.url}/v1/chat/completions"
    options = {
        "--model": "local-chat-completions",
        "--model_args": f"model={model},base_url={address},num_concurrent=8,seed={seed}",
        "--include_path": str(folder),
        "--tasks": TASK,
        "--output_path": str(out),
    }
    subprocess.run(
        [command, "run", "--apply_chat_template", "--log_samples", *chain.from_iterable(options.items())],
        check=True,
        capture_output=True,
        env={**os.environ, **OFFLINE, "HF_HOME": str(folder / "home")},
    )
    (log,) = out.glob("**/samples_*.jsonl")
    samples = map(json.loads, log.read_text(encoding="utf-8").splitlines())
    return {sample["doc_id"]: sample["resps"][0][0] for sample in samples}


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lm-eval", default="lm-eval", help="the harness, if it is not on the path")
    parser.add_argument("--models", nargs=2, default=MODELS)
    parser.add_argument("--items", type=int, default=32)
    parser.add_argument("--tokens", type=int, default=16)
    parser.add_argument("--temperature", type=float, default=0.7)
    given = parser.parse_args()
    command = shutil.which(given.lm_eval)
    if command is None:
        print("lm-eval is not installed: pip install 'lm_eval[api]'")
        return
    with tempfile.TemporaryDirectory() as name, Server([Model(model) for model in given.models], port=0) as server:
        folder = Path(name)
        write_task(folder, given.items, given.tokens, given.temperature)
        first, second = given.models
        alone = replies(command, server, first, SEED, folder)
        for words, seed in (("one seed", SEED), ("two seeds", SEED + 1)):
            other = replies(command, server, second, seed, folder)
            same = sum(alone[item] == other[item] for item in alone)
            print(f"{first} and {second}, {words}: {same} of {len(alone)} replies identical", flush=True)


if __name__ == "__main__":
    main()
