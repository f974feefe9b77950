"""What a run comes to, to read and to look at: leaderboards, progress, transcripts, pages, plots."""

from coupled_arena.reports import plot

__all__ = ["plot"]
