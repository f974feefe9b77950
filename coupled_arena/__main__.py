"""`python -m coupled_arena` is the command `coupled-arena`."""

from coupled_arena.cli import main

main()
