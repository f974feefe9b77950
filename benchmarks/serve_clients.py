"""Whether every client gets the same text from the server, and whether two models asked with one seed share dice.

OpenAI's client, LiteLLM and curl ask two local models the same thing with the same seed, whole and as a stream: six
ways, one text. Then both models are asked some sums with one seed and with two; the share of identical replies tells
whether they rolled the same dice. Exits 1 if a text differs, or one seed makes no more replies identical than two.
Needs curl.

    python benchmarks/serve_clients.py [--models local/NAME local/NAME] [--seeds N] [--questions N] [--tokens N]
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import openai

from coupled_arena.models.litellm_loader import load_litellm
from coupled_arena.models.model import Model
from coupled_arena.models.serving.server import Server

MODELS = ("local/smollm2-135m", "local/smollm2-135m:q8_0")
STORY = "Tell a story about a lighthouse."
TEMPERATURE = 0.7

Request = Mapping[str, Any]
"""Fields of a chat completion, `stream` among them."""

Client = Callable[[str, Request], str]
"""Sends a request to an address and returns the text that comes."""


def by_openai(base: str, request: Request) -> str:
    """Ask with OpenAI's client."""
    with openai.OpenAI(base_url=base, api_key="none", max_retries=0, timeout=None) as client:
        return _text(client.chat.completions.create(**request), stream=request["stream"])


def by_litellm(base: str, request: Request) -> str:
    """Ask with LiteLLM."""
    named = {**request, "model": f"openai/{request['model']}"}
    answer = load_litellm().completion(**named, api_base=base, api_key="none", num_retries=0, timeout=3600)
    return _text(answer, stream=request["stream"])


def by_curl(base: str, request: Request) -> str:
    """Ask with curl."""
    command = ["curl", "-sN", "--fail-with-body", f"{base}/chat/completions", "-d", json.dumps(request)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    if not request["stream"]:
        return str(json.loads(output)["choices"][0]["message"]["content"])
    events = [line.removeprefix("data: ") for line in output.split("\n") if line]
    deltas = [json.loads(event)["choices"][0]["delta"] for event in events if event != "[DONE]"]
    return "".join(delta.get("content", "") for delta in deltas)


CLIENTS: Mapping[str, Client] = {"OpenAI": by_openai, "LiteLLM": by_litellm, "curl": by_curl}


def _text(answer: Any, *, stream: bool) -> str:
    if not stream:
        return str(answer.choices[0].message.content)
    return "".join(chunk.choices[0].delta.content or "" for chunk in answer)


def request_of(model: str, content: str, seed: int, tokens: int, *, stream: bool = False) -> Request:
    """Return a request."""
    said = [{"role": "user", "content": content}]
    sampling = {"seed": seed, "max_tokens": tokens, "temperature": TEMPERATURE}
    return {"model": model, "messages": said, "stream": stream, **sampling}


def same_text(base: str, models: Iterable[str], seeds: int, tokens: int) -> bool:
    """Ask in all ways, print the texts that each gets, and return whether they are one for each model and seed."""
    same = True
    print(f"{'model':26} {'seed':4} {'client':8} {'sent as':8} text")
    for model in models:
        for seed in range(seeds):
            texts = []
            for name, client in CLIENTS.items():
                for stream in (False, True):
                    texts.append(client(base, request_of(model, STORY, seed, tokens, stream=stream)))
                    print(
                        f"{model:26} {seed:<4} {name:8} {'stream' if stream else 'whole':8} {texts[-1]!r}", flush=True
                    )
            same &= len(set(texts)) == 1 and bool(texts[0])
    print(f"one text for each model and seed: {'yes' if same else 'NO'}\n")
    return same


def share_dice(base: str, models: tuple[str, str], questions: int, tokens: int) -> bool:
    """Ask both models sums, print how many replies are identical, and return whether one seed makes more so."""
    asked = [f"What is {number} plus {7 * number % 13 + 2}?" for number in range(3, 3 + questions)]
    first, second = models

    def replies(model: str, seed: int) -> list[str]:
        return [by_openai(base, request_of(model, question, seed, tokens)) for question in asked]

    alone = replies(first, 7)
    counts = [sum(map(str.__eq__, alone, replies(second, seed))) for seed in (7, 8)]
    for words, count in zip(("one seed", "two seeds"), counts, strict=True):
        print(f"{first} and {second}, {words}: {count} of {questions} replies identical")
    return counts[0] > counts[1]


def main() -> None:
    """Read the arguments and ask."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", nargs=2, default=MODELS)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--questions", type=int, default=24)
    parser.add_argument("--tokens", type=int, default=16)
    given = parser.parse_args()
    with Server([Model(model) for model in given.models], port=0) as server:
        base = f"{server.url}/v1"
        found = [
            same_text(base, given.models, given.seeds, given.tokens),
            share_dice(base, tuple(given.models), given.questions, given.tokens),
        ]
    sys.exit(not all(found))


if __name__ == "__main__":
    main()
