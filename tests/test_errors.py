"""Errors cross to other processes, and copies of them say the same."""

import copy
import pickle

import pytest

from coupled_arena.errors import ArenaError, BudgetReached, CallFailed, ConfigurationError, ConversationFailed, Problem


def spent() -> BudgetReached:
    error = BudgetReached("stopped at budget.usd = 5")
    error.result = {"battles": 3}
    return error


@pytest.mark.parametrize(
    "error",
    [
        ConfigurationError([Problem("demo.toml", "models", "needs at least two models")]),
        CallFailed("gpt", "refused", "no"),
        ConversationFailed("r1:a~b", "ValueError: boom"),
        spent(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_copy_of_an_error_is_the_same_error(error: ArenaError) -> None:
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert (type(twin), str(twin), twin.args, vars(twin)) == (type(error), str(error), error.args, vars(error))
