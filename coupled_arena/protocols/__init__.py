"""The bus and the conversations held on it: examination, peer battle, committee."""

from coupled_arena.protocols.battle import BattleAgenda, Transcript
from coupled_arena.protocols.bus import Agenda, Observer, TurnRequest, Utterance, converse
from coupled_arena.protocols.committee import Case, CommitteeAgenda, judge_seats
from coupled_arena.protocols.examination import Examination, ExaminationAgenda, Rejected
from coupled_arena.protocols.script import PEER_BATTLE, SCRIPTS, SINGLE, Script, Step

__all__ = [
    "PEER_BATTLE",
    "SCRIPTS",
    "SINGLE",
    "Agenda",
    "BattleAgenda",
    "Case",
    "CommitteeAgenda",
    "Examination",
    "ExaminationAgenda",
    "Observer",
    "Rejected",
    "Script",
    "Step",
    "Transcript",
    "TurnRequest",
    "Utterance",
    "converse",
    "judge_seats",
]
