"""What a run comes to, as text: leaderboards, progress, transcripts."""
