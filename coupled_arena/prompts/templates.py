"""Which templates a prompt set has, and which fields each must use."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

TEMPLATES: dict[str, tuple[str, ...]] = {
    "debater.system": (),
    "debater.opening": ("question", "actions", "limit"),
    "debater.turn": ("heard", "actions", "limit"),
    "debater.request": ("missing", "limit"),
    "judge.system": (),
    "judge.opinion": ("question", "reference", "transcript"),
    "judge.reference": ("reference",),
    "judge.discussion": ("opinions",),
    "judge.repair": ("problem",),
    "judge.json": (),
    "judge.marker": (),
    "judge.choose": (),
    "examiner.system": (),
    "examiner.request": ("count", "domain", "command", "difficulty", "example"),
    "examiner.more": ("count", "known"),
    "examiner.json": (),
    "examiner.lines": (),
    "difficulty.easy": (),
    "difficulty.medium": (),
    "difficulty.hard": (),
    "reference.system": (),
    "reference.request": ("question",),
    "role.turn": ("heard",),
    "labels.action": ("tag",),
    "labels.limit": ("words",),
}
"""Template to its fields. Every prompt set has every template, and every template uses every field."""

FIELD = re.compile(r"\{([a-z_]+)\}")
"""A field; any other brace is text."""


@lru_cache(maxsize=1024)
def fields_of(template: str) -> tuple[str, ...]:
    """Return the fields of a template, each once, in the order of their first mention.

    >>> fields_of("{question} {limit} {question}")
    ('question', 'limit')
    """
    return tuple(dict.fromkeys(FIELD.findall(template)))


_FIELD = re.compile(r"^\{(?P<line>[a-z_]+)\}(?P<breaks>\n+)|\{(?P<inline>[a-z_]+)\}", re.MULTILINE)


def fill(template: str, fields: Mapping[str, str]) -> str:
    r"""Return a template with its fields replaced in one pass: what a field holds is never read as a template.

    A field that stands alone on its line and is empty takes the line and the blank lines behind it away.

    >>> fill("{question}\n\n{reference}\n\nDecide.", {"question": "What is {reference}?", "reference": ""})
    'What is {reference}?\n\nDecide.'
    """

    def replace(match: re.Match[str]) -> str:
        value = str(fields[match["line"] or match["inline"]])
        return value + (match["breaks"] or "") if value else ""

    return _FIELD.sub(replace, template)


def template_problems(name: str, template: str) -> Iterator[str]:
    """Yield what is wrong with a template's fields."""
    expected = TEMPLATES[name]
    used = FIELD.findall(template)
    known = f"its fields are {', '.join(f'{{{field}}}' for field in expected)}" if expected else "it has no fields"
    for field in dict.fromkeys(used):
        if field not in expected:
            yield f"unknown field {{{field}}}; {known}"
    for field in expected:
        if field not in used:
            yield f"the field {{{field}}} is not used; {known}"
