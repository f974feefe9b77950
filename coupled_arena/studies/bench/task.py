"""A task: items, how a model is asked about them, and how its reply is scored."""

import hashlib
import json
import math
import reprlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from coupled_arena.coupling import noise_key, permutation
from coupled_arena.errors import ConfigurationError, Problem
from coupled_arena.models.calls import Message
from coupled_arena.records import name_problem
from coupled_arena.studies.bench.scoring import Exact


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a task."""

    id: str
    """Names it within the task; its dice follow from it."""
    text: str
    """What the model is asked."""
    gold: str
    """The right answer."""
    subject: str = ""
    """What it is about, where the task has parts."""


ROLES = ("system", "user", "assistant")
"""Who speaks a message of a chat."""

Prompt = Callable[[Item], str | Sequence[Message]]
"""Makes the chat of an item, or the one message of a user."""

Scorer = Callable[[Item, str], float]
"""Says what a reply to an item is worth, from 0 to 1."""


def plain(item: Item) -> str:
    """Return an item's text: the prompt of a task whose items say all there is to say."""
    return item.text


def _is_item(value: object) -> bool:
    return isinstance(value, Item) and all(
        isinstance(part, str) for part in (value.id, value.text, value.gold, value.subject)
    )


def _misshapen(task: "Task") -> Iterator[Problem]:
    """Yield what is of a kind that nothing can be done with."""
    given: dict[str, Any] = {name: getattr(task, name) for name in ("name", "items", "max_tokens", "choices")}
    where = given["name"] if isinstance(given["name"], str) and given["name"] else "task"
    if wrong := name_problem(given["name"]) if isinstance(given["name"], str) else "must be a text":
        yield Problem("task", "name", wrong)
    if not isinstance(given["items"], tuple | list):
        yield Problem(where, "items", f"must be a tuple of items, not {reprlib.repr(given['items'])}")
    if not isinstance(given["max_tokens"], int) or isinstance(given["max_tokens"], bool) or given["max_tokens"] < 1:
        yield Problem(where, "max_tokens", f"must be a whole number of at least 1, not {given['max_tokens']!r}")
    choices = given["choices"]
    texts = isinstance(choices, tuple | list) and all(isinstance(text, str) and text for text in choices)
    if not texts or len(set(choices)) < len(choices):
        yield Problem(where, "choices", f"must be texts that differ and are not empty, not {reprlib.repr(choices)}")
    for name in ("score", "prompt"):
        if not callable(getattr(task, name)):
            yield Problem(where, name, "must be a function")


@dataclass(frozen=True, slots=True)
class Task:
    """Items, how a model is asked about them, and how its reply is scored.

    Raises:
        ConfigurationError: there are no items, two have one id, one lacks id, text or gold, no token may be written, or
            something is not of its type.

    Example:
        >>> from coupled_arena.studies.bench.scoring import last_number
        >>> task = Task("sums", (Item("1", "What is 2 + 2?", "4"),), score=Exact(last_number), max_tokens=8)
        >>> task.worth(task.items[0], "It is 4.")
        1.0
    """

    name: str
    """What it is called."""
    items: tuple[Item, ...]
    """Its items."""
    score: Scorer
    """Says what a reply is worth, from 0 to 1."""
    prompt: Prompt = plain
    """Makes the chat of an item."""
    max_tokens: int = 64
    """Most tokens of a reply."""
    choices: tuple[str, ...] = ()
    """Strings of which the reply is one; models that cannot choose write freely."""

    def __post_init__(self) -> None:
        problems, where = list(_misshapen(self)), str(self.name) or "task"
        if any(problem.key == "items" for problem in problems):
            raise ConfigurationError(problems)
        if not self.items:
            problems.append(Problem(where, "items", "has none; give at least one"))
        if strange := next((item for item in self.items if not _is_item(item)), None):
            message = f"must be Items whose id, text and gold are text, not {reprlib.repr(strange)}"
            raise ConfigurationError([*problems, Problem(where, "items", message)])
        for id_, count in Counter(item.id for item in self.items).items():
            if wrong := name_problem(id_):
                problems.append(Problem(where, "id", wrong))
            elif count > 1:
                problems.append(Problem(where, id_, f"{count} items have this id; give each its own"))
        for item in self.items:
            problems += (
                Problem(where, f"{item.id}.{field}", "is empty")
                for field in ("text", "gold")
                if not getattr(item, field).strip()
            )
        if problems:
            raise ConfigurationError(problems)

    def chosen(self, count: int | None, seed: int) -> tuple[Item, ...]:
        """Return so many items, drawn by a seed and in the order of the task; None is all of them.

        Those drawn for a smaller count are among those drawn for a larger one, so that asking about more items asks
        about no item twice.
        """
        if count is None or count >= len(self.items):
            return self.items
        key = noise_key(seed=seed, scope=("items", self.name), role=("bench",), label=(), part="whole")
        return tuple(self.items[place] for place in sorted(permutation(len(self.items), key)[:count]))

    def chat(self, item: Item) -> tuple[Message, ...]:
        """Return what a model is sent.

        Raises:
            ConfigurationError: the prompt raised, or made no chat.
        """
        try:
            made = self.prompt(item)
            chat = (Message("user", made),) if isinstance(made, str) else tuple(Message(*message) for message in made)
        except Exception as error:
            raise self._fault(item, f"its prompt raised {type(error).__name__}: {error}") from error
        if not chat or not all(message.role in ROLES and isinstance(message.content, str) for message in chat):
            words = f"a text, or messages with a role ({', '.join(ROLES)}) and a text"
            raise self._fault(item, f"its prompt returned {reprlib.repr(made)}, not {words}")
        return chat

    def worth(self, item: Item, text: str) -> float:
        """Return what a reply is worth, from 0 to 1.

        Raises:
            ConfigurationError: the scorer raised, or returned something else.
        """
        try:
            worth: Any = self.score(item, text)
        except Exception as error:
            raise self._fault(item, f"its scorer raised {type(error).__name__}: {error}") from error
        try:
            number = math.nan if isinstance(worth, str) else float(worth)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not 0 <= number <= 1:
            raise self._fault(item, f"its scorer returned {reprlib.repr(worth)}, which is not from 0 to 1")
        return number

    def readable(self, item: Item, text: str) -> bool | None:
        """Return whether an answer to an item was found in a reply; None where the scorer does not look for one.

        Raises:
            ConfigurationError: the reader raised.
        """
        if not isinstance(self.score, Exact):
            return None
        try:
            return self.score.read(text) is not None
        except Exception as error:
            raise self._fault(item, f"its scorer raised {type(error).__name__}: {error}") from error

    @property
    def scorer(self) -> str:
        """What the scorer is called."""
        named = self.score.read if isinstance(self.score, Exact) else self.score
        return str(getattr(named, "__name__", type(named).__name__)).strip("_").replace("_", " ")

    def digest(self, items: Sequence[Item]) -> str:
        """Return the hex digest of what is asked about these items and how it is scored."""
        asked = [(item.id, item.gold, item.subject, self.chat(item)) for item in items]
        parts = [self.name, self.scorer, self.max_tokens, self.choices, asked]
        return hashlib.blake2b(json.dumps(parts).encode(), digest_size=16).hexdigest()

    def _fault(self, item: Item, what: str) -> ConfigurationError:
        message = f"{what}; mend it and run again: answers that were stored are not asked for again"
        return ConfigurationError([Problem(self.name, item.id, message)])
