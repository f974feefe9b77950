"""How likely a model is to answer with each of a few given strings."""

from collections.abc import Sequence

import numpy as np

from coupled_arena.models.local.engine import Engine, Logits
from coupled_arena.models.local.scripts import Script, Step


def score(engine: Engine, logits: Logits, length: int, choices: Sequence[str]) -> Script[list[float]]:
    """Return the log probability of every choice as the whole reply to a prompt.

    A choice is its canonical tokenisation (the tokens the model's own tokenizer gives the string by itself) followed by
    the end of the reply, whichever end token that is. Temperature and filters are not applied. Choices that begin with
    the same tokens share their evaluation, which changes nothing: what follows a path depends on the path alone.

    Args:
        engine: tells what tokens a choice has and which tokens are ends.
        logits: what comes after the prompt.
        length: tokens of the prompt.
        choices: distinct strings.

    Returns:
        Natural logarithms, in the order of the choices.
    """
    ends = sorted(engine.end_tokens)
    paths = [tuple(engine.tokenize(choice)) for choice in choices]
    result = [0.0] * len(paths)

    def descend(indices: Sequence[int], depth: int, logits: Logits, total: float) -> Script[None]:
        row = logits.astype(np.float64)
        row -= np.logaddexp.reduce(row)
        for index in indices:
            if len(paths[index]) == depth:
                result[index] = total + float(np.logaddexp.reduce(row[ends]))
        for token in sorted({paths[index][depth] for index in indices if len(paths[index]) > depth}):
            below = [index for index in indices if paths[index][depth : depth + 1] == (token,)]
            following = yield Step(token, length + depth)
            yield from descend(below, depth + 1, following, total + float(row[token]))

    yield from descend(range(len(paths)), 0, logits, 0.0)
    return result
