"""The command that shows one battle of a run: show."""

from typing import Annotated

import typer

from coupled_arena.cli.flags import in_flags
from coupled_arena.cli.options import DEFAULT_STORE, JsonOption, RunOption, StoreOption
from coupled_arena.cli.terminal import complain, out_json
from coupled_arena.cli.terminal import show as write


def show(
    battle: Annotated[str, typer.Argument(metavar="BATTLE", help="Its id, or how no other id of the run begins.")],
    store: StoreOption = DEFAULT_STORE,
    run: RunOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show one battle in full: question, turns, opinions, decision."""
    from coupled_arena.reports import console
    from coupled_arena.tournaments.storage.store import Store

    with Store(store, create=False) as opened, in_flags({"battle": "BATTLE"}):
        found = opened.run(run)
        fought, question = found.battle(battle)
    if as_json:
        documents = {"battle": fought.model_dump(mode="json"), "question": question.model_dump(mode="json")}
        out_json({"run": found.id, **documents})
        return
    complain(f"run {found.id}")
    write(console.transcript(fought, question))
