"""Memos that live in the process: for scripts, tests and runs without a store."""

from coupled_arena.models.calls import Call, Reply


class MemoryMemo:
    """Remembers the answer to every call in a dictionary.

    Example:
        >>> memo = MemoryMemo()
        >>> memo.recall(b"key") is None
        True
    """

    def __init__(self) -> None:
        self.answers: dict[bytes, Reply] = {}
        """The answer to every call, by memo key."""

    def recall(self, key: bytes) -> Reply | None:
        """Return the answer stored for this key, or None."""
        return self.answers.get(key)

    def remember(self, key: bytes, call: Call, reply: Reply) -> None:
        """Store an answer; the first one for a key stays."""
        self.answers.setdefault(key, reply)


class NoMemo:
    """Remembers nothing: equal calls are made again.

    Example:
        >>> NoMemo().recall(b"key") is None
        True
    """

    def recall(self, key: bytes) -> Reply | None:
        """Return None."""
        return None

    def remember(self, key: bytes, call: Call, reply: Reply) -> None:
        """Keep nothing."""
