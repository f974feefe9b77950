"""The server of the page on which one annotator votes."""

import asyncio
import json
from functools import cache
from importlib.resources import files
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from coupled_arena.models.serving.listening import HOST
from coupled_arena.reports.web.answers import as_json, as_problem
from coupled_arena.reports.web.entry import body_of
from coupled_arena.reports.web.server import PageServer
from coupled_arena.studies.annotation.desk import Choice, Desk, Slip

PORT = 8002
"""Port unless told otherwise."""

_OWN, _SHARED = "coupled_arena.reports.annotation", "coupled_arena.reports.html"
_FILES = {
    "/": ("text/html", ((_OWN, "page.html"),)),
    "/page.css": ("text/css", ((_SHARED, "page.css"),)),
    "/annotate.css": ("text/css", ((_OWN, "annotate.css"),)),
    "/annotate.js": (
        "text/javascript",
        ((_SHARED, "scripts/words.js"), (_SHARED, "scripts/dom.js"), (_OWN, "annotate.js")),
    ),
}


class AnnotationServer(PageServer):
    """Serves the page of one annotator, which shows one battle after the other and no name of a model or a judge.

    As a context manager it runs on a thread of its own, and stops with the block.

    Args:
        desk: where the annotator votes.
        host: address to listen at; any but loopback needs a token.
        port: port to listen at; 0 takes a free one.
        token: what browsers must show; empty for none.

    Raises:
        ConfigurationError: the address cannot be listened at, or needs a token.
    """

    def __init__(self, desk: Desk, *, host: str = HOST, port: int = PORT, token: str = "") -> None:
        self._desk = desk
        # One at a time: the desk is no place for two.
        self._turn = asyncio.Lock()
        routes = [
            *(Route(path, self._file, methods=["GET"]) for path in _FILES),
            Route("/next", self._next, methods=["GET"]),
            Route("/last", self._last, methods=["GET"]),
            Route("/vote", self._vote, methods=["POST"]),
        ]
        super().__init__("annotate", routes, host=host, port=port, token=token)

    async def _file(self, request: Request) -> Response:
        kind, _ = _FILES[request.url.path]
        return Response(_content(request.url.path), media_type=kind)

    async def _next(self, request: Request) -> Response:
        async with self._turn:
            return self._shown(await asyncio.to_thread(self._desk.next))

    async def _last(self, request: Request) -> Response:
        async with self._turn:
            return self._shown(await asyncio.to_thread(self._desk.last))

    async def _vote(self, request: Request) -> Response:
        # A form of another page cannot send this type without being asked for leave first.
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return as_problem("a vote is a JSON object", 415)
        body = await body_of(request)
        try:
            given: Any = json.loads(body or b"")
            shown, choice, sitting = str(given["shown"]), cast(Choice, str(given["choice"])), given["sitting"]
        except (ValueError, TypeError, LookupError, RecursionError):
            return as_problem("a vote holds `shown`, `choice` and `sitting`", 400)
        if sitting != self._desk.sitting:
            return as_problem("this page is of another annotator or seed than the server: load it again", 409)
        async with self._turn:
            await asyncio.to_thread(self._desk.vote, shown, choice)
            return self._shown(await asyncio.to_thread(self._desk.next))

    def _shown(self, slip: Slip | None) -> Response:
        told = None if slip is None else slip.document()
        return as_json({"slip": told, "progress": self._desk.progress._asdict(), "sitting": self._desk.sitting})


@cache
def _content(path: str) -> str:
    kind, parts = _FILES[path]
    text = "\n".join(files(home).joinpath(*name.split("/")).read_text(encoding="utf-8") for home, name in parts)
    return f'(() => {{\n"use strict";\n{text}\n}})();\n' if kind == "text/javascript" else text
