"""Runs that build on a finished one: with a newcomer, or judged anew."""
