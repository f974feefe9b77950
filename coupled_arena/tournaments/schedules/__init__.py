"""Who meets whom: pure functions of the models and the results so far."""

from coupled_arena.tournaments.schedules.adaptive import Adaptive
from coupled_arena.tournaments.schedules.against import Against
from coupled_arena.tournaments.schedules.insertion import Insertion
from coupled_arena.tournaments.schedules.round_robin import RoundRobin
from coupled_arena.tournaments.schedules.standings import Pairing, Schedule, Standings
from coupled_arena.tournaments.schedules.swiss import Swiss

__all__ = ["Adaptive", "Against", "Insertion", "Pairing", "RoundRobin", "Schedule", "Standings", "Swiss"]
