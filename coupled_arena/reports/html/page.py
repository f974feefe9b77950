"""The page itself: one file with its style and its scripts, which nothing else may add to."""

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

SCRIPTS = (
    "dom", "words", "source", "route", "charts", "board", "field", "graph", "panels", "listing", "debate", "keys",
    "main",
)  # fmt: skip
"""The page's scripts, in the order in which they are joined."""

_HOME = "coupled_arena.reports.html"
_PLACE = re.compile(r"\{\{(\w+)\}\}")


def page(title: str, source: Mapping[str, Any], blocks: Iterable[tuple[str, bytes]] = ()) -> Iterator[str]:
    """Yield the page in pieces.

    Args:
        title: what the window is called.
        source: where the page finds its data: `{"kind": "embedded", "battles": n, "chunk": n}`, or
            `{"kind": "fetch", "base": "..."}` for a server's (see source.js).
        blocks: what the page carries, by id (see `packed`).
    """
    style, script = _text("page.css"), _script()
    template = _text("page.html")
    policy = _policy(style, script, served=source["kind"] == "fetch")
    values = {
        "policy": policy,
        "title": escape(title.encode("utf-8", "backslashreplace").decode()),
        "style": style,
        "script": script,
        "source": json.dumps(source).replace("<", "\\u003c"),
    }
    head, tail = template.split("{{blocks}}")
    yield _filled(head, values)
    for name, content in blocks:
        yield f'<script type="text/plain" id="{escape(name)}">{base64.b64encode(content).decode()}</script>\n'
    yield _filled(tail, values)


def policy_of(*, served: bool) -> str:
    """Return the page's content security policy: its own style and script, its icon, and no address but a server's."""
    return _policy(_text("page.css"), _script(), served=served)


def packed(value: Any) -> bytes:
    """Return plain data as compressed JSON, the same in every execution; half characters become their escapes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return gzip.compress(text.encode("utf-8", "backslashreplace"), 9, mtime=0)


def _policy(style: str, script: str, *, served: bool) -> str:
    rules = {
        "default-src": "'none'",
        "script-src": _hash(script),
        "style-src": _hash(style),
        "img-src": "data:",
        "connect-src": "'self'" if served else "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "require-trusted-types-for": "'script'",
    }
    return "; ".join(f"{name} {value}" for name, value in rules.items())


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _filled(template: str, values: Mapping[str, str]) -> str:
    # In one pass, since what is filled in may itself look like a place to fill in.
    return _PLACE.sub(lambda found: values[found[1]], template)


@cache
def _script() -> str:
    parts = (_text(f"scripts/{name}.js") for name in SCRIPTS)
    return '\n(() => {\n"use strict";\n' + "\n".join(parts) + "\n})();\n"


@cache
def _text(name: str) -> str:
    return files(_HOME).joinpath(*name.split("/")).read_text(encoding="utf-8")
