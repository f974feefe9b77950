"""Reading a judge's verdict: from its last line, or from a JSON object."""

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from coupled_arena.prompts.characters import BREAK, fold
from coupled_arena.prompts.defang import MARKER, is_marker
from coupled_arena.prompts.fences import unfenced
from coupled_arena.prompts.grammar import Grammar
from coupled_arena.prompts.sections import visible_from
from coupled_arena.records import Verdict

PROBLEMS = {
    "thinking": "the reply ended before its thinking did, so it holds no verdict",
    "truncated": "the reply was cut off before its verdict",
    "none": "the reply holds none of {labels}",
    "several": "the last line with a verdict holds more than one of them: {found}",
    "unknown": "the last marker is {found}, which is none of {labels}",
    "json": "the reply is not one JSON object with the keys reasons and verdict: {found}",
}
"""What can be wrong with a reply, in English; a prompt set says the same in its language, with the same fields."""

_BREAK = re.compile(f"[{BREAK}]")
_LONGEST = 60


class VerdictReading(NamedTuple):
    """What a judge's reply says."""

    verdict: Verdict | None
    """The verdict in the frame in which the battle was presented, or None."""
    problem: str = ""
    """What is wrong, in one sentence in the language of the grammar; empty where there is a verdict."""
    span: tuple[int, int] | None = None
    """Where in the reply the verdict's marker (or JSON object) stands."""
    reasons: str = ""
    """The reply without its thoughts and without the marker that was read."""


def read_verdict(text: str, grammar: Grammar) -> VerdictReading:
    r"""Return the verdict of a reply that ends with a marker, `[[A]]`, `[[B]]` or `[[tie]]`.

    A marker is whatever stands between doubled brackets on one line. Only the last line that holds one counts: an
    unknown marker there, or two different ones, leave no verdict, whatever was said before. Case, spaces, full-width
    brackets and hidden characters do not matter. Thoughts are not read; thoughts that never end leave no verdict.

    Args:
        text: The judge's own new text and nothing else.
        grammar: The language, which may have words of its own for a tie.

    >>> grammar = Grammar({}, tie=("平局",))
    >>> read_verdict("[[A]] is fluent, but wrong.\n【【 b 】】", grammar).verdict
    'B'
    >>> read_verdict("[[A]]\n[[C]]", grammar).problem
    'the last marker is [[C]], which is none of [[A]], [[B]], [[平局]]'
    """
    start = visible_from(text, grammar)
    if start is None:
        return VerdictReading(None, problem_of(grammar, "thinking"))
    markers = _last_line(text, start)
    visible = text[start:].strip()
    if not markers:
        return VerdictReading(None, problem_of(grammar, "none"), reasons=visible)
    labels = list(dict.fromkeys(fold(marker["label"]) for marker in markers))
    found = ", ".join(f"[[{marker['label'].strip()[:_LONGEST]}]]" for marker in markers[:4])
    verdicts = {grammar.words.get(label) for label in labels}
    if len(verdicts) == 1 and None not in verdicts:
        last = markers[-1]
        end = last.start() + len(last[0].rstrip())
        reasons = (text[start : last.start()].rstrip() + text[end:]).strip()
        return VerdictReading(verdicts.pop(), span=(last.start(), end), reasons=reasons)
    return VerdictReading(
        None, problem_of(grammar, "several" if len(labels) > 1 else "unknown", found), reasons=visible
    )


def read_json_verdict(text: str, grammar: Grammar) -> VerdictReading:
    """Return the verdict of a reply that is a JSON object with the keys `reasons` and `verdict`.

    A code fence around the object and thoughts before it are tolerated, further keys too; a repeated key, a missing
    one, a verdict that is none of the labels and any text outside the object are problems.

    >>> read_json_verdict('{"reasons": "B errs.", "verdict": "A"}', Grammar({}))
    VerdictReading(verdict='A', problem='', span=(0, 38), reasons='B errs.')
    """
    start = visible_from(text, grammar) if not text.lstrip().startswith("{") else 0
    if start is None:
        return VerdictReading(None, problem_of(grammar, "thinking"))
    visible = text[start:].strip()
    try:
        value = json.loads(unfenced(text, start), object_pairs_hook=_once, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        return VerdictReading(None, problem_of(grammar, "json", str(error)), reasons=visible)
    wrong = _json_problem(value)
    if wrong:
        return VerdictReading(None, problem_of(grammar, "json", wrong), reasons=visible)
    label = value["verdict"].strip()
    verdict = grammar.words.get(fold(label)) or grammar.words.get(_unmarked(label))
    if verdict is None:
        problem = problem_of(grammar, "unknown", label[:_LONGEST])
        return VerdictReading(None, problem, reasons=value["reasons"].strip())
    first = start + len(text[start:]) - len(text[start:].lstrip())
    return VerdictReading(verdict, span=(first, len(text.rstrip())), reasons=value["reasons"].strip())


def problem_of(grammar: Grammar, kind: str, found: str = "") -> str:
    """Return the sentence for a kind of problem (a key of `PROBLEMS`), in the grammar's language if it has one.

    >>> problem_of(Grammar({}), "unknown", "[[C]]")
    'the last marker is [[C]], which is none of [[A]], [[B]], [[tie]]'
    """
    fields = {"{labels}": ", ".join(grammar.labels), "{found}": found}
    return re.sub(r"\{labels\}|\{found\}", lambda match: fields[match[0]], grammar.problems.get(kind, PROBLEMS[kind]))


def verdict_schema(grammar: Grammar) -> dict[str, Any]:
    """Return the JSON schema of a reply that `read_json_verdict` reads, the reasons before the verdict.

    >>> verdict_schema(Grammar({}))["properties"]["verdict"]["enum"]
    ['A', 'B', 'tie']
    """
    return {
        "type": "object",
        "properties": {
            "reasons": {"type": "string"},
            "verdict": {"type": "string", "enum": [label[2:-2] for label in grammar.labels]},
        },
        "required": ["reasons", "verdict"],
        "additionalProperties": False,
    }


def _last_line(text: str, start: int) -> list[re.Match[str]]:
    """Return the markers of the last line that holds any, from `start` on."""
    line: list[re.Match[str]] = []
    for match in MARKER.finditer(text, start):
        if not is_marker(match):
            continue
        if line and _BREAK.search(text, line[-1].end(), match.start()):
            line = []
        line.append(match)
    return line


def _unmarked(label: str) -> str:
    """Return the folded content of a label that is one marker, else nothing."""
    match = MARKER.fullmatch(label)
    return fold(match["label"]) if match and is_marker(match) else ""


def _json_problem(value: object) -> str:
    if not isinstance(value, dict):
        return f"it is a {type(value).__name__}"
    for key in ("reasons", "verdict"):
        if key not in value:
            return f"{key} is missing"
        if not isinstance(value[key], str):
            return f"{key} is not a string"
    return ""


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    repeated = next((key for key in keys if keys.count(key) > 1), None)
    if repeated is not None:
        raise ValueError(f"{repeated[:_LONGEST]} is given twice")
    return dict(pairs)


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
