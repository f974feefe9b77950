"""What a run comes to."""
