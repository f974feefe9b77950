"""Plots for papers: matplotlib's axes, drawn on or made, always returned."""

from coupled_arena.reports.plot.judging import judges
from coupled_arena.reports.plot.meetings import match_graph, win_rates
from coupled_arena.reports.plot.ratings import history, leaderboard
from coupled_arena.reports.plot.sharing import coupling

__all__ = ["coupling", "history", "judges", "leaderboard", "match_graph", "win_rates"]
