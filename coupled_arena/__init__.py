"""Coupled Arena ranks language models without human labels, and without rolling different dice for each of them.

Example:
    >>> import coupled_arena as ca
    >>> tournament = ca.Tournament(
    ...     models=["sim/ada?skill=2", "sim/bob?skill=-2"], judges=["sim/j1", "sim/j2", "sim/j3"],
    ...     domains=["math", "writing"], questions_per_domain=3, seed=7,
    ... )
    >>> result = tournament.run()
    >>> result.leaderboard()["model"].tolist()
    ['sim/ada', 'sim/bob']
"""

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from coupled_arena.agents import Debater, Examiner, Judge, Role
    from coupled_arena.agents.client import model_client
    from coupled_arena.analysis.calibration import Calibrated
    from coupled_arena.analysis.correction import Corrected
    from coupled_arena.config import load
    from coupled_arena.errors import (
        ArenaError,
        BudgetReached,
        CallFailed,
        ConfigurationError,
        ConversationError,
        ModelError,
        RatingError,
        RunInterrupted,
        StoreError,
    )
    from coupled_arena.models.gateway import Gateway
    from coupled_arena.models.model import Model
    from coupled_arena.models.voice import Voice
    from coupled_arena.prompts import load_prompts
    from coupled_arena.protocols import PEER_BATTLE, SINGLE, Script, Step
    from coupled_arena.ratings import RatingInput, Ratings, rate
    from coupled_arena.records import Battle, Decision, Opinion, Question, Section, Turn
    from coupled_arena.reports import plot
    from coupled_arena.reports.html.report import report
    from coupled_arena.reports.progress import Progress
    from coupled_arena.studies.bench import (
        Bench,
        Exact,
        Item,
        Task,
        abench,
        bench,
        gsm8k,
        last_number,
        letter,
        load_task,
        mmlu,
        own_task,
        yes_or_no,
    )
    from coupled_arena.studies.comparing.compare import acompare, compare
    from coupled_arena.studies.comparing.comparison import Comparison
    from coupled_arena.studies.correcting import calibrated, corrected
    from coupled_arena.studies.derived.added import Addition
    from coupled_arena.studies.derived.addition import aadd, add
    from coupled_arena.studies.derived.rejudged import Rejudged
    from coupled_arena.studies.derived.rejudging import arejudge, rejudge
    from coupled_arena.studies.experiments import JudgeStudy, JudgeStudyResult
    from coupled_arena.studies.judging import JudgeReport, judges
    from coupled_arena.studies.rating.battle_files import read_battles
    from coupled_arena.studies.world import Truth, World
    from coupled_arena.tournaments.definition import Tournament
    from coupled_arena.tournaments.results.result import Result
    from coupled_arena.tournaments.roles import RoleSeat
    from coupled_arena.tournaments.rules import BattleRules, CommitteeRules
    from coupled_arena.tournaments.schedules import Adaptive, Against, Insertion, Pairing, RoundRobin, Standings, Swiss
    from coupled_arena.tournaments.storage.store import Store

__version__ = "0.1.0"

# Without a handler of the application's, Python would write records to standard error as they are, escapes included.
logging.getLogger(__name__).addHandler(logging.NullHandler())

_HOMES = {
    "agents": ("Debater", "Examiner", "Judge", "Role"),
    "agents.client": ("model_client",),
    "analysis.calibration": ("Calibrated",),
    "analysis.correction": ("Corrected",),
    "config": ("load",),
    "errors": (
        "ArenaError",
        "BudgetReached",
        "CallFailed",
        "ConfigurationError",
        "ConversationError",
        "ModelError",
        "RatingError",
        "RunInterrupted",
        "StoreError",
    ),
    "models.gateway": ("Gateway",),
    "models.model": ("Model",),
    "models.voice": ("Voice",),
    "prompts": ("load_prompts",),
    "protocols": ("PEER_BATTLE", "SINGLE", "Script", "Step"),
    "ratings": ("RatingInput", "Ratings", "rate"),
    "records": ("Battle", "Decision", "Opinion", "Question", "Section", "Turn"),
    "reports": ("plot",),
    "reports.html.report": ("report",),
    "reports.progress": ("Progress",),
    "studies.bench": (
        "Bench",
        "Exact",
        "Item",
        "Task",
        "abench",
        "bench",
        "gsm8k",
        "last_number",
        "letter",
        "load_task",
        "mmlu",
        "own_task",
        "yes_or_no",
    ),
    "studies.comparing.compare": ("acompare", "compare"),
    "studies.comparing.comparison": ("Comparison",),
    "studies.correcting": ("calibrated", "corrected"),
    "studies.derived.added": ("Addition",),
    "studies.derived.addition": ("aadd", "add"),
    "studies.derived.rejudged": ("Rejudged",),
    "studies.derived.rejudging": ("arejudge", "rejudge"),
    "studies.experiments": ("JudgeStudy", "JudgeStudyResult"),
    "studies.judging": ("JudgeReport", "judges"),
    "studies.rating.battle_files": ("read_battles",),
    "studies.world": ("Truth", "World"),
    "tournaments.definition": ("Tournament",),
    "tournaments.results.result": ("Result",),
    "tournaments.roles": ("RoleSeat",),
    "tournaments.rules": ("BattleRules", "CommitteeRules"),
    "tournaments.schedules": ("Adaptive", "Against", "Insertion", "Pairing", "RoundRobin", "Standings", "Swiss"),
    "tournaments.storage.store": ("Store",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "PEER_BATTLE",
    "SINGLE",
    "Adaptive",
    "Addition",
    "Against",
    "ArenaError",
    "Battle",
    "BattleRules",
    "Bench",
    "BudgetReached",
    "Calibrated",
    "CallFailed",
    "CommitteeRules",
    "Comparison",
    "ConfigurationError",
    "ConversationError",
    "Corrected",
    "Debater",
    "Decision",
    "Exact",
    "Examiner",
    "Gateway",
    "Insertion",
    "Item",
    "Judge",
    "JudgeReport",
    "JudgeStudy",
    "JudgeStudyResult",
    "Model",
    "ModelError",
    "Opinion",
    "Pairing",
    "Progress",
    "Question",
    "RatingError",
    "RatingInput",
    "Ratings",
    "Rejudged",
    "Result",
    "Role",
    "RoleSeat",
    "RoundRobin",
    "RunInterrupted",
    "Script",
    "Section",
    "Standings",
    "Step",
    "Store",
    "StoreError",
    "Swiss",
    "Task",
    "Tournament",
    "Truth",
    "Turn",
    "Voice",
    "World",
    "aadd",
    "abench",
    "acompare",
    "add",
    "arejudge",
    "bench",
    "calibrated",
    "compare",
    "corrected",
    "gsm8k",
    "judges",
    "last_number",
    "letter",
    "load",
    "load_prompts",
    "load_task",
    "mmlu",
    "model_client",
    "own_task",
    "plot",
    "rate",
    "read_battles",
    "rejudge",
    "report",
    "yes_or_no",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that importing the package costs nothing (PEP 562)."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
