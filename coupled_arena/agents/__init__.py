"""The roles models play, as AutoGen chat agents."""

from coupled_arena.agents.base import VoicedAgent
from coupled_arena.agents.debater import Debater
from coupled_arena.agents.examiner import Examiner
from coupled_arena.agents.judge import Judge
from coupled_arena.agents.role import Role

__all__ = ["Debater", "Examiner", "Judge", "Role", "VoicedAgent"]
