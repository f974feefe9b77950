"""Everything the library raises on purpose.

    ArenaError
    ├── ConfigurationError      what was asked for cannot be played; lists every problem found
    ├── ModelError              a model cannot be used
    │   ├── CallFailed          a call of an agent of yours ended without an answer
    │   ├── ModelUnavailable    its weights, its engine or its package is not to be had here
    │   └── EngineFault         the local engine failed in the middle of its work
    ├── ConversationError       a conversation on the bus did not end as it should
    │   ├── ConversationFailed  a seat raised; the cause is chained
    │   └── ConversationStalled nothing was left to say and there was no result
    ├── ListenerFailed          a listener or observer of yours raised; the cause is chained
    ├── RunInterrupted          a run stopped before its end; nothing answered is lost
    │   └── BudgetReached       it stopped because its budget is spent; holds what it came to
    ├── StoreError              the store cannot be read or written
    │   ├── StoreLocked         another process is writing this run
    │   └── RunNotFound         the store holds no such run
    └── RatingError             the battles cannot be rated as they are

A provider's faults during a run are not exceptions: they are outcomes of calls (`records.Outcome`).

Example:
    >>> try:
    ...     raise ConfigurationError([Problem("demo.toml", "models", "needs at least two models")])
    ... except ArenaError as error:
    ...     print(error)
    demo.toml: models: needs at least two models
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

UNSHOWN = re.compile("[\\x00-\\x1f\\x7f-\\x9f\\u2028-\\u202e\\u2066-\\u2069\\ud800-\\udfff]")
"""Characters that break a line, turn its direction or cannot be written: never part of a name, escaped in a problem."""


class ArenaError(Exception):
    """Root of everything the library raises on purpose."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Let an error cross to another process as it is, whatever its class is made from."""
        return _restored, (type(self), self.args, self.__dict__)


HERE = "Tournament"
"""Where a problem is when the definition came from no file."""


class Problem(NamedTuple):
    """One thing wrong with a definition."""

    where: str
    """The file, or `HERE`."""
    key: str
    """The parameter, dotted as in TOML (`committee.min_judges`)."""
    message: str
    """What is wrong and what to do next."""

    def __str__(self) -> str:
        line = f"{self.where}: {self.key}: {self.message}"
        return UNSHOWN.sub(lambda found: found[0].encode("unicode_escape").decode(), line)


class ConfigurationError(ArenaError):
    """What was asked for cannot be done as it was written; lists every problem found.

    A tournament's definition and all that it names (models, prompt sets, question files) are checked before the first
    call. Code that uses a part by itself gets it where the mistake is made: a template rendered with other fields than
    its own, a tag or an envelope that does not exist, a simulated model's dials when it is first asked, an unknown
    format of an export.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


class ModelError(ArenaError):
    """A model cannot be used."""


class ModelUnavailable(ModelError):
    """A model's weights, its engine or its package is not to be had on this machine."""


class EngineFault(ModelError):
    """The local engine failed in the middle of its work (a decode that llama.cpp rejected)."""


class CallFailed(ModelError):
    """A call that an agent made through `model_client` ended without an answer."""

    def __init__(self, model: str, outcome: str, detail: str) -> None:
        self.model = model
        self.outcome = outcome
        self.detail = detail
        super().__init__(f"{model}: {outcome}: {detail}" if detail else f"{model}: {outcome}")


class ConversationError(ArenaError):
    """A conversation on the bus did not end as it should."""

    def __init__(self, conversation: str, message: str) -> None:
        self.conversation = conversation
        super().__init__(f"{conversation}: {message}")


class ConversationFailed(ConversationError):
    """A seat or the moderator raised; the original exception is chained as the cause."""


class ConversationStalled(ConversationError):
    """The bus fell idle before the agenda had a result (a seat that never answered)."""


class ListenerFailed(ArenaError):
    """A listener or observer raised; the run stops, because nothing it did was wrong with a battle."""


class RunInterrupted(ArenaError):
    """A run stopped before its end (Ctrl-C, a signal); everything answered so far is kept."""


class BudgetReached(RunInterrupted):
    """A run stopped because its budget is spent; with a larger one it goes on where it stopped."""

    result: Any = None
    """The `Result` of what was played so far."""


class StoreError(ArenaError):
    """The store cannot be read or written."""


class StoreLocked(StoreError):
    """Another process is writing this run."""


class RunNotFound(StoreError):
    """The store holds no such run."""


class RatingError(ArenaError):
    """The battles cannot be rated as they are (a model against itself, one row twice)."""


def _restored(kind: type[ArenaError], args: tuple[Any, ...], state: dict[str, Any]) -> ArenaError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error
