"""What the tests of the store write into it."""

from pathlib import Path
from typing import Any

from coupled_arena.coupling import Sampling
from coupled_arena.models.calls import Call, Message, Reply
from coupled_arena.models.model import Model
from coupled_arena.records import Battle, Decision, Opinion, Question, Section, Turn
from coupled_arena.tournaments.storage.store import RunStore, Store

CALL = Call(
    Model("m", "openai/m", api_base="https://me:hush@host.invalid", options={"extra": {"api_key": "hush", "n": 1}}),
    (Message("system", "be brief"), Message("user", "hello")),
    Sampling(0.7),
    10,
    bytes(range(16)),
)
"""A call with a secret in its settings."""
KEY = b"k" * 32
"""A memo key."""


def opened(store: Store, digest: str = "3f2a91c0d1", name: str = "demo") -> RunStore:
    return store.open_run(digest, name, {"seed": 7}, {"version": "1"})


def question(**changes: Any) -> Question:
    fields = {"id": "math-1", "domain": "math", "language": "en", "text": "?", "author": "sim/examiner"}
    return Question(**{**fields, **changes})


def battle(name: str = "b1", **changes: Any) -> Battle:
    fields: dict[str, Any] = {
        "id": name,
        "round": 1,
        "question": "math-1",
        "domain": "math",
        "replicate": 0,
        "a": "ada",
        "b": "bob",
        "arm": "coupled",
        "turns": (
            Turn(step=1, round=1, speaker="A", model="ada", sections=(Section(tag="respond", text="42"),)),
            Turn(step=2, round=1, speaker="B", model="bob", outcome="refused", detail="no"),
        ),
        "opinions": (Opinion(judge="j1", stage=0, status="valid", verdict="A", probabilities={"A": 0.9, "tie": 0.1}),),
        "decision": Decision(status="decided", verdict="B", votes={"B": 2}, stages=("B", None)),
    }
    return Battle(**{**fields, **changes})


def filled(path: Path) -> None:
    """Store a run with a call, a question and a battle."""
    with Store(path) as store, opened(store) as run:
        run.remember(KEY, CALL, Reply(text="x", outcome="ok"))
        run.save_question(question())
        run.save_battle(battle())
