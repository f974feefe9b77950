"""Code fences, which models like to put around JSON."""

import re

_FENCE = re.compile(r"\s*```[\w-]*[ \t]*\n(?P<body>.*)\n[ \t]*```\s*", re.DOTALL)


def unfenced(text: str, start: int = 0) -> str:
    r"""Return a text from `start` on, without the code fence if there is one around all of it.

    >>> unfenced("```json\n{}\n```"), unfenced("a ``` b")
    ('{}', 'a ``` b')
    """
    fenced = _FENCE.fullmatch(text, start)
    return fenced["body"] if fenced else text[start:]
