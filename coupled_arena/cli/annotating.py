"""The command with which people vote on battles: annotate."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from coupled_arena.cli.flags import in_flags
from coupled_arena.cli.listening import FLAGS, LOOPBACK, HostOption, PortOption, TokenOption, token_in
from coupled_arena.cli.options import DEFAULT_STORE, JsonOption, RunOption, StoreOption
from coupled_arena.cli.terminal import complain, out_json, show
from coupled_arena.shown import plural

if TYPE_CHECKING:
    from coupled_arena.studies.annotation.agreement import HumanAgreement

_COLUMNS = ("rater", "with", "when", "battles", "kappa", "same verdict", "same winner")


def annotate(
    store: StoreOption = DEFAULT_STORE,
    run: RunOption = None,
    annotator: Annotated[str, typer.Option("--annotator", metavar="NAME", help="Who votes.")] = "me",
    seed: Annotated[int, typer.Option("--seed", help="Draws the order of the battles and the sides.")] = 0,
    agreement: Annotated[bool, typer.Option("--agreement", help="Only say how far people agree so far.")] = False,
    host: HostOption = LOOPBACK,
    port: PortOption = 8002,
    token_env: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Vote blind on the battles of a run, in the browser; then see who agrees with you."""
    import asyncio

    from coupled_arena.reports.annotation.server import AnnotationServer
    from coupled_arena.studies.annotation.agreement import human_agreement
    from coupled_arena.studies.annotation.desk import Desk
    from coupled_arena.tournaments.storage.store import Store

    with Store(store, create=False) as opened:
        if agreement:
            _show(human_agreement(opened.run(run), opened.human_votes), as_json=as_json)
            return
        token = token_in(token_env, "annotate")
        with in_flags({**FLAGS, "annotator": "--annotator"}):
            desk = Desk(opened, run, annotator=annotator, seed=seed)
            server = AnnotationServer(desk, host=host, port=port, token=token)
        if as_json:
            out_json({"url": server.url, "run": desk.run, "annotator": annotator, **desk.progress._asdict()})
            sys.stdout.flush()
        complain(f"run {desk.run}: {plural(desk.progress.texts, 'battle')} to vote on at {server.url}; Ctrl-C stops")
        sys.stderr.flush()
        asyncio.run(server.run_until_signal())
        if not as_json:
            _show(human_agreement(opened.run(desk.run), opened.human_votes), as_json=False)


def _show(found: "HumanAgreement", *, as_json: bool) -> None:
    from coupled_arena.reports import console
    from coupled_arena.studies.annotation.agreement import table_rows

    if as_json:
        out_json(found.document())
        return
    complain(f"run {found.run}: people voted on {found.voted} of {plural(found.battles, 'battle')}")
    for name, voted in found.annotators.items():
        complain(f"{name}: {voted} voted on")
    if found.voted:
        show(console.table(_COLUMNS, table_rows(found)))
    else:
        complain("nobody has voted yet: coupled-arena annotate opens a page to vote on")
