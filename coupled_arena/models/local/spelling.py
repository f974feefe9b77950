"""The text of a reply as its tokens are drawn: stop strings, broken characters, and what may be shown already."""

import codecs
from collections.abc import Callable, Sequence

Emit = Callable[[str], None]
"""Takes the next piece of a reply; all pieces together are its text."""


class ReplyText:
    """Collects the bytes of a reply.

    Stop strings are looked for in the bytes, so one may begin and end in the middle of a token. Bytes that are not
    UTF-8 become U+FFFD, and a character that the end of the reply cuts in two is left out. What is emitted is never
    taken back: bytes that may belong to a stop string or to an unfinished character wait, and so does white space at
    the beginning, since a reply of nothing else counts as empty.

    Args:
        stop: strings that end the reply; empty ones are ignored.
        emit: takes the pieces of the text; None if nobody follows.

    Example:
        >>> text = ReplyText(("</r>",))
        >>> text.append(b"so <"), text.append(b"/r> or"), text.finish()
        (False, True, 'so ')
    """

    def __init__(self, stop: Sequence[str] = (), emit: Emit | None = None) -> None:
        self._ends = [text.encode("utf-8", "replace") for text in stop if text]
        self._emit = emit
        self._reply = bytearray()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._shown = 0
        self._blank = ""
        self._begun = False

    def append(self, data: bytes) -> bool:
        """Take the bytes of the next token; return whether a stop string ended the reply."""
        begin = len(self._reply)
        self._reply += data
        places = [self._reply.find(end, max(begin - len(end) + 1, 0)) for end in self._ends]
        place = min((place for place in places if place >= 0), default=None)
        if place is not None:
            del self._reply[place:]
            return True
        if self._emit is not None:
            self._show(len(self._reply) - self._doubtful())
        return False

    def finish(self) -> str:
        """Emit what has waited and return the whole text."""
        if self._emit is not None:
            self._show(len(self._reply))
        return codecs.getincrementaldecoder("utf-8")("replace").decode(bytes(self._reply))

    def _doubtful(self) -> int:
        """Return how many last bytes may be the beginning of a stop string."""
        longest = min(max(map(len, self._ends), default=1) - 1, len(self._reply))
        for length in range(longest, 0, -1):
            tail = bytes(self._reply[-length:])
            if any(end.startswith(tail) for end in self._ends):
                return length
        return 0

    def _show(self, until: int) -> None:
        piece = self._blank + self._decoder.decode(bytes(self._reply[self._shown : until]))
        self._shown = until
        self._begun = self._begun or bool(piece.strip())
        self._blank = "" if self._begun else piece
        if self._emit is not None and self._begun and piece:
            self._emit(piece)
