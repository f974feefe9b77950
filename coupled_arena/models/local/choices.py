"""How likely a model is to answer with each of a few given strings."""

from collections.abc import Callable, Sequence

import numpy as np

from coupled_arena.models.local.canonical import Evaluator
from coupled_arena.models.local.engine import Logits


def score(
    evaluator: Evaluator,
    prompt: Sequence[int],
    choices: Sequence[str],
    pause: Callable[[], None] = lambda: None,
) -> list[float]:
    """Return the log probability of every choice as the whole reply to a prompt.

    A choice is its canonical tokenisation (the tokens the model's own tokenizer gives the string by itself) followed by
    the end of the reply, whichever end token that is. Temperature and filters are not applied. Choices that begin with
    the same tokens share their evaluation, which changes nothing: what follows a path depends on the path alone.

    Args:
        evaluator: evaluates the model canonically.
        prompt: tokens, at least one.
        choices: distinct strings.
        pause: called before every evaluation; may raise to abandon the work.

    Returns:
        Natural logarithms, in the order of the choices.

    Raises:
        EngineFault: the model cannot be evaluated.
    """
    engine = evaluator.engine
    ends = sorted(engine.end_tokens)
    paths = [tuple(engine.tokenize(choice)) for choice in choices]
    result = [0.0] * len(paths)

    def descend(indices: Sequence[int], depth: int, logits: Logits, total: float) -> None:
        row = logits.astype(np.float64)
        row -= np.logaddexp.reduce(row)
        for index in indices:
            if len(paths[index]) == depth:
                result[index] = total + float(np.logaddexp.reduce(row[ends]))
        length = evaluator.length
        for token in sorted({paths[index][depth] for index in indices if len(paths[index]) > depth}):
            below = [index for index in indices if paths[index][depth : depth + 1] == (token,)]
            pause()
            logits = evaluator.extend(token)
            descend(below, depth + 1, logits, total + float(row[token]))
            evaluator.rewind(length)

    descend(range(len(paths)), 0, evaluator.prefill(prompt, pause), 0.0)
    return result
