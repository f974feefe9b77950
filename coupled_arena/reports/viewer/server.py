"""The server of the pages of a store."""

import asyncio
from collections.abc import AsyncIterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from coupled_arena.errors import RunNotFound
from coupled_arena.models.serving.listening import HOST
from coupled_arena.reports.html.document import battle_document
from coupled_arena.reports.html.page import page, policy_of
from coupled_arena.reports.viewer.drawing import Drawer
from coupled_arena.reports.viewer.gallery import Gallery
from coupled_arena.reports.viewer.shelf import Shelf
from coupled_arena.reports.web.answers import as_json, as_problem, compressed
from coupled_arena.reports.web.server import PageServer
from coupled_arena.tournaments.storage.store import Store
from coupled_arena.tournaments.storage.watching import Watch

PORT = 8001
"""Port unless told otherwise."""

MOST_SEARCHED = 1000
"""Longest text that can be searched for, in characters."""

_OWN, _SHARED = "coupled_arena.reports.viewer", "coupled_arena.reports.html"


class Viewer(PageServer):
    """Serves the runs of a store as pages that follow them while they are played; the store is only read.

    As a context manager it runs on a thread of its own, and stops with the block.

    Args:
        path: the store.
        host: address to listen at; any but loopback needs a token.
        port: port to listen at; 0 takes a free one.
        token: what browsers must show; empty for none.
        drawings: a folder in which the drawings of finished runs are kept for the next time; None keeps none.

    Raises:
        StoreError: there is no store.
        ConfigurationError: the address cannot be listened at, or needs a token.

    Example:
        >>> import json, tempfile, urllib.request
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Store(f"{folder}/runs.db").close()
        ...     with Viewer(Path(f"{folder}/runs.db"), port=0) as viewer:
        ...         with urllib.request.urlopen(f"{viewer.url}/runs") as response:
        ...             print(json.load(response)["runs"])
        []
    """

    def __init__(
        self, path: Path, *, host: str = HOST, port: int = PORT, token: str = "", drawings: Path | None = None
    ) -> None:
        Store(path, reading=True).close()
        self._path = path
        self._drawer = Drawer()
        self._gallery = Gallery(path, self._drawer, shelf=None if drawings is None else Shelf(drawings, path))
        self._reading = Watch(path)
        self._turn = asyncio.Lock()
        self._searching = asyncio.Lock()
        routes = [
            Route("/", self._home, methods=["GET"]),
            Route("/page.css", self._style, methods=["GET"]),
            Route("/runs.js", self._script, methods=["GET"]),
            Route("/runs", self._runs, methods=["GET"]),
            Route("/events", self._events, methods=["GET"]),
            Route("/run/{run}/", self._run, methods=["GET"]),
            Route("/run/{run}/overview", self._overview, methods=["GET"]),
            Route("/run/{run}/lines", self._lines, methods=["GET"]),
            Route("/run/{run}/battle", self._battle, methods=["GET"]),
            Route("/run/{run}/search", self._search, methods=["GET"]),
            Route("/run/{run}/events", self._events, methods=["GET"]),
        ]
        super().__init__("view", routes, host=host, port=port, token=token)

    async def run(self) -> None:
        """Answer requests until `stop`; the newest run is drawn before somebody asks for it."""
        first = asyncio.create_task(self._gallery.begin())
        try:
            await super().run()
        finally:
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)

    async def aclose(self) -> None:
        """End what goes on, and let go of the store."""
        await self._gallery.aclose()
        await self._drawer.aclose()
        self._reading.close()

    async def _home(self, request: Request) -> Response:
        return Response(_text(_OWN, "runs.html"), media_type="text/html")

    async def _style(self, request: Request) -> Response:
        return Response(_text(_SHARED, "page.css"), media_type="text/css")

    async def _script(self, request: Request) -> Response:
        parts = (
            _text(home, name)
            for home, name in ((_SHARED, "scripts/words.js"), (_SHARED, "scripts/dom.js"), (_OWN, "runs.js"))
        )
        return Response('(() => {\n"use strict";\n' + "\n".join(parts) + "\n})();\n", media_type="text/javascript")

    async def _runs(self, request: Request) -> Response:
        return as_json({"store": str(self._path), "runs": [seen._asdict() for seen in await self._gallery.runs()]})

    async def _run(self, request: Request) -> Response:
        run = request.path_params["run"]
        found = next((seen for seen in await self._gallery.runs() if seen.id == run), None)
        if found is None or found.bench:
            return as_problem(f"the store has no page of a run {run!r}; / lists its runs", 404)
        text = "".join(page(found.name, {"kind": "fetch", "base": f"/run/{quote(run, safe='')}/"}))
        policy = f"{policy_of(served=True)}; frame-ancestors 'none'"
        return Response(text, media_type="text/html", headers={"content-security-policy": policy})

    async def _overview(self, request: Request) -> Response:
        found, state = await self._gallery.drawing(request.path_params["run"])
        response = compressed(found.overview)
        response.headers["x-state"] = state
        return response

    async def _lines(self, request: Request) -> Response:
        found, _ = await self._gallery.drawing(request.path_params["run"])
        return compressed(found.lines)

    async def _battle(self, request: Request) -> Response:
        run, name = request.path_params["run"], request.query_params.get("id", "")

        def load() -> Response:
            battles = self._reading.open().run(run).load_battles([name])
            if not battles:
                return as_problem(f"run {run} has no battle {name!r}", 404)
            return as_json(battle_document(battles[0]))

        async with self._turn:
            return await asyncio.to_thread(load)

    async def _search(self, request: Request) -> Response:
        run, text = request.path_params["run"], request.query_params.get("text", "")
        if not 0 < len(text) <= MOST_SEARCHED:
            return as_problem(f"search for 1 to {MOST_SEARCHED} characters", 400)

        def find() -> Response:
            # Apart, since it goes through all texts of the run, and others wait for single battles meanwhile.
            with Store(self._path, reading=True) as store:
                return as_json(list(store.run(run).battles_with(text)))

        # One after the other: many at once would leave no thread for anything else.
        async with self._searching:
            return await asyncio.to_thread(find)

    async def _events(self, request: Request) -> Response:
        run: str | None = request.path_params.get("run")
        if run is not None and run not in {seen.id for seen in await self._gallery.runs()}:
            raise RunNotFound(f"{self._path}: holds no run {run!r}; / lists those it holds")
        if request.method == "HEAD":
            return Response(media_type="text/event-stream")
        known = request.headers.get("last-event-id") or request.query_params.get("known")

        async def told() -> AsyncIterator[str]:
            yield "retry: 1000\n\n"
            async for state in self._gallery.changes(run, known, lambda: self.stopping):
                yield f"id: {state}\nevent: changed\ndata: {state}\n\n"

        return StreamingResponse(told(), media_type="text/event-stream")


@cache
def _text(home: str, name: str) -> str:
    return files(home).joinpath(*name.split("/")).read_text(encoding="utf-8")
