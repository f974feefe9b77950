"""What commands end with."""

FAILED = 1
"""It could not be done: a fault, a budget reached, nothing rated."""
WRONG_USE = 2
"""It was asked for in a way that cannot work."""
INTERRUPTED = 130
"""Typer's answer to Ctrl-C."""
